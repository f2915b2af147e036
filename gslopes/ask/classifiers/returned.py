"""What a user's function returned: labels with their scores, in whatever shape they come."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import Any

import numpy as np

from gslopes.ask.classifiers.model_file import ACTIVATIONS
from gslopes.ask.classifiers.picking import labelled
from gslopes.core import AnswerError, Facts, ModelError, many, read_beside

Labels = Sequence[str]
Scores = dict[str, float]
Groups = dict[str, Scores]  # by the names around them; empty: none

_TOLD = read_beside(__file__, "returned.toml")
_NUMBER = (int, float)


class Reader:
    """Reads what a function returned; what its first pictures show holds for all: which numbers are percentages.

    notes: to which sentences are added.
    """

    notes: list[str]
    _own: str  # the function's name
    _labels: Labels  # of numbers that have no names
    _unit = ""  # of numbers; such are no logits
    _activation = "none"
    _percentages: set[str] | None = None

    def read(self, entries: Sequence[Any]) -> list[Any]:
        """Label to score of each; None is a refusal, an AnswerError what cannot be read."""
        passed: set[str] = set()
        plains = list(map(plain, entries))
        read = [groups_of(entry, self._labels, passed) for entry in plains]
        if self._percentages is None and any(read):
            self._look([pair for groups in read for pair in groups.items()])
            if passed:
                self._note("passed", what=", ".join(sorted(passed)))
        return list(map(self._scores, plains, read))

    def _look(self, found: Sequence[tuple[str, Scores]]) -> None:
        """Decide which groups are percentages, and note what the user should know."""
        others = {name for name, group in found if self._unit or not _percent(group)}
        self._percentages = {name for name, _ in found} - others
        if self._percentages:
            self._note("percentages")
        numbers = [list(group.values()) for name, group in found if name in others]
        odd = any(min(one) < 0 or sum(each > 1 for each in one) > 1 for one in numbers)
        if odd and not self._unit and self._activation == "none":
            self._note("numbers", low=min(map(min, numbers)), high=max(map(max, numbers)))

    def _note(self, which: str, **facts: Any) -> None:
        self.notes.append(_TOLD[which].format(name=self._own, **facts))

    def _scores(self, entry: Any, groups: Groups) -> Scores | AnswerError | None:
        if entry is None:
            return None
        if entry and not groups:
            return _odd(entry, self._labels)
        scores: Scores = {}
        for name, group in groups.items():
            percent = name in (self._percentages or ())
            values = _READ["percent" if percent else self._activation](np.array([*group.values()]))
            labels = (f"{name} {label}".lstrip() for label in group)
            scores |= dict(zip(labels, values.tolist(), strict=True))
        return scores


# Numbers themselves are read wherever they lie.
_READ: Facts = {**ACTIVATIONS, "none": np.asarray, "percent": lambda values: values / 100}


def _percent(group: Scores) -> bool:
    """Whether they are several numbers that add up to 100, but for their rounding."""
    return len(group) > 1 and abs(sum(group.values()) - 100) < 0.3


# -- one picture -------------------------------------------------------------------------------------------------------


def groups_of(entry: Any, labels: Labels, passed: set[str]) -> Groups:
    """The scores of what was returned for one picture, by the names around them; empty if there are none.

    entry: as of ``plain``.  labels: of numbers that have no names.
    passed: to which the names of what is no score are added.

    >>> groups_of([{"label": "cat", "score": 0.9}], (), set()), groups_of([0.2, 0.8], ["cat", "dog"], set())
    ({'': {'cat': 0.9}}, {'': {'cat': 0.2, 'dog': 0.8}})
    >>> groups_of({"mood": {"happy": 0.9}, "box": [1, 2]}, (), set())
    {'mood': {'happy': 0.9}}
    """
    if pairs := _pairs(entry):
        return {"": dict(pairs)}
    if isinstance(entry, Mapping):
        return _of_mapping(entry, labels, passed)
    items = entry if isinstance(entry, list) else [entry]
    if len(items) == len(labels) and _all(items, _NUMBER):
        return {"": dict(zip(labels, map(float, items), strict=True))}
    inner = [item for item in items if isinstance(item, list | Mapping)]
    if len(inner) == 1:
        return groups_of(inner[0], labels, passed)
    return {}


def _of_mapping(entry: Facts, labels: Labels, passed: set[str]) -> Groups:
    groups: Groups = {}
    for label, value in entry.items():
        while isinstance(value, list) and len(value) == 1:
            (value,) = value
        number = isinstance(value, _NUMBER)
        found = {"": {label: float(value)}} if number else groups_of(value, labels, set())
        if not found or isinstance(value, str) or re.fullmatch(_TOLD["asides"], label):
            passed.add(label)
            continue
        around = "" if number or re.fullmatch(_TOLD["wrappers"], label) else label
        for name, group in found.items():
            groups.setdefault(f"{around} {name}".strip(), {}).update(group)
    return groups


def _odd(entry: Any, labels: Labels) -> AnswerError:
    """Why there is no score in what was returned for a picture."""
    items = entry if isinstance(entry, list) else [entry]
    if isinstance(entry, Mapping):
        label, value = next(iter(entry.items()))
        return AnswerError(
            f"The function's score of {label!r} is {value!r}, not a number in [0, 1]."
        )
    if not _all(items, _NUMBER):
        what = f"a list of {type(items[0]).__name__}"
        if isinstance(items[0], Mapping):
            what = "a table of several rows"
        return AnswerError(
            f"The function returned {what} for a picture, not one mapping of label to score."
        )
    have = f"there are {len(labels)} labels" if len(labels) > 1 else "no labels"
    return AnswerError(
        f"The function returned {many(len(items), 'number')} for a picture, and {have}: return a mapping such as "
        "{'smile': 0.8}, or give labels=FILE, in Python gslopes.as_classifier(function, labels=[...])"
    )


def _all(items: Any, kind: Any) -> bool:
    """Whether it is a list with nothing else in it."""
    return isinstance(items, list) and all(isinstance(item, kind) for item in items)


def _pairs(entry: Any) -> list[tuple[str, float]]:
    """Labels with their scores, the highest last, of texts, pairs, or one column of texts and one of numbers."""
    items = entry if isinstance(entry, list) and not _pair(entry) else [entry]
    if _all(items, str):
        return [(item, 1.0) for item in items]
    pairs = list(filter(None, map(_pair, items)))
    if len(pairs) < len(items):
        columns = entry.values() if isinstance(entry, Mapping) else items
        texts, numbers = ([one for one in columns if _all(one, kind)] for kind in (str, _NUMBER))
        fit = [*map(len, texts)] == [*map(len, numbers)] and len(texts) == 1
        pairs = list(zip(texts[0], numbers[0], strict=True)) if fit else []
    return sorted(pairs, key=lambda pair: pair[1])


def _pair(item: Any) -> tuple[str, float] | None:
    """(label, score) of ``{"label": ..., "score": ...}``, of (label, score), (score, label) or (id, label, score)."""
    if isinstance(item, Mapping):
        item = labelled(item)
    if isinstance(item, list) and len(item) in (2, 3):
        texts = [part for part in item if isinstance(part, str)]
        numbers = [part for part in item if isinstance(part, _NUMBER)]
        if len(numbers) == 1 and len(texts) == len(item) - 1:
            return (texts[-1], float(numbers[0]))
    return None


# -- a list of pictures ------------------------------------------------------------------------------------------------


def split_replies(replies: Any, pictures: int, labels: Labels) -> list[Any]:
    """What was returned for a list of pictures, cut into an entry for each.  Raises: ModelError if it does not fit."""
    whole = plain(replies)
    entries = whole if isinstance(whole, list) and not _pair(whole) else []
    what = many(len(entries), "answer") if entries else repr(whole)
    if whole is None:
        what = "nothing, it may lack its return,"
    kinds = {type(one[0]) for one in entries if isinstance(one, list) and one}
    columns = entries if kinds == {str, float} else []
    mapping = isinstance(whole, Mapping)
    if mapping:
        columns = list(whole.values())
        entries = [whole]
        what = "one mapping"
    if columns and all(isinstance(one, list) and len(one) == pictures for one in columns):
        rows = map(list, zip(*columns, strict=True))
        return [dict(zip(whole, row, strict=True)) if mapping else row for row in rows]
    if pictures == 1 and len(labels) == len(entries) > 1 and _all(entries, _NUMBER):
        entries = [entries]
    if len(entries) == pictures:
        return entries
    raise ModelError(
        f"The function returned {what} for {many(pictures, 'picture')}.",
        "Return one mapping of label to score for each picture, in their order, such as [{'smile': 0.8}, "
        "{'smile': 0.1}]. A function of one picture names its parameter picture.",
    )


# -- plain values ------------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Numbers, texts, lists and mappings with names: of arrays and tensors of any device, tables, JSON, objects.

    Of the outputs of a model only the logits.
    """
    if isinstance(value, Enum):
        value = value.value if isinstance(value.value, str) else value.name
    if hasattr(value, "to_dict"):  # pandas
        value = value.to_dict(*["records"][: value.ndim - 1])
    if hasattr(value, "__array__") and not hasattr(value, "tolist"):
        value = np.asarray(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError):
            return json.loads(value)
    if isinstance(value, str | bytes | int | float):
        return value
    own = (*getattr(value, "__slots__", ()), *getattr(value, "__dict__", ()))
    names = [name for name in getattr(value, "_fields", own) if name[0] != "_"]
    value = {name: getattr(value, name) for name in names if hasattr(value, name)} or value
    if isinstance(value, Mapping):
        for name, one in value.items():
            if re.fullmatch(_TOLD["logits"], str(name)):
                return plain(one)
        if [*value] != [*range(len(value))]:
            return {str(plain(name)): plain(one) for name, one in value.items()}
        value = value.values()
    if isinstance(value, Iterable):
        return list(map(plain, value))
    return float(value) if hasattr(value, "__float__") else value
