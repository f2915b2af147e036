"""Saliency models from a user's own file: the published ``.vxm`` model, ONNX and TorchScript.

A learned model does not come with gslopes: it would need recordings of human gaze, which no package brings, and
portraits with labels say nothing about gaze.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import numpy as np

from gslopes.ask.croppers import Request
from gslopes.ask.croppers.opencv import answered_map
from gslopes.ask.croppers.packages import needed
from gslopes.ask.croppers.records import SaliencyMap
from gslopes.ask.croppers.resizing import Resample, fitted
from gslopes.core.errors import ConfigError, ModelError
from gslopes.core.files import is_file, sha256_of
from gslopes.core.records import ByteArray, FloatArray

_BATCH = 16


class FastGaze:
    """``fastgaze:PATH``: a copy of the cropper's model that was published with Yee et al. 2021.

    Options: ``means=program|bgr``, ``smooth=yes``, ``size=320``, ``resample=lanczos|area``; the defaults are what the
    published program does. version: ``published``, or the sha256 of another file.

    Raises: ModelError as ``ask.croppers.vxm.read``.
    """

    def __init__(self, request: Request) -> None:

        from gslopes.ask.croppers import fastgaze, vxm

        request.only("means", "smooth", "size", "resample")
        means = request.choice("means", "program", "bgr")
        model = vxm.read(request.path())
        self.size, self.resample = int(request.number("size", 320)), _resample(request)
        self.name = request.name
        self.version = "published" if model.published else f"sha256 {model.sha256}"
        channel_means = fastgaze.PROGRAM_MEANS if means == "program" else fastgaze.PROGRAM_MEANS[::-1]
        self._device = request.device
        self._network = (
            fastgaze.FastGaze(model.layers, channel_means, smooth=request.flag("smooth")).to(request.device).eval()
        )
        self._stride = fastgaze.STRIDE

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """(H, W, 3) uint8 RGB pictures to maps of a sixteenth of the fitted picture; scores of any sign."""
        import torch

        small = [fitted(picture, self.size, self.resample) for picture in pictures]
        found: list[SaliencyMap] = []
        for _, group in groupby(zip(small, pictures, strict=True), key=lambda pair: pair[0].shape):
            pairs = list(group)
            for start in range(0, len(pairs), _BATCH):
                batch = pairs[start : start + _BATCH]
                stack = torch.from_numpy(np.stack([resized for resized, _ in batch])).to(self._device)
                with torch.inference_mode():
                    scores = self._network(stack.permute(0, 3, 1, 2).float()).cpu().numpy()
                found += [self._map(score, *pair) for score, pair in zip(scores, batch, strict=True)]
        return found

    def _map(self, scores: FloatArray, small: ByteArray, picture: ByteArray) -> SaliencyMap:
        """A cell stands for the pixel (16c + 8, 16r + 8) of the fitted picture, moved inside."""
        factor = min(picture.shape[1] / small.shape[1], picture.shape[0] / small.shape[0])
        centres = [
            np.minimum(side - 1, self._stride * np.arange(count) + self._stride // 2) * factor
            for count, side in ((scores.shape[1], small.shape[1]), (scores.shape[0], small.shape[0]))
        ]
        return SaliencyMap(scores, centres[0].astype(np.float32), centres[1].astype(np.float32))


class _ModelFile(ABC):
    """What ONNX and TorchScript share.

    Options: ``size`` (pixels of the longer side; 0: as it is), ``mean``, ``std`` (three numbers with / between them, of
    255), ``order=rgb|bgr``, ``log=yes`` (the map is a log density: the softmax temperature is 1), ``resample``.
    """

    def __init__(self, request: Request) -> None:
        request.only("size", "mean", "std", "order", "log", "resample")
        self.name = request.name
        path = Path(request.path())
        if not is_file(path):
            raise ModelError(f"There is no model file {path}.", "Name the file of the weights.")
        self.version = f"sha256 {sha256_of(path)}"
        self.size, self.resample = int(request.number("size", 0)), _resample(request)
        self.log = request.flag("log")
        self._mean, self._std = (_three(request, key, default) for key, default in (("mean", 0.0), ("std", 255.0)))
        self._flip = request.choice("order", "rgb", "bgr") == "bgr"
        self._run = self._load(path, request.device)

    @abstractmethod
    def _load(self, path: Path, device: str) -> Any:
        """The model as a function of (1, 3, h, w) float32 to its map."""

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """(H, W, 3) uint8 RGB pictures to maps, one forward pass each: sizes differ.

        Raises: AnswerError if the model answers with anything but one map.
        """
        found = []
        for picture in pictures:
            small = fitted(picture, self.size, self.resample) if self.size else picture
            values = (small[..., ::-1] if self._flip else small).astype(np.float32)
            tensor = ((values - self._mean) / self._std).transpose(2, 0, 1)[None]
            scores = np.asarray(self._run(np.ascontiguousarray(tensor)), dtype=np.float32)
            scores = scores.reshape([side for side in scores.shape if side != 1] or [1, 1])
            found.append(answered_map(scores, picture, self.name))
        return found


class Onnx(_ModelFile):
    """``onnx:PATH``: (1, 3, h, w) float32 to one map, by ONNX Runtime."""

    def _load(self, path: Path, device: str) -> Any:
        runtime: Any = needed("onnxruntime", "onnx", self.name)
        providers = ["CUDAExecutionProvider"] if device.startswith("cuda") else []
        try:
            session = runtime.InferenceSession(str(path), providers=[*providers, "CPUExecutionProvider"])
        except Exception as error:  # the library raises its own kinds for damaged files
            raise ModelError(
                f"{path} cannot be loaded by ONNX Runtime: {error}.", "Check that it is a complete ONNX model."
            ) from error
        entry = session.get_inputs()[0].name
        return lambda tensor: session.run(None, {entry: tensor})[0]


class TorchScript(_ModelFile):
    """``torchscript:PATH``: (1, 3, h, w) float32 to one map; a program, asked for first.

    Raises: UsageError if it is not trusted, see ``ask.trust``; in ``maps`` as ``ask.program.Program``.
    """

    def __init__(self, request: Request) -> None:
        self._trust = request.trust
        super().__init__(request)

    def _load(self, path: Path, device: str) -> Any:
        from gslopes.ask.program import Program

        digest = self.version.removeprefix("sha256 ")
        self._trust.require(path, digest)
        return Program(path, digest, device)


def _resample(request: Request) -> Resample:
    return cast("Resample", request.choice("resample", "lanczos", "area"))


def _three(request: Request, key: str, default: float) -> FloatArray:
    text = request.options.get(key)
    try:
        numbers = [float(part) for part in text.split("/")] if text else [default] * 3
    except ValueError:
        numbers = []
    if len(numbers) != 3 or (key == "std" and min(numbers) <= 0):
        raise ConfigError(f"{key} of {request.name!r} is {text!r}.", "Three numbers such as 123.7/116.8/103.9.")
    return np.array(numbers, dtype=np.float32)
