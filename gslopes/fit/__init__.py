"""Tables of answers in, slopes with their uncertainty out.  Pure arithmetic: no I/O, no clock, no device, no torch.

What needs scipy is imported when it is used: a score stage with nothing to ask only wants the options.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gslopes.fit.findings import Findings, analyse
    from gslopes.fit.frames import fit_slopes
    from gslopes.fit.options import FitOptions
    from gslopes.fit.slopes import curves, paper_slopes

__all__ = ["Findings", "FitOptions", "analyse", "curves", "fit_slopes", "paper_slopes"]

_WHERE = {"Findings": "findings", "analyse": "findings", "FitOptions": "options", "fit_slopes": "frames"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"gslopes.fit.{_WHERE.get(name, 'slopes')}"), name)


if "pdoc" in sys.modules:  # it looks into a module's dictionary
    for _name in __all__:
        setattr(sys.modules[__name__], _name, __getattr__(_name))
