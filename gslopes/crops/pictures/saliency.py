"""From a saliency map to a focal point, and to the person whom it favours."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gslopes.ask.croppers.records import SaliencyMap
from gslopes.core.errors import AnswerError
from gslopes.crops.pictures.joining import Layout

Array = NDArray[np.float64]
Ties = Literal["half", "first"]
TIE = 1e-6


def check_map(saliency: SaliencyMap, width: int, height: int, cropper: str, picture: str) -> SaliencyMap:
    """The map, if it makes sense.

    Raises: AnswerError naming cropper and picture if it has no cell, a number that is none, or coordinates that lie
        outside of the picture or do not increase.
    """
    scores = np.asarray(saliency.scores)
    wrong = ""
    if scores.ndim != 2 or not scores.size:
        wrong = f"has the shape {scores.shape}: it needs rows and columns"
    elif not np.isfinite(scores).all():
        wrong = "holds NaN or infinity"
    else:
        for name, coordinates, count, side in (
            ("x", saliency.x, scores.shape[1], width),
            ("y", saliency.y, scores.shape[0], height),
        ):
            if len(coordinates) != count:
                wrong = f"has {len(coordinates)} coordinates {name} for {count} cells"
            elif (np.diff(coordinates) <= 0).any():
                wrong = f"has coordinates {name} that do not increase"
            elif coordinates[0] < 0 or coordinates[-1] > side - 1:
                wrong = f"has coordinates {name} outside of the picture ({side} pixels)"
    if wrong:
        raise AnswerError(f"The map of {cropper} for {picture} {wrong}.", "Repair the cropper; other pairs go on.")
    return saliency


def is_constant(saliency: SaliencyMap) -> bool:
    """Whether nothing is salient: no focal point."""
    return float(np.ptp(saliency.scores)) == 0.0


def focal_point(saliency: SaliencyMap) -> tuple[int, int]:
    """The pixel x, y of the first maximum in row-major order, truncated."""
    row, column = np.unravel_index(int(np.argmax(saliency.scores)), saliency.scores.shape)
    return int(saliency.x[column]), int(saliency.y[row])


def from_edge(centres: NDArray[np.float32], side: int) -> Array:
    """(n,) cells' centres as distances from the picture's edge, pixels.

    Centres may be places of pixels, which themselves lie half a pixel from the edge, or such distances already: a grid
    that is its own mirror image in the picture says which.
    """
    return centres + np.clip((side - float(centres[0]) - float(centres[-1])) / 2, 0.0, 0.5)


def owners(x: NDArray[np.float32], y: NDArray[np.float32], plan: Layout) -> Array:
    """(rows x columns, people) in whose territory each cell's centre lies: 1, or 1/2 each on a seam."""
    across, down = np.meshgrid(from_edge(x, plan.width), from_edge(y, plan.height))
    return plan.shares(across.ravel(), down.ravel())


def maxima(scores: NDArray[np.floating], owner: Array) -> Array:
    """(B, people) of each person's highest score; minus infinity for a person without a cell.

    scores: (B, rows, columns).  owner: see ``owners``.
    """
    flat = scores.reshape(len(scores), -1)
    result = np.full((len(scores), owner.shape[1]), -np.inf)
    for index, inside in enumerate(owner.T > 0):
        if inside.any():
            result[:, index] = flat[:, inside].max(axis=1)
    return result


def winners(highest: Array, scores: NDArray[np.floating]) -> Array:
    """(B, people) shares: 1 for the highest, split among those within 1e-6 of the map's range.

    highest: (B, people), see ``maxima``.  scores: (B, rows, columns), or (rows, columns) of a single map.
    """
    flat = scores.reshape(len(highest), -1).astype(np.float64)
    close = TIE * (flat.max(axis=1) - flat.min(axis=1))
    top = highest >= highest.max(axis=1, keepdims=True) - close[:, None]
    shares: Array = top / top.sum(axis=1, keepdims=True)
    return shares
