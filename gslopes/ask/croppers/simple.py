"""Croppers without a map: around faces, in the middle, anywhere, and the package smartcrop, as websites use it."""

from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
from PIL import Image

from gslopes.ask.boxes import Size, crop_rectangle
from gslopes.ask.croppers import Plain
from gslopes.core import UsageError, hexdigest
from gslopes.core.records import ByteArray, Crop, Photo


class Centre(Plain):
    """Around the middle of the picture, whatever the ratio: no saliency at all."""

    version = "1"

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle."""
        return crop_rectangle(picture.shape[1], picture.shape[0], *self._point(picture), ratio)

    def _point(self, picture: ByteArray) -> Size:
        return picture.shape[1] // 2, picture.shape[0] // 2


class Random(Centre):
    """Around a random point, the same for the same picture: the placebo."""

    def __post_init__(self) -> None:
        self.version = f"seed {self.setting.seed}"

    def _point(self, picture: ByteArray) -> Size:
        generator = np.random.default_rng([self.setting.seed, *sha256(picture.tobytes()).digest()])
        return int(generator.integers(picture.shape[1])), int(generator.integers(picture.shape[0]))


class Faces(Centre):
    """Around the face with the detector's highest score; without one, around the middle of the picture."""

    version = "mtcnn"

    def __post_init__(self) -> None:
        if self.setting.finder is None:
            raise UsageError(
                "The cropper faces needs a face detector.",
                "Pass finder=MtcnnFinder() of gslopes.faces.find.",
            )
        self._finder = self.setting.finder
        self._latest: tuple[str, Size] | None = None

    def _point(self, picture: ByteArray) -> Size:
        key = hexdigest(picture.tobytes())
        if self._latest is None or self._latest[0] != key:  # all ratios of a picture come together
            self._latest = (key, self._of_face(Photo(key, Path(), picture)))
        return self._latest[1]

    def _of_face(self, photo: Photo) -> Size:
        faces = self._finder([photo])[0]
        if not len(faces.scores):
            return super()._point(photo.pixels)
        box = faces.boxes.astype(np.float64)[int(np.argmax(faces.scores))]
        x, y = np.clip((box[:2] + box[2:]) / 2, 0, np.array(photo.pixels.shape[1::-1]) - 1)
        return int(x), int(y)


class SmartCrop(Plain):
    """The package smartcrop: edges, saturation, and closeness to one fixed skin tone, (0.78, 0.57, 0.44).

    It passes over skin darker than a fifth of full lightness: a cropper whose dependence on skin is written down.
    It works on a picture of about 100 pixels, as the package does by itself.
    """

    def __post_init__(self) -> None:
        self._module = import_module("smartcrop")
        self.version = f"smartcrop {version('smartcrop')}"

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle."""
        side = 100
        top = self._module.SmartCrop().crop(
            Image.fromarray(picture),
            width=side,
            height=max(1, int(ratio * side)),
            min_scale=1.0,
            num_scale_steps=1,
        )["top_crop"]
        return Crop(int(top["x"]), int(top["y"]), int(top["width"]), int(top["height"]))
