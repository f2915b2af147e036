"""The crop rectangle around a focal point.

Ratios are height/width throughout, as in the published program (the paper's introduction says width/height): 0.56 is a
flat preview, 2.0 a tall one. Only one dimension of a picture is ever cropped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gslopes.ask.croppers.records import Crop
from gslopes.core.errors import ConfigError

RATIOS = (0.56, 1.0, 1.14, 2.0)


@dataclass(frozen=True, slots=True)
class Box:
    """x0, y0 inside, x1, y1 outside; pixels."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def area(self) -> float:
        """0 if it is empty."""
        return max(0.0, self.x1 - self.x0) * max(0.0, self.y1 - self.y0)

    def shared(self, other: Box) -> float:
        """Area of the part that both have."""
        x0, y0 = max(self.x0, other.x0), max(self.y0, other.y0)
        return Box(x0, y0, min(self.x1, other.x1), min(self.y1, other.y1)).area

    def shifted(self, x: float, y: float) -> Box:
        """The same box, moved right by x and down by y pixels."""
        return Box(self.x0 + x, self.y0 + y, self.x1 + x, self.y1 + y)

    def scaled(self, factor: float) -> Box:
        """The same box of a picture that is ``factor`` times as large."""
        return Box(self.x0 * factor, self.y0 * factor, self.x1 * factor, self.y1 * factor)

    def holds(self, x: float, y: float) -> bool:
        """Whether the pixel lies in it."""
        return self.x0 <= x < self.x1 and self.y0 <= y < self.y1


def crop_rectangle(width: int, height: int, x: int, y: int, ratio: float) -> Crop:
    """The rectangle of this ratio around a focal point: the largest that fits, moved inside.

    width, height: of the picture, pixels.  x, y: the focal point, pixels inside it.  ratio: height/width.
    Sides are rounded as in the published program: float32, halves up. (The published Python rounds halves to even; they
    differ by a pixel in about one case of twenty.)

    Raises: ConfigError if the ratio is no positive number, or the point lies outside.

    >>> crop = crop_rectangle(1200, 800, 300, 200, 1.0)
    >>> crop.left, crop.top, crop.width, crop.height
    (0, 0, 800, 800)
    """
    if not (math.isfinite(ratio) and ratio > 0):
        check_ratio(ratio)
    if not (0 <= x < width and 0 <= y < height):
        raise ConfigError(f"The focal point ({x}, {y}) lies outside of a picture of {width} x {height} pixels.")
    if height / width > ratio:
        long = min(_rounded(np.float32(width) * np.float32(ratio)), height)
        return Crop(0, min(window(y, long, height), height - 1), width, max(long, 1), (x, y))
    long = min(_rounded(np.float32(height) / np.float32(ratio)), width)
    return Crop(min(window(x, long, width), width - 1), 0, max(long, 1), height, (x, y))


def window(centre: int, length: int, whole: int) -> int:
    """Where a window of ``length`` around ``centre`` starts, moved inside ``[0, whole)``.

    Raises: ConfigError if it is longer than the whole.
    """
    if length > whole:
        raise ConfigError(f"A window of {length} pixels does not fit into {whole}.")
    return min(max(centre - length // 2, 0), whole - length)


def check_ratio(ratio: float) -> float:
    """A ratio as users give them.  Raises: ConfigError if it is no height/width between 0.01 and 100."""
    if not (math.isfinite(ratio) and 0.01 <= ratio <= 100):
        raise ConfigError(f"The ratio {ratio} is not between 0.01 and 100.", "Ratios are height/width, such as 0.56.")
    return ratio


def _rounded(length: np.float32) -> int:
    return math.floor(float(length) + 0.5)
