"""``gslopes.audit_captions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gslopes.core.config import check_names

if TYPE_CHECKING:
    from gslopes.captions.audit import CaptionsAudit


def audit_captions(stages: str | Path, out: str | Path, *, progress: bool = False, **options: Any) -> CaptionsAudit:
    """Find and count the ways in which captions could harm the people depicted.

    stages: a folder whose files or sub-folders are called after the stages, a TOML file that names them, or a run of
        this audit, which is measured again with the answers of its review.
    out: the run folder, made if missing.
    options: as of ``gslopes captions --help``, with underscores: groups, columns, pairs, techniques, lists, parser, ...

    Returns a ``CaptionsAudit``: run, page, review (Paths); measures, inclusions, salience, cases, techniques
    (DataFrames); failed, the number of captions that were no text; notes. No number is a total or ranks captioners.

    Raises: UsageError, ConfigError, DataMissing, ModelError, RunFolderMismatch, StorageError.

        audit = gslopes.audit_captions("STAGES", "RUN", groups="groups.csv", techniques=("S1", "D2"))
        audit.measures, audit.cases, audit.page
    """
    from gslopes.captions import audit as study
    from gslopes.captions.config import CaptionsConfig, config_of
    from gslopes.captions.options import AuditOptions
    from gslopes.executors import OneProcess

    fields = {**CaptionsConfig.__dataclass_fields__, **AuditOptions.__dataclass_fields__}
    check_names("captions", options, set(fields) - {"options"})
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    return study.audit_captions(Path(stages), Path(out), config_of(plain), executor=OneProcess(progress=progress))
