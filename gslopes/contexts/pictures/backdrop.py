"""The colour of a studio's backdrop: a quadratic surface in CIELAB, and how far each pixel is from it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from gslopes.core.records import ByteArray, FloatArray

NEAR = 6.0  # ΔE within which a pixel may be backdrop
_REFITS = 6
_STRIP = 0.04
_MOST = 20_000  # pixels that a fit takes


@dataclass(frozen=True, slots=True, eq=False)
class Backdrop:
    """The surface, and what of the photo differs from it.

    colour: (H, W, 3) float32 RGB in [0, 255].  residual: (H, W) float32, ΔE of the photo from it.
    difference: (H, W, 3) float32 CIELAB, photo minus surface.
    """

    colour: FloatArray
    residual: FloatArray
    difference: FloatArray

    @property
    def spread(self) -> float:
        """How far the surface is from one flat colour: the range of its brightest channel, levels."""
        return float(np.ptp(self.colour, axis=(0, 1)).max())


def fit_backdrop(pixels: ByteArray, lowest: int | None = None) -> Backdrop:
    """The backdrop behind a portrait.

    Six terms in x and y for L*, a* and b*, fitted to a strip at the top and strips at both sides of the upper half,
    then refitted to the pixels within ΔE 6 that are connected to the top row.

    pixels: (H, W, 3) uint8 RGB.  lowest: row from which on nothing is fitted: a white shirt before a gray backdrop is
    within ΔE 6 of it and would bend the surface towards itself.
    """
    lab = cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB).astype(np.float32, copy=False)
    height, width = lab.shape[:2]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    x, y = 2 * x / max(width - 1, 1) - 1, 2 * y / max(height - 1, 1) - 1
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], -1)
    wide, high = max(1, round(_STRIP * width)), max(1, round(_STRIP * height))
    use = np.zeros((height, width), bool)
    use[:high] = True
    use[: height // 2, :wide] = use[: height // 2, -wide:] = True
    surface, residual = _fit(lab, terms, use)
    for _ in range(_REFITS):
        near = from_the_top(residual < NEAR)
        near[height if lowest is None else max(lowest, high) :] = False
        if near.sum() < 0.01 * near.size:
            break
        surface, residual = _fit(lab, terms, near)
    colour = cv2.cvtColor(surface, cv2.COLOR_LAB2RGB)
    return Backdrop(np.clip(255 * colour, 0, 255).astype(np.float32), residual, (lab - surface).astype(np.float32))


def _fit(lab: NDArray[np.float32], terms: NDArray[np.float32], use: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    rows, values = terms[use], lab[use]
    step = max(1, len(rows) // _MOST)
    weights = np.linalg.lstsq(rows[::step].astype(np.float64), values[::step].astype(np.float64), rcond=None)[0]
    surface = (terms @ weights.astype(np.float32)).astype(np.float32)
    return surface, np.linalg.norm(lab - surface, axis=2).astype(np.float32)


def from_the_top(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The parts of a mask (H, W) that touch the top row."""
    count, labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=4)
    kept = np.zeros(count, bool)
    kept[np.unique(labels[0])] = True
    kept[0] = False
    return np.asarray(kept[labels])
