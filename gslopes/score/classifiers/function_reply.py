"""What a function of the user's own may take and return: what can be read in one way is read, the rest is explained.

It takes a list of pictures, or one picture at a time, and returns one entry for each: a mapping of label to score, a
label, (label, score) pairs, ``{"label": ..., "score": ...}`` records, or, where its labels are known, numbers in their
order. Arrays and tensors, (N, L), are read as rows; a mapping of label to N scores as columns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gslopes.core.errors import AnswerError, ModelError

Scores = dict[str, float]

_ONE = frozenset({"picture", "photo", "image", "img", "face", "array", "pixels", "im", "pic"})
_MANY = frozenset({"batch", "list"})
RETURN = "Return one mapping of label to score for each picture, such as [{'smile': 0.8}, {'smile': 0.1}]."


class FunctionCaller:
    """Calls a function with pictures, as a list or one by one, whichever it takes.

    function: takes (H, W, 3) uint8 RGB arrays.  labels: of numbers that it returns without names; empty if it names
        them.

    The name of its parameter decides: ``picture``, ``image`` and the like take one, a plural takes all. With any other
    name it is given the list first, and one picture if it fails on that.
    """

    def __init__(self, function: Callable[..., Any], labels: Sequence[str] = ()) -> None:
        self._function = function
        self._labels = tuple(labels)
        self._one_by_one: bool | None = takes_one(function)
        self._settled = self._one_by_one is False

    def __call__(self, pictures: list[Any]) -> list[Scores | AnswerError | None]:
        """One entry a picture; an AnswerError for what is no answer.

        Raises: ModelError if what it returns does not fit the pictures; whatever the function raises.
        """
        replies = self._replies(pictures)
        if self._one_by_one:
            entries: list[Any] = list(replies)
        else:
            entries = split_replies(replies, len(pictures), self._labels)
        return [self._read(entry) for entry in entries]

    def _replies(self, pictures: list[Any]) -> Any:
        ways = [bool(self._one_by_one)] if self._settled else [bool(self._one_by_one), not self._one_by_one]
        first: Exception | None = None
        for one_by_one in ways:
            try:
                found = [self._function(one) for one in pictures] if one_by_one else self._function(pictures)
                found = found if isinstance(found, Mapping) or hasattr(found, "shape") else _listed(found)
            except Exception as error:
                first = first or error
                continue
            self._one_by_one, self._settled = one_by_one, True
            return found
        raise first or ModelError("The function was not called.")

    def _read(self, entry: Any) -> Scores | AnswerError | None:
        try:
            return read_entry(entry, self._labels)
        except AnswerError as error:
            return error


def takes_one(function: Callable[..., Any]) -> bool | None:
    """Whether a function takes one picture, by the name of its first parameter; None if that says nothing.

    >>> takes_one(lambda picture: {}), takes_one(lambda pictures: []), takes_one(lambda x: x)
    (True, False, None)
    """
    try:
        name = next(iter(inspect.signature(function).parameters), "").lower()
    except (TypeError, ValueError):
        return None
    if name in _ONE:
        return True
    return False if name in _MANY or name.endswith("s") else None


def split_replies(replies: Any, pictures: int, labels: Sequence[str]) -> list[Any]:
    """What was returned for a list of pictures, cut into an entry for each.  Raises: ModelError if it does not fit."""
    if replies is None:
        raise ModelError("The function returned None: it may lack its return.", RETURN)
    if isinstance(replies, Mapping):
        columns = {label: _column(scores) for label, scores in replies.items()}
        if columns and all(column is not None and len(column) == pictures for column in columns.values()):
            return [{label: column[i] for label, column in columns.items() if column} for i in range(pictures)]
        if pictures == 1:
            return [replies]
        raise ModelError(
            f"The function returned one mapping for {pictures} pictures.",
            f"{RETURN} A function of one picture names its parameter picture.",
        )
    plain = _plain(replies)
    if isinstance(plain, (str, int, float)):
        raise ModelError(f"The function returned {plain!r} for {pictures} pictures.", RETURN)
    entries = list(plain)
    if pictures == 1 and len(labels) > 1 and len(entries) == len(labels) and not any(map(_sized, entries)):
        return [entries]
    if len(entries) != pictures:
        answers = "one answer" if len(entries) == 1 else f"{len(entries):,} answers"
        asked = "one picture" if pictures == 1 else f"{pictures:,} pictures"
        raise ModelError(f"The function returned {answers} for {asked}.", f"{RETURN} In the order of the pictures.")
    return entries


def read_entry(entry: Any, labels: Sequence[str] = ()) -> Scores | None:
    """Label to score of what was returned for one picture; None is a refusal.  Raises: AnswerError.

    >>> read_entry([{"label": "cat", "score": 0.9}]), read_entry("cat"), read_entry([0.2, 0.8], ["cat", "dog"])
    ({'cat': 0.9}, {'cat': 1.0}, {'cat': 0.2, 'dog': 0.8})
    """
    if entry is None:
        return None
    if isinstance(entry, Mapping) and set(entry) == {"label", "score"}:
        entry = [entry]
    if isinstance(entry, Mapping):
        return {str(label): _number(label, score) for label, score in entry.items()}
    entry = _plain(entry)
    if isinstance(entry, str):
        return {entry: 1.0}
    items = entry if isinstance(entry, list) else [entry]
    if items and all(isinstance(one, Mapping) and {"label", "score"} <= set(one) for one in items):
        return {str(one["label"]): _number(one["label"], one["score"]) for one in items}
    if items and all(isinstance(one, str) for one in items):
        return dict.fromkeys(items, 1.0)
    if items and all(isinstance(one, (list, tuple)) and len(one) == 2 and isinstance(one[0], str) for one in items):
        return {label: _number(label, score) for label, score in items}
    if len(items) == 1 and isinstance(items[0], (list, Mapping)):
        return read_entry(items[0], labels)
    return _named(items, labels)


def _named(items: Sequence[Any], labels: Sequence[str]) -> Scores:
    """Numbers in the order of the labels."""
    if not all(isinstance(one, (int, float)) for one in items):
        kind = type(items[0]).__name__ if len(items) == 1 else f"a list of {type(items[0]).__name__}"
        raise AnswerError(f"The function returned {kind} for a picture, not a mapping of label to score.")
    count = "a number" if len(items) == 1 else f"{len(items)} numbers"
    if not labels:
        raise AnswerError(
            f"The function returned {count} for a picture, and no labels: return a mapping such as {{'smile': 0.8}}, "
            "or give labels=FILE, in Python gslopes.as_classifier(function, labels=[...])"
        )
    if len(items) != len(labels):
        raise AnswerError(f"The function returned {count} for a picture, and there are {len(labels)} labels")
    return {label: float(one) for label, one in zip(labels, items, strict=True)}


def _number(label: object, score: Any) -> float:
    score = _plain(score)
    if isinstance(score, list) and len(score) == 1:
        score = score[0]
    if isinstance(score, str) or not isinstance(score, (int, float)):
        raise AnswerError(f"The function's score of {label!r} is {score!r}, not a number in [0, 1].")
    return float(score)


def _plain(value: Any) -> Any:
    """Arrays and tensors, of any device, as nested lists or a number; iterables as lists; the rest as it is."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "tolist"):
        return value.tolist()
    return _listed(value)


def _listed(value: Any) -> Any:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return value
    return [one if isinstance(one, (str, Mapping)) or one is None else _plain(one) for one in value]


def _column(scores: Any) -> list[Any] | None:
    """A list of scores; None for a single one."""
    plain = _plain(scores)
    return plain if isinstance(plain, list) else None


def _sized(entry: Any) -> bool:
    return isinstance(entry, (list, tuple, str, Mapping, np.ndarray)) or entry is None
