"""What an audit returns, and any finished run folder as that."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from gslopes.core import runfolder
from gslopes.core.errors import UsageError
from gslopes.core.files import read_json
from gslopes.core.result import AuditResult, Tables, found_page
from gslopes.core.runfolder import show
from gslopes.frame.findings import decide
from gslopes.frame.spec import Audit, Staged

# Kind in run.json to the audit that carries it out.
AUDITS = {
    "audit": "gslopes.slopes.audit:SLOPES",
    "captions": "gslopes.captions.audit:CAPTIONS",
    "captions sweep": "gslopes.captions.sweep:SWEEP",
    "contexts": "gslopes.contexts.audit:CONTEXTS",
    "crops": "gslopes.crops.audit:CROPS",
    "crops sweep": "gslopes.crops.sweep:SWEEP",
}


@dataclass(frozen=True, eq=False)
class Result(AuditResult):
    """What an audit found; its tables are those of its tables.toml.

    found, used: things that were looked at, and those that the numbers are about.  damaged: those that were not
    readable.  notes: sentences that a user should know.
    """

    audit: Audit
    found: int
    used: int
    damaged: int
    notes: tuple[str, ...]

    @property
    def findings(self) -> pd.DataFrame:
        """What is judged, one row each, findings first: the columns of ``core.summary.FINDINGS``."""
        return decide(self.audit.judged(self.tables))

    @property
    def review(self) -> Path | None:
        """The page on which people answer; None if the audit has none."""
        return found_page(self.folder / "review.html")

    def __str__(self) -> str:
        return self.audit.terminal(self.tables)


def load(run: str | Path) -> AuditResult:
    """Open a run folder again: the result that its audit returned, by the kind that its ``run.json`` names.

    run: of ``audit``, ``audit_contexts``, ``audit_crops`` or ``audit_captions``. Nothing is computed or written.

    Raises: UsageError if it is no such folder, or is not finished; TableError if a table is damaged.

        audit = gslopes.load("RUN")
        audit.findings, audit.summary, audit.page
    """
    folder = Path(run)
    kind = str(runfolder.read_manifest(folder).get("kind") or "audit")  # older runs of gslopes audit name none
    if kind not in AUDITS:
        raise UsageError(f"{show(folder)} is a run of the kind {kind!r}.", f"Kinds that open: {', '.join(AUDITS)}.")
    try:
        audit: Staged = find_audit(kind)
        return result_of(audit, folder) if isinstance(audit, Audit) else audit.load(folder)
    except KeyError as error:
        raise _unfinished(folder) from error


def _unfinished(folder: Path) -> UsageError:
    hint = "Repeat the command that began it: it goes on from where it was."
    return UsageError(f"{show(folder)} is not finished: a table is missing.", hint)


def result_of(audit: Audit, folder: Path) -> Result:
    """The result of an audit's run folder.  Raises: as ``load``."""
    tables = Tables(folder, {})
    try:
        counts, headline = audit.counts(tables), audit.headline(tables).sentence
    except KeyError as error:
        raise _unfinished(folder) from error
    page = found_page(folder / "report" / "index.html")
    return Result(folder, page, headline, audit, *counts, tuple(notes_of(audit, folder)))


def find_audit(name: str) -> Any:
    """The audit of a name in ``AUDITS``, imported."""
    module, _, constant = AUDITS[name].partition(":")
    return getattr(import_module(module), constant)


def notes_of(audit: Staged, folder: Path) -> list[str]:
    """The sentences for the user of the inputs, and of all stages in their order."""
    content = runfolder.read_manifest(folder)
    stamps = (folder / "parts" / f"{stage.name}.json" for stage in audit.stages)
    found = [list(content.get("notes", []))]
    found += [list(read_json(path).get("notes", [])) for path in stamps if path.is_file()]
    return [note for notes in found for note in notes]
