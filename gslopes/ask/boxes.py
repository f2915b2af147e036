"""Rectangles and maps: what croppers and saliency models give, and the arithmetic of both.

Ratios are height/width throughout, as in the published program (the paper's introduction says width/height): 0.56 is a
flat preview, 2.0 a tall one. Only one dimension of a picture is ever cropped.
"""

import math
from typing import Any, Literal, Protocol

import numpy as np

from gslopes.core import AnswerError, ConfigError, frozen
from gslopes.core.records import ByteArray, Crop, FloatArray, SaliencyMap, floats

RATIOS = (0.56, 1.0, 1.14, 2.0)
Size = tuple[int, int]  # width, height, pixels
Sizes = tuple[Size, ...]  # of photos that are joined
RECTANGLE = "rectangle"  # what decides if a cropper gives no map, in place of a policy

# -- records -----------------------------------------------------------------------------------------------------------


class Saliency(Protocol):
    """A saliency model.

    name: with parameters, as given.  version: what identifies it; empty if unknown.
    maps: (H, W, 3) uint8 RGB pictures to one map each.

    Optional: ``log``, whether scores are log densities; ``size``, the side in pixels that pictures are fitted into; for
    a model that sees only a small version of the picture ``view``, ``shrink`` and ``maps_of_shrunk``, see
    ``ask.croppers.opencv``.
    """

    name: str
    version: str

    def maps(self, pictures: list[ByteArray]) -> list[SaliencyMap]: ...


class Cropper(Protocol):
    """Anything that answers a picture and a ratio with a rectangle.

    name: with parameters, as given.  version: what identifies it; empty if unknown.
    crop: (H, W, 3) uint8 RGB and height/width to the rectangle that it keeps.
    """

    name: str
    version: str

    def crop(self, picture: ByteArray, ratio: float) -> Crop: ...


@frozen
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

    def shared(self, other: "Box") -> float:
        """Area of the part that both have."""
        x0 = max(self.x0, other.x0)
        y0 = max(self.y0, other.y0)
        return Box(x0, y0, min(self.x1, other.x1), min(self.y1, other.y1)).area

    def shifted(self, x: float, y: float) -> "Box":
        """The same box, moved right by x and down by y pixels."""
        return Box(self.x0 + x, self.y0 + y, self.x1 + x, self.y1 + y)

    def holds(self, x: float, y: float) -> bool:
        """Whether the pixel lies in it."""
        return self.x0 <= x < self.x1 and self.y0 <= y < self.y1


# -- rectangles --------------------------------------------------------------------------------------------------------


def crop_rectangle(width: int, height: int, x: int, y: int, ratio: float) -> Crop:
    """The rectangle of this ratio around a focal point: the largest that fits, moved inside.

    width, height: of the picture, pixels.  x, y: the focal point, pixels inside it.  ratio: height/width.
    Sides are rounded as in the published program: float32, halves up. (The published Python rounds halves to even; they
    differ by a pixel in about one case of twenty.)

    Raises: ConfigError if the ratio is not a positive number, or the point lies outside.

    >>> crop = crop_rectangle(1200, 800, 300, 200, 1.0)
    >>> crop.left, crop.top, crop.width, crop.height
    (0, 0, 800, 800)
    """
    if not 0 < ratio < math.inf:
        raise ConfigError(
            f"The ratio {ratio} is not a positive number.", "Ratios are height/width, such as 0.56."
        )
    if not (0 <= x < width and 0 <= y < height):
        raise ConfigError(
            f"The focal point ({x}, {y}) lies outside of a picture of {width} x {height} pixels."
        )
    if height / width > ratio:
        long = min(math.floor(float(np.float32(width) * np.float32(ratio)) + 0.5), height)
        return Crop(
            0, min(max(y - long // 2, 0), height - long, height - 1), width, max(long, 1), (x, y)
        )
    long = min(math.floor(float(np.float32(height) / np.float32(ratio)) + 0.5), width)
    return Crop(
        min(max(x - long // 2, 0), width - long, width - 1), 0, max(long, 1), height, (x, y)
    )


# -- maps --------------------------------------------------------------------------------------------------------------


def centres(width: int, height: int, columns: int, rows: int) -> tuple[FloatArray, FloatArray]:
    """Centres of the cells of a grid over a picture, (columns,) and (rows,), pixels."""
    x = (np.arange(columns) + 0.5) * width / columns - 0.5
    y = (np.arange(rows) + 0.5) * height / rows - 0.5
    return floats(np.clip(x, 0, width - 1)), floats(np.clip(y, 0, height - 1))


def grid_map(answer: Any, picture: ByteArray, cropper: str) -> SaliencyMap:
    """Scores of a grid over the whole of a picture, (rows, columns), as its map.

    Raises: AnswerError if there are other axes than rows and columns.
    """
    scores = floats(answer)
    if scores.ndim != 2:
        raise AnswerError(
            f"{cropper} answers with an array of shape {scores.shape}: a map is rows, columns."
        )
    return SaliencyMap(scores, *centres(picture.shape[1], picture.shape[0], *scores.shape[::-1]))


# -- pictures made smaller ---------------------------------------------------------------------------------------------


def resized(
    photo: ByteArray, width: int, height: int, resample: Literal["lanczos", "area"] = "lanczos"
) -> ByteArray:
    """(height, width, 3) uint8 of a photo; the photo itself if it has this size.

    resample: ``lanczos`` by Pillow, or ``area`` by OpenCV, which averages pixels.
    """
    if photo.shape[:2] == (height, width):
        return photo
    if resample == "area":
        import cv2

        return np.asarray(
            cv2.resize(photo, (width, height), interpolation=cv2.INTER_AREA), np.uint8
        )
    from PIL import Image

    return np.asarray(Image.fromarray(photo).resize((width, height), Image.Resampling.LANCZOS))


def fitted(
    photo: ByteArray, size: int, resample: Literal["lanczos", "area"] = "lanczos"
) -> ByteArray:
    """The photo in a square of ``size`` pixels, aspect kept; small ones are enlarged."""
    height, width = photo.shape[:2]
    scale = size / max(width, height)
    return resized(photo, max(1, round(width * scale)), max(1, round(height * scale)), resample)
