"""Every classifier that can be audited, by name.

A classifier is a class with a frozen dataclass ``Options`` and a constructor ``(name, options, device)``, whose
instances are ``core.records.Classifier``.  Other packages add theirs by an entry point:

    [project.entry-points."gslopes.classifiers"]
    mood = "my_package.mood:Mood"

Listing imports none of them; their libraries are imported when one is loaded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from gslopes.core.errors import ClassifierError, GslopesError, UsageError
from gslopes.core.registry import Registry, Target
from gslopes.score import names
from gslopes.score.scrub import scrub

if TYPE_CHECKING:
    from gslopes.core.records import Classifier


@dataclass(frozen=True, slots=True)
class ClassifierEntry:
    """One line of ``gslopes classifiers``.

    name: the bare name.  summary: what it is, one sentence.
    extra: what to give to ``pip install``; empty if it comes with gslopes.
    installed: whether its libraries are there (nothing is imported to find out).
    parameters: how each is written with its default, an argument or a required value in capitals; empty for other
        packages' classifiers, which are not imported.
    """

    name: str
    summary: str
    extra: str
    installed: bool
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Own:
    """A classifier of gslopes: ``path`` is module:Class, ``needs`` are the modules that its extra brings."""

    path: str
    summary: str
    parameters: tuple[str, ...]
    extra: str = ""
    needs: tuple[str, ...] = ()


_OWN: Mapping[str, _Own] = {
    "celeba-tagger": _Own(
        "gslopes.score.classifiers.celeba_tagger:CelebaTagger",
        "40 CelebA attributes, a small network that ships with gslopes.",
        ("threshold=0.5",),
    ),
    "onnx": _Own(
        "gslopes.score.classifiers.onnx:OnnxClassifier",
        "A model of yours in an ONNX file, with a labels file and its preprocessing.",
        (
            "FILE",
            "labels=LABELS",
            "threshold=0.5",
            "top_k=0",
            "activation=none",
            "size=0",
            "white=1",
            "mean=0/0/0",
            "std=1/1/1",
            "channels=rgb",
            "layout=nchw",
        ),
        extra="gslopes[onnx]",
        needs=("onnxruntime",),
    ),
}

_REGISTRY = Registry("classifier", {name: own.path for name, own in _OWN.items()}, "gslopes.classifiers")


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a classifier that declares none."""


def list_classifiers() -> list[ClassifierEntry]:
    """Every classifier, sorted by name, without importing any.

    Raises: ConfigError if two packages claim one name.
    """
    return [_entry(target) for target in _REGISTRY.targets()]


def canonical_name(text: str) -> str:
    """The one spelling of a classifier's name with its parameters, as it stands in the tables; loads no weights.

    Raises: UnknownName, ConfigError, UsageError (its extra is not installed).
    """
    base, options, _ = _resolve(text)
    return names.canonical(base, options)


def load_classifier(text: str, device: str = "cpu") -> Classifier:
    """Make a classifier ready to be asked; everything that can be wrong with it is found here, before any work.

    text: NAME[:ARGUMENT][,key=value...], see ``score.names``.  device: ``cpu`` or ``cuda[:N]``.
    Raises: UnknownName, ConfigError, UsageError (its extra is not installed), ModelError (its files),
        ClassifierError (anything else that it raises).

    >>> load_classifier("celeba-tager")
    Traceback (most recent call last):
    gslopes.core.errors.UnknownName: There is no classifier named 'celeba-tager'. Did you mean 'celeba-tagger'?
    """
    base, options, factory = _resolve(text)
    name = names.canonical(base, options)
    try:
        return cast("Classifier", factory(name, options, device))
    except GslopesError:
        raise
    except Exception as error:  # any library may be behind it; its text may hold credentials
        raise ClassifierError(
            f"The classifier {name} cannot be loaded: {scrub(f'{type(error).__name__}: {error}')}."
        ) from None


def _entry(target: Target) -> ClassifierEntry:
    own = _OWN.get(target.name)
    if own is None:
        return ClassifierEntry(target.name, target.summary, target.package, True, ())
    return ClassifierEntry(target.name, own.summary, own.extra, not _missing(own), own.parameters)


def _missing(own: _Own) -> list[str]:
    return [module for module in own.needs if find_spec(module) is None]


def _resolve(text: str) -> tuple[str, Any, Any]:
    base, items = names.split(text)
    target = _REGISTRY.find(base)
    own = _OWN.get(base)
    if own and (missing := _missing(own)):
        message = f"The classifier {base!r} needs {' and '.join(missing)}, which is not installed."
        raise UsageError(message, f"Run: pip install '{own.extra}'.")
    factory = target.load()
    kind = getattr(factory, "Options", NoOptions)
    if not callable(factory) or not dataclasses.is_dataclass(kind):
        raise UsageError(f"{target.path} of {target.package} is not a classifier class with a dataclass Options.")
    return base, names.read(cast(Any, kind), base, items), factory
