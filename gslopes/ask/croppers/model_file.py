"""``onnx:PATH`` and ``torchscript:PATH``: saliency models from a user's own file; the latter is a program.

A learned model does not come with gslopes: it would need recordings of human gaze, which no package brings, and
portraits with labels say nothing about gaze.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.ask.boxes import SaliencyMap, fitted, grid_map
from gslopes.ask.classifiers.model_file import InputOptions, Program, existing
from gslopes.ask.croppers import Setting
from gslopes.ask.croppers.simple import needed
from gslopes.ask.names import ARGUMENT
from gslopes.core.files import sha256_of
from gslopes.core.records import ByteArray


@dataclass(frozen=True, slots=True)
class MapFileOptions(InputOptions):
    """Fields of ``InputOptions``; size is the longer side, 0: of the picture.

    path: the model.  log: whether the map is a log density: the softmax temperature is 1.
    """

    path: Path = field(kw_only=True, metadata=ARGUMENT)
    log: bool = False


class MapFile:
    """A saliency model in a file: (1, 3, h, w) float32 to one map.

    Raises: ModelError if there is none; UsageError if a TorchScript file is not trusted.
    """

    Options = MapFileOptions

    def __init__(self, name: str, options: MapFileOptions, setting: Setting) -> None:
        self.name, self.log, self._options = name, options.log, options
        path = existing(options.path, "model file")
        self.version = f"sha256 {sha256_of(path)}"
        self._run: Any
        if name.startswith("torchscript"):
            self._run = Program(path, setting.device, trust=setting.trust)
            return
        needed("onnxruntime", "onnx", name)
        from gslopes.ask.classifiers.onnx import external_files, session

        external_files(path)
        made = session(path, setting.device)
        entry = made.get_inputs()[0].name
        self._run = lambda tensor: made.run(None, {entry: tensor})[0]

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]:
        """(H, W, 3) uint8 RGB pictures to maps, one forward pass each: sizes differ.

        Raises: AnswerError if the model answers with anything but one map.
        """
        maps = []
        for picture in pictures:
            small = fitted(picture, self._options.size) if self._options.size else picture
            scores = np.asarray(self._run(self._options.values(small[None])), dtype=np.float32)
            scores = scores.reshape([side for side in scores.shape if side != 1] or [1, 1])
            maps.append(grid_map(scores, picture, self.name))
        return maps
