"""Every classifier that can be audited, by name.

A classifier is made by a class with a frozen dataclass ``Options`` and a constructor ``(name, options, device)``, or by
such a function, see ``names.takes``; it is a ``core.records.Classifier``.  Other packages add theirs by an entry point
of ``gslopes.classifiers``.  gslopes' own are in ``catalogue``; their libraries are imported when one is loaded.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from gslopes.ask import names
from gslopes.ask.classifiers.catalogue import (
    CATALOGUE,
    ClassifierEntry,
    Resolved,
    entry_of,
    manual,
    perhaps,
    registry_of,
    resolved,
)
from gslopes.ask.secrets import scrub, scrub_error
from gslopes.core import (
    ClassifierError,
    Executor,
    GslopesError,
    Names,
    UnknownName,
    check_traits,
    is_out_of_memory,
    pick_device,
    traits_of,
)
from gslopes.core.records import Able, Classifier

DEFAULT_CLASSIFIER = "celeba-tagger"
Given = str | Callable[[list[Any]], Sequence[Mapping[str, float] | None]] | Classifier
_REGISTRY = registry_of("classifier", CATALOGUE)


def list_classifiers() -> list[ClassifierEntry]:
    """Every classifier, sorted by name; imports no library, and nothing of other packages.

    Raises: ConfigError if two packages claim one name.
    """
    return [entry_of(target, CATALOGUE.get(target.name)) for target in _REGISTRY.targets()]


def manual_of(name: str) -> str:
    """How a classifier is used, in its module's own words; empty if it has none.  Raises: UnknownName, UsageError."""
    return manual(_REGISTRY.find(name))


def canonical_name(text: str) -> str:
    """The one spelling of a classifier's name with its parameters, as the tables have it; loads no weights.

    Raises: UnknownName, ConfigError, UsageError (its extra is not installed).
    """
    return _resolve(text)[0]


def split_classifiers(
    classifier: Given | Sequence[Given] | None,
) -> tuple[Names, tuple[Classifier, ...]]:
    """(the names among what was given, the objects); a function becomes an object."""
    given: list[Any] = list(classifier) if isinstance(classifier, list | tuple) else [classifier]
    names_given = tuple(item for item in given if isinstance(item, str))
    objects = [item for item in given if item is not None and not isinstance(item, str)]
    if not objects:
        return names_given, ()
    from gslopes.ask.classifiers.in_memory import as_classifier

    return names_given, tuple(map(as_classifier, objects))


def load_classifiers(
    given: Sequence[str | Classifier], device: str, trust: bool, batch: bool = False
) -> list[Classifier]:
    """Classifiers by name, their credentials not looked at yet; ready objects stay themselves.

    batch: whether all are asked by batch.

    Raises: as ``load_classifier``; ConfigError if one that is no language model is to be asked by batch.
    """
    if batch:
        given = [*map(names.by_batch, given)]
    return [
        load_classifier(item, device, prepare=False, trust=trust) if isinstance(item, str) else item
        for item in given
    ]


def load_classifier(
    text: str, device: str = "cpu", *, prepare: bool = True, trust: bool = False
) -> Classifier:
    """Make a classifier ready to be asked; everything that can be wrong with it is found here, before any work.

    text: NAME[:ARGUMENT][,key=value...], see ``ask.names``, or FILE[,key=value...]: a model in ONNX, FILE.py:FUNCTION.
    device: ``auto``, ``cpu`` or ``cuda[:N]``.
    prepare: check the credentials, too; without, it can only parse answers of earlier runs.
    trust: whether a file that is a program (``torchscript:FILE``) may run.
    Raises: UnknownName, ConfigError, UsageError (its extra is not installed, a program is not trusted), ModelError (its
        files), CredentialsError, ServiceError (withdrawn), ClassifierError (anything else that it raises).

    >>> load_classifier("celeba-tager")
    Traceback (most recent call last):
    gslopes.core.errors.UnknownName: There is no classifier named 'celeba-tager'. Did you mean 'celeba-tagger'?
    """
    name, options, factory = _resolve(text)
    listed = CATALOGUE.get(name.partition(":")[0])
    more = {"trust": trust} if listed and listed.runs_code else {}
    with _loading(name):  # torch is imported to find out which device there is
        if not (listed and (listed.late_device or listed.limits.remote)):
            device = pick_device(device)
        classifier = cast("Classifier", factory(name, options, device, **more))
        check_traits(classifier)
    if prepare:
        prepare_classifier(classifier)
    return classifier


def prepare_classifier(classifier: Classifier) -> None:
    """Check what would meet every picture, credentials above all; does nothing for a classifier without ``prepare``.

    Raises: CredentialsError, ServiceError, and as ``load_classifier``.
    """
    if traits_of(classifier).prepares:
        with _loading(classifier.name):
            cast("Able", classifier).prepare()


def new_notes(classifier: Classifier) -> list[str]:
    """What a user should know about a classifier and was not shown yet, one sentence each."""
    if not traits_of(classifier).warns:
        return []
    earlier: set[str] = classifier.__dict__.setdefault("_shown", set())
    fresh = [text for text in list(cast("Able", classifier).notes) if text not in earlier]
    earlier.update(fresh)
    return fresh


def warn_of(classifier: Classifier, executor: Executor) -> None:
    """Note what a user should know about a classifier and was not shown yet."""
    for text in new_notes(classifier):
        executor.note(text if text.startswith("batch ") else f"Warning: {text}")


@contextmanager
def _loading(name: str) -> Iterator[None]:
    try:
        yield
    except GslopesError as error:
        raise scrub_error(error) from None
    except Exception as error:  # any library may be behind it; its text may hold credentials
        if is_out_of_memory(error):
            raise MemoryError from None
        why = scrub(f"{type(error).__name__}: {error}")
        raise ClassifierError(f"The classifier {name} cannot be loaded: {why}.") from None


def _resolve(text: str) -> Resolved:
    try:
        return resolved(text, _REGISTRY, CATALOGUE)
    except UnknownName as error:
        if not error.near:
            error.hint = perhaps(text.partition(",")[0]) or error.hint
        raise
