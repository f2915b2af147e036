"""A user's function: in which form it takes pictures, what it returns, and where it failed."""

import inspect
import re
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from gslopes.ask.classifiers.picking import labelled
from gslopes.ask.pictures import decoded
from gslopes.core.errors import AnswerError, GslopesError, ModelError, UsageError
from gslopes.core.text import many

Scores = dict[str, float]
Form = tuple[str, bool]  # of ``_FORMS``, and whether a call takes a list of pictures, or one

# -- in which form it takes pictures -----------------------------------------------------------------------------------

# Tried in this order unless a parameter's annotation or name asks for one.
_KINDS = {
    "array": "ndarray|NDArray|arr|pixels",
    "PIL image": r"\bImage\b|pil",
    "path": r"\bstr\b|[Pp]ath|file",
}
_ONE = r"pic|photo|image|img|\bim\b|face"
_LIST = r"'?(typing\.|collections\.abc\.)?([Ll]ist|Sequence|Iterable)\b"


def forms_of(function: Callable[..., Any], name: str) -> list[Form]:
    """The forms in which a function may take pictures, the likeliest by its first parameter first.

    name: of the function, for messages.
    Raises: UsageError if it cannot be called with only pictures.

    >>> forms_of(lambda img_path: {}, "f")[0], forms_of(lambda photos: [], "f")[0], forms_of(lambda x: {}, "f")[:2]
    (('path', False), ('array', True), [('array', True), ('array', False)])
    """
    try:
        signature = inspect.signature(function)
        signature.bind("picture")
    except TypeError as error:
        raise UsageError(
            f"{name} cannot be called with a picture alone: {error}.",
            f"Give its other parameters defaults, or ask functools.partial({name}, ...).",
        ) from None
    except ValueError:  # compiled: it does not tell
        return list(product(_KINDS, (True, False)))
    parameter = next(iter(signature.parameters.values()))
    text = f"{inspect.formatannotation(parameter.annotation)} {parameter.name}"
    asked_for = [kind for kind, pattern in _KINDS.items() if re.search(pattern, text)]
    batched = (False,) if asked_for or re.search(_ONE, parameter.name) else (True, False)
    if re.match(_LIST, text) or re.search(r"(batch|list|(?<!pixel)(?<!arg)s)$", parameter.name):
        batched = (True,)
    return list(product(sorted(_KINDS, key=lambda kind: kind not in asked_for), batched))


def as_function(model: Any) -> Any:
    """A callable itself; of a class an instance; of what is not callable its ``predict`` or ``classify``."""
    model = model() if inspect.isclass(model) else model
    if callable(model):
        return model
    return getattr(model, "predict", getattr(model, "classify", model))


def spoken(form: Form) -> str:
    """A form in words."""
    if form[1]:
        return f"a list of {form[0]}s"
    return f"one {form[0]} at a time"


def in_form(pictures: Sequence[bytes], kind: str, folder: str) -> list[Any]:
    """Encoded pictures as arrays (H, W, 3) uint8 RGB, as PIL images, or as paths of copies in a folder.

    Raises: PhotoError if one cannot be decoded.
    """
    if kind == "array":
        return list(decoded(pictures))
    if kind == "PIL image":
        from PIL import Image

        return list(map(Image.fromarray, decoded(pictures)))
    paths = []
    for number, data in enumerate(pictures):
        paths.append(f"{folder}/{number}.{'png' if data[1:4] == b'PNG' else 'jpg'}")
        Path(paths[-1]).write_bytes(data)
    return paths


# -- where it failed ---------------------------------------------------------------------------------------------------

_OURS = f"{Path(__file__).parents[2]}/"
_STDLIB = f"{sysconfig.get_path('stdlib')}/"


def is_about_form(error: BaseException) -> bool:
    """Whether pictures in another form may help: not after a missing key or a lost connection."""
    kinds = (
        TypeError,
        AttributeError,
        ValueError,
        IndexError,
        RuntimeError,
        AssertionError,
        ModelError,
    )
    return isinstance(error, kinds) or type(error).__module__ == "cv2"


def reached(error: BaseException) -> float:
    """The line of the function that was running; infinity if it returned, and what it returned does not fit."""
    if isinstance(error, GslopesError):
        return np.inf
    return next((frame.lineno or 0 for frame in _frames(error)[1]), 0)


def user_line(error: BaseException) -> str:
    """The user's line that was running, and the line of a library which raised; empty if neither was.

    Such as `` (mine.py:3: image.convert("RGB"))`` or `` (mine.py:3: load(image); raised in PIL/Image.py:9: open(f))``.
    """
    frames, own = _frames(error)
    places = []
    for frame in (*own[-1:], *frames[-1:]):
        _, packages, file = frame.filename.rpartition("-packages/")
        text = f": {shorten(frame.line, 100, placeholder=' …')}" if frame.line else ""
        places.append(f"{file if packages else Path(file).name}:{frame.lineno}{text}")
    if places:
        return f" ({'; raised in '.join(dict.fromkeys(places))})"
    return ""


def _frames(error: BaseException) -> tuple[list[Any], list[Any]]:
    """(what was running below our own code, the outermost first; of that what is the user's)."""
    ours = ("<frozen", _OURS, f"{_STDLIB}importlib/")
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(ours)
    ]
    return frames, [
        frame
        for frame in frames
        if "-packages/" not in frame.filename and not frame.filename.startswith(_STDLIB)
    ]


# -- what it may return ------------------------------------------------------------------------------------------------


def split_replies(replies: Any, pictures: int, labels: Sequence[str]) -> list[Any]:
    """What was returned for a list of pictures, cut into an entry for each.  Raises: ModelError if it does not fit."""
    plain = _plain(replies)
    entries = plain if isinstance(plain, list) and not _pair(plain) else []
    what = many(len(entries), "answer") if entries else repr(plain)
    if plain is None:
        what = "nothing, it may lack its return,"
    if isinstance(plain, Mapping):
        columns = list(map(_plain, plain.values()))
        if columns and all(isinstance(one, list) and len(one) == pictures for one in columns):
            return [dict(zip(plain, row, strict=True)) for row in zip(*columns, strict=True)]
        entries = [plain]
        what = "one mapping"
    numbers = all(isinstance(entry, int | float) for entry in entries)
    if pictures == 1 and len(labels) == len(entries) > 1 and numbers:
        entries = [entries]
    if len(entries) == pictures:
        return entries
    raise ModelError(
        f"The function returned {what} for {many(pictures, 'picture')}.",
        "Return one mapping of label to score for each picture, in their order, such as [{'smile': 0.8}, "
        "{'smile': 0.1}]. A function of one picture names its parameter picture.",
    )


def read_entry(entry: Any, labels: Sequence[str] = ()) -> Scores | AnswerError | None:
    """Label to score of what was returned for one picture; None is a refusal, an AnswerError what cannot be read.

    labels: of numbers that have no names.

    >>> read_entry([{"label": "cat", "score": 0.9}]), read_entry(("cat", 0.9)), read_entry([0.2, 0.8], ["cat", "dog"])
    ({'cat': 0.9}, {'cat': 0.9}, {'cat': 0.2, 'dog': 0.8})
    """
    try:
        return None if entry is None else _scores(_plain(entry), labels)
    except AnswerError as error:
        return error


def _scores(entry: Any, labels: Sequence[str]) -> Scores:
    if isinstance(entry, Mapping) and not _pair(entry):
        return {str(label): _number(label, score) for label, score in entry.items()}
    items = entry if isinstance(entry, list) and not _pair(entry) else [entry]
    if all(isinstance(item, str) for item in items):
        return dict.fromkeys(items, 1.0)
    pairs = list(filter(None, map(_pair, items)))
    if len(pairs) == len(items):  # of a label twice, the highest
        return dict(sorted(pairs, key=lambda pair: pair[1]))
    if len(items) == 1 and isinstance(items[0], list | Mapping):
        return _scores(items[0], labels)
    if not all(isinstance(item, int | float) for item in items):
        what = (
            "a table of several rows"
            if isinstance(items[0], Mapping)
            else f"a list of {type(items[0]).__name__}"
        )
        raise AnswerError(
            f"The function returned {what} for a picture, not one mapping of label to score."
        )
    if len(items) != len(labels):
        have = f"there are {len(labels)} labels" if len(labels) > 1 else "no labels"
        raise AnswerError(
            f"The function returned {many(len(items), 'number')} for a picture, and {have}: return a mapping such as "
            "{'smile': 0.8}, or give labels=FILE, in Python gslopes.as_classifier(function, labels=[...])"
        )
    return dict(zip(labels, map(float, items), strict=True))


def _pair(item: Any) -> tuple[str, float] | None:
    """(label, score) of ``{"label": ..., "score": ...}``, of (label, score), (score, label) or (id, label, score)."""
    if isinstance(item, Mapping):
        item = labelled(item)
    if isinstance(item, list) and len(item) in (2, 3):
        texts = [part for part in item if isinstance(part, str)]
        numbers = [part for part in map(_plain, item) if isinstance(part, int | float)]
        if len(numbers) == 1 and len(texts) == len(item) - 1:
            return (texts[-1], float(numbers[0]))
    return None


def _number(label: object, score: Any) -> float:
    score = _plain(score)
    while isinstance(score, list) and len(score) == 1:
        (score,) = score
    if isinstance(score, Mapping):
        raise AnswerError(
            f"{label!r} of what the function returned is a mapping ({', '.join(map(str, list(score)[:3]))} …): "
            "return that one alone."
        )
    if not isinstance(score, int | float):
        raise AnswerError(
            f"The function's score of {label!r} is {score!r}, not a number in [0, 1]."
        )
    return float(score)


def _plain(value: Any) -> Any:
    """Arrays and tensors, of any device, as nested lists or a number; tables as rows; iterables as lists."""
    if hasattr(value, "iloc"):  # pandas
        if value.ndim == 2:
            return value.to_dict("records")
        if value.index.inferred_type == "integer":
            return value.tolist()
        return value.to_dict()
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "__array__") and not hasattr(value, "tolist"):
        value = np.asarray(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return value
    return [_plain(item) for item in value]
