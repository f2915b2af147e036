"""Croppers without a saliency model: around faces, in the middle, anywhere."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np

from gslopes.ask.croppers import Request
from gslopes.ask.croppers.geometry import crop_rectangle
from gslopes.ask.croppers.records import Crop
from gslopes.core.errors import UsageError
from gslopes.core.records import ByteArray, Photo


class Faces:
    """Around the face with the detector's highest score; ``which=largest`` or ``all``: around the middle of all faces.

    Without a face: around the middle of the picture.
    """

    def __init__(self, request: Request) -> None:
        request.only("which")
        self.which = request.choice("which", "confident", "largest", "all")
        if request.finder is None:
            raise UsageError("The cropper faces needs a face detector.", "Pass finder=find.detect.MtcnnFinder().")
        self.name = request.name
        self.version = "mtcnn"
        self._finder = request.finder
        self._seen: dict[str, tuple[int, int]] = {}

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle; faces are looked for once a picture."""
        key = sha256(picture.tobytes()).hexdigest()
        if key not in self._seen:
            self._seen = {key: self._point(picture, key)}  # all ratios of one picture come one after the other
        return crop_rectangle(picture.shape[1], picture.shape[0], *self._seen[key], ratio)

    def _point(self, picture: ByteArray, key: str) -> tuple[int, int]:
        height, width = picture.shape[:2]
        found = self._finder([Photo(key, Path(), picture)])[0]
        if not len(found.scores):
            return width // 2, height // 2
        boxes = found.boxes.astype(np.float64)
        if self.which == "all":
            box = np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])
        elif self.which == "largest":
            box = boxes[int(np.argmax((boxes[:, 2:] - boxes[:, :2]).prod(axis=1)))]
        else:
            box = boxes[int(np.argmax(found.scores))]
        x, y = (box[:2] + box[2:]) / 2
        return int(np.clip(x, 0, width - 1)), int(np.clip(y, 0, height - 1))


class Centre:
    """The middle of the picture: no saliency at all."""

    def __init__(self, request: Request) -> None:
        request.only()
        self.name, self.version = request.name, "1"

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle."""
        height, width = picture.shape[:2]
        return crop_rectangle(width, height, width // 2, height // 2, ratio)


class Random:
    """A random point, the same for the same picture: the placebo."""

    def __init__(self, request: Request) -> None:
        request.only()
        self.name, self.version = request.name, f"seed {request.seed}"
        self._seed = request.seed

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle."""
        height, width = picture.shape[:2]
        digest = sha256(picture.tobytes()).digest()
        generator = np.random.default_rng([self._seed, *digest])
        return crop_rectangle(width, height, int(generator.integers(width)), int(generator.integers(height)), ratio)
