"""People's decisions about cut-outs: review.csv, as the page of cut-outs saves it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from gslopes.core.csv_table import read_csv
from gslopes.core.files import without_guard
from gslopes.core.reasons import Reason

DECISIONS = {"a": "accept", "x": "exclude"}  # by their keys


def read_review(path: Path) -> dict[str, str]:
    """Photo to accept, exclude or empty.

    Raises: UsageError, naming the line, if the file is not such a CSV, or decides about a photo twice.
    """
    values = {"decision": (*DECISIONS.values(), "")}
    hint = "Save it from the page of cut-outs."
    table = read_csv(path, ("photo", "decision"), unique=("photo",), values=values, strip=True, hint=hint)
    return {without_guard(row["photo"]): row["decision"] for _, row in table.rows()}


def reviewed(cutouts: pd.DataFrame, decisions: Mapping[str, str]) -> pd.DataFrame:
    """The ``cutouts`` table with the decisions applied: accepted ones are used, excluded ones skipped."""
    decided = cutouts.copy()
    decision = cutouts["photo"].map(decisions)
    decided.loc[(decision == "accept") & (cutouts["status"] == "flagged"), "status"] = "used"
    excluded = (decision == "exclude") & (cutouts["status"] != "skipped")
    decided.loc[excluded, ["status", "reason", "detail"]] = ["skipped", Reason.CUTOUT_EXCLUDED.value, ""]
    return decided
