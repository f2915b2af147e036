"""Which part of a photo a network sees: the places of five points of the face, in units of the picture's side."""

from typing import cast

import cv2
import numpy as np

from gslopes.core import read_beside
from gslopes.core.arrays import Array, doubles, floats
from gslopes.core.geometry import scale_of, similarity, smoothed, warp
from gslopes.core.records import ByteArray, FloatArray

_PLACES = read_beside(__file__, "frames.toml")
FRAMES = {name: doubles(points) for name, points in _PLACES["frames"].items()}
CHIP = FRAMES["chip"]

# FairFace's framing: the corners' middles are the eyes, the other points lie to them as in the editors' chip.
_CORNERS = doubles(_PLACES["corners"])
_EYES = (0.25 + (_CORNERS[:2] + _CORNERS[2:]) / 2) / 1.5
_WIDER = (_EYES[1, 0] - _EYES[0, 0]) / (CHIP[1, 0] - CHIP[0, 0])
FRAMES["fairface"] = _EYES[0] + (CHIP - CHIP[0]) * _WIDER

# CelebA-HQ's framing: a square of four times the distance between the eyes, its centre a tenth of the way from the eyes
# to the mouth; a face as in the editors' chip. Source: Karras, Aila, Laine, Lehtinen 2018, appendix C.
_SIDE = 4 * (CHIP[1, 0] - CHIP[0, 0])  # in units of the chip's side
_CENTRE = CHIP[:2].mean(0) + 0.1 * (CHIP[3:].mean(0) - CHIP[:2].mean(0))

FRAMES["celeba-hq"] = (CHIP - _CENTRE) / _SIDE + 0.5

# Beyond the photo, in units of the picture's side: sigma of the blur, and the length over which it sets in.
BLUR = 1 / 16
FADE = 1 / 24


def crop_matrix(crop: str, side: int, size: int) -> Array:
    """(2, 3), the frame of a chip of ``size`` pixels to the frame of a network's pictures of ``side`` pixels."""
    matrix = similarity(CHIP * size - 0.5, FRAMES[crop] * side - 0.5)
    assert matrix is not None  # the templates span planes
    return matrix


def after(second: Array, first: Array) -> Array:
    """(2, 3), one affine map after another."""
    return second @ np.vstack([first, (0, 0, 1)])


def carried(likely: FloatArray, matrix: Array, size: int) -> FloatArray:
    """A map (s, s) in [0, 1] back in the frame that ``matrix`` (2, 3) leads from, (size, size) float32."""
    back = doubles(cv2.invertAffineTransform(matrix))
    # one channel is carried like a picture
    return floats(np.clip(warp(cast(ByteArray, likely), back, size), 0, 1))


def framed(pixels: ByteArray, matrix: Array, side: int) -> ByteArray:
    """A picture that may go far beyond the photo, (side, side, 3) uint8 RGB, only for a parser, never for a result.

    pixels: (H, W, 3) uint8 RGB.  matrix: (2, 3), photo frame to the picture's.

    Beyond the photo is its mirror image, more and more blurred: a tight photo must not be ringed by faces.

    Source: Karras, Aila, Laine, Lehtinen 2018, Progressive Growing of GANs, appendix C.
    """
    picture = warp(pixels, matrix, side)
    scale = scale_of(matrix)
    y, x = np.mgrid[:side, :side].astype(np.float32)
    back = floats(cv2.invertAffineTransform(matrix))
    u, v = (row[0] * x + row[1] * y + row[2] for row in back)
    height, width = pixels.shape[:2]
    beyond = scale * -np.minimum.reduce([u, width - 1 - u, v, height - 1 - v])
    blurred = np.clip(beyond / (FADE * side), 0, 1)[..., None]
    if not blurred.any():
        return picture
    smooth = smoothed(picture, BLUR * side)
    return np.rint(picture + blurred * (smooth - picture)).astype(np.uint8)
