"""``python:MODULE:FUNCTION``: a function of the user's own, that answers with maps or with rectangles."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib import import_module
from inspect import Parameter, getsource, signature
from pathlib import Path
from typing import Any, cast

from gslopes.ask.croppers import Request
from gslopes.ask.croppers.opencv import answered_map
from gslopes.ask.croppers.records import Crop, Cropper, Saliency, SaliencyMap
from gslopes.core.errors import AnswerError, ConfigError, UsageError
from gslopes.core.records import ByteArray

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def load(request: Request) -> Saliency | Cropper:
    """The user's function as a cropper.

    Options: ``answers=maps`` (default) or ``rectangles``, ``version=``.

    Raises: ConfigError, UsageError if it cannot be imported.
    """
    options = request.only("answers", "version")
    module, _, name = request.path().rpartition(":")
    if not module:
        raise ConfigError(f"{request.name!r} does not name a function.", "Write python:MODULE:FUNCTION.")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        function = getattr(import_module(module), name)
    except Exception as error:  # the user's module may fail in any way
        raise UsageError(
            f"{module}:{name} cannot be imported: {type(error).__name__}: {error}.",
            "Check the name, and what the module imports.",
        ) from error
    kind = Maps if request.choice("answers", "maps", "rectangles") == "maps" else Rectangles
    return kind(function, request.name, options.get("version", ""))


def as_cropper(given: Saliency | Cropper | Callable[..., Any]) -> Saliency | Cropper:
    """A function as a cropper: of pictures to maps, or of pictures and a ratio to rectangles; a cropper as it is.

    Its name is the function's, its version a hash of its source where that is known, so that a run goes on with the
    same function alone.

    Raises: UsageError for anything else.
    """
    if hasattr(given, "maps") or hasattr(given, "crop") or hasattr(given, "at"):
        return cast("Saliency | Cropper", given)
    if not callable(given):
        raise UsageError(f"{given!r} is no cropper.", "Give a function, or an object with crop or maps.")
    name = getattr(given, "__name__", type(given).__name__)
    try:
        takes = sum(
            one.default is one.empty and one.kind in _POSITIONAL for one in signature(given).parameters.values()
        )
    except (TypeError, ValueError) as error:
        raise UsageError(f"It is unknown what {name} takes: {error}.", "Give a function written in Python.") from error
    if takes not in (1, 2):
        hint = "A function of pictures answers with maps, one of pictures and a ratio with rectangles."
        raise UsageError(f"{name} takes {takes} arguments.", hint)
    try:
        version = f"source {sha256(getsource(cast('Any', given)).encode()).hexdigest()[:12]}"
    except (OSError, TypeError):
        version = ""
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
        if isinstance(answer, Crop):
            return answer
        try:
            left, top, width, height = (int(value) for value in answer)
        except (TypeError, ValueError, OverflowError) as error:
            raise AnswerError(f"{self.name} answers with {answer!r}: not left, top, width, height.") from error
        return Crop(left, top, width, height)


def _asked(function: Callable[..., Any], pictures: list[ByteArray], name: str) -> Sequence[Any]:
    try:
        answers = list(function(pictures))
    except Exception as error:  # the user's function may fail in any way
        raise AnswerError(f"{name} failed: {type(error).__name__}: {error}.") from error
    if len(answers) != len(pictures):
        raise AnswerError(f"{name} gives {len(answers)} answers about {len(pictures)} pictures.")
    return answers
