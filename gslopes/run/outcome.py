"""The result of a run folder: how many photos were used, why others were not, and the finding."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow.parquet as pq

from gslopes.core import tables
from gslopes.core.reasons import Reason
from gslopes.core.result import AuditResult
from gslopes.run.gate.judge import dropped


@dataclass(frozen=True, eq=False)
class Audit(AuditResult):
    """What a walk found; ``tables["slopes"]`` as in core.tables.SLOPES.

    photos: how many were looked at.  used: how many have counterfactuals.
    skipped: reason to number of photos.  errors: how many of them could not be read.
    dropped: reason to number of sweeps that the gate kept from the classifiers; a photo has one for each attribute.
    """

    photos: int
    used: int
    skipped: dict[str, int]
    errors: int
    dropped: dict[str, int] = field(default_factory=dict)

    @property
    def fitted(self) -> bool:
        """Whether it is the result of a whole audit, with slopes and a page."""
        return self.page is not None

    def _repr_html_(self) -> str:
        """The finding and its labels, for a notebook."""
        from gslopes.report.notebook import audit_html

        return audit_html(self.folder, self.tables["slopes"] if self.fitted else None, self.page)


def of_photos(run: Path) -> Audit:
    """How many photos were used, and why the others were not."""
    photos = tables.read_columns(tables.PHOTOS, run / "photos.parquet", ["status", "reason"])
    skipped = Counter(photos.loc[photos["status"] != "used", "reason"])
    errors = sum(count for reason, count in skipped.items() if reason.startswith(Reason.UNREADABLE))
    return Audit(run, None, "", len(photos), len(photos) - skipped.total(), dict(skipped.most_common()), errors)


def of_audit(run: Path) -> Audit:
    """The same of a finished audit, with its finding and its page."""
    from gslopes.report.notebook import summary

    slopes = tables.read(tables.SLOPES, run / f"{tables.SLOPES.name}.parquet")
    page = run / "report" / "index.html"
    return replace(of_photos(run), summary=summary(slopes), page=page, dropped=dropped(run))


def answers(run: Path) -> dict[str, dict[str, int]]:
    """Classifier to status to number of pictures."""
    rows = pq.read_table(run / "asked.parquet", columns=["classifier", "status"])
    counts: dict[str, dict[str, int]] = {}
    for row in rows.group_by(["classifier", "status"]).aggregate([([], "count_all")]).to_pylist():
        counts.setdefault(row["classifier"], {})[row["status"]] = row["count_all"]
    return counts
