"""Which differences a captions audit judges, one row each: what a gate and ``summary.json`` read."""

from __future__ import annotations

import pandas as pd

from gslopes.captions.report.lead import tested
from gslopes.core import summary

POINTS, ODDS = "percentage points", "log odds"


def findings_table(measures: pd.DataFrame, salience: pd.DataFrame) -> pd.DataFrame:
    """Columns of ``core.summary.FINDINGS``: differences between groups, of every technique, stage and concept.

    In percentage points, of S2 in log odds. Words for people of a gender are left out of S1, S3 and S4 where genders
    are compared. n are images.
    """
    rows = [_points(tested(measures))] + ([_odds(salience)] if len(salience) else [])
    rows = [part for part in rows if len(part)]
    return summary.decided(pd.concat(rows, ignore_index=True) if rows else summary.FINDINGS.empty())


def _points(rows: pd.DataFrame) -> pd.DataFrame:
    low, high = (rows[f"ci_{end}"].where(rows["ci_low"].notna(), rows[f"boot_{end}"]) for end in ("low", "high"))
    truth = [f" ({' against '.join(filter(None, pair))})" for pair in zip(rows["captions"], rows["truth"], strict=True)]
    named = rows["technique"] + " " + rows["kind"] + " " + rows["concept"]
    label = named.str.split().str.join(" ") + pd.Series(truth, rows.index).replace(" ()", "")
    return _frame(rows, label, value=rows["value"], ci_low=low, ci_high=high, unit=POINTS)


def _odds(rows: pd.DataFrame) -> pd.DataFrame:
    kept = rows[rows["eligible"]]
    ends = {name: kept[name] for name in ("ci_low", "ci_high")}
    return _frame(kept, "S2 " + kept["concept"], value=kept["coefficient"], **ends, unit=ODDS)


def _frame(rows: pd.DataFrame, label: pd.Series, **numbers: object) -> pd.DataFrame:
    contrast = rows["column"] + ": " + rows["group"] + " over " + rows["other"]
    shared = {"model": rows["stage"], "contrast": contrast, "label": label, "n": rows["n"]}
    return pd.DataFrame({**shared, **numbers, "q": rows["q"], "reason": rows["note"]})
