"""From a picture's bytes to the array that a local classifier takes; colour profiles are ignored, as in most tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gslopes.core.records import ByteArray, FloatArray


def decoded(pictures: Sequence[bytes]) -> list[ByteArray]:
    """(H, W, 3) uint8 RGB arrays of encoded pictures.  Raises: PhotoError if one of them cannot be decoded."""
    from gslopes.datasets.decode import decode

    return [decode(data, "picture")[0] for data in pictures]


def prepare(pixels: ByteArray, size: int) -> ByteArray:
    """The whole picture, scaled so that it covers a square, its middle kept: the usual input of a photo classifier.

    pixels: (H, W, 3) uint8, RGB.  size: side of the square, pixels.
    Returns: (size, size, 3) uint8, RGB; resampled with a bilinear filter that widens with the reduction (no aliasing).
    """
    from PIL import Image

    height, width = pixels.shape[:2]
    side = min(height, width)
    left, top = (width - side) / 2, (height - side) / 2
    box = (left, top, left + side, top + side)
    square = Image.fromarray(pixels).resize((size, size), Image.Resampling.BILINEAR, box=box, reducing_gap=3.0)
    return np.asarray(square)


def batch_of(pictures: Sequence[bytes], size: int) -> ByteArray:
    """(B, size, size, 3) uint8 RGB of encoded pictures.  Raises: PhotoError if one of them cannot be decoded."""
    return np.stack([prepare(pixels, size) for pixels in decoded(pictures)])


def normalise(
    batch: ByteArray,
    mean: Sequence[float],
    std: Sequence[float],
    *,
    white: float = 1.0,
    layout: Literal["nchw", "nhwc"] = "nchw",
) -> FloatArray:
    """Pixels to network input: (pixels - mean) / std.

    batch: (B, S, S, 3) uint8.  mean, std: per channel, in units in which black is 0 and white is ``white``.
    Returns: float32, (B, 3, S, S) or, with ``nhwc``, (B, S, S, 3).
    """
    centred = batch.astype(np.float32) * np.float32(white / 255) - np.asarray(mean, np.float32)
    scaled = centred / np.asarray(std, np.float32)
    return np.ascontiguousarray(scaled.transpose(0, 3, 1, 2) if layout == "nchw" else scaled)
