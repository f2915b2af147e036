"""Training: one page of loop per network, recipes as data.

Torch is imported when a recipe is asked for, not before.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gslopes.train.recipe import Recipe, find_recipe, run_recipe

__all__ = ["Recipe", "find_recipe", "run_recipe"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("gslopes.train.recipe"), name)


if "pdoc" in sys.modules:  # it looks into a module's dictionary
    for _name in __all__:
        setattr(sys.modules[__name__], _name, __getattr__(_name))
