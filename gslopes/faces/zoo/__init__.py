"""The zoo joins models/ (what a model is), training/ (how it was made) and weights/ (what came out) by one name.

Torch is imported when a network is built, not before.
"""

from typing import Any

from gslopes.faces.zoo.spec import (
    ModelEntry,
    ModelSpec,
    editor_for,
    identify,
    list_models,
    read_spec,
)

__all__ = [
    "LoadedModel",
    "ModelEntry",
    "ModelSpec",
    "build",
    "editor_for",
    "identify",
    "list_models",
    "load",
    "load_folder",
    "read_spec",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gslopes.faces.zoo import loading

    return getattr(loading, name)
