"""Pixels: similarities between frames and pictures carried along them, levels, and how light skin is."""

from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import ArrayLike

from gslopes.core.records import (
    AnyArray,
    Array,
    ByteArray,
    Flags,
    FloatArray,
    Numbers,
    doubles,
    floats,
    sides_of,
)


def similarity(source: ArrayLike, target: ArrayLike) -> Array | None:
    """The least-squares similarity (no mirror) that carries source points (n, 2) onto target points, (2, 3).

    None if it has no inverse: points that coincide or are not finite.

    Source: Umeyama 1991, in its closed form for the plane.

    >>> similarity([(0, 0), (2, 0)], [(1, 1), (1, 5)]).round(3).tolist()
    [[0.0, -2.0, 1.0], [2.0, 0.0, 1.0]]
    """
    s = doubles(source) @ np.array([1, 1j])
    t = doubles(target) @ np.array([1, 1j])
    spread = float((np.abs(s - s.mean()) ** 2).sum())
    if not np.isfinite(spread) or not np.isfinite(t).all() or spread < 1e-6:
        return None
    a = ((s - s.mean()).conj() * (t - t.mean())).sum() / spread
    if not np.isfinite(a) or abs(a) < 1e-6:
        return None
    b = t.mean() - a * s.mean()
    return np.array([(a.real, -a.imag, b.real), (a.imag, a.real, b.imag)])


def scale_of(matrix: Array) -> float:
    """How many pixels of the chip a pixel of the photo is long.  matrix: (2, 3), photo frame to chip frame."""
    return float(np.sqrt(abs(np.linalg.det(matrix[:, :2]))))


def warp(pixels: ByteArray, matrix: Array, size: int) -> ByteArray:
    """The aligned chip, (size, size, 3) uint8 RGB.

    pixels: (H, W, 3) uint8 RGB.  matrix: (2, 3), photo frame to chip frame.

    A face larger than the chip is smoothed first, so that it does not alias; pixels beyond the photo mirror it.
    """
    scale = scale_of(matrix)
    # the part of the photo around the chip, and the matrix from there: the work grows with the face, not the photo
    corners = doubles([(0, 0, 1), (size, 0, 1), (0, size, 1), (size, size, 1)])
    around = corners @ cv2.invertAffineTransform(matrix).T
    margin = 0.25 * float(np.ptp(around, 0).max()) + 8
    height, width = pixels.shape[:2]
    x0, y0, x1, y1 = whole_pixels(around.min(0) - margin, around.max(0) + margin, width, height)
    matrix = matrix.copy()
    matrix[:, 2] += matrix[:, :2] @ doubles([x0, y0])
    source = np.ascontiguousarray(pixels[y0:y1, x0:x1])
    if scale < 0.8:
        sigma = 0.5 * np.sqrt(max(1 / scale**2 - 1, 0.0))
        source = cast(
            ByteArray, cv2.GaussianBlur(source, (0, 0), sigma, borderType=cv2.BORDER_REFLECT_101)
        )
    chip = cv2.warpAffine(
        source, matrix, (size, size), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT_101
    )
    return cast(ByteArray, chip)


def smoothed(picture: AnyArray, sigma: float, border: int = cv2.BORDER_REPLICATE) -> FloatArray:
    """A picture (H, W) or (H, W, C) under a Gaussian, of the same shape.  border: what OpenCV takes to lie beyond."""
    smooth = cv2.GaussianBlur(picture, (0, 0), sigma, borderType=border)
    return floats(smooth).reshape(picture.shape)  # OpenCV drops the axis of a single channel


def whole_pixels(low: Array, high: Array, width: int, height: int) -> tuple[int, int, int, int]:
    """x0 y0 x1 y1 of the whole pixels of a photo between two corners, (2,), one at least each way."""
    x0, y0 = np.clip(np.floor(low), 0, (width - 1, height - 1)).astype(int).tolist()
    x1, y1 = np.clip(np.ceil(high), (x0 + 1, y0 + 1), (width, height)).astype(int).tolist()
    return x0, y0, x1, y1


def with_margin(box: Numbers, share: float, picture: ByteArray) -> tuple[slice, slice]:
    """Rows and columns of a picture (H, W, 3) in a box (4,) and a share of its sides on each side of it."""
    margin = share * sides_of(box)
    height, width = picture.shape[:2]
    x0, y0, x1, y1 = whole_pixels(box[:2] - margin, box[2:] + margin, width, height)
    return np.s_[y0:y1, x0:x1]


def around(box: Numbers, share: float, picture: ByteArray) -> Flags:
    """(H, W): what lies outside of ``with_margin``."""
    outside = np.ones(picture.shape[:2], bool)
    outside[with_margin(box, share, picture)] = False
    return outside


def outside(matrix: Array, width: int, height: int, size: int) -> float:
    """Share of the chip's area that lies outside the photo, on a grid of 16 x 16 points."""
    line = (np.arange(16) + 0.5) * size / 16
    grid = np.stack([*np.meshgrid(line, line), np.ones((16, 16))], -1).reshape(-1, 3)
    x, y = (grid @ cv2.invertAffineTransform(matrix).T).T
    return float(np.mean((x < -0.5) | (y < -0.5) | (x > width - 0.5) | (y > height - 0.5)))


# Added to a level of 0 to 255 before its logarithm is taken: black has one, and noise in shadows is not blown up.
OFFSET = 8.0

LUMA = (0.299, 0.587, 0.114)  # of R, G and B: ITU-R BT.601, as Pillow makes gray


# --- The scale of tones of skin, along the attribute ``tone``, see ``faces.compose.tone`` -----------------------------

TONE = "tone"
EXTENT = {TONE: (2.0, 8.0)}  # of a sweep, steps; of others DEFAULT_EXTENT
DEFAULT_EXTENT = (-2.0, 2.0)
# L* of the skin's median at the first and the last step: the 99th and 1st percentile of faces in three sets of photos,
# 80 in CelebA and London, 85 in UTKFace, and 22. A step is 6.4 L*.
SCALE = (80.0, 22.0)
STEPS = (1.0, 10.0)


def step_of(lightness: Any) -> Any:
    """The step of the scale, 1 to 10, of skin whose median has this L*, a number or an array.

    >>> step_of(np.array([90.0, 80.0, 51.0, 22.0])).tolist()
    [1.0, 1.0, 5.5, 10.0]
    """
    return np.interp(-np.asarray(lightness), np.negative(SCALE), STEPS)
