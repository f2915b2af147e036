"""A function of the user's own: in which form it takes pictures, and what it may return."""

from __future__ import annotations

import asyncio
import inspect
import re
import sysconfig
import traceback
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import Any

import numpy as np
from PIL import Image

from gslopes.ask.pictures import decoded
from gslopes.core.errors import AnswerError, ClassifierError, GslopesError, ModelError, UsageError
from gslopes.core.records import ByteArray
from gslopes.core.text import many

Scores = dict[str, float]
Form = tuple[str, bool]  # of ``_FORMS``, and whether a call takes a list of pictures, or one

RETURN = "Return one mapping of label to score for each picture, such as [{'smile': 0.8}, {'smile': 0.1}]."

# -- in which form it takes pictures -----------------------------------------------------------------------------------

# In the order in which they are tried: the annotations, and the words of a parameter's name, that ask for each.
_FORMS = {
    "array": (r"ndarray|NDArray|ArrayLike", {"array", "arr", "pixels"}),
    "PIL image": (r"\bImage\b", {"pil"}),
    "path": (r"\b(str|Path|PathLike)\b", {"path", "file", "filename", "filepath"}),
}
_ONE = {"picture", "photo", "image", "img", "face", "im", "pic", "array", "pixels", "path", "file", "filename"}
_SEVERAL = {"batch", "list", *(f"{word}s" for word in _ONE)}
_LIST = re.compile(r"['\"]?(typing\.|collections\.abc\.)?(list|Sequence|Iterable)\b", re.IGNORECASE)
_PROBE = 3  # pictures in a list, at least, while it is open whether a function takes lists: its answers show it


def forms_of(function: Callable[..., Any], name: str) -> list[Form]:
    """The forms in which a function may take pictures, the likeliest first.

    The annotation of its first parameter says which, then that parameter's name; what neither says is open.

    name: of the function, for messages.
    Raises: UsageError if it cannot be called with pictures alone.

    >>> forms_of(lambda img_path: {}, "f")[0], forms_of(lambda photos: [], "f")[0], forms_of(lambda x: {}, "f")[:2]
    (('path', False), ('array', True), [('array', True), ('array', False)])
    """
    parameter = _first_parameter(function, name)
    words = {word.lower() for word in re.findall("[A-Z]?[a-z]+", parameter.name)}
    known = "" if parameter.annotation is parameter.empty else inspect.formatannotation(parameter.annotation)
    stems = words | {word.removesuffix("s") for word in words}
    annotated = [kind for kind, (pattern, _) in _FORMS.items() if re.search(pattern, known)]
    kinds = sorted(_FORMS, key=lambda kind: (kind not in annotated, not stems & _FORMS[kind][1]))
    if _LIST.match(known) or words & _SEVERAL:
        return [(kind, True) for kind in kinds]
    return list(product(kinds, (False,) if annotated or words & _ONE else (True, False)))


def _first_parameter(function: Callable[..., Any], name: str) -> inspect.Parameter:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # compiled
        return inspect.Parameter("unknown", inspect.Parameter.POSITIONAL_ONLY)
    packed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [one.name for one in parameters if one.default is one.empty and one.kind not in packed]
    if len(needed) > 1:
        hint = f"Give {needed[1]} a default, or functools.partial({name}, {needed[1]}=...) a name."
        raise UsageError(f"{name} needs {' and '.join(needed)}, and is given pictures alone.", hint)
    if not parameters or parameters[0].kind in (inspect.Parameter.KEYWORD_ONLY, packed[1]):
        raise UsageError(f"{name} takes no picture.", f"Write def {name}(image).")
    return parameters[0]


def _words(form: Form) -> str:
    return f"a list of {form[0]}s" if form[1] else f"one {form[0]} at a time"


class FunctionCaller:
    """Calls a function in a form that it takes, and reads what it returns.

    Where several are possible, the first one that it answers is kept.

    labels: of numbers that it returns without names; empty if it names them.  name: of the function, for messages.
    notes: a sentence, if it takes another form than the likeliest.

    Raises: UsageError if it cannot be called with pictures alone.
    """

    def __init__(self, function: Callable[..., Any], labels: Sequence[str] = (), name: str = "The function") -> None:
        self._function, self._labels, self._name = function, tuple(labels), name
        self._forms = forms_of(function, name)
        self._answered = False  # whether it ever did: a function that fails at once is broken, not its pictures
        self._runner = asyncio.Runner()  # one for all calls: the connections of a client belong to one
        weakref.finalize(self, self._runner.close)
        self.notes: list[str] = []

    @property
    def form(self) -> str:
        """That it takes, in words; before the first answer, the likeliest."""
        return _words(self._forms[0])

    def __call__(self, pictures: Sequence[bytes]) -> list[Scores | AnswerError | None]:
        """Encoded pictures to one entry each; an AnswerError where a reply cannot be read.

        Raises: PhotoError if a picture cannot be decoded; ModelError, with the line, if the function fails before it
            ever answered, ClassifierError afterwards; ModelError if what it returns does not fit the pictures.
        """
        arrays = decoded(pictures)
        failures: dict[Form, BaseException] = {}
        for form in self._forms:
            try:
                entries = self._asked(form, pictures, arrays)
            except (Exception, SystemExit) as error:
                failures[form] = error
                if not _is_about_form(error):
                    break
            else:
                for first, why in list(failures.items())[:1]:
                    self.notes.append(
                        f"{self._name} does not take {_words(first)} ({_said(why)}). It is given {self.form}."
                    )
                self._forms, self._answered = [form], True
                return [read_entry(entry, self._labels) for entry in entries[: len(pictures)]]
        form = max(failures, key=lambda form: _reached(failures[form]))
        if isinstance(failures[form], GslopesError):
            raise failures[form]
        others = "; it fails in every other form, too" if 1 < len(failures) == len(self._forms) else ""
        size = "{1} x {0}".format(*arrays[0].shape)
        message = f"{self._name} failed: {_said(failures[form])}. It was given {_words(form)}, {size} pixels{others}."
        if self._answered:  # some picture is odd: the others go on without it
            raise ClassifierError(message) from failures[form]
        raise ModelError(message, "Mend that line and run the same command again.") from failures[form]

    def _asked(self, form: Form, pictures: Sequence[bytes], arrays: Sequence[ByteArray]) -> list[Any]:
        kind, several = form
        spare = max(0, _PROBE - len(pictures)) if several and (kind, False) in self._forms else 0
        with TemporaryDirectory() as folder:
            given: list[Any] = list(arrays)
            if kind == "PIL image":
                given = list(map(Image.fromarray, arrays))
            elif kind == "path":
                given = [
                    f"{folder}/{number}.{'png' if data[1:4] == b'PNG' else 'jpg'}"
                    for number, data in enumerate(pictures)
                ]
                for path, data in zip(given, pictures, strict=True):
                    Path(path).write_bytes(data)
            if not several:
                return [self._settled(self._function(picture)) for picture in given]
            given += given[:1] * spare
            return split_replies(self._settled(self._function(given)), len(given), self._labels)

    def _settled(self, reply: Any) -> Any:
        return self._runner.run(reply) if inspect.iscoroutine(reply) else reply


# -- what went wrong ---------------------------------------------------------------------------------------------------

_OURS, _STDLIB = f"{Path(__file__).parents[2]}/", f"{sysconfig.get_path('stdlib')}/"
_ODD = (TypeError, AttributeError, ValueError, IndexError, RuntimeError, AssertionError, ModelError)


def _is_about_form(error: BaseException) -> bool:
    """Whether a picture in another form may help: not after a missing key or a lost connection."""
    return isinstance(error, _ODD) or type(error).__module__ in ("cv2", "PIL")


def _reached(error: BaseException) -> float:
    """How far a call went: the line that was running in the function itself; infinity if it returned."""
    own = _frames(error)[1]
    return float("inf") if isinstance(error, GslopesError) else (own[0].lineno or 0) if own else 0


def _said(error: BaseException) -> str:
    if isinstance(error, GslopesError):
        return error.message.rstrip(".")
    return f"{type(error).__name__}: {shorten(str(error), 300, placeholder=' …')}{user_line(error)}"


def user_line(error: BaseException) -> str:
    """The user's own line that was running, and that of a library which raised; empty if neither was.

    Such as `` (mine.py:3: image.convert("RGB"))`` or `` (mine.py:3: load(image); raised in PIL/Image.py:9: open(f))``.
    """
    frames, own = _frames(error)
    places = [_place(frame) for frame in (*own[-1:], *frames[-1:])]
    return f" ({'; raised in '.join(dict.fromkeys(places))})" if places else ""


def _frames(error: BaseException) -> tuple[list[traceback.FrameSummary], list[traceback.FrameSummary]]:
    """(what was running below our own code, the outermost first; of that what is the user's)."""
    ours = ("<frozen", _OURS, f"{_STDLIB}importlib/")
    frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith(ours)]
    return frames, [one for one in frames if "-packages/" not in one.filename and not one.filename.startswith(_STDLIB)]


def _place(frame: traceback.FrameSummary) -> str:
    _, packages, file = frame.filename.rpartition("-packages/")
    text = f": {shorten(frame.line, 100, placeholder=' …')}" if frame.line else ""
    return f"{file if packages else Path(file).name}:{frame.lineno}{text}"


# -- what it may return ------------------------------------------------------------------------------------------------

_LABEL, _SCORE = ("label", "class", "name"), ("score", "confidence", "probability")


def split_replies(replies: Any, pictures: int, labels: Sequence[str]) -> list[Any]:
    """What was returned for a list of pictures, cut into an entry for each.  Raises: ModelError if it does not fit."""
    if replies is None:
        raise ModelError("The function returned None: it may lack its return.", RETURN)
    plain = _plain(replies)
    if isinstance(plain, Mapping):
        columns = {label: _plain(scores) for label, scores in plain.items()}
        if columns and all(isinstance(column, list) and len(column) == pictures for column in columns.values()):
            return [{label: column[i] for label, column in columns.items()} for i in range(pictures)]
        if pictures > 1:
            message = f"The function returned one mapping for {pictures} pictures."
            raise ModelError(message, f"{RETURN} A function of one picture names its parameter picture.")
        plain = [plain]
    if not isinstance(plain, list) or _pair(plain):
        raise ModelError(f"The function returned {plain!r} for {many(pictures, 'picture')}.", RETURN)
    if pictures == 1 and len(labels) == len(plain) > 1 and all(isinstance(entry, (int, float)) for entry in plain):
        return [plain]
    if len(plain) != pictures:
        message = f"The function returned {many(len(plain), 'answer')} for {many(pictures, 'picture')}."
        raise ModelError(message, f"{RETURN} In the order of the pictures.")
    return plain


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
    if isinstance(entry, str):
        return {entry: 1.0}
    if pair := _pair(entry):
        return dict([pair])
    if isinstance(entry, Mapping):
        return {str(label): _number(label, score) for label, score in entry.items()}
    items = entry if isinstance(entry, list) else [entry]
    if all(isinstance(item, str) for item in items) and (items or not labels):
        return dict.fromkeys(items, 1.0)
    if all(pairs := [_pair(item) for item in items]):
        return dict(sorted((pair for pair in pairs if pair), key=lambda pair: pair[1]))  # of a label twice, the highest
    if len(items) == 1 and isinstance(items[0], (list, Mapping)):
        return _scores(items[0], labels)
    if not all(isinstance(item, (int, float)) for item in items):
        kind = type(items[0]).__name__ if len(items) == 1 else f"{len(items)} entries of type {type(items[0]).__name__}"
        hint = ": a table has one row for a picture, a column a label" if isinstance(items[0], Mapping) else ""
        raise AnswerError(f"The function returned {kind} for a picture, not a mapping of label to score{hint}.")
    if len(items) != len(labels):
        count = "a number" if len(items) == 1 else f"{len(items)} numbers"
        known = f"there are {len(labels)} labels" if len(labels) > 1 else "no labels"
        raise AnswerError(
            f"The function returned {count} for a picture, and {known}: return a mapping such as {{'smile': 0.8}}, "
            "or give labels=FILE, in Python gslopes.as_classifier(function, labels=[...])"
        )
    return {label: float(item) for label, item in zip(labels, items, strict=True)}


def _pair(item: Any) -> tuple[str, float] | None:
    """(label, score) of ``{"label": ..., "score": ...}``, of (label, score), (score, label) or (id, label, score)."""
    if isinstance(item, Mapping):
        item = [next((item[key] for key in keys if key in item), None) for keys in (_LABEL, _SCORE)]
    if not isinstance(item, list) or len(item) not in (2, 3):
        return None
    texts = [part for part in item if isinstance(part, str)]
    numbers = [part for part in map(_plain, item) if isinstance(part, (int, float))]
    return (texts[-1], float(numbers[0])) if len(numbers) == 1 and len(texts) == len(item) - 1 else None


def _number(label: object, score: Any) -> float:
    score = _plain(score)
    while isinstance(score, list) and len(score) == 1:
        score = score[0]
    if isinstance(score, Mapping):
        inner = ", ".join(map(str, list(score)[:3]))
        raise AnswerError(f"{label!r} of what the function returned is a mapping ({inner} …): return that one alone.")
    if not isinstance(score, (int, float)):
        raise AnswerError(f"The function's score of {label!r} is {score!r}, not a number in [0, 1].")
    return float(score)


def _plain(value: Any) -> Any:
    """Arrays and tensors, of any device, as nested lists or a number; tables as rows; iterables as lists."""
    if hasattr(value, "to_dict"):  # pandas
        if hasattr(value, "columns"):
            return value.to_dict("records")
        return value.tolist() if value.index.inferred_type == "integer" else value.to_dict()
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "__array__") and not hasattr(value, "tolist"):
        value = np.asarray(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return value
    return [_plain(item) for item in value]
