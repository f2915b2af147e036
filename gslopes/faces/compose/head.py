"""Carry an edit of a face's skin to ears and neck, which lie outside of the chip or of what an editor has learned.

The edit there is what the face's own skin undergoes near by, smoothed; down the neck it fades, so that no edge shows
where skin goes under a collar. Nothing but light and colour is carried: nothing moves outside of the face.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.core.records import ByteArray, Face, FloatArray, Masker, Photo
from gslopes.faces.compose.masks import BORDER, SIGMA, border_ramp, soft_mask

# The bust: a square of 3/2 of the chip's side that begins as high as the chip and holds it in the middle.
SIDE = 3 / 2
LEFT = 1 / 4  # from the bust's left side to the chip's, in units of the chip's side

# In units of the chip's side.
NEAR = 16 / 128  # sigma of the Gaussian over which the face's edit is carried outwards
COLLAR = (1.1, 1.45)  # rows between which the edit fades

# Share of the face's mean edit where the Gaussian hardly reaches.
MEAN = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """Where the head's skin is, of one photo.

    mask: (3/2 S, 3/2 S) float32 in [0, 1], of face, ears and neck in the bust's frame.
    face: (S, S) float32 in [0, 1], of the face alone in the chip's frame.
    """

    mask: FloatArray
    face: FloatArray

    def widened(self, layers: FloatArray) -> FloatArray:
        """Layers of the chip, (K, S, S, C) float32, as layers of the bust, (K, 3/2 S, 3/2 S, C).

        Within the face they are as they were.
        """
        size = len(self.face)
        face = padded(self.face)[..., None]
        near = _smooth(face, size) + MEAN
        total = max(float(self.face.sum()), 1e-6)
        wide = np.empty((len(layers), *self.mask.shape, layers.shape[-1]), np.float32)
        for out, layer in zip(wide, layers, strict=True):
            there = padded(layer) * face
            mean = there.sum((0, 1)) / total
            around = (_smooth(there, size) + MEAN * mean) / near
            out[:] = there + (1 - face) * around
        return wide


def heads_of(
    masker: Masker,
    photos: list[Photo],
    faces: list[Face],
    chips: ByteArray,
    border: float | None = None,
) -> list[Head] | list[None]:
    """Where face, ears and neck are, one a photo; None for a masker that knows nothing beyond the chip.

    Arguments as of ``Masker``.
    """
    find = getattr(masker, "heads", None)
    return [None] * len(photos) if find is None else find(photos, faces, chips, border)


def bust_matrix(matrix: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """(2, 3), photo frame to the bust's frame, pixels as large as the chip's.

    matrix: (2, 3), photo frame to chip frame.  size: side of the chip.
    """
    moved = np.array(matrix, np.float64)
    moved[0, 2] += round(LEFT * size)
    return moved


def padded(chip: FloatArray) -> FloatArray:
    """A chip (S, S) or (S, S, C) in the bust's frame, 0 around it."""
    size = len(chip)
    side, left = round(SIDE * size), round(LEFT * size)
    wide = np.zeros((side, side, *chip.shape[2:]), np.float32)
    wide[:size, left : left + size] = chip
    return wide


def head_mask(mask: FloatArray, likely: FloatArray, border: float | None = None) -> FloatArray:
    """The mask of a head: that of the chip within it, the bust's around it, without a seam between them.

    mask: (S, S) float32 in [0, 1], chip frame, down to zero at the chip's border over ``border`` pixels.
    likely: (3/2 S, 3/2 S) float32, how likely each pixel of the bust is face, ear or neck.
    """
    size, side = len(mask), len(likely)
    rows = np.clip((np.arange(side) / size - COLLAR[0]) / (COLLAR[1] - COLLAR[0]), 0, 1)
    fade = ((1 + np.cos(np.pi * rows)) / 2).astype(np.float32)
    around = soft_mask(likely, SIGMA * size, BORDER * size) * fade[:, None]
    return np.clip(padded(mask) + around * (1 - padded(border_ramp(size, border))), 0, 1).astype(np.float32)


def _smooth(picture: FloatArray, size: int) -> FloatArray:
    """(H, W, C) after the Gaussian, nothing beyond it."""
    smooth = cv2.GaussianBlur(picture, (0, 0), NEAR * size, borderType=cv2.BORDER_CONSTANT)
    return np.asarray(smooth, np.float32).reshape(picture.shape)
