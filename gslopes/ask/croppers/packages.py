"""Croppers that come as packages: smartcrop (as websites use it) and libvips' attention crop. Extras."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image

from gslopes.ask.croppers import Request
from gslopes.ask.croppers.records import Crop
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.records import ByteArray


class SmartCrop:
    """The package smartcrop: edges, saturation, and closeness to one fixed skin tone, (0.78, 0.57, 0.44).

    It passes over skin darker than a fifth of full lightness: a cropper whose dependence on skin is written down.
    prescale: as the package does it, on a picture of about 100 pixels.
    """

    def __init__(self, request: Request) -> None:
        request.only()
        self._module = needed("smartcrop", "smartcrop", request.name)
        self.name, self.version = request.name, f"smartcrop {version('smartcrop')}"

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle."""
        side = 100
        found: dict[str, Any] = self._module.SmartCrop().crop(
            Image.fromarray(picture), width=side, height=max(1, int(ratio * side)), min_scale=1.0, num_scale_steps=1
        )["top_crop"]
        return Crop(int(found["x"]), int(found["y"]), int(found["width"]), int(found["height"]))


class VipsAttention:
    """libvips' attention crop: edges, skin colour and saturation, the strategy ``attention`` of many image services."""

    interesting = "attention"

    def __init__(self, request: Request) -> None:
        request.only()
        self._vips: Any = needed("pyvips", "vips", request.name)
        self.name = request.name
        self.version = ".".join(str(self._vips.version(part)) for part in range(3))

    def crop(self, picture: ByteArray, ratio: float) -> Crop:
        """(H, W, 3) uint8 RGB to a rectangle; attention gives its point, too."""
        height, width = picture.shape[:2]
        wide, tall = (width, round(width * ratio)) if height / width > ratio else (round(height / ratio), height)
        wide, tall = min(max(wide, 1), width), min(max(tall, 1), height)
        image = self._vips.Image.new_from_array(np.ascontiguousarray(picture), interpretation="srgb")
        wanted = {"attention_x": True, "attention_y": True} if self.interesting == "attention" else {}
        found = image.smartcrop(wide, tall, interesting=self.interesting, **wanted)
        cut, extra = found if isinstance(found, list) else (found, {})
        point = (int(extra["attention_x"]), int(extra["attention_y"])) if extra else None
        return Crop(-int(cut.xoffset), -int(cut.yoffset), wide, tall, point)


class VipsEntropy(VipsAttention):
    """libvips' entropy crop: the part whose gray values differ most."""

    interesting = "entropy"


def needed(module: str, extra: str, cropper: str) -> ModuleType:
    """The module.  Raises: UsageError naming the extra if it is not installed; ConfigError if it is broken."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        message = f"The cropper {cropper!r} needs the package {module}, which is not installed."
        raise UsageError(message, f"Run: pip install 'gslopes[{extra}]'.") from None
    except (ImportError, OSError) as error:
        raise ConfigError(f"The package {module} cannot be loaded: {error}.", "Reinstall it.") from error
