"""The finding about one classifier along one attribute in a plain sentence; its words are in ``sentences.toml``."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core.crossed import split
from gslopes.core.text import two_digits
from gslopes.report import caution, numbers, units, words
from gslopes.report.headline import Sentences, undecided
from gslopes.slopes.page.decisions import FINDING, PLACEBO, SHOWN, UNJUDGED, Decision, by_drawing
from gslopes.slopes.page.loading import Drawn
from gslopes.stats.multiplicity import is_finding
from gslopes.stats.rounding import highest, sort_key

HEADLINES = Sentences.read(Path(__file__).parents[1])
WORTH_NAMING = 0.1  # share of a slope that light moves by itself, from which a sentence names it


@dataclass(frozen=True, slots=True)
class Lead:
    """What the first screen tells about one classifier and attribute.

    strongest: the label of the steepest finding, an expected one if no other moves; empty if no label moves.
    moves, still, unjudged: labels.  expected: of those that move, how many name the attribute.
    """

    sentence: str
    unjudged: int
    effect: str
    still: int = 0
    moves: int = 0
    expected: int = 0
    strongest: str = ""
    slope: str = ""


def headline(
    rows: pd.DataFrame,
    decided: Mapping[str, Decision],
    attribute: str,
    drawn: Drawn | None = None,
) -> Lead:
    """The sentence about one classifier along one attribute, and what the drawing moves further than that.

    rows: those to read, see ``core.tables.reading``.  decided: of ``decisions.decide``.  drawn: see
    ``loading.drawings``.
    """
    lead = _lead(rows, decided, attribute)
    return replace(lead, sentence=f"{lead.sentence} {of_drawing(drawn or {})}".rstrip())


def _lead(rows: pd.DataFrame, decided: Mapping[str, Decision], attribute: str) -> Lead:
    codes = [decision.code for decision in decided.values()]
    unjudged = codes.count(UNJUDGED)
    judged = len(codes) - unjudged
    moving = [label for label, decision in decided.items() if decision.moves]
    if not judged:
        return Lead(_too_few(rows, decided, attribute), unjudged, SHOWN[UNJUDGED])
    still = {
        label
        for label, decision in decided.items()
        if decision.code != UNJUDGED and not decision.moves
    }
    quiet = [
        nothing(
            row,
            f"“{words.readable(row['label'])}”",
            row["intercept"] / 100,  # its line at 0: steadier
            int(row.get("units", row["n"])),
            decided[row["label"]].why,
        )
        for row in rows[rows["label"].astype(str).isin(still)].to_dict("records")
    ]
    if not moving:
        unclear = sum(not estimate.clear for estimate in quiet)
        text = HEADLINES.nothing(
            quiet,
            *over(rows),
            attribute=words.perceived(attribute),
            chance=HEADLINES.say("chance", 1 + codes.count(PLACEBO)),
        )
        return Lead(
            text, unjudged, HEADLINES.say("still", 1 + unclear, open=f"{unclear:,}"), judged
        )
    return _moving(rows, decided, attribute, quiet)


def _moving(
    rows: pd.DataFrame,
    decided: Mapping[str, Decision],
    attribute: str,
    quiet: Sequence[caution.Nothing],
) -> Lead:
    """The lead if labels move.  quiet: those that are judged and do not."""
    leading = _leading(rows, decided)
    first = leading.iloc[0]
    label = str(leading.index[0])
    moving = [label for label, decision in decided.items() if decision.moves]
    expected = [label for label in moving if decided[label].expected]
    slope = slope_of(first)
    text = HEADLINES.say(
        "found",
        effect=effect_of(first, words.readable(label), words.between(attribute)),
        slope=slope,
        n=words.many(int(first["n"]), "photo"),
    )
    light = first.get("light")
    if pd.notna(light) and light >= WORTH_NAMING:
        text += HEADLINES.say("light", share=numbers.share(light, 0))
    codes = [decision.code for decision in decided.values()]
    unjudged = codes.count(UNJUDGED)
    judged = len(codes) - unjudged
    if judged > 1:
        text += HEADLINES.say("moves", len(moving), judged=f"{judged:,}")
    if expected:
        case = "all_expected" if len(expected) == len(moving) else "expected"
        text += HEADLINES.say(case, len(expected), label=words.readable(expected[0]))
    clear = sum(estimate.clear for estimate in quiet)
    if clear:
        text += HEADLINES.say("not_moving", clear)
    if clear < len(quiet):
        text += f", {undecided(quiet)}"
    if FINDING not in codes:
        text += HEADLINES.say("open", why=decided[label].why or HEADLINES.say("no_placebo"))
    effect = effect_of(first, words.readable(label))
    still = judged - len(moving)
    return Lead(f"{text}.", unjudged, effect, still, len(moving), len(expected), label, slope)


def _leading(rows: pd.DataFrame, decided: Mapping[str, Decision]) -> pd.DataFrame:
    """The labels that move, expected ones only if no other moves; the steepest first.

    One unit is not more than another: if units differ, the surest first.
    """
    by_label = rows.drop_duplicates("label").set_index("label")
    by_label = by_label.loc[[label for label in decided if decided[label].moves]]
    expected = pd.Series([decided[label].expected for label in by_label.index], by_label.index)
    if not expected.all():
        by_label = by_label[~expected]
    measures = {units.measure_of(row) for row in by_label.to_dict("records")}
    size = by_label["slope" if len(measures) == 1 else "t"].abs()
    order = by_label.assign(_size=-size, _name=by_label.index)
    return order.sort_values(["_size", "_name"], key=sort_key)


def _too_few(rows: pd.DataFrame, decided: Mapping[str, Decision], attribute: str) -> str:
    """The sentence if no label is judged: which is the nearest to it, as far as the table tells."""
    photos = int(rows["n"].max()) if len(rows) else 0
    if photos == 1:
        return HEADLINES.say("one_photo", attribute=words.perceived(attribute))
    nearest = ""
    if "varying" in rows and rows["varying"].notna().any():
        most = rows["varying"].astype(float).fillna(0).to_numpy().argmax()
        label = str(rows["label"].iloc[int(most)])
        if why := decided[label].why:
            nearest = HEADLINES.say("nearest", label=words.readable(label), why=why)
    return HEADLINES.say("unjudged", photos, attribute=words.perceived(attribute), nearest=nearest)


def nothing(
    row: Mapping[Hashable, Any], name: str, share: float, n: int, why: str
) -> caution.Nothing:
    """A slope that is judged and no finding, or such a change of one, as ``caution`` takes it.

    share: of answers with the label, if it is judged by presence.  n: units.  why: the reason that it may be 0 if its
    interval leaves that out.
    """
    measure = units.measure_of(row)
    ends = (row["ci_low"], row["ci_high"])
    matters = matters_of(row, share)
    note = would_matter(row, matters) if matters > 0 else ""
    shown = f"{numbers.interval(*ends, units.writer(measure))} {units.after(row)}"
    estimate = caution.Nothing(name, *ends, n, matters, shown, note)
    if estimate.holds_zero:
        return estimate
    return replace(estimate, note=why)


def matters_of(row: Mapping[Hashable, Any], share: float) -> float:
    """The smallest slope that matters, or change of one, in its own unit; NaN if it is not known."""
    measure = units.measure_of(row)
    if measure == "presence":
        return caution.points(share)
    return caution.MATTERS.get(measure, caution.OF_SPREAD * float(row.get("sd") or math.nan))


def would_matter(row: Mapping[Hashable, Any], matters: float) -> str:
    """What would matter, as a sentence has it in brackets."""
    if units.measure_of(row) == "log-odds":
        return f"{units.odds(matters):.2g} % would matter"
    return f"{two_digits(matters, '')} would matter"


def over(rows: pd.DataFrame) -> tuple[str, ...]:
    """The things that the rows' column units counts, one and several; photos without that column."""
    clustered = "units" in rows and bool((rows["units"] < rows["n"]).any())
    if clustered:
        return ("cluster's worth of photos", "clusters' worth of photos")
    return ("photo",)


def of_drawing(drawn: Drawn) -> str:
    """Which labels the drawing moves further than the sweep does; empty if it is not sure of any."""
    further = [row for row in drawn.values() if is_finding(row["q"])]
    if not further:
        return ""
    first = further[by_drawing(pd.DataFrame(further)).index[0]]
    write = units.writer_of(first)
    return HEADLINES.say(
        "drawing",
        len(further),
        label=words.readable(first["label"]),
        change=numbers.of_row(first, "drawing", write),
        unit={"presence": " points", "log-odds": " of the odds"}.get(units.measure_of(first), ""),
        sweep=write(first["sweep"]),
        more=words.many(len(further) - 1, "further label"),
    )


# -- a label and its slope in words -----------------------------------------------------------------------------------


def effect_of(row: pd.Series, name: str, between: str = "") -> str:
    """What one label does from end to end, in words that need no unit.

    between: the ends, such as ``between the feminine and the masculine end``.
    """
    measure = units.measure_of(row)
    unit = f" {units.short(row)}".rstrip()
    subject = HEADLINES.say(measure, name=name.removesuffix(f" ({unit.lstrip()})"))
    scale = 1
    if measure == "presence":
        scale, unit = 100, " of 100 photos"
    elif measure == "log-odds":
        unit = ""
    if units.is_crossed(row):
        return _at_both_ends(row, subject, scale, unit)
    first, last = numbers.change(scale * row["y_first"], scale * row["y_last"])
    case = "from_to"
    if numbers.NONE in (first, last):
        case = "somehow"
    elif first == last or (row["y_last"] > row["y_first"]) != (row["slope"] > 0):
        case = "within"
    return HEADLINES.say(
        case,
        subject=subject,
        verb=HEADLINES.say("verb", 1 + (row["slope"] > 0)),
        first=first,
        last=last,
        unit=unit,
        between=f" {between}".rstrip(),
    )


def _at_both_ends(row: pd.Series, subject: str, scale: int, unit: str) -> str:
    """As ``effect_of``: how far a label goes along the first of two attributes at both ends of the second."""
    first, second, _ = split(row["attribute"])
    changes = [scale * row["y_first"], scale * row["y_last"]]
    lead = changes[highest(list(map(abs, changes)))]
    verbs = [HEADLINES.say("verb", 2 - (change * lead < 0)) for change in changes]
    low, high = words.faces(second)
    return HEADLINES.say(
        "crossed",
        subject=subject,
        verb=verbs[0],
        end=words.ends(first)[int(lead > 0)],
        sizes=numbers.change(*map(abs, changes)),
        unit=unit,
        low=low,
        again="" if verbs[0] == verbs[1] else f"{verbs[1]} ",
        high=high.replace("faces", "ones"),
    )


def slope_of(row: pd.Series) -> str:
    """The slope of a label with its interval and unit."""
    return f"{'interaction' if units.is_crossed(row) else 'slope'} {interval_of(row)} {units.after(row)}"


def interval_of(row: Any) -> str:
    """The slope of a label with its interval."""
    return numbers.of_row(row, "slope", units.writer_of(row))
