"""``python:module:function``, or ``FILE.py:function``: a function of yours of a photo and a value, as an editor.

    def edit(image, value):
        return model(image, value)

It takes one picture or a list, in the forms that functions of classifiers take (``gslopes list classifiers python``),
and as ``value`` a number in the attribute's unit, the name of an end, or None: the picture without a change of it. A
parameter named ``prompt``, ``text``, ``instruction`` or ``sentence``, or the option ``prompt=FILE``, makes it an editor
of words: it is given the sentence instead. Parameters named ``attribute``, ``seed`` and ``draw`` are given, too.

For each picture it returns one of the same size: an array (H, W, 3) or (H, W), a tensor (3, H, W), a PIL image, the
bytes or the path of a file, what a pipeline of diffusers returns; None if it will not edit it. RGB. Numbers are levels,
0 to 255, if they are whole; others are shares, 0 to 1, unless they reach beyond 2. Clip what may lie outside. One that
takes ``bgr`` returns arrays in that order.

What it drew is kept, and never drawn twice, while the function is the same: by a digest of its code and of all that it
depends on, or by ``version=``. If a value has no digest, nothing is kept.
"""

import inspect
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal, Self, cast

import numpy as np

from gslopes.ask.classifiers.calling import BGR, as_function
from gslopes.ask.classifiers.python import FunctionClassifier, function_at
from gslopes.ask.editors import Wished, is_picture, kept
from gslopes.ask.names import Bounded
from gslopes.ask.pictures import png
from gslopes.core import AnswerError, ModelError, Traits, UsageError, frozen, many, read_regular
from gslopes.core.records import ByteArray, Function
from gslopes.faces.edit.protocol import PictureEditor, Wish
from gslopes.photos.decode import LARGEST_FILE

# -- the editor --------------------------------------------------------------------------------------------------------

# Part of a wish, to the names of parameters that are given it.
_PARTS = {
    "value": "value|amount|level|strength|degree|end",
    "text": "prompt|text|instruction|sentence",
    "attribute": "attribute",
    "seed": "seed",
    "draw": "draw",
}


@frozen
class PythonOptions(Bounded):
    """Which function, and what it is given.

    path: ``module:function``, or ``FILE.py:function``.  version: of it; empty: a digest of its source.
    takes: the whole photo, or a chip: the aligned face, hair to chin.  size: of a chip's side, pixels; 0: 512.
    prompt: the name, or the file, of the sentences that it is told instead of values, see ``prompts``.
    batch: pictures in one call.
    """

    path: str
    version: str = ""
    takes: Literal["photo", "chip"] = "photo"
    size: int = 0
    prompt: str = ""  # each sentence is in a name
    batch: int = 4


class FunctionEditor(Wished, FunctionClassifier):
    """A ``PictureEditor`` over a function; ``at`` a wish it is a ``records.Classifier``.

    options: but for the path.  name: empty: the function's own.

    Raises: UsageError if it cannot be told what is wished for, or needs more than that.
    """

    _editor: "FunctionEditor"
    _maker = "as_editor"
    traits = Traits(pictures=True, warns=True, cached=True)

    def __init__(self, function: Any, options: PythonOptions, name: str = "") -> None:
        self._take(options)
        self._given = _given(function, "text" if options.prompt else "value")
        self.words = bool(options.prompt) or "text" in self._given.values()
        self.seeded = "seed" in self._given.values()
        super().__init__(function, (), name, version=options.version)
        self.batch = options.batch

    def at(self, wish: Wish) -> Self:
        """Who is asked for it; the form that it takes is found once for all."""
        asked = super().at(wish)
        asked._editor = self
        asked._told = f" and {asked._main!r}"
        return asked

    @property
    def _main(self) -> Any:
        """What is wished for."""
        return self._wish.text if self.words else self._wish.value

    def _of_pictures(self) -> Function:
        function = self._function
        if not self._given:
            return lambda x: function(x, self._main)
        given = {name: getattr(self._wish, part) for name, part in self._given.items()}
        bound = inspect.signature(function).bind_partial(**given)
        return partial(function, *bound.args, **bound.kwargs)

    def _split(self, replies: Any, pictures: int) -> list[Any]:
        entries = _opened(replies)
        several = isinstance(entries, list | tuple) or getattr(entries, "ndim", 0) == 4
        if several and len(entries) == pictures:
            return list(entries)
        raise ModelError(
            f"The function returned {_spoken(entries)} for {many(pictures, 'picture')}.",
            "Return a list with one picture for each. A function of one picture names it image.",
        )

    def read(self, entries: Sequence[Any]) -> list[Any]:
        """The pictures that were returned."""
        return list(map(self._picture, entries))

    def _picture(self, entry: Any) -> Any:
        if entry is None:
            return {"refused": "the function returned None"}
        try:
            if self._forms[0][0] == BGR and getattr(entry, "shape", ())[-1:] == (3,):
                entry = entry[..., ::-1]
            return kept(file_of(entry))
        except AnswerError as error:
            return error


def _given(function: Function, main: str) -> dict[str, str]:
    """Parameters to the part of a wish that each is given; of a function that names none, the second is the main one.

    main: what must be given: its second parameter is, unless another one, or a ``text``, has the name of it.

    Raises: UsageError without one.
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled
        return {}
    if any(item.kind is item.VAR_POSITIONAL for item in parameters.values()):
        return {}
    parts = {
        parameter: part
        for parameter in parameters
        for part, pattern in _PARTS.items()
        if re.fullmatch(pattern, parameter)
    }
    if {main, "text"} & {*parts.values()}:
        return parts
    needed = [
        name
        for name, item in parameters.items()
        if item.default is item.empty and name not in parts
    ]
    if len(needed) < 2:
        raise UsageError(
            f"A function of {', '.join(parameters)} is not told which {main} is wished for.",
            f"Write def edit(image, {main}).",
        )
    return {**parts, needed[1]: main}


class PythonEditor(FunctionEditor):
    """A function by its name.  Raises: UsageError if it cannot be imported, or as ``FunctionEditor``."""

    Options = PythonOptions

    def __init__(self, name: str, options: PythonOptions, setting: Any = None) -> None:
        self._path = options.path
        super().__init__(function_at(options.path), options)
        self.name = name


def as_editor(function: Any, *, name: str = "", **options: Any) -> FunctionEditor:
    """Make an editor of a function of a picture and a value, see ``ask.editors.python``.

    name: in the tables; empty: the function's own.
    options: of ``PythonOptions``: ``version``, ``takes``, ``size``, ``prompt``, ``batch``.

    Raises: UsageError if it cannot be called so; ConfigError for an option out of its range.
    """
    function = as_function(function)
    if not callable(function):
        raise UsageError(
            f"An editor cannot be made of {type(function).__name__}.",
            "Give a name such as python:FILE.py:edit, or a function of a picture and a value.",
        )
    return FunctionEditor(function, PythonOptions("", **options), name)


def given_editor(given: Any) -> PictureEditor | None:
    """The editor that a Python object is, a function among them; None for a name, or nothing.

    Raises: UsageError for any other object, or a function that cannot be told a value.
    """
    if given is None or isinstance(given, str):
        return None
    if hasattr(given, "at") and hasattr(given, "takes"):
        return cast("PictureEditor", given)
    return as_editor(given)


# -- what it may return ------------------------------------------------------------------------------------------------


def file_of(entry: Any) -> bytes:
    """The file of the one picture that was returned for one.

    Raises: AnswerError, in a sentence that tells what it is instead.
    """
    entry = _opened(entry)
    if isinstance(entry, list | tuple) and len(entry) == 1:
        return file_of(entry[0])
    if hasattr(entry, "ndim"):
        return png(_pixels(entry))
    data = entry
    if isinstance(entry, str | os.PathLike):
        with suppress(OSError, ValueError):
            data = read_regular(os.fspath(entry), LARGEST_FILE)
    if isinstance(data, bytes) and is_picture(data):
        return data
    raise _odd(f"{_spoken(entry)}, which is no array, no image, and no PNG, JPEG or WebP file")


def _opened(entry: Any) -> Any:
    """What a pipeline returns as a list; tensors of any device and PIL images as arrays."""
    if hasattr(entry, "images"):
        return entry.images
    if inspect.isgenerator(entry):
        return list(entry)
    if hasattr(entry, "getbands"):
        return np.asarray(entry if entry.mode[0] in "FI" else entry.convert("RGBA"))
    if hasattr(entry, "detach"):
        entry = entry.detach().cpu()
        entry = entry.float() if entry.is_floating_point() else entry  # numpy has no bfloat16
    return np.asarray(entry) if hasattr(entry, "__array__") else entry


def _pixels(entry: Any) -> ByteArray:
    """An array as (H, W, 3) uint8 RGB.  Raises: AnswerError if its shape or its scale is not certain."""
    array = entry.squeeze()
    if array.ndim == 2:
        array = array[..., None]
    if array.ndim == 3 and len(array) in (3, 4) and array.shape[2] > 4:
        array = array.transpose(1, 2, 0)
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or array.dtype.kind not in "iuf":
        raise _odd(f"{_spoken(entry)}, not one of the shape (H, W, 3)")
    if not np.isin(array[..., 3:], (1, 255)).all():
        raise _odd("a picture with transparent parts: put it on the photo first")
    shares = array.dtype.kind == "f" and array.max() <= 2
    levels = np.rint(array[..., :3] * (255.0 if shares else 1.0))
    if not (levels.min() >= 0 and levels.max() <= 255):
        raise _odd(
            f"numbers from {array.min():.4g} to {array.max():.4g}: clip them to 0 to 1, or to 0 to 255"
        )
    return np.repeat(levels, 3 // levels.shape[2], 2).astype(np.uint8)


def _spoken(entry: Any) -> str:
    if hasattr(entry, "ndim"):
        return f"an array of {entry.dtype} of the shape {entry.shape}"
    if isinstance(entry, list | tuple):
        return f"a {type(entry).__name__} of {len(entry)}"
    return "nothing, it may lack its return," if entry is None else f"{str(entry)[:60]!r}"


def _odd(what: str) -> AnswerError:
    return AnswerError(f"The function returned {what}.")
