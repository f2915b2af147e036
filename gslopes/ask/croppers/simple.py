"""Croppers without a map: around faces, in the middle, anywhere, and the package smartcrop, as websites use it."""

from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image

from gslopes.ask.boxes import crop_rectangle
from gslopes.ask.croppers import Setting
from gslopes.ask.names import NoOptions
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.records import ByteArray, Crop, Photo


class Faces:
    """Around the face with the detector's highest score; without one, around the middle of the picture."""

    def __init__(self, name: str, options: NoOptions, setting: Setting) -> None:
        if setting.finder is None:
            raise UsageError(
                "The cropper faces needs a face detector.",
                "Pass finder=MtcnnFinder() of gslopes.faces.find.",
            )
        self.name = name
        self.version = "mtcnn"
        self._finder = setting.finder
        self._seen: dict[str, tuple[int, int]] = {}

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle; faces are looked for once a picture."""
        key = sha256(picture.tobytes()).hexdigest()
        if key not in self._seen:
            self._seen = {
                key: self._point(picture, key)
            }  # all ratios of one picture come one after the other
        return crop_rectangle(picture.shape[1], picture.shape[0], *self._seen[key], ratio)

    def _point(self, picture: ByteArray, key: str) -> tuple[int, int]:
        height, width = picture.shape[:2]
        faces = self._finder([Photo(key, Path(), picture)])[0]
        if not len(faces.scores):
            return width // 2, height // 2
        box = faces.boxes.astype(np.float64)[int(np.argmax(faces.scores))]
        x, y = (box[:2] + box[2:]) / 2
        return int(np.clip(x, 0, width - 1)), int(np.clip(y, 0, height - 1))


class Centre:
    """The middle of the picture: no saliency at all."""

    def __init__(self, name: str, options: NoOptions, setting: Setting) -> None:
        self.name = name
        self.version = "1"

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle."""
        height, width = picture.shape[:2]
        return crop_rectangle(width, height, width // 2, height // 2, ratio)


class Random:
    """A random point, the same for the same picture: the placebo."""

    def __init__(self, name: str, options: NoOptions, setting: Setting) -> None:
        self.name = name
        self.version = f"seed {setting.seed}"
        self._seed = setting.seed

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle."""
        height, width = picture.shape[:2]
        generator = np.random.default_rng([self._seed, *sha256(picture.tobytes()).digest()])
        return crop_rectangle(
            width, height, int(generator.integers(width)), int(generator.integers(height)), ratio
        )


class SmartCrop:
    """The package smartcrop: edges, saturation, and closeness to one fixed skin tone, (0.78, 0.57, 0.44).

    It passes over skin darker than a fifth of full lightness: a cropper whose dependence on skin is written down.
    It works on a picture of about 100 pixels, as the package does by itself.
    """

    def __init__(self, name: str, options: NoOptions, setting: Setting) -> None:
        self._module = needed("smartcrop", "smartcrop", name)
        self.name = name
        self.version = f"smartcrop {version('smartcrop')}"

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle."""
        side = 100
        top: dict[str, Any] = self._module.SmartCrop().crop(
            Image.fromarray(picture),
            width=side,
            height=max(1, int(ratio * side)),
            min_scale=1.0,
            num_scale_steps=1,
        )["top_crop"]
        return Crop(int(top["x"]), int(top["y"]), int(top["width"]), int(top["height"]))


def needed(module: str, extra: str, cropper: str) -> ModuleType:
    """The module.  Raises: UsageError naming the extra if it is not installed; ConfigError if it is broken."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise UsageError(
            f"The cropper {cropper!r} needs the package {module}, which is not installed.",
            f"Run: pip install 'gslopes[{extra}]'.",
        ) from None
    except (ImportError, OSError) as error:
        raise ConfigError(
            f"The package {module} cannot be loaded: {error}.", "Reinstall it."
        ) from error
