"""The zoo joins models/ (what a model is), training/ (how it was made) and weights/ (what came out) by one name."""

from gslopes.zoo.build import LoadedModel, ModelEntry, build, editor_for, list_models, load, load_folder
from gslopes.zoo.home import homes
from gslopes.zoo.spec import ModelSpec, read_spec

__all__ = [
    "LoadedModel",
    "ModelEntry",
    "ModelSpec",
    "build",
    "editor_for",
    "homes",
    "list_models",
    "load",
    "load_folder",
    "read_spec",
]
