"""``python:MODULE:FUNCTION``, a function of the user's own.

It takes a list of (H, W, 3) uint8 RGB pictures and returns a map each: (rows, columns), a grid over the whole
picture. With ``answers=rectangles`` it takes the height/width as well, and returns (left, top, width, height) each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, Literal, cast

from gslopes.ask.boxes import Crop, Cropper, Saliency, SaliencyMap, grid_map
from gslopes.ask.classifiers.python import function_at, function_digest, user_line
from gslopes.ask.classifiers.replay import crop_of
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

    def __new__(cls, name: str, options: PythonCropOptions, setting: Any) -> Any:
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


@dataclass(eq=False)
class Maps:
    """A Saliency on a function: list of (H, W, 3) uint8 RGB pictures to one (rows, columns) array or SaliencyMap each.

    An array is taken as a grid over the whole picture.
    """

    function: Callable[..., Any]
    name: str
    version: str = ""

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """Raises: AnswerError if it does not answer with one map a picture."""
        answers = _asked(self.function, pictures, self.name)
        return [
            answer if isinstance(answer, SaliencyMap) else grid_map(answer, picture, self.name)
            for answer, picture in zip(answers, pictures, strict=True)
        ]


@dataclass(eq=False)
class Rectangles:
    """A Cropper on a function: list of pictures and ratio to one (left, top, width, height) or Crop each."""

    function: Callable[..., Any]
    name: str
    version: str = ""

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """Raises: AnswerError if it answers with anything else."""
        (answer,) = _asked(lambda pictures: self.function(pictures, ratio), [picture], self.name)
        return answer if isinstance(answer, Crop) else crop_of(answer, self.name)


def _asked(function: Callable[..., Any], pictures: list[ByteArray], name: str) -> Sequence[Any]:
    try:
        answers = list(function(pictures))
    except Exception as error:  # the user's function may fail in any way
        raise AnswerError(f"{name} failed: {type(error).__name__}: {error}{user_line(error)}.") from error
    if len(answers) != len(pictures):
        raise AnswerError(f"{name} gives {len(answers)} answers about {len(pictures)} pictures.")
    return answers
