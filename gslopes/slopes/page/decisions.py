"""Finding or none: what the fit decided about each label, as a word, as a sentence and as the first table."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import placebo, runfolder, summary, tables
from gslopes.core.crossed import split
from gslopes.core.files import csv_bytes
from gslopes.report import caution, numbers, units, words
from gslopes.report.layouts import to_latex
from gslopes.slopes.page import drawing, loading
from gslopes.stats.multiplicity import LEVEL
from gslopes.stats.rounding import highest, ranked, sort_key

FINDING, PLACEBO, OPEN, NONE, UNJUDGED = CODES = ("finding", "placebo", "open", "none", "unjudged")

# What a table says, and what the glossary says about it.
SHOWN = {
    FINDING: "finding",
    PLACEBO: "like the placebo",
    OPEN: "open",
    NONE: "no finding",
    UNJUDGED: "not judged",
}
ABOUT = {
    FINDING: f"q is below {LEVEL:g}, its interval is without 0, and the slope differs from every placebo sweep's.",
    PLACEBO: "The label moves, but not surely further than in a placebo sweep, where the attribute does not change.",
    OPEN: "The label moves, but what would settle it is missing: placebo sweeps, or answers that were refused.",
    NONE: "The label does not move more than chance explains.",
    UNJUDGED: "Too few photos change their answer to say anything.",
}
WORTH_NAMING = 0.1  # share of a slope that light alone moves, from which a sentence names it


@dataclass(frozen=True, slots=True)
class Decision:
    """One label's: its code, and why it is not a finding, or what its interval rests on.

    expected: whether the label names the attribute itself, see ``slopes.expected``; it is shown below the others.
    """

    code: str
    why: str
    expected: bool = False

    @property
    def moves(self) -> bool:
        """Whether the label moves beyond chance, and nothing speaks against it."""
        return self.code in (FINDING, OPEN)

    @property
    def shown(self) -> str:
        """The decision as tables have it."""
        if self.expected:
            return f"{SHOWN[self.code]}, expected"
        return SHOWN[self.code]


def by_pair(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame, pd.DataFrame]]:
    """(classifier, attribute, its rows, those of its placebo sweeps), sorted, of a table with these two columns."""
    real = rows[~placebo.among(rows["attribute"])]
    for (classifier, attribute), part in real.groupby(["classifier", "attribute"], sort=True):
        fake = (rows["classifier"] == classifier) & rows["attribute"].isin(
            placebo.names(str(attribute))
        )
        yield str(classifier), str(attribute), part, rows[fake]


def cut(rows: pd.DataFrame) -> str:
    """What counted as present; empty where every label did that was returned."""
    named = rows["cut"].dropna()
    if len(named) and named.iloc[0] != tables.EVERY:
        return words.printable(named.iloc[0])
    return ""


def decide(rows: pd.DataFrame) -> dict[str, Decision]:
    """Label to decision, as the fit wrote it.  rows: those to read of one classifier and attribute."""
    decisions = {}
    for label, code, why, named in (
        rows[["label", "decision", "detail", "expected"]].to_numpy(object).tolist()
    ):
        decision = str(code) if code in CODES else UNJUDGED
        decisions[str(label)] = Decision(decision, _text(why), pd.notna(named) and bool(named))
    return decisions


def apart(rows: pd.DataFrame, found: Mapping[str, Decision], placebos: pd.DataFrame) -> list[str]:
    """What decides about labels like a placebo whose interval lies beyond what placebos explain, as it is drawn.

    rows: those to read.  placebos: see ``loading.placebos``.
    """
    if placebos.empty:
        return []
    ends = placebos.groupby("label").agg({"low": "min", "high": "max"})
    both = rows[rows["decision"] == PLACEBO].merge(ends, left_on="label", right_index=True)
    beyond = both[(both["ci_low"] > both["high"]) | (both["ci_high"] < both["low"])]
    return [
        f"“{words.readable(label)}”, {found[label].why}" for label in beyond["label"].astype(str)
    ]


def counts(decisions: Mapping[str, Decision]) -> dict[str, int]:
    """Code to number of labels, every code."""
    return {code: sum(decision.code == code for decision in decisions.values()) for code in CODES}


def _text(value: object) -> str:
    text = "" if value is None or pd.isna(value) else words.printable(value)  # type: ignore[call-overload]
    return re.sub(r"(?<![\w-])-(?=\d)", "−", text)


# -- the finding in one plain sentence --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Headline:
    """What the first screen says about one classifier and attribute.

    strongest: the label of the steepest finding, an expected one if no other moves; empty if there is none.
    moves, still, unjudged: labels.  expected: of those that move, how many name the attribute.
    """

    sentence: str
    strongest: str
    moves: int
    still: int
    unjudged: int
    expected: int = 0
    effect: str = ""
    slope: str = ""


def headline(
    rows: pd.DataFrame,
    found: Mapping[str, Decision],
    attribute: str,
    drawn: loading.Drawn | None = None,
) -> Headline:
    """The sentence about one classifier along one attribute, and what the drawing moves further than that.

    rows: those to read, see ``core.tables.reading``.  found: of ``decisions.decide``.  drawn: see ``loading.drawings``.
    """
    said = _headline(rows, found, attribute)
    further = drawing.sentence(drawn or {})
    return replace(said, sentence=f"{said.sentence} {further}".rstrip())


def _headline(rows: pd.DataFrame, found: Mapping[str, Decision], attribute: str) -> Headline:
    codes = [decision.code for decision in found.values()]
    perceived = words.perceived(attribute)
    unjudged = codes.count(UNJUDGED)
    moving = [label for label, decision in found.items() if decision.moves]
    judged = len(codes) - unjudged
    moves = len(moving)
    if not judged:
        n = int(rows["n"].max()) if len(rows) else 0
        text = f"No label's answer varies on enough {f'of {n:,} ' if n else ''}photos"
        text = f"{text} to say whether it moves with {perceived}{_nearest(rows, found)}"
        if n == 1:
            text = f"One photo cannot say whether a label moves with {perceived}"
        return Headline(f"{text}.", "", 0, 0, unjudged, 0, SHOWN[UNJUDGED])
    still = {
        label
        for label, decision in found.items()
        if decision.code != UNJUDGED and not decision.moves
    }
    quiet = []
    for row in rows[rows["label"].astype(str).isin(still)].to_dict("records"):
        name = f"“{words.readable(row['label'])}”"
        share = row["intercept"] / 100  # its line at 0: steadier
        quiet.append(
            nothing(row, name, share, int(row.get("units", row["n"])), found[row["label"]].why)
        )
    if not moves:
        text = _none(quiet, perceived, PLACEBO in codes, over(rows))
        open_ones = sum(not interval.clear for interval in quiet)
        effect = (
            f"no label is shown to move, {open_ones:,} undecided" if open_ones else "no label moves"
        )
        return Headline(f"{text}.", "", 0, judged, unjudged, 0, effect)
    named = [label for label in moving if found[label].expected]
    leading = [label for label in moving if label not in named] or named
    by_label = rows.drop_duplicates("label").set_index("label").loc[leading]
    # one unit is not more than another: labels of most photos' answers first, by how sure they are where units differ
    same = len({units.measure_of(row) for row in by_label.to_dict("records")}) == 1
    size = by_label["slope"].abs() if same else by_label["t"].abs()
    order = by_label.assign(_size=-size, _name=by_label.index).sort_values(
        ["_size", "_name"], key=sort_key
    )
    first = order.iloc[0]
    name = words.readable(str(order.index[0]))
    slope = slope_of(first)
    text = f"{effect_of(first, name, words.between(attribute))} ({slope}, {words.many(int(first['n']), 'photo')})"
    light = first.get("light")
    if pd.notna(light) and light >= WORTH_NAMING:
        text += f"; light alone moves it {numbers.share(light, 0)} as far"
    text += f"; {moves:,} of {judged:,} labels move{'s' * (moves == 1)}" if judged > 1 else ""
    text += _as_expected(named, moves)
    clear = sum(interval.clear for interval in quiet)
    text += f", {clear:,} do{'es' * (clear == 1)} not" if clear else ""
    text += f", {caution.undecided(quiet)}" if len(quiet) > clear else ""
    if FINDING not in codes:
        text += f". Not settled: {found[str(order.index[0])].why or 'no placebo sweep was run'}"
    strongest = str(order.index[0])
    effect = effect_of(first, name)
    return Headline(
        f"{text}.", strongest, moves, judged - moves, unjudged, len(named), effect, slope
    )


def nothing(
    row: Mapping[Hashable, Any], name: str, share: float, n: int, why: str
) -> caution.Nothing:
    """A slope that is judged and no finding, or such a change of one, as ``caution`` takes it.

    share: of answers with the label, where it is judged by presence.  n: units.  why: it may be 0 where its interval
    leaves that out.
    """
    measure = units.measure_of(row)
    spread = row.get("sd")
    ends = (row["ci_low"], row["ci_high"])
    matters = caution.MATTERS.get(
        measure, caution.OF_SPREAD * float("nan" if spread is None else spread)
    )
    matters = caution.points(share) if measure == "presence" else matters
    note = f"{units.odds(matters):.2g} % would matter" if measure == "log-odds" else ""
    shown = f"{numbers.interval(*ends, units.writer(measure))} {units.after(row)}"
    found = caution.Nothing(name, *ends, n, matters, shown, note)
    if found.holds_zero:
        return found
    return replace(found, note=why)


def over(rows: pd.DataFrame) -> tuple[str, ...]:
    """What the rows' column units counts, one and several; photos where there is none."""
    clustered = "units" in rows and bool((rows["units"] < rows["n"]).any())
    if clustered:
        return ("cluster's worth of photos", "clusters' worth of photos")
    return ("photo",)


def _none(
    quiet: Sequence[caution.Nothing], attribute: str, placebo: bool, things: tuple[str, ...]
) -> str:
    """The sentence where no label moves: none does, or it cannot be said.  things: see ``over``."""
    clear = [interval for interval in quiet if interval.clear]
    widest = caution.widest(quiet)
    chance = "chance or a placebo explains" if placebo else "chance explains"
    if not clear:
        which = (
            f"{widest.name} moves"
            if len(quiet) == 1
            else f"any of {words.many(len(quiet), 'label')} moves"
        )
        return caution.cannot_tell(
            widest, f"whether {which} with {attribute} more than {chance}", *things
        )
    if len(clear) < len(quiet):
        text = f"None of {words.many(len(quiet), 'label')} is shown to move with {attribute} more than {chance}; with "
        return f"{text}{words.many(widest.n, *things)} {caution.undecided(quiet)}"
    text = (
        f"{clear[0].name} does not move"
        if len(clear) == 1
        else f"None of {words.many(len(clear), 'label')} moves"
    )
    return f"{text} with {attribute} more than {chance} ({caution.widely(widest, *things)})"


def _as_expected(named: Sequence[str], moves: int) -> str:
    """What the sentence says of expected labels that move."""
    if not named:
        return ""
    which = f"“{words.readable(named[0])}”" if len(named) == 1 else f"{len(named):,}"
    if len(named) == moves:
        return ", as expected"
    return f" ({which} as expected)"


def _nearest(rows: pd.DataFrame, found: Mapping[str, Decision]) -> str:
    """The label whose answer varies on most photos, and what it would take; empty where the table does not say."""
    if "varying" not in rows or not rows["varying"].notna().any():
        return ""
    label = str(
        rows["label"].iloc[int(rows["varying"].astype(float).fillna(0).to_numpy().argmax())]
    )
    why = found[label].why
    if why:
        return f". The nearest is “{words.readable(label)}”: {why}"
    return ""


def effect_of(row: pd.Series, name: str, between: str = "") -> str:
    """What one label does from end to end, in words that need no unit.

    between: the ends, such as ``between the feminine and the masculine end``.
    """
    measure = units.measure_of(row)
    between = f" {between}".rstrip()
    own = f" {units.short(row)}".rstrip()
    name = name.removesuffix(f" ({own.lstrip()})")
    scale, unit = {"presence": (100, " of 100 photos"), "value": (1, own)}.get(measure, (1, ""))
    what = {"presence": "", "value": "The mean of "}.get(
        measure, "The mean score of "
    ) + f"“{name}”"
    if units.is_crossed(row):
        return _at_both_ends(row, what, scale, unit)
    verb = "rises" if row["slope"] > 0 else "falls"
    first, last = numbers.change(scale * row["y_first"], scale * row["y_last"])
    if numbers.NONE in (first, last):
        return f"{what} {verb}{between}"
    if first == last or (row["y_last"] > row["y_first"]) != (row["slope"] > 0):
        return f"{what} {verb}{between}, not at the ends themselves ({first} and {last}{unit})"
    return f"{what} {verb} from {first} to {last}{unit}{between}"


def _at_both_ends(row: pd.Series, what: str, scale: int, unit: str) -> str:
    """As ``effect_of``: how far a label goes along the first of two attributes at both ends of the second."""
    first, second, _ = split(row["attribute"])
    changes = [scale * row["y_first"], scale * row["y_last"]]
    lead = changes[highest(list(map(abs, changes)))]
    sizes = numbers.change(*map(abs, changes))
    verbs = ["falls" if change * lead < 0 else "rises" for change in changes]
    again = "" if verbs[0] == verbs[1] else f"{verbs[1]} "
    towards, (low, high) = (
        f"{verbs[0]} toward {words.ends(first)[int(lead > 0)]}",
        words.faces(second),
    )
    return f"{what} {towards} by {sizes[0]}{unit} on {low} and {again}by {sizes[1]} on {high.replace('faces', 'ones')}"


def slope_of(row: pd.Series) -> str:
    """The slope of a label with its interval and unit."""
    return f"{'interaction' if units.is_crossed(row) else 'slope'} {interval_of(row)} {units.after(row)}"


def interval_of(row: Any) -> str:
    """The slope of a label with its interval."""
    return numbers.of_row(row, "slope", units.writer_of(row))


# -- the table of findings --------------------------------------------------------------------------------------------

COLUMNS = (
    *(
        "classifier",
        "attribute",
        "label",
        "n",
        "y_first",
        "y_last",
        "slope",
        "ci_low",
        "ci_high",
        "unit",
        "light",
        "q",
    ),
    *("decision", "reason", "detail", "estimator", "expected"),
)

ERRORS = "percentage points of errors per unit"
# The columns of slopes.csv: what a reader needs; the Parquet table has the others.
TIDY = (
    *(
        "classifier",
        "attribute",
        "label",
        "estimator",
        "n",
        "y_first",
        "y_last",
        "slope",
        "ci_low",
        "ci_high",
        "unit",
    ),
    *("p_test", "q", "decision"),
)

# What a condition on the table may name, each with a value of its type; see ``core.summary.gated``.
CONDITION: dict[str, float | str | bool] = {
    **dict.fromkeys(COLUMNS, ""),
    **dict.fromkeys(("n", "y_first", "y_last", "slope", "ci_low", "ci_high", "light", "q"), 0.0),
    "expected": False,
    "finding": False,
}


def findings_table(slopes: pd.DataFrame, errors: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row a classifier, attribute and label, columns ``COLUMNS``; placebo sweeps are left out.

    slopes: columns of core.tables.SLOPES.  errors: of ERROR_SLOPES, which stand last, if the truth is known.

    Within a classifier and attribute the findings stand first, then labels that are open, like the placebo, no finding
    and not judged; of equal decisions those that are not expected first, and of these the steepest.
    """
    rows = tables.reading(slopes)
    parts = [_judged_rows(part) for _, _, part, _ in by_pair(rows)]
    if errors is not None and len(errors):
        parts.append(_errors(errors))
    frame = pd.concat(parts, ignore_index=True) if parts else rows[:0]
    return frame.reindex(columns=list(COLUMNS))


def _errors(errors: pd.DataFrame) -> pd.DataFrame:
    """The slopes of error rates as rows of the same columns; those along placebos are left out."""
    rows = errors[errors["decision"].notna()]
    named = "errors: " + rows["label"] + ", " + rows["measure"]
    frame = rows.assign(
        label=named, unit=ERRORS, estimator="error-rate", detail=rows["note"], expected=False
    )
    rank = frame["decision"].map(list(CODES).index)
    order = ranked(frame, "classifier", "attribute", rank, -frame["slope"].abs(), "label")
    return order.reindex(columns=list(COLUMNS))


def summary_rows(findings: pd.DataFrame) -> pd.DataFrame:
    """A table of findings as the rows of ``core.summary.FINDINGS``."""
    names = {"classifier": "model", "attribute": "contrast", "slope": "value"}
    return findings.rename(columns=names)[summary.FINDINGS.columns]


def write_findings(
    report: Path, slopes: pd.DataFrame, errors: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Write ``findings.csv``, every row, and ``findings.tex``, the labels that are judged; the table.

    Raises: StorageError.
    """
    findings = findings_table(slopes, errors)
    runfolder.write_bytes(report / "findings.csv", csv_bytes(findings))
    judged = findings[findings["decision"] != UNJUDGED]
    estimators = ", ".join(map(str, dict.fromkeys(judged["estimator"]))) or "none"
    caption = f"Slopes with 95 % intervals (estimator: {estimators}); decisions at q < {LEVEL:g}."
    text = to_latex(as_text(judged), caption, "findings")
    runfolder.write_bytes(report / "findings.tex", text.encode("utf-8", "replace"))
    return findings


def as_text(found: pd.DataFrame) -> pd.DataFrame:
    """Findings as the texts of a table."""
    rows = []
    for row in found.to_dict("records"):
        unit = str(row["unit"] or "")
        form = units.writer_in(unit)
        ends = numbers.ends_of(row, form)
        names = [words.printable(row["classifier"]), words.label(row["label"])]
        along = words.perceived(row["attribute"])
        q = numbers.probability(row["q"])
        decision = Decision(row["decision"], "", row["expected"]).shown
        rows.append([*names, along, form(row["slope"]), ends, unit, q, decision, f"{row['n']:,}"])
    heads = ["API", "Label", "along", "Slope", "95 % interval", "unit", "q", "decision", "photos"]
    return pd.DataFrame(rows, columns=heads, dtype=object)


def _judged_rows(rows: pd.DataFrame) -> pd.DataFrame:
    decided = decide(rows)
    decisions = [decided[label] for label in rows["label"]]
    facts = {"decision": "code", "detail": "why", "expected": "expected"}
    frame = rows.assign(
        **{name: [getattr(one, of) for one in decisions] for name, of in facts.items()}
    )
    return ranked(
        frame, frame["decision"].map(CODES.index), "expected", -frame["slope"].abs(), "label"
    )
