"""Classifiers as a user gives them: names, functions, objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gslopes.ask.classifiers.python import Function
from gslopes.ask.trust import Trust
from gslopes.core.records import Classifier

DEFAULT_CLASSIFIER = "celeba-tagger"
Given = str | Function | Classifier


def split_classifiers(classifier: Given | Sequence[Given] | None) -> tuple[tuple[str, ...], tuple[Classifier, ...]]:
    """(the names among what was given, the objects); a function becomes an object."""
    given: list[Any] = list(classifier) if isinstance(classifier, (list, tuple)) else [classifier]
    names = tuple(one for one in given if isinstance(one, str))
    objects = [one for one in given if one is not None and not isinstance(one, str)]
    if not objects:
        return names, ()
    from gslopes.ask.classifiers.in_memory import as_classifier

    return names, tuple(map(as_classifier, objects))


def load_classifiers(given: Sequence[str | Classifier], device: str, trust: Trust) -> list[Classifier]:
    """Classifiers by name, their credentials not looked at yet; ready objects stay as they are.

    Raises: as ``ask.classifiers.load_classifier``.
    """
    from gslopes.ask.classifiers import load_classifier

    return [load_classifier(one, device, prepare=False, trust=trust) if isinstance(one, str) else one for one in given]


def canonical_names(classifiers: tuple[str, ...]) -> tuple[str, ...]:
    """Classifier names as the tables have them, each once.

    Raises: UnknownName with the nearest name, ConfigError for a bad parameter.
    """
    from gslopes.ask.classifiers import canonical_name

    return tuple(dict.fromkeys(canonical_name(name) for name in classifiers))
