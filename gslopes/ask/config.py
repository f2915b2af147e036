"""Who is asked, about what, and what it may cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from gslopes.core.options import check, option
from gslopes.core.records import Classifier

DEFAULT_CLASSIFIER = "celeba-tagger"
Given = str | Callable[[list[Any]], Sequence[Mapping[str, float] | None]] | Classifier


@dataclass(frozen=True, slots=True)
class CostLimits:
    """What asking may cost, and where answers are kept."""

    cache: Path | None = option(
        None,
        help="Where answers are cached.",
        metavar="DIR",
        shown="$GSLOPES_CACHE, or your cache folder",
        advanced=True,
    )
    budget: float | None = option(None, help="Stop before more than this is spent.", metavar="USD", least=0)
    confirm_above: float = option(
        10.0, help="Ask for confirmation above this cost.", metavar="USD", advanced=True, least=0
    )
    yes: bool = option(False, help="Do not ask for confirmation of the cost.", advanced=True)
    retry_failed: bool = option(False, help="Retry pictures that failed.", advanced=True)

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class ScoreConfig(CostLimits):
    """Which classifiers are asked, about what, and what that may cost."""

    classifiers: tuple[str, ...] = option(
        (),
        help="The classifier to audit; may be repeated.",
        name="classifier",
        short="c",
        shown="celeba-tagger",
    )
    placebo_sample: int = option(
        200,
        help="Photos whose placebo sweeps are asked about where asking costs money.",
        advanced=True,
        least=0,
    )
    dropped_sample: int = option(
        50,
        help="Sweeps dropped by the gate that are asked about for comparison; their answers stay out of the tables.",
        advanced=True,
        least=0,
    )
    unedited: bool = option(False, help="Ask about each photo as it was, too.", shown="with groups", advanced=True)


class CostOptions(TypedDict, total=False):
    """The fields of ``CostLimits`` as keywords."""

    cache: str | Path | None
    budget: float | None
    confirm_above: float
    yes: bool
    retry_failed: bool


def split_classifiers(classifier: Given | Sequence[Given] | None) -> tuple[tuple[str, ...], tuple[Classifier, ...]]:
    """(the names among what was given, the objects); a function becomes an object."""
    given: list[Any] = list(classifier) if isinstance(classifier, (list, tuple)) else [classifier]
    names = tuple(one for one in given if isinstance(one, str))
    objects = [one for one in given if one is not None and not isinstance(one, str)]
    if not objects:
        return names, ()
    from gslopes.ask.classifiers.in_memory import as_classifier

    return names, tuple(map(as_classifier, objects))


def load_classifiers(given: Sequence[str | Classifier], device: str, trust: bool) -> list[Classifier]:
    """Classifiers by name, their credentials not looked at yet; ready objects stay themselves.

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
