"""Finding or none: what the fit decided about each label, as a word and as the first table; see ``lead``."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import pandas as pd
from pandas import DataFrame

from gslopes.core import config, crossed, files, frozen, placebo, runfolder, summary, tables
from gslopes.report import inline, layouts, words
from gslopes.stats.multiplicity import LEVEL
from gslopes.stats.rounding import ranked

HOME = Path(__file__).parents[1]  # of sentences and templates
HOUSE = HOME / "templates"
# Code to its word in tables, and its meaning in the glossary.
_SAID = config.read_toml(HOME / "sentences.toml")
MEANINGS: dict[str, dict[str, str]] = _SAID["decisions"]
FINDING, PLACEBO, OPEN, NONE, UNJUDGED = CODES = tuple(MEANINGS)
SHOWN = {code: texts["word"] for code, texts in MEANINGS.items()}
FOLLOWS = 95  # points that an option gains where it comes earlier, from which a task's answers follow the order
BY_ORDER = "order"


@frozen
class Decision:
    """One label's: its code, and why it is not a finding, or what its interval rests on.

    expected: whether the label names the attribute itself, see ``slopes.expected``; it is shown below the others.
    reason: code of the reason.
    """

    code: str
    why: str
    expected: bool = False
    reason: str = ""

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


def by_pair(rows: DataFrame) -> Iterator[tuple[str, str, DataFrame, DataFrame]]:
    """(classifier, attribute, its rows, the rows of its placebo sweeps), sorted, of a table with these two columns.

    Of two attributes that are crossed their interaction comes first, then each by itself, then at the other's ends.
    """
    real = placebo.real(rows)
    view = real["attribute"].map(_view)
    for (classifier, _, attribute), part in real.groupby(["classifier", view, "attribute"]):
        fake = (rows["classifier"] == classifier) & rows["attribute"].isin(
            placebo.names(str(attribute))
        )
        yield str(classifier), str(attribute), part, rows[fake]


def _view(attribute: object) -> int:
    _, second, value = crossed.split(str(attribute))
    return 2 * bool(value) - bool(second)


def cut(rows: DataFrame) -> str:
    """What counted as present; empty if every label did that was returned."""
    named = rows["cut"].dropna()
    if len(named) and named.iloc[0] != tables.EVERY:
        return words.printable(named.iloc[0])
    return ""


def decide(rows: DataFrame) -> dict[str, Decision]:
    """Label to decision, as the fit wrote it; a task whose answers follow the order of its options is not judged.

    They do if an option gains ``FOLLOWS`` points or more where it comes earlier: at most one answer of 20 is left to
    follow the face, and a cut at half an answer would make much of that.

    rows: those to read of one classifier and attribute, see ``loading.with_facts``.
    """
    decisions = {}
    if by_order(rows) >= FOLLOWS:
        why = "the answers follow the order of the options"
        rows = rows.assign(decision=UNJUDGED, detail=why, reason=BY_ORDER)
    columns = ["label", "decision", "expected", "detail", "reason"]
    for label, code, named, *texts in rows.reindex(columns=columns).to_numpy(object).tolist():
        decision = str(code) if code in CODES else UNJUDGED
        why, reason = map(_text, texts)
        decisions[str(label)] = Decision(decision, why, pd.notna(named) and bool(named), reason)
    return decisions


def by_order(rows: DataFrame) -> float:
    """By how many points the order of the options moves a task's answers; NaN without two orders."""
    return float(rows.get("by_order", pd.Series(dtype=float)).max())


def apart(rows: DataFrame, decided: Mapping[str, Decision], placebos: DataFrame) -> list[str]:
    """What decides about labels like a placebo whose interval lies beyond what placebos explain, as drawn.

    rows: those to read.  placebos: see ``loading.placebos``.
    """
    if placebos.empty:
        return []
    ends = placebos.groupby("label").agg({"low": "min", "high": "max"})
    both = rows.query("decision == @PLACEBO").merge(ends, left_on="label", right_index=True)
    beyond = both.query("ci_low > high or ci_high < low")
    return [
        f"“{words.readable(label)}”, {decided[label].why}" for label in beyond["label"].astype(str)
    ]


def counts(decisions: Mapping[str, Decision]) -> dict[str, int]:
    """Code to number of labels, every code."""
    return {code: sum(decision.code == code for decision in decisions.values()) for code in CODES}


def _text(value: object) -> str:
    text = "" if value is None or pd.isna(value) else words.printable(value)  # type: ignore[call-overload]
    return re.sub(r"(?<![\w-])-(?=\d)", "−", text)


# -- the table of findings --------------------------------------------------------------------------------------------

FINDINGS, TIDY = tables.read_tables(Path(__file__).with_suffix(".toml")).values()
"""The table of findings, a row a classifier, attribute and label; and slopes.csv, what a reader needs of all slopes."""

COLUMNS = tuple(FINDINGS.columns)
ERRORS = "percentage points of errors per unit"


def findings_table(slopes: DataFrame, errors: DataFrame | None = None) -> DataFrame:
    """The rows of ``FINDINGS``, also if there is none; placebo sweeps are left out.

    slopes: columns of core.tables.SLOPES.  errors: of ERROR_SLOPES, which come last, if the truth is known.

    Within a classifier and attribute the findings come first, then labels that are open, like the placebo, no finding
    and not judged; of equal decisions those that are not expected first, and of these the steepest.
    """
    rows = tables.reading(slopes)
    parts = [_judged_rows(part) for _, _, part, _ in by_pair(rows)]
    if errors is not None and len(errors):
        parts.append(_errors(errors))
    if parts:
        return tables.typed(FINDINGS, pd.concat(parts, ignore_index=True).reindex(columns=COLUMNS))
    return FINDINGS.empty()


def _errors(errors: DataFrame) -> DataFrame:
    """The slopes of error rates as rows of the same columns; those along placebos are left out."""
    rows = errors.dropna(subset="decision")
    named = "errors: " + rows["label"] + ", " + rows["measure"]
    frame = rows.assign(
        label=named, unit=ERRORS, estimator="error-rate", detail=rows["note"], expected=False
    )
    rank = frame["decision"].map(list(CODES).index)
    order = ranked(frame, "classifier", "attribute", rank, -frame["slope"].abs(), "label")
    return order.reindex(columns=COLUMNS)


def summary_rows(findings: DataFrame) -> DataFrame:
    """A table of findings as the rows of ``core.summary.FINDINGS``."""
    names = {"classifier": "model", "attribute": "contrast", "slope": "value"}
    return findings.rename(columns=names)[summary.FINDINGS.columns]


def drawing_rows(drawn: DataFrame) -> DataFrame:
    """A table of drawing effects as the rows of ``core.summary.DRAWING``, those that exceed the sweep first."""
    names = {"classifier": "model", "attribute": "contrast", "drawing": "value"}
    return by_drawing(drawn).rename(columns=names)[summary.DRAWING.columns]


def by_drawing(drawn: DataFrame) -> DataFrame:
    """Drawing effects, the surest first, then the one that moves furthest."""
    return ranked(drawn, "q", -drawn["drawing"].abs(), "label")


def write_findings(report: Path, findings: DataFrame) -> None:
    """Write ``findings.csv``, every row, and ``findings.tex``, the labels that are judged.

    findings: of ``findings_table``.

    Raises: StorageError.
    """
    runfolder.write_bytes(report / "findings.csv", files.csv_bytes(findings))
    judged = findings.query("decision != @UNJUDGED")
    estimators = ", ".join(map(str, dict.fromkeys(judged["estimator"]))) or "none"
    caption = f"Slopes with 95 % intervals (estimator: {estimators}); decisions at q < {LEVEL:g}."
    texts = inline.listed(_SAID["cells"], tables.records(judged), shown=SHOWN)
    text = layouts.to_latex(texts, caption, "findings")
    runfolder.write_bytes(report / "findings.tex", text.encode("utf-8", "replace"))


def _judged_rows(rows: DataFrame) -> DataFrame:
    decided = decide(rows)
    facts = DataFrame([asdict(decided[label]) for label in rows["label"]], rows.index)
    names = {"code": "decision", "why": "detail"}
    frame = rows.assign(**facts.rename(columns=names))
    return ranked(
        frame, frame["decision"].map(CODES.index), "expected", -frame["slope"].abs(), "label"
    )
