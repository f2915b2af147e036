"""The place of a cut-out person on a background, and how the two become one picture.

Geometry as in the published compositing script (bottoms aligned, centred, scaled to a share of the canvas) without its
flaws: every background has exactly the canvas' size, a share that does not fit is an error, feathered edges are
resampled premultiplied and count by their opacity.

Pictures of any colour space become sRGB first, so that person and background meet in one.
"""

import math
from typing import NamedTuple

import cv2
import numpy as np

from gslopes.core import PhotoError, Reason, SkipReason
from gslopes.core.records import ByteArray, FloatArray, floats

OPAQUE = 0.5
TOLERANCE = 0.002  # of the share
LARGEST_SCALE = 1.5


class DoesNotFit(PhotoError):
    """A person would be larger than the canvas, or enlarged too far; it names the largest share that fits."""

    def __init__(self, share: float, largest: float, larger: str) -> None:
        fits = f"at most {math.floor(largest * 100) / 100:.2f} fits"
        why = f"a person share of {share:.3g} needs a cut-out {larger}; {fits}"
        super().__init__("a cut-out", SkipReason(Reason.DOES_NOT_FIT, why))


class Placement(NamedTuple):
    """The place of a cut-out: scale of its pixels, top left corner and size on the canvas, opaque pixels on it."""

    scale: float
    x: int
    y: int
    width: int
    height: int
    opaque: int


def cover(picture: ByteArray, width: int, height: int) -> ByteArray:
    """A background scaled to cover the canvas and cut to exactly its size.

    picture: (h, w, 3) uint8.  What is cut away goes evenly from both sides.
    """
    h, w = picture.shape[:2]
    scale = max(width / w, height / h)
    wide = max(width, round(w * scale))
    high = max(height, round(h * scale))
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LANCZOS4
    scaled = cv2.resize(picture, (wide, high), interpolation=method)
    x = (wide - width) // 2
    y = (high - height) // 2
    return np.ascontiguousarray(scaled[y : y + height, x : x + width], np.uint8)


def place(alpha: FloatArray, width: int, height: int, share: float = 0.25) -> Placement:
    """Where a person's cut-out goes: bottoms aligned, centred by its box, left = floor((W - w) / 2).

    alpha: (h, w) float32 in [0, 1], cut to its box.  share: opaque pixels (alpha of a half and more) over all pixels of
    the canvas.

    Raises: DoesNotFit with the largest share that would.

    >>> place(np.ones((60, 40), np.float32), 150, 100)
    Placement(scale=1.25, x=50, y=25, width=50, height=75, opaque=3750)
    """
    area = width * height
    fits = min(width / alpha.shape[1], height / alpha.shape[0])

    def size(scale: float) -> tuple[int, int]:
        return max(1, round(alpha.shape[1] * scale)), max(1, round(alpha.shape[0] * scale))

    def opaque(scale: float) -> int:
        return int((_resize(alpha, size(scale)) >= OPAQUE).sum())

    if opaque(fits) / area < share - TOLERANCE:
        most = min(opaque(fits), opaque(min(fits, LARGEST_SCALE)))
        raise DoesNotFit(share, most / area, "larger than the canvas")
    scale = math.sqrt(share * area / max(float((alpha >= OPAQUE).sum()), 1.0))
    ends = [0.0, fits]
    for _ in range(30):
        reached = opaque(scale) / area if scale <= fits else math.inf
        if abs(reached - share) <= TOLERANCE:
            break
        ends[reached >= share] = scale
        scale = sum(ends) / 2
    if scale > LARGEST_SCALE:
        raise DoesNotFit(
            share,
            opaque(LARGEST_SCALE) / area,
            f"enlarged {scale:.1f} times, more than {LARGEST_SCALE}",
        )
    wide, high = size(scale)
    return Placement(scale, (width - wide) // 2, height - high, wide, high, opaque(scale))


def _resize(layer: FloatArray, size: tuple[int, int]) -> FloatArray:
    shrinks = size[0] <= layer.shape[1]
    method = cv2.INTER_AREA if shrinks else cv2.INTER_LANCZOS4
    return floats(cv2.resize(layer, size, interpolation=method))


def resample(
    colour: ByteArray, alpha: FloatArray, where: Placement
) -> tuple[FloatArray, FloatArray]:
    """A cut-out at its size on the canvas: premultiplied colour (h, w, 3) in [0, 255] and alpha (h, w) in [0, 1].

    colour: (h, w, 3) uint8 RGB.  alpha: (h, w) float32.
    """
    size = where.width, where.height
    resized = _resize(alpha, size)
    opacity = floats(np.where(resized < 0.004, 0, np.clip(resized, 0, 1)))
    layer = _resize(floats(colour) * alpha[..., None], size)
    # Lanczos rings at the silhouette, in colour and alpha alike: the colour is their ratio
    unmixed = np.clip(layer / np.maximum(resized, 0.004)[..., None], 0, 255)
    return floats(unmixed * opacity[..., None]), opacity


def paste(
    background: ByteArray, layer: FloatArray, alpha: FloatArray, where: Placement
) -> ByteArray:
    """The person in front of the background; pixels of alpha 0 are the background's, bit for bit.

    background: (H, W, 3) uint8.  layer, alpha: as from ``resample``.
    """
    result = background.copy()
    area = slice(where.y, where.y + where.height), slice(where.x, where.x + where.width)
    mixed = layer + (1 - alpha)[..., None] * floats(background[area])
    person = alpha > 0
    result[area][person] = np.clip(np.rint(mixed), 0, 255)[person]
    return result


def box(alpha: FloatArray, least: float = 0.02) -> tuple[int, int, int, int]:
    """x0 y0 x1 y1 (exclusive) of what is not transparent.  Raises: ValueError if nothing is."""
    left, top, width, height = cv2.boundingRect((alpha > least).astype(np.uint8))
    if not width:
        raise ValueError("nothing of the picture is opaque")
    return left, top, left + width, top + height
