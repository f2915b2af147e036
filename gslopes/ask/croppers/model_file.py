"""Saliency models from a user's own file: the published ``.vxm`` model, ONNX and TorchScript.

A learned model does not come with gslopes: it would need recordings of human gaze, which no package brings, and
portraits with labels say nothing about gaze.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gslopes.ask.classifiers.model_file import InputOptions, Program, existing
from gslopes.ask.croppers import Setting
from gslopes.ask.croppers.opencv import answered_map
from gslopes.ask.croppers.records import SaliencyMap
from gslopes.ask.croppers.resizing import fitted
from gslopes.ask.croppers.simple import needed
from gslopes.ask.names import ARGUMENT
from gslopes.core.files import sha256_of
from gslopes.core.records import ByteArray, FloatArray

_BATCH = 16


@dataclass(frozen=True, slots=True)
class FastGazeOptions:
    """path: the .vxm file.  means: subtracted as the published program does it, or in the order that it names.

    smooth: whether the smoothing layer of the file is applied, which the program reads and never applies.
    size: side of the square that a picture is fitted into, pixels.
    resample: ``lanczos`` by Pillow, or ``area`` by OpenCV, which averages pixels.
    """

    path: str = field(metadata=ARGUMENT)
    means: Literal["program", "bgr"] = "program"
    smooth: bool = False
    size: int = 320
    resample: Literal["lanczos", "area"] = "lanczos"


class FastGaze:
    """``fastgaze:PATH``: a copy of the cropper's model that was published with Yee et al. 2021.

    version: ``published``, or the sha256 of another file.

    Raises: ModelError as ``ask.croppers.vxm.read``.
    """

    Options = FastGazeOptions

    def __init__(self, name: str, options: FastGazeOptions, setting: Setting) -> None:
        from gslopes.ask.croppers import vxm

        model = vxm.read(options.path)
        self.name, self._options, self._device = name, options, setting.device
        self.version = "published" if model.published else f"sha256 {model.sha256}"
        means = vxm.PROGRAM_MEANS if options.means == "program" else vxm.PROGRAM_MEANS[::-1]
        self._network = vxm.FastGaze(model.layers, means, smooth=options.smooth).to(setting.device).eval()
        self._stride = vxm.STRIDE

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """(H, W, 3) uint8 RGB pictures to maps of a sixteenth of the fitted picture; scores of any sign."""
        import torch

        small = [fitted(picture, self._options.size, self._options.resample) for picture in pictures]
        maps: list[SaliencyMap] = []
        for _, group in groupby(zip(small, pictures, strict=True), key=lambda pair: pair[0].shape):
            pairs = list(group)
            for start in range(0, len(pairs), _BATCH):
                batch = pairs[start : start + _BATCH]
                stack = torch.from_numpy(np.stack([resized for resized, _ in batch])).to(self._device)
                with torch.inference_mode():
                    scores = self._network(stack.permute(0, 3, 1, 2).float()).cpu().numpy()
                maps += [self._map(score, *pair) for score, pair in zip(scores, batch, strict=True)]
        return maps

    def _map(self, scores: FloatArray, small: ByteArray, picture: ByteArray) -> SaliencyMap:
        """A cell stands for the pixel (16c + 8, 16r + 8) of the fitted picture, moved inside."""
        factor = min(picture.shape[1] / small.shape[1], picture.shape[0] / small.shape[0])
        centres = [
            np.minimum(side - 1, self._stride * np.arange(count) + self._stride // 2) * factor
            for count, side in ((scores.shape[1], small.shape[1]), (scores.shape[0], small.shape[0]))
        ]
        return SaliencyMap(scores, centres[0].astype(np.float32), centres[1].astype(np.float32))


@dataclass(frozen=True, slots=True)
class MapFileOptions(InputOptions):
    """Fields of ``InputOptions``; size is the longer side, 0: of the picture.

    path: the model.  log: whether the map is a log density: the softmax temperature is 1.
    """

    path: Path = field(kw_only=True, metadata=ARGUMENT)
    log: bool = False


class _ModelFile(ABC):
    """A saliency model in a file: (1, 3, h, w) float32 to one map.  Raises: ModelError if there is none."""

    Options = MapFileOptions

    def __init__(self, name: str, options: MapFileOptions, setting: Setting) -> None:
        self.name, self.log, self._options = name, options.log, options
        path = existing(options.path, "model file")
        digest = sha256_of(path)
        self.version = f"sha256 {digest}"
        self._run = self._load(path, digest, setting)

    @abstractmethod
    def _load(self, path: Path, digest: str, setting: Setting) -> Any:
        """The model as a function of (1, 3, h, w) float32 to its map."""

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """(H, W, 3) uint8 RGB pictures to maps, one forward pass each: sizes differ.

        Raises: AnswerError if the model answers with anything but one map.
        """
        maps = []
        for picture in pictures:
            small = fitted(picture, self._options.size) if self._options.size else picture
            scores = np.asarray(self._run(self._options.values(small[None])), dtype=np.float32)
            scores = scores.reshape([side for side in scores.shape if side != 1] or [1, 1])
            maps.append(answered_map(scores, picture, self.name))
        return maps


class Onnx(_ModelFile):
    """``onnx:PATH``, by ONNX Runtime."""

    def _load(self, path: Path, digest: str, setting: Setting) -> Any:
        needed("onnxruntime", "onnx", self.name)
        from gslopes.ask.classifiers.onnx import external_files, session

        del digest
        external_files(path)
        made = session(path, setting.device)
        entry = made.get_inputs()[0].name
        return lambda tensor: made.run(None, {entry: tensor})[0]


class TorchScript(_ModelFile):
    """``torchscript:PATH``, a program, asked for first.

    Raises: UsageError if it is not trusted, see ``ask.trust``; in ``maps`` as ``Program``.
    """

    def _load(self, path: Path, digest: str, setting: Setting) -> Any:
        setting.trust.require(path, digest)
        return Program(path, digest, setting.device)
