"""A user's function: in which form it takes pictures, and where it failed.

Estimators of scikit-learn are functions of a list of pictures.  One is given pictures as they are, for one whose
first step makes features of them; if it takes none of these, but rows of 3 S^2 numbers, pictures of S x S pixels, at
last in rows: height, width, colour. The scale of these, 0 to 1 or 0 to 255, is the one that it learned from, if that
can be told.
"""

import inspect
import io
import math
import re
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from gslopes.ask.pictures import decoded, in_base64, kind_of, prepare
from gslopes.core import Facts, GslopesError, UsageError, read_beside
from gslopes.core.records import ByteArray, Function

_ESTIMATOR = read_beside(__file__, "estimator.toml")


class Estimator:
    """The probabilities of an estimator for a list of pictures.

    labels: of its classes.  notes: what it is given, if that is decided here.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self.__name__ = type(model).__name__
        self.labels = tuple(map(str, model.classes_))
        self.notes: list[str] = []
        steps = [step for _, step in getattr(model, "steps", [("", model)])]
        counts = [getattr(step, "n_features_in_", 0) for step in steps]
        self._side = next(filter(None, map(_side, counts)), 0)
        learned = (getattr(step, name, None) for step in steps for name in _ESTIMATOR["learned"])
        self._learned: Any = next((one for one in learned if one is not None), None)

    def __call__(self, images: Sequence[ByteArray]) -> Any:
        """(H, W, 3) uint8 RGB each, to a row of shares each."""
        side = self._side
        answer = self._model.predict_proba
        if any(np.shape(image) != (side, side, 3) for image in images):
            try:
                return answer(images)
            except ValueError:
                if not side:
                    raise
        guessed = self._learned is None
        white = 255 if guessed or np.max(self._learned) > 1 else 1
        facts = {"name": self.__name__, "side": side, "white": white}
        batch = np.stack([prepare(image, side) for image in images]) * (white / 255)
        self.notes[:] = [_ESTIMATOR["guessed" if guessed else "known"].format(**facts)]
        try:
            return answer(batch)
        except ValueError:
            return answer(batch.reshape(len(batch), -1))


def _side(count: int) -> int:
    """Of the square picture that has so many numbers; 0 if none does, or it is too small to be one."""
    side = math.isqrt(count // 3)
    return side * (side > 7 and side**2 * 3 == count)


Form = tuple[str, str]  # of ``KINDS``, and how it is given: one, a list, a stack, alone in a stack

_TOLD = read_beside(__file__, "calling.toml")
_ERRORS = _TOLD["errors"]
KINDS = _TOLD["kinds"]
BGR = "BGR array"
SEVERAL = ("list", "stack")

# -- in which form it takes pictures -----------------------------------------------------------------------------------


def forms_of(function: Function, name: str) -> list[Form]:
    """The forms in which a function may take pictures, the likeliest by its first parameter first.

    What an annotation says is not doubted; what a name says is only tried first.

    name: of the function, for messages.
    Raises: UsageError if it cannot be called with only pictures.

    >>> forms_of(lambda img_path: {}, "f")[0], forms_of(lambda photos: [], "f")[0], forms_of(lambda x: {}, "f")[:2]
    (('path', 'one'), ('array', 'list'), [('array', 'list'), ('array', 'one')])
    """
    annotation = parameter = ""
    try:
        signature = inspect.signature(function)
        signature.bind("picture")
        first = next(iter(signature.parameters.values()))
        parameter = first.name
        if first.annotation is not first.empty:
            annotation = inspect.formatannotation(first.annotation).replace("|", "or")
    except TypeError as error:
        raise UsageError(
            f"{name} cannot be called with a picture alone: {error}.",
            f"Give its other parameters defaults, or ask functools.partial({name}, ...).",
        ) from None
    except ValueError:  # compiled: it does not tell
        pass
    text = f"{parameter}|{','.join(names_in(function))}"
    named = _matching("name", text)
    annotated = _matching("annotation", f"{annotation}|{text}")
    patterns = _TOLD["number"].items()
    number = next((one for one, told in patterns if re.match(told, f"{annotation}|{text}")), "any")
    if annotated:
        return _given(sorted(annotated, key=lambda kind: kind not in named), "asked", number)
    others = [kind for kind in KINDS if kind not in named and "rare" not in KINDS[kind]]
    rest = "single" if named and number == "any" else number
    return [
        *_given(named, "asked", number),
        *_given(others, "first", rest),
        *_given(others, "last", rest),
    ]


def _matching(where: str, text: str) -> list[str]:
    """The kinds whose pattern is found before the first bar of a text, or goes on from there."""
    return [kind for kind, told in KINDS.items() if re.match(f"[^|]*?(?:{told[where]})", text)]


def _given(kinds: Sequence[str], when: str, number: str) -> list[Form]:
    """Each kind in the ways in which a parameter of that number of pictures may be given it."""
    return [
        (kind, how) for kind in kinds for how in _TOLD["ways"][KINDS[kind]["ways"]][when][number]
    ]


def names_in(function: Any) -> Sequence[str]:
    """The names that the code of a function, or of the calls of a class, uses."""
    called = function.__call__ if inspect.isclass(function) else inspect.unwrap(function)
    return getattr(getattr(called, "__code__", None), "co_names", ())


def as_function(model: Any) -> Any:
    """A callable itself; of a class an instance; an estimator's probabilities; of others the method that answers."""
    model = model() if inspect.isclass(model) else model
    if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
        return Estimator(model)
    if callable(model) or hasattr(model, "parse"):
        return model
    methods = (getattr(model, name, None) for name in _TOLD["methods"])
    return next(filter(None, methods), model)


def likeliest(candidates: Facts) -> str:
    """Of several functions and classes of one module, by their names, the one that is most likely to be asked."""
    helpers = {
        name
        for name, one in candidates.items()
        if re.search(_TOLD["helps"], f"{name}{inspect.signature(one)}")
    }
    used = {name for one in candidates.keys() - helpers for name in names_in(candidates[one])}
    return min(candidates, key=lambda name: (name in helpers, name in used))


def spoken(form: Form) -> str:
    """A form in words."""
    kind, how = form
    return str(_TOLD["words"][how].format(**KINDS[kind]))


def in_form(pictures: Sequence[bytes], form: Form, folder: str) -> list[Any]:
    """What a function is called with for encoded pictures: one argument for each of them, or one for all.

    Stacks hold pictures of one size; of pictures of several sizes each is a stack of its own.

    folder: an empty one, for copies.
    Raises: PhotoError if a picture cannot be decoded.
    """
    kind, how = form
    there: Sequence[Any] = pictures
    if kind.lower() == "path":
        there = [_copy(data, f"{folder}/{number}") for number, data in enumerate(pictures)]
    given = list(map(_MAKERS[kind], there))
    if how == "list":
        return [given]
    if how == "one":
        return given
    stack = np.stack if kind != "tensor" else import_module("torch").stack
    if how == "stack" and len({one.shape for one in given}) == 1:
        return [stack(given)]
    return [stack([one]) for one in given]


def _copy(data: bytes, place: str) -> str:
    file = f"{place}.{kind_of(data)}"
    Path(file).write_bytes(data)
    return file


def _pixels(data: bytes) -> ByteArray:
    return decoded([data])[0]


def _floats(data: bytes) -> Any:
    return _pixels(data) / np.float32(255)


# Of an encoded picture, or of the place of a copy.
_MAKERS: Mapping[str, Callable[[Any], Any]] = {
    "array": _pixels,
    BGR: lambda data: _pixels(data)[..., ::-1].copy(),  # OpenCV takes no negative strides
    "PIL image": lambda data: import_module("PIL.Image").fromarray(_pixels(data)),
    "path": str,
    "Path": Path,
    "bytes": bytes,
    "file": io.BytesIO,
    "base64": in_base64,
    "url": lambda data: f"data:image/{kind_of(data)};base64,{in_base64(data)}",
    "float array": _floats,
    "tensor": lambda data: import_module("torch").from_numpy(
        _floats(data).transpose(2, 0, 1).copy()
    ),
}


# -- where it failed ---------------------------------------------------------------------------------------------------

_OURS = f"{Path(__file__).parents[2]}/"
_STDLIB = f"{sysconfig.get_path('stdlib')}/"


def is_about_form(error: BaseException) -> bool:
    """Whether pictures in another form may help: not after a missing key, a lost connection or a full device."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    about = kinds.intersection(_ERRORS["about_form"])
    return bool(about) and not re.search(_ERRORS["elsewhere"], _described(error))


def advice(error: BaseException, everywhere: bool) -> Any:
    """What to do about an error.  everywhere: whether it fails in every form."""
    text = f"{_described(error)}{' in every form' * everywhere}"
    return next(one["hint"] for one in _ERRORS["advice"] if re.search(one["pattern"], text))


def _described(error: BaseException) -> str:
    """The names of its types, and its text."""
    return f"{' '.join(kind.__name__ for kind in type(error).__mro__)}: {error}"


def reached(error: BaseException) -> float:
    """The line of the function that was running, a little more if what it got was of a fit type.

    Infinity if the failure is not about the form, or if it returned, and what it returned does not fit.
    """
    if isinstance(error, GslopesError) or not is_about_form(error):
        return np.inf
    line = next((frame.lineno or 0 for frame in _frames(error)[1]), 0)
    return line + 0.5 * (not isinstance(error, TypeError | AttributeError))


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
