"""People's decisions about cut-outs: review.csv, as the page of cut-outs saves it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from gslopes.contexts.csv_rows import read_rows
from gslopes.core.errors import UsageError
from gslopes.core.reasons import Reason
from gslopes.core.runfolder import show


def read_review(path: Path) -> dict[str, str]:
    """Photo to accept, exclude or empty.  Raises: UsageError if the file is not such a CSV."""
    _, rows = read_rows(path, ("photo", "decision"), "Save it from the page of cut-outs.")
    for line, row in rows:
        if row["decision"] not in ("accept", "exclude", ""):
            problem = f"{show(path)}, line {line}: the decision is {row['decision']!r}."
            raise UsageError(problem, "It is accept, exclude or empty.")
    return {row["photo"]: row["decision"] for _, row in rows}


def reviewed(cutouts: pd.DataFrame, decisions: Mapping[str, str]) -> pd.DataFrame:
    """The ``cutouts`` table with the decisions applied: accepted ones are used, excluded ones skipped."""
    decided = cutouts.copy()
    decision = cutouts["photo"].map(decisions)
    decided.loc[(decision == "accept") & (cutouts["status"] == "flagged"), "status"] = "used"
    excluded = (decision == "exclude") & (cutouts["status"] != "skipped")
    decided.loc[excluded, ["status", "reason", "detail"]] = ["skipped", Reason.CUTOUT_EXCLUDED.value, ""]
    return decided
