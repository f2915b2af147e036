"""Move the parts of a face within the photo: lips, eyes and brows, at the photo's own sharpness.

An editor says how far each pixel of the chip moves for a unit of the attribute. Within the mask the photo's pixels move
by that; towards the mask's edge, and around holes in it, the motion comes down to nothing, so that hair, ears, neck and
the outline of the face stay where they are.

Source: Rowland & Perrett 1995, Manipulating facial appearance through shape and color (shape and colour).
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.core.records import FloatArray, Motion

# In units of the chip's side.
INSIDE = 4 / 128  # this far from the mask's edge nothing moves yet
FADE = 2 / 128  # of the Gaussian over which motion sets in
STEEPEST = 0.8  # pixels by which a motion changes from one pixel to the next, at most: below 1 it never folds
FRACTIONS = 32  # of a pixel, to which OpenCV rounds the places that it samples


def within(motion: Motion, mask: FloatArray) -> FloatArray:
    """The motion of a unit that a mask allows, (S, S, 2) chip pixels; 0 at its edge.

    mask: (S, S) float32 in [0, 1].  A motion that would fold at the largest distance is shortened as a whole.
    """
    side = len(mask)
    width = 2 * round(INSIDE * side) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (width, width))
    deep = cv2.erode(mask, kernel, borderType=cv2.BORDER_CONSTANT, borderValue=0)
    share = cv2.GaussianBlur(deep, (0, 0), FADE * side, borderType=cv2.BORDER_CONSTANT)
    field = motion.field * share[..., None]
    longest = float(np.abs(motion.distances).max(initial=0))
    return np.asarray(field * (STEEPEST / max(longest * steepness(field), STEEPEST)), np.float32)


def steepness(field: FloatArray) -> float:
    """By how many pixels a field (S, S, 2) changes from a pixel to the next at most, in any direction."""
    across, down = np.diff(field, axis=1)[:-1], np.diff(field, axis=0)[:, :-1]
    # The larger singular value of each 2 x 2 matrix (across, down).
    squares = np.square(across).sum(-1) + np.square(down).sum(-1)
    area = across[..., 0] * down[..., 1] - across[..., 1] * down[..., 0]
    largest = (squares + np.sqrt(np.maximum(np.square(squares) - 4 * np.square(area), 0))) / 2
    return float(np.sqrt(largest.max(initial=0)))


def in_photo(field: FloatArray, matrix: NDArray[np.float64]) -> FloatArray:
    """A field (h, w, 2) of chip pixels a unit, at the photo's pixels, in pixels of the photo.

    matrix: (2, 3), photo frame to chip frame.
    """
    return np.asarray(field @ np.linalg.inv(matrix[:, :2]).T.astype(np.float32), np.float32)


class Mover:
    """Moves pictures of one box of a photo.

    field: (h, w, 2) pixels of the photo a unit; where it is 0 every pixel stays exactly as it is.
    """

    def __init__(self, field: FloatArray) -> None:
        y, x = np.mgrid[: field.shape[0], : field.shape[1]].astype(np.float32)
        self.x, self.y = x, y
        self.unit = np.ascontiguousarray(field.transpose(2, 0, 1)) * np.float32(FRACTIONS)

    def __call__(self, picture: FloatArray, distance: float) -> FloatArray:
        """A picture (h, w, C) float32 after ``distance`` units: cubic, places rounded to ``FRACTIONS`` of a pixel."""
        if not distance:
            return picture
        right, down = np.rint(self.unit * np.float32(distance)) / np.float32(FRACTIONS)
        moved = cv2.remap(picture, self.x - right, self.y - down, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(moved, np.float32).reshape(picture.shape)
