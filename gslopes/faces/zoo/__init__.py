"""The zoo joins models/ (what a model is), training/ (how it was made) and weights/ (what came out) by one name.

Torch is imported when a network is built, not before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gslopes.faces.zoo.home import homes
    from gslopes.faces.zoo.loading import LoadedModel, ModelEntry, build, list_models, load, load_folder
    from gslopes.faces.zoo.spec import ModelSpec, editor_for, identify, read_spec

__all__ = [
    "LoadedModel",
    "ModelEntry",
    "ModelSpec",
    "build",
    "editor_for",
    "homes",
    "identify",
    "list_models",
    "load",
    "load_folder",
    "read_spec",
]

_WHERE = {"homes": "home", "ModelSpec": "spec", "read_spec": "spec"}
_WHERE |= dict.fromkeys(("editor_for", "identify"), "spec")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"gslopes.faces.zoo.{_WHERE.get(name, 'loading')}"), name)
