"""``python:MODULE:FUNCTION``, a function of the user's own, and ``replay:FILE``, rectangles got elsewhere.

A function takes a list of (H, W, 3) uint8 RGB pictures and returns a map each: (rows, columns), a grid over the whole
picture. With ``answers=rectangles`` it takes the height/width as well, and returns (left, top, width, height) each.

A recording has one JSON object a line; ``picture`` is ``picture_key`` of the picture that was cropped:

    {"picture": "<64 hex digits>", "ratio": 0.56, "box": [left, top, width, height]}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal, cast

from gslopes.ask.classifiers.python import function_at, function_digest, user_line
from gslopes.ask.classifiers.replay import Recording
from gslopes.ask.croppers import Setting
from gslopes.ask.croppers.opencv import answered_map
from gslopes.ask.croppers.records import Crop, Cropper, Saliency, SaliencyMap
from gslopes.ask.names import ARGUMENT
from gslopes.core.errors import AnswerError, UsageError
from gslopes.core.records import ByteArray

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class PythonCropOptions:
    """path: ``module:function``.  answers: what it returns.  version: of the function."""

    path: str = field(metadata=ARGUMENT)
    answers: Literal["maps", "rectangles"] = "maps"
    version: str = ""


class PythonCropper:
    """Makes the cropper of a function that is named.  Raises: UsageError if it cannot be imported."""

    Options = PythonCropOptions

    def __new__(cls, name: str, options: PythonCropOptions, setting: Setting) -> Any:
        """A Saliency or a Cropper."""
        del setting
        kind = Maps if options.answers == "maps" else Rectangles
        return kind(function_at(options.path), name, options.version)


def as_cropper(given: Saliency | Cropper | Callable[..., Any]) -> Saliency | Cropper:
    """A function as a cropper: of pictures to maps, or of pictures and a ratio to rectangles; a cropper stays itself.

    Its version is a digest of its source, so that a run goes on with the same function alone.

    Raises: UsageError for anything else.
    """
    if hasattr(given, "maps") or hasattr(given, "crop") or hasattr(given, "at"):
        return cast("Saliency | Cropper", given)
    if not callable(given):
        raise UsageError(f"{given!r} is no cropper.", "Give a function, or an object with crop or maps.")
    name = getattr(given, "__name__", type(given).__name__)
    parameters = signature(given).parameters.values()
    takes = sum(one.default is one.empty and one.kind in _POSITIONAL for one in parameters)
    if takes not in (1, 2):
        hint = "A function of pictures answers with maps, one of pictures and a ratio with rectangles."
        raise UsageError(f"{name} takes {takes} arguments.", hint)
    version = f"source {function_digest(given)[:12]}"
    return Maps(given, name, version) if takes == 1 else Rectangles(given, name, version)


class Maps:
    """A Saliency on a function: list of (H, W, 3) uint8 RGB pictures to one (rows, columns) array or SaliencyMap each.

    An array is taken as a grid over the whole picture.
    """

    def __init__(self, function: Callable[..., Any], name: str, version: str = "") -> None:
        self.name, self.version = name, version
        self._function = function

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """Raises: AnswerError if it does not answer with one map a picture."""
        answers = _asked(self._function, pictures, self.name)
        return [
            answer if isinstance(answer, SaliencyMap) else answered_map(answer, picture, self.name)
            for answer, picture in zip(answers, pictures, strict=True)
        ]


class Rectangles:
    """A Cropper on a function: list of pictures and ratio to one (left, top, width, height) or Crop each."""

    def __init__(self, function: Callable[..., Any], name: str, version: str = "") -> None:
        self.name, self.version = name, version
        self._function = function

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """Raises: AnswerError if it answers with anything else."""
        (answer,) = _asked(lambda pictures: self._function(pictures, ratio), [picture], self.name)
        return answer if isinstance(answer, Crop) else _crop(answer, self.name)


@dataclass(frozen=True, slots=True)
class ReplayCropOptions:
    """file: the recording."""

    file: Path = field(metadata=ARGUMENT)


class Replay:
    """A Cropper on a recording.  Raises: ModelError if the file is missing, or a line of it is no answer."""

    Options = ReplayCropOptions

    def __init__(self, name: str, options: ReplayCropOptions, setting: Setting) -> None:
        del setting
        self.name = name
        self._recording = Recording(options.file, lambda line: _key(line["picture"], float(line["ratio"])), ("box",))
        self.version = self._recording.digest[:16]

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """Raises: AnswerError if the file has no answer about the picture, or one that is no rectangle."""
        key = picture_key(picture)
        (line,) = self._recording.lines([_key(key, ratio)])
        if line is None:
            raise AnswerError(f"{self.name} has no answer about the picture {key[:12]} at the ratio {ratio:g}.")
        return _crop(line["box"], self.name)


def picture_key(picture: ByteArray) -> str:
    """The sha256 of a picture's size and pixels, hex."""
    return sha256(f"{picture.shape}".encode() + picture.tobytes()).hexdigest()


def _key(picture: str, ratio: float) -> bytes:
    return bytes.fromhex(picture) + f"{ratio:.4f}".encode()


def _crop(sides: Any, name: str) -> Crop:
    try:
        left, top, width, height = sides
        if any(int(side) != side for side in (left, top, width, height)):
            raise ValueError("halves of pixels")
    except (TypeError, ValueError, OverflowError) as error:
        raise AnswerError(f"{name} answers with {str(sides)[:80]}: not left, top, width, height.") from error
    return Crop(int(left), int(top), int(width), int(height))


def _asked(function: Callable[..., Any], pictures: list[ByteArray], name: str) -> Sequence[Any]:
    try:
        answers = list(function(pictures))
    except Exception as error:  # the user's function may fail in any way
        raise AnswerError(f"{name} failed: {type(error).__name__}: {error}{user_line(error)}.") from error
    if len(answers) != len(pictures):
        raise AnswerError(f"{name} gives {len(answers)} answers about {len(pictures)} pictures.")
    return answers
