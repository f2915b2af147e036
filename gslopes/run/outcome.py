"""What a run folder has come to: how many photos were used, why others were not, slopes and page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from gslopes.core import tables
from gslopes.run import synthesis
from gslopes.run.gate.judge import dropped


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """What a walk found.

    run: the run folder.  slopes: as in core.tables.SLOPES; None before the fit.  page: the report, None before it.
    photos: how many were looked at.  used: how many have counterfactuals.
    skipped: reason to number of photos.  errors: how many of them could not be read.
    dropped: reason to number of sweeps that the gate kept from the classifiers; a photo has one for each attribute.
    """

    run: Path
    photos: int
    used: int
    skipped: dict[str, int]
    errors: int
    slopes: pd.DataFrame | None = None
    page: Path | None = None
    dropped: dict[str, int] = field(default_factory=dict)


def of_photos(run: Path) -> Audit:
    """How many photos were used, and why the others were not."""
    path = run / "photos.parquet"
    columns = pq.read_table(path, columns=["status", "reason"]).to_pydict()
    reasons = [reason for status, reason in zip(columns["status"], columns["reason"], strict=True) if status != "used"]
    errors = sum(reason.startswith(synthesis.UNREADABLE) for reason in reasons)
    kinds = Counter(map(_kind, reasons))
    return Audit(run, len(columns["status"]), len(columns["status"]) - len(reasons), dict(kinds.most_common()), errors)


def of_audit(run: Path) -> Audit:
    """The same of a finished audit, with its slopes and its page."""
    slopes = tables.read(tables.SLOPES, run / f"{tables.SLOPES.name}.parquet")
    return replace(of_photos(run), slopes=slopes, page=run / "report" / "index.html", dropped=dropped(run))


def answers(run: Path) -> dict[str, dict[str, int]]:
    """Classifier to status to number of pictures."""
    rows = pq.read_table(run / "asked.parquet", columns=["classifier", "status"])
    counts: dict[str, dict[str, int]] = {}
    for row in rows.group_by(["classifier", "status"]).aggregate([([], "count_all")]).to_pylist():
        counts.setdefault(row["classifier"], {})[row["status"]] = row["count_all"]
    return counts


def _kind(reason: str) -> str:
    """A reason without what is particular to one photo."""
    return "same bytes as another photo" if reason.startswith("same bytes as ") else reason.split(" (")[0]
