"""gslopes: does an image classifier's answer depend on how the face in a photo looks, and by how much?

    import gslopes

    audit = gslopes.audit("photos", "run", attribute="gender", classifier="celeba-tagger")
    print(audit)  # the finding in a sentence, and the labels that are judged
    audit.findings, audit.page  # one row a label; the report

Everything is imported when it is first used, so that ``import gslopes`` costs milliseconds and never loads torch.
"""

import sys
from importlib import import_module
from typing import Any

_WINDOWS = "gslopes runs on Linux and macOS; on Windows, install it in WSL (wsl --install)."
if sys.platform == "win32":  # no fcntl: run folders and the cache are locked with it
    if sys.argv[0].endswith(("gslopes", "gslopes.exe", "-m")):  # the command: no traceback
        sys.stderr.write(f"{_WINDOWS}\n")
        sys.exit(2)
    raise ImportError(_WINDOWS)

_MODULES = {
    "as_classifier": "gslopes.ask.classifiers.in_memory",
    "as_editor": "gslopes.ask.editors.python",
    "audit": "gslopes.slopes.audit",
    "audit_captions": "gslopes.captions.audit",
    "audit_contexts": "gslopes.contexts.audit",
    "audit_crops": "gslopes.crops.audit",
    "census": "gslopes.collect.census",
    "collect_photos": "gslopes.collect.photos",
    "compare_runs": "gslopes.slopes.compare",
    "drawn_faces": "gslopes.slopes.demo",
    "export": "gslopes.export",
    "fit_slopes": "gslopes.slopes.measures.frames",
    "load": "gslopes.frame.result",
    "score_photos": "gslopes.slopes.audit",
    "synthesise": "gslopes.slopes.audit",
    "write_report": "gslopes.slopes.page",
}

__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("gslopes.core.runtime").gslopes_version()
    if name not in _MODULES:
        raise AttributeError(f"module 'gslopes' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
