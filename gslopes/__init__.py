"""gslopes: does an image classifier's answer depend on how the face in a photo looks, and by how much?

    import gslopes

    audit = gslopes.audit("photos", "run", attribute="gender", classifier="celeba-tagger")
    print(audit.slopes)  # one row a label
    print(audit.page)  # the report

Everything is imported when it is first used, so that ``import gslopes`` costs milliseconds and never loads torch.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gslopes.fit.frames import fit_slopes
    from gslopes.report import write_report
    from gslopes.run.stages import score_photos, synthesise
    from gslopes.studies.api import audit, captions, census, compare, drawn_faces, slopes
    from gslopes.studies.contexts.contexts import contexts
    from gslopes.studies.crops import crops
    from gslopes.studies.export import export

    __version__: str

_HOMES = {
    "audit": "gslopes.studies.api",
    "captions": "gslopes.studies.api",
    "census": "gslopes.studies.api",
    "compare": "gslopes.studies.api",
    "contexts": "gslopes.studies.contexts.contexts",
    "crops": "gslopes.studies.crops",
    "drawn_faces": "gslopes.studies.api",
    "export": "gslopes.studies.export",
    "fit_slopes": "gslopes.fit.frames",
    "score_photos": "gslopes.run.stages",
    "slopes": "gslopes.studies.api",
    "synthesise": "gslopes.run.stages",
    "write_report": "gslopes.report",
}
# Packages whose names are functions, too: gslopes.validate(run) and gslopes.collect(out, source=...).
_CALLED = ("collect", "train", "validate")

__all__ = [
    "__version__",
    "audit",
    "captions",
    "census",
    "collect",
    "compare",
    "contexts",
    "crops",
    "drawn_faces",
    "export",
    "fit_slopes",
    "score_photos",
    "slopes",
    "synthesise",
    "train",
    "validate",
    "write_report",
]


class _Called(ModuleType):
    """A package that can be called: the function of its name in ``gslopes.studies.api``."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return getattr(import_module("gslopes.studies.api"), self.__name__.rpartition(".")[2])(*args, **options)


class _Front(ModuleType):
    """The package itself: whenever one of ``_CALLED`` is imported, it becomes callable."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _CALLED and type(value) is ModuleType:
            value.__class__ = _Called
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Front


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("gslopes.core.runtime").gslopes_version()
    if name in _CALLED:
        return import_module(f"gslopes.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'gslopes' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if "pdoc" in sys.modules:  # it looks into a module's dictionary, and shows the packages that __all__ names
    from pkgutil import iter_modules

    for _name in __all__:
        setattr(sys.modules[__name__], _name, __getattr__(_name))
    __all__ += [found.name for found in iter_modules(__path__) if found.name not in [*__all__, "__main__"]]
