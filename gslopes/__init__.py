"""gslopes: does an image classifier's answer depend on how the face in a photo looks, and by how much?

    import gslopes

    audit = gslopes.audit("photos", "run", attribute="gender", classifier="celeba-tagger")
    print(audit.slopes)  # one row a label
    print(audit.page)  # the report

Everything is imported when it is first used, so that ``import gslopes`` costs milliseconds and never loads torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gslopes.fit.frames import fit_slopes
    from gslopes.report import write_report
    from gslopes.run.stages import audit, score_photos, synthesise

    __version__: str

_HOMES = {
    "audit": "gslopes.run.stages",
    "fit_slopes": "gslopes.fit.frames",
    "score_photos": "gslopes.run.stages",
    "synthesise": "gslopes.run.stages",
    "write_report": "gslopes.report",
}

__all__ = ["__version__", "audit", "fit_slopes", "score_photos", "synthesise", "write_report"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("gslopes.core.runtime").gslopes_version()
    if name not in _HOMES:
        raise AttributeError(f"module 'gslopes' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
