"""People's decisions about cut-outs: review.csv, as the page of cut-outs saves it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from gslopes.core.errors import UsageError
from gslopes.core.reasons import Reason
from gslopes.core.runfolder import show

HINT = "Save it from the page of cut-outs."


def read_review(path: Path) -> dict[str, str]:
    """Photo to accept, exclude or empty.  Raises: UsageError if the file is not such a CSV."""
    decisions = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            if not {"photo", "decision"} <= set(reader.fieldnames or ()):
                raise UsageError(f"{show(path)} has no columns photo and decision.", HINT)
            for row in reader:
                decisions[row["photo"]] = row["decision"]
                if row["decision"] not in ("accept", "exclude", ""):
                    line = f"{show(path)}, line {reader.line_num}: the decision is {row['decision']!r}."
                    raise UsageError(line, "It is accept, exclude or empty.")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{show(path)} cannot be read as a CSV in UTF-8: {error}.", HINT) from error
    return decisions


def reviewed(cutouts: pd.DataFrame, decisions: Mapping[str, str]) -> pd.DataFrame:
    """The ``cutouts`` table with the decisions applied: accepted ones are used, excluded ones skipped."""
    decided = cutouts.copy()
    decision = cutouts["photo"].map(decisions)
    decided.loc[(decision == "accept") & (cutouts["status"] == "flagged"), "status"] = "used"
    excluded = (decision == "exclude") & (cutouts["status"] != "skipped")
    decided.loc[excluded, ["status", "reason", "detail"]] = ["skipped", Reason.CUTOUT_EXCLUDED.value, ""]
    return decided
