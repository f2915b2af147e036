"""Is a picture its own mirror image? Three versions are published and disagree; each is one of ours.

d = |I - mirror(I)| over a reduction to 10 x 10; score = 137 q95(d)/(range + 10); symmetric below 25.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gslopes.core.records import ByteArray, FloatArray

Version = Literal["program", "notebook", "saliency", "off"]
Middle = Literal["sideways", "both", "right"]
SIDE, LIMIT = 10, 25.0


def symmetry_score(reduced: NDArray[np.generic], version: Version = "program") -> float:
    """How far a reduced picture is from its mirror image; 0 if it is the same.

    reduced: (10, 10) or (10, 10, channels), values in 0 to 255.
    version: ``program``: q95 is the sorted value at index floor((n-1) 95/100), the range that of the pixels;
        ``notebook``: q95 interpolated, the range that of d; ``saliency``: the program's formula.
    """
    values = np.asarray(reduced, dtype=np.float64)
    away = np.abs(values - values[:, ::-1]).ravel()
    if version == "notebook":
        return float(137 * np.quantile(away, 0.95) / (np.ptp(away) + 10))
    ordered = np.sort(away)
    return float(137 * ordered[(len(ordered) - 1) * 95 // 100] / (np.ptp(values) + 10))


def is_symmetric(picture: ByteArray | FloatArray, version: Version = "program") -> bool:
    """Whether the picture counts as symmetric.

    picture: (H, W, 3) uint8 RGB; for ``saliency`` the map, (rows, columns), any range.
    """
    if version == "off":
        return False
    if version == "saliency":
        low, high = float(np.min(picture)), float(np.max(picture))
        spread = max(high - low, 1e-12)
        pixels = (255 * (np.asarray(picture, np.float64) - low) / spread).astype(np.uint8)
    else:
        pixels = np.asarray(picture, np.uint8)
    small = Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    return symmetry_score(np.asarray(small), version) < LIMIT


def symmetric_point(width: int, height: int, x: int, y: int, crop: Middle = "sideways") -> tuple[int, int]:
    """The focal point of a symmetric picture.

    crop: ``sideways``: x to the middle, as the published program; ``both``: x and y, as the paper's sentence;
        ``right``: to the right edge, which is what the published Python does by mistake.
    """
    if crop == "right":
        return width - 1, y
    return width // 2, height // 2 if crop == "both" else y
