"""What a user brings to crop with: a function, a saliency model in a file, rectangles got elsewhere.

``python:MODULE:FUNCTION`` takes a list of (H, W, 3) uint8 RGB pictures and returns a map each: (rows, columns), a grid
over the whole picture. With ``answers=rectangles`` it takes the height/width as well, and returns (left, top, width,
height) each. ``onnx:PATH`` and ``torchscript:PATH`` are saliency models; the latter is a program. ``replay:PATH`` has
one JSON object a line, ``picture`` being ``picture_key`` of the picture that was cropped:

    {"picture": "<64 hex digits>", "ratio": 0.56, "box": [left, top, width, height]}
"""

from dataclasses import dataclass, field
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from gslopes.ask.boxes import Cropper, Saliency, fitted, grid_map
from gslopes.ask.classifiers.calling import user_line
from gslopes.ask.classifiers.model_file import (
    InputOptions,
    Program,
    digest_of,
    existing,
    external_files,
    output_of,
    session,
)
from gslopes.ask.classifiers.python import function_at, identity_at, identity_of
from gslopes.ask.classifiers.replay import Recording
from gslopes.ask.croppers import Setting
from gslopes.ask.names import takes
from gslopes.core import AnswerError, ConfigError, UsageError, frozen, hexdigest
from gslopes.core.records import ByteArray, Crop, Function, SaliencyMap

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@frozen
class PythonCropOptions:
    """path: ``module:function``.  answers: what it returns.  version: of the function."""

    path: str
    answers: Literal["maps", "rectangles"] = "maps"
    version: str = ""


@takes(PythonCropOptions)
def python_cropper(name: str, options: PythonCropOptions, setting: Setting) -> "Maps | Rectangles":
    """The cropper of a function that is named.  Raises: UsageError if it cannot be imported."""
    kind = Maps if options.answers == "maps" else Rectangles
    function = function_at(options.path)
    return kind(function, name, identity_at(options.path, function, options.version).version)


def as_cropper(given: Saliency | Cropper | Function) -> Saliency | Cropper:
    """A function as a cropper: of pictures to maps, or of pictures and a ratio to rectangles; a cropper stays itself.

    Its version is a digest, so that a run goes on only with the same function, see ``core.digest``.

    Raises: UsageError for anything else.
    """
    if any(hasattr(given, name) for name in ("maps", "crop", "at")):
        return cast("Saliency | Cropper", given)
    if not callable(given):
        raise UsageError(
            f"{given!r} is not a cropper.", "Give a function, or an object with crop or maps."
        )
    name = getattr(given, "__name__", type(given).__name__)
    count = sum(
        parameter.default is parameter.empty and parameter.kind in _POSITIONAL
        for parameter in signature(given).parameters.values()
    )
    kinds: dict[int, type[Maps | Rectangles]] = {1: Maps, 2: Rectangles}
    if count not in kinds:
        raise UsageError(
            f"{name} takes {count} arguments.",
            "A function of pictures answers with maps, one of pictures and a ratio with rectangles.",
        )
    return kinds[count](given, name, identity_of(given, name).version)


@dataclass(eq=False)
class _OfFunction:
    """What answers about a list of (H, W, 3) uint8 RGB pictures."""

    function: Function
    name: str
    version: str = ""

    def _asked(self, pictures: list[ByteArray], *ratio: float) -> list[Any]:
        try:
            answers = list(self.function(pictures, *ratio))
        except AnswerError:
            raise
        except Exception as error:  # the user's function may fail in any way
            raise AnswerError(
                f"{self.name} failed: {type(error).__name__}: {error}{user_line(error)}."
            ) from error
        if len(answers) != len(pictures):
            raise AnswerError(
                f"{self.name} gives {len(answers)} answers about {len(pictures)} pictures."
            )
        return answers


class Maps(_OfFunction):
    """A Saliency on a function of pictures to one (rows, columns) array or SaliencyMap each.

    An array is taken as a grid over the whole picture.
    """

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """Raises: AnswerError if it does not answer with one map a picture."""
        return [
            answer if isinstance(answer, SaliencyMap) else grid_map(answer, picture, self.name)
            for answer, picture in zip(self._asked(pictures), pictures, strict=True)
        ]


class Rectangles(_OfFunction):
    """A Cropper on a function of pictures and a ratio to one (left, top, width, height) or Crop each."""

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """Raises: AnswerError if it answers with anything else."""
        (answer,) = self._asked([picture], ratio)
        if isinstance(answer, Crop):
            return answer
        try:
            left, top, width, height = map(_whole, answer)
        except (TypeError, ValueError, OverflowError) as error:
            raise AnswerError(
                f"{self.name} answers with {str(answer)[:80]}: not left, top, width, height."
            ) from error
        return Crop(left, top, width, height)


def _whole(side: Any) -> int:
    if int(side) != side:
        raise ValueError("half a pixel")
    return int(side)


# -- a model in a file -------------------------------------------------------------------------------------------------


@frozen
class MapFileOptions(InputOptions):
    """Fields of ``InputOptions``; size is the longer side, 0: of the picture.

    path: the model.  log: whether the map is a log density: the softmax temperature is 1.
    output: of an ONNX file, which one is the map; empty: the only one that is one.
    """

    path: Path = field(kw_only=True)
    log: bool = False
    output: str = ""


class MapFile:
    """A saliency model in a file: (1, 3, h, w) float32 to one map.

    Raises: ModelError if the file is missing; UsageError if a TorchScript file is not trusted; as ``output_of``.
    """

    Options = MapFileOptions

    def __init__(self, name: str, options: MapFileOptions, setting: Setting) -> None:
        self.name = name
        self.log = options.log
        self._options = options
        path = existing(options.path, "model file")
        self._run: Any
        if name.startswith("torchscript"):
            if options.output:
                raise ConfigError("A TorchScript program has one output.", "Leave output out.")
            self._run = Program(path, setting.device, trust=setting.trust)
            self.version = f"sha256 {digest_of([path])}"
            return
        self.version = f"sha256 {digest_of([path, *external_files(path)])}"
        loaded = session(path, setting.device)
        entry = loaded.get_inputs()[0].name
        # two sides of any length, all others 1; the first is the batch
        output = output_of(
            loaded, options.output, path, lambda shape: sum(side != 1 for side in shape[1:]) == 2
        )
        self._run = lambda tensor: loaded.run([output], {entry: tensor})[0]

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """(H, W, 3) uint8 RGB pictures to maps, one forward pass each: sizes differ.

        Raises: AnswerError if the model answers with anything but one map.
        """
        maps = []
        for picture in pictures:
            small = fitted(picture, self._options.size) if self._options.size else picture
            scores = np.asarray(self._run(self._options.values(small[None])), np.float32)
            scores = scores.reshape([side for side in scores.shape if side != 1] or [1, 1])
            maps.append(grid_map(scores, picture, self.name))
        return maps


# -- a recording -------------------------------------------------------------------------------------------------------


@frozen
class ReplayCropOptions:
    """file: the recording."""

    file: Path


@takes(ReplayCropOptions)
def replay_cropper(name: str, options: ReplayCropOptions, setting: Setting) -> Rectangles:
    """The cropper of a recording.  Raises: ModelError if the file is missing, or a line holds no answer."""
    recording = Recording(
        options.file, lambda line: _key(line["picture"], float(line["ratio"])), ("box",)
    )

    def recorded(pictures: list[ByteArray], ratio: float) -> list[Any]:
        key = picture_key(pictures[0])
        (line,) = recording.lines([_key(key, ratio)])
        if line is None:
            raise AnswerError(
                f"{name} has no answer about the picture {key[:12]} at the ratio {ratio:g}."
            )
        return [line["box"]]

    return Rectangles(recorded, name, recording.digest[:16])


def picture_key(picture: ByteArray) -> str:
    """The sha256 of a picture's size and pixels, hex."""
    return hexdigest(f"{picture.shape}".encode() + picture.tobytes())


def _key(picture: str, ratio: float) -> bytes:
    return bytes.fromhex(picture) + f"{ratio:.4f}".encode()
