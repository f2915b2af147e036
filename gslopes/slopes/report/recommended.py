"""The first table that anyone sees: one row a label, by the estimator that is to be read, with its decision."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from gslopes.core import placebo, runfolder, summary, tables
from gslopes.core.files import csv_bytes
from gslopes.report import numbers, units, words
from gslopes.report.layouts import to_latex
from gslopes.slopes.report import decisions
from gslopes.slopes.report.decisions import CODES, FINDING, UNJUDGED

COLUMNS = (
    "classifier",
    "attribute",
    "label",
    "n",
    "slope",
    "ci_low",
    "ci_high",
    "unit",
    "q",
    "decision",
    "reason",
    "detail",
    "estimator",
    "expected",
)

ERRORS = "percentage points of errors per unit"
TIDY = (
    *("classifier", "attribute", "label", "estimator", "n", "slope", "ci_low", "ci_high", "unit", "p_test", "q"),
    "decision",
)

# What a condition on the table may name, each with a value of its type; see ``core.summary.gated``.
CONDITION: dict[str, float | str | bool] = {
    **{name: 0.0 if name in ("n", "slope", "ci_low", "ci_high", "q") else "" for name in COLUMNS},
    "expected": False,
    "finding": False,
}


def findings_table(slopes: pd.DataFrame, errors: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row a classifier, attribute and label, columns ``COLUMNS``; placebo sweeps are left out.

    slopes: columns of core.tables.SLOPES.  errors: of ERROR_SLOPES, which stand last, if the truth is known.

    Within a classifier and attribute the findings stand first, then labels that are open, like the placebo, no finding
    and not judged; of equal decisions those that are not expected first, and of these the steepest.  The decision is
    the fit's; a run that was fitted before decisions existed is judged as its page judges it.
    """
    rows = tables.reading(slopes)
    parts = [_decided(part, floor) for _, _, part, floor in decisions.by_pair(rows)]
    if errors is not None and len(errors):
        parts.append(_errors(errors))
    frame = pd.concat(parts, ignore_index=True) if parts else rows[:0]
    return frame.reindex(columns=list(COLUMNS))


def _errors(errors: pd.DataFrame) -> pd.DataFrame:
    """The slopes of error rates as rows of the same columns; those along placebos are left out."""
    rows = errors[errors["decision"].notna()]
    named = "errors: " + rows["label"] + ", " + rows["measure"]
    frame = rows.assign(label=named, unit=ERRORS, estimator="error-rate", detail=rows["note"], expected=False)
    place = frame["decision"].map(list(CODES).index)
    order = frame.assign(_place=place, _flat=-frame["slope"].abs())
    by = ["classifier", "attribute", "_place", "_flat", "label"]
    return order.sort_values(by).reindex(columns=list(COLUMNS))


def summary_rows(findings: pd.DataFrame) -> pd.DataFrame:
    """A table of findings as the rows of ``core.summary.FINDINGS``."""
    names = {"classifier": "model", "attribute": "contrast", "slope": "value"}
    return findings.rename(columns=names)[summary.FINDINGS.columns]


def tidy(slopes: pd.DataFrame) -> pd.DataFrame:
    """The columns of the slopes table that a reader needs, every estimator's rows; the Parquet table has the others."""
    return slopes.reindex(columns=list(TIDY))


def write(report: Path, slopes: pd.DataFrame, errors: pd.DataFrame | None = None) -> pd.DataFrame:
    """Write ``findings.csv``, every row, and ``findings.tex``, the labels that are judged; the table.

    Raises: StorageError.
    """
    found = findings_table(slopes, errors)
    runfolder.write_bytes(report / "findings.csv", csv_bytes(found))
    shown = found[found["decision"] != UNJUDGED]
    estimators = ", ".join(map(str, dict.fromkeys(shown["estimator"]))) or "none"
    caption = f"Slopes with 95 % intervals (estimator: {estimators}); decisions at q < {decisions.LEVEL:g}."
    text = to_latex(_as_text(shown), caption, "findings")
    runfolder.write_bytes(report / "findings.tex", text.encode("utf-8", "replace"))
    return found


def _as_text(found: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for row in found.to_dict("records"):
        unit = str(row["unit"] or "")
        form = units.writer_in(unit)
        ends = numbers.interval(row["ci_low"], row["ci_high"], form)
        names = [words.printable(str(row["classifier"])), words.label(str(row["label"]))]
        along = words.perceived(str(row["attribute"]))
        q, decision = numbers.probability(row["q"]), decisions.Decision(row["decision"], "", row["expected"]).shown
        rows.append([*names, along, form(row["slope"]), ends, unit, q, decision, f"{row['n']:,}"])
    heads = ["API", "Label", "along", "Slope", "95 % interval", "unit", "q", "decision", "photos"]
    return pd.DataFrame(rows, columns=heads, dtype=object)


def placebos_table(slopes: pd.DataFrame) -> pd.DataFrame:
    """The same estimator along the sweeps in which the attribute does not change: classifier to unit of ``COLUMNS``."""
    rows = tables.reading(slopes)
    fake = placebo.among(rows["attribute"])
    order = ["classifier", "attribute", "label"]
    return rows.loc[fake, list(COLUMNS[:8])].sort_values(order, ignore_index=True)


def _decided(rows: pd.DataFrame, floor: pd.DataFrame) -> pd.DataFrame:
    found = decisions.decide(rows, floor)
    codes = [found[str(label)].code for label in rows["label"]]
    whys = [found[str(label)].why for label in rows["label"]]
    frame = rows.assign(decision=codes, detail=whys, expected=[found[str(label)].expected for label in rows["label"]])
    fallback = pd.Series(
        ["" if code == FINDING else "rare" if code == UNJUDGED else code for code in codes], rows.index
    )
    frame["reason"] = rows["reason"].fillna(fallback) if "reason" in rows else fallback
    order = frame.assign(_place=[CODES.index(code) for code in codes], _flat=-frame["slope"].abs())
    return order.sort_values(["_place", "expected", "_flat", "label"]).drop(columns=["_place", "_flat"])
