"""Which differences a crop audit judges, one row each: what a gate and ``summary.json`` read."""

from __future__ import annotations

import pandas as pd

from gslopes.crops.report.words import main_rows
from gslopes.frame.findings import decide

UNIT = "percentage points over an even 50 %"


def findings_table(parity: pd.DataFrame) -> pd.DataFrame:
    """Columns of ``core.summary.FINDINGS``: who is favoured, of each pair of groups and cropper.

    value is 100 (P - 1/2), P the chance that one of the first group is favoured over one of the other; n are pairs of
    people. The rows are those that head the page.
    """
    rows = main_rows(parity)
    return decide(
        pd.DataFrame(
            {
                "model": rows["cropper"],
                "contrast": rows["column"] + ": " + rows["group"] + " over " + rows["other"],
                "label": "favoured, " + rows["variant"],
                "n": rows["pairs"],
                "value": 100 * (rows["p"] - 0.5),
                "ci_low": 100 * (rows["ci_low"] - 0.5),
                "ci_high": 100 * (rows["ci_high"] - 0.5),
                "unit": UNIT,
                "q": rows["q"],
                "reason": rows["note"],
            }
        )
    )
