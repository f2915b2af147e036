"""What saliency models and croppers take and give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gslopes.core.records import ByteArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class SaliencyMap:
    """Where a model expects people to look in a picture.

    scores: (rows, columns) float32, any range; the largest is the most salient.
    x: (columns,) float32, y: (rows,) float32, the cells' centres, pixels of the picture given, increasing.
    """

    scores: FloatArray
    x: FloatArray
    y: FloatArray


@dataclass(frozen=True, slots=True)
class Crop:
    """What a cropper keeps of a picture: int pixels; point: the focal point x, y if it has one."""

    left: int
    top: int
    width: int
    height: int
    point: tuple[int, int] | None = None


class Saliency(Protocol):
    """A saliency model.

    name: with parameters, as given.  version: what identifies it; empty if unknown.
    maps: (H, W, 3) uint8 RGB pictures to one map each.

    Optional, for a model that sees a small version of the picture alone: ``view``, ``shrink`` and ``maps_of_shrunk``,
    see ``ask.croppers.opencv``.
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
