"""The result of a run folder: how many photos were used, why others were not, and the finding."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from gslopes.core import runfolder, summary, tables
from gslopes.core.errors import UsageError
from gslopes.core.reasons import Reason, listed
from gslopes.core.result import AuditResult
from gslopes.core.runfolder import show
from gslopes.core.text import many


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
        """Whether it is the result of a whole audit, with slopes."""
        return self.page is not None or bool(self.summary)

    @property
    def findings(self) -> pd.DataFrame:
        """One row a label and attribute: the slope to read, interval, q, decision, reason; findings first.

        Where the truth is known, see ``slopes.fit.truth``, the slopes of error rates stand last.

        Columns: ``slopes.report.decisions.COLUMNS``.  Other estimators and the placebos: ``tables["slopes"]``.

        Raises: UsageError before the fit.
        """
        from gslopes.slopes.report.decisions import findings_table

        return findings_table(self._slopes(), self.tables.get(tables.ERROR_SLOPES.name))

    def _slopes(self) -> pd.DataFrame:
        if not self.fitted:
            hint = f"Fit it: gslopes audit {show(self.folder)} --only fit."
            raise UsageError(f"{show(self.folder)} is not fitted yet.", hint)
        return self.tables["slopes"]

    def __str__(self) -> str:
        """The evidence for a terminal; before the fit, how many photos were edited."""
        from gslopes.slopes.report.evidence import print_evidence
        from gslopes.slopes.report.loading import funnels, unanswered

        if not self.fitted:
            return f"{self.used:,} edited of {many(self.photos, 'photo')}"
        silent = unanswered(self.folder)
        return print_evidence(self.tables["slopes"], funnels=funnels(self.folder), unanswered=silent)

    @property
    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it: run, page, photos, funnel and slopes."""
        from gslopes.frame.commands import rows
        from gslopes.slopes.report.loading import funnels

        counts = {"found": self.photos, "used": self.used, "skipped": self.skipped, "errors": self.errors}
        counts |= {"dropped": self.dropped} if self.dropped else {}
        content = {"run": str(self.folder), "page": str(self.page) if self.page else None, "photos": counts}
        if not self.fitted:
            return {**content, "funnel": [], "slopes": None}
        return {**content, "funnel": list(map(asdict, funnels(self.folder))), "slopes": rows(self.tables["slopes"])}

    def _repr_html_(self) -> str:
        """The finding and its labels, for a notebook."""
        from gslopes.slopes.report.evidence import audit_html

        return audit_html(self.folder, self.tables["slopes"] if self.fitted else None, self.page)


def of_photos(run: Path) -> Audit:
    """How many photos were used, and why the others were not."""
    photos = tables.read_columns(tables.PHOTOS, run / "photos.parquet", ["status", "reason", "detail"])
    lost = photos[photos["status"] != "used"]
    skipped = Counter(map(listed, lost["reason"], lost["detail"]))
    errors = sum(count for reason, count in skipped.items() if reason.startswith(Reason.UNREADABLE))
    return Audit(run, None, "", len(photos), len(photos) - skipped.total(), dict(skipped.most_common()), errors)


def of_audit(run: Path) -> Audit:
    """The same of a finished audit, with its finding and its page."""
    from gslopes.slopes.report import evidence

    slopes = tables.read(tables.SLOPES, run / f"{tables.SLOPES.name}.parquet")
    page = run / "report" / "index.html"
    return replace(of_photos(run), summary=evidence.summary(run, slopes), page=page, dropped=_dropped(run))


def write_summary(found: Audit) -> None:
    """Write ``summary.json`` of a finished audit.  Raises: TableError, StorageError."""
    from gslopes.slopes.report import observed
    from gslopes.slopes.report.decisions import summary_rows

    real = observed.summary_rows(found.tables["observed"]) if "observed" in found.tables else None
    rows, counts = summary_rows(found.findings), (found.photos, found.used)
    summary.write(found.folder, "photos", rows, counts, headline=found.summary, page=found.page, observed=real)


def load_audit(run: Path) -> Audit:
    """The result of a run folder of ``gslopes audit`` or of one of its stages; nothing is done again.

    Raises: UsageError if it is none, or has no photos yet; TableError if a table is damaged.
    """
    if not (run / "photos.parquet").is_file():
        hint = "Repeat the command that began it: it goes on from where it was."
        raise UsageError(f"{show(run)} is not finished: it holds no photos yet.", hint)
    if not (run / f"{tables.SLOPES.name}.parquet").is_file():
        return of_photos(run)
    found = of_audit(run)
    return found if found.page is not None and found.page.is_file() else replace(found, page=None)


def _dropped(run: Path) -> dict[str, int]:
    """Reason to number of sweeps that the last asking left out; empty if the gate was off or dropped none."""
    applied = runfolder.read_manifest(run).get("gate", {}).get("applied")
    path = run / "verdicts.parquet"
    if not applied or not path.exists():
        return {}
    frame = tables.read(tables.VERDICTS, path)
    return dict(Counter(frame.loc[~frame["kept"], "reason"]).most_common())


def answers(run: Path) -> dict[str, dict[str, int]]:
    """Classifier to status to number of pictures."""
    rows = pq.read_table(run / "asked.parquet", columns=["classifier", "status"])
    counts: dict[str, dict[str, int]] = {}
    for row in rows.group_by(["classifier", "status"]).aggregate([([], "count_all")]).to_pylist():
        counts.setdefault(row["classifier"], {})[row["status"]] = row["count_all"]
    return counts
