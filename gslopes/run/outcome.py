"""The result of a run folder: how many photos were used, why others were not, slopes and page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from gslopes.core import tables
from gslopes.core.reasons import Reason
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

    def _repr_html_(self) -> str:
        """The finding and its labels, for a notebook."""
        from gslopes.report.notebook import audit_html

        return audit_html(self.run, self.slopes, self.page)


def of_photos(run: Path) -> Audit:
    """How many photos were used, and why the others were not."""
    photos = tables.read_columns(tables.PHOTOS, run / "photos.parquet", ["status", "reason"])
    skipped = Counter(photos.loc[photos["status"] != "used", "reason"])
    errors = sum(count for reason, count in skipped.items() if reason.startswith(Reason.UNREADABLE))
    return Audit(run, len(photos), len(photos) - skipped.total(), dict(skipped.most_common()), errors)


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
