"""gslopes: does an image classifier's answer depend on how the face in a photo looks, and by how much?

    import gslopes

    audit = gslopes.audit("photos", "run", attribute="gender", classifier="celeba-tagger")
    print(audit.summary)  # the finding in a sentence
    print(audit.findings)  # one row a label
    print(audit.page)  # the report

Everything is imported when it is first used, so that ``import gslopes`` costs milliseconds and never loads torch.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if sys.platform == "win32":  # no fcntl: run folders and the cache are locked with it
    raise ImportError("gslopes runs on Linux and macOS; on Windows, install it in WSL (wsl --install).")

if TYPE_CHECKING:
    from gslopes.captions.audit import audit_captions
    from gslopes.collect.api import census, collect_photos
    from gslopes.contexts.audit import audit_contexts
    from gslopes.core.opening import load
    from gslopes.crops.audit import audit_crops
    from gslopes.fit.frames import fit_slopes
    from gslopes.report import write_report
    from gslopes.run.compare import compare_runs
    from gslopes.run.export import export
    from gslopes.run.walk import audit, score_photos, synthesise, validate_run
    from gslopes.score.classifiers.in_memory import as_classifier
    from gslopes.synthetic.api import drawn_faces

    __version__: str

_MODULES = {
    "as_classifier": "gslopes.score.classifiers.in_memory",
    "audit": "gslopes.run.walk",
    "audit_captions": "gslopes.captions.audit",
    "audit_contexts": "gslopes.contexts.audit",
    "audit_crops": "gslopes.crops.audit",
    "census": "gslopes.collect.api",
    "collect_photos": "gslopes.collect.api",
    "compare_runs": "gslopes.run.compare",
    "drawn_faces": "gslopes.synthetic.api",
    "export": "gslopes.run.export",
    "fit_slopes": "gslopes.fit.frames",
    "load": "gslopes.core.opening",
    "score_photos": "gslopes.run.walk",
    "synthesise": "gslopes.run.walk",
    "validate_run": "gslopes.run.walk",
    "write_report": "gslopes.report",
}

__all__ = [
    "__version__",
    "as_classifier",
    "audit",
    "audit_captions",
    "audit_contexts",
    "audit_crops",
    "census",
    "collect_photos",
    "compare_runs",
    "drawn_faces",
    "export",
    "fit_slopes",
    "load",
    "score_photos",
    "synthesise",
    "validate_run",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("gslopes.core.runtime").gslopes_version()
    if name not in _MODULES:
        raise AttributeError(f"module 'gslopes' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
