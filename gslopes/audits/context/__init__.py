"""Does the background decide who is seen?  The arithmetic of the context audit (Barlas et al. 2020).

People are put in front of stereotyped backgrounds; taggers describe them with and without.  Here are the definitions
and statistics; ``studies.contexts`` has the order of the work.  What needs scipy or OpenCV is imported when used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gslopes.audits.context.accuracy import f1
    from gslopes.audits.context.canvas import place
    from gslopes.audits.context.describe import cosine_distance, infer
    from gslopes.audits.context.typology import read_typology

__all__ = ["cosine_distance", "f1", "infer", "place", "read_typology"]

_WHERE = {
    "cosine_distance": "describe",
    "f1": "accuracy",
    "infer": "describe",
    "place": "canvas",
    "read_typology": "typology",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"gslopes.audits.context.{_WHERE[name]}"), name)


if "pdoc" in sys.modules:  # it looks into a module's dictionary
    for _name in __all__:
        setattr(sys.modules[__name__], _name, __getattr__(_name))
