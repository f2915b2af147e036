"""Which part of a photo a network sees: the places of five points of the face, in units of the picture's side."""

from typing import cast

import cv2
import numpy as np

from gslopes.core import read_beside
from gslopes.core.geometry import scale_of, similarity, smoothed, warp
from gslopes.core.records import Array, ByteArray, FloatArray, as_levels, doubles, floats

FRAMES = {name: doubles(points) for name, points in read_beside(__file__, "frames.toml").items()}
CHIP = FRAMES["chip"]

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
    return as_levels(picture + blurred * (smooth - picture))
