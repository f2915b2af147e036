"""Any run folder as the result that its audit returned, opened again."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from gslopes.core import runfolder
from gslopes.core.errors import UsageError
from gslopes.core.result import AuditResult

# Kind in run.json to the function that opens it; older runs of gslopes audit name none.
LOADERS = {
    "": "gslopes.slopes.outcome:load_audit",
    "audit": "gslopes.slopes.outcome:load_audit",
    "captions": "gslopes.frame.result:reopen",
    "captions sweep": "gslopes.frame.result:reopen",
    "contexts": "gslopes.frame.result:reopen",
    "crops": "gslopes.frame.result:reopen",
    "crops sweep": "gslopes.frame.result:reopen",
}


def load(run: str | Path) -> AuditResult:
    """Open a run folder again: the result that its audit returned, by the kind that its ``run.json`` names.

    run: of ``audit``, ``audit_contexts``, ``audit_crops`` or ``audit_captions``. Nothing is computed or written.

    Raises: UsageError if it is no such folder, or is not finished; TableError if a table is damaged.

        audit = gslopes.load("RUN")
        audit.findings, audit.summary, audit.page
    """
    folder = Path(run)
    kind = runfolder.read_manifest(folder).get("kind", "")
    if kind not in LOADERS:
        known = ", ".join(name or "audit" for name in LOADERS)
        raise UsageError(f"{runfolder.show(folder)} is a run of the kind {kind!r}.", f"Kinds that open: {known}.")
    module, _, name = LOADERS[kind].partition(":")
    try:
        result: AuditResult = getattr(import_module(module), name)(folder)
    except KeyError as error:
        hint = "Repeat the command that began it: it goes on from where it was."
        raise UsageError(f"{runfolder.show(folder)} is not finished: a table is missing.", hint) from error
    return result
