"""Which differences a context audit judges, one row each: what a gate and ``summary.json`` read."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from gslopes.core import summary
from gslopes.frame.findings import decide

ANSWERS = {
    "correct": "right answers",
    "distance": "distance of the description",
    "n_tags": "number of tags",
    "demographics": "tags of demographics",
    "concrete": "concrete tags",
    "abstract": "abstract tags",
}


def findings_table(results: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Columns of ``core.summary.FINDINGS``: slopes on congruence, what each context changes of inferred gender, and
    what the palette of the same rooms changes of every label.

    Of gross tags. A slope's unit is points (of tags: tags) per unit of congruence, 1 where a context fits the person's
    gender wholly, -1 where not at all; a change is in points. q is that of the row's own table.

    results: tables of a run by name; without answers there is no row.
    """
    parts = [_slopes(results["congruence"])] if "congruence" in results else []
    parts += [_changes(results["inferred"])] if "inferred" in results else []
    parts += [_palettes(results["palettes"])] if "palettes" in results else []
    parts = [part for part in parts if len(part)]
    rows = pd.concat(parts, ignore_index=True) if parts else summary.FINDINGS.empty()
    return decide(rows)


def _slopes(rows: pd.DataFrame) -> pd.DataFrame:
    kept = rows[(rows["tags"] == "gross") & (rows["estimator"] == "person")]
    who = ["everybody" if gender == "all" else f"gender: {gender}" for gender in kept["gender"]]
    groups = ["" if group in ("", "all") else f", {group}" for group in kept["group"]]
    return pd.DataFrame(
        {
            "model": kept["classifier"],
            "contrast": [f"congruence, {one}{group}" for one, group in zip(who, groups, strict=True)],
            "label": kept["measure"].map(ANSWERS),
            **{name: kept[name] for name in ("n", "ci_low", "ci_high", "q")},
            "value": kept["slope"],
            "unit": ["tags per unit" if name == "n_tags" else "points per unit" for name in kept["measure"]],
            "reason": kept["note"],
        }
    )


def _changes(rows: pd.DataFrame) -> pd.DataFrame:
    kept = rows[(rows["tags"] == "gross") & (rows["gender"] == "all") & rows["change"].notna()]
    return _of_changes(kept, "context: " + kept["context"], "inferred " + kept["inferred"])


def _palettes(rows: pd.DataFrame) -> pd.DataFrame:
    kept = rows[(rows["tags"] == "gross") & (rows["context"] == "all") & rows["change"].notna()]
    return _of_changes(kept, "palette: " + kept["palette"] + " - " + kept["other"], kept["label"])


def _of_changes(kept: pd.DataFrame, contrast: pd.Series, label: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": kept["classifier"],
            "contrast": contrast,
            "label": label,
            **{name: kept[name] for name in ("n", "q")},
            "value": 100 * kept["change"],
            "ci_low": 100 * kept["change_low"],
            "ci_high": 100 * kept["change_high"],
            "unit": "percentage points",
            "reason": kept["note"],
        }
    )
