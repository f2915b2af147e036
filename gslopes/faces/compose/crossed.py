"""A photo at every pair of values of two attributes: each picture along the first one is edited along the second.

Placebos are crossed likewise: what one gives along each attribute, the other one as it is at the centre, is added.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.faces.compose.paste import Box, Composite


def crossed(first: Composite, rows: Sequence[Composite]) -> Composite:
    """A photo's grid as one sweep.

    first: the photo at I values.  rows: each of these pictures at J values, by the photo's own masks.
    """
    middle = rows[len(rows) // 2]
    wide = np.zeros(first.photo.shape[:2], np.float32)
    for x0, y0, x1, y1, weight in ((*part.box, part.weight) for part in (first, middle)):
        wide[y0:y1, x0:x1] = np.maximum(wide[y0:y1, x0:x1], weight)
    corners = np.array([first.box, middle.box])
    (x0, y0), (x1, y1) = corners.min(0)[:2].tolist(), corners.max(0)[2:].tolist()
    box = (x0, y0, x1, y1)
    patches = _cut((row.picture(k) for k in range(len(middle)) for row in rows), box)
    area = float(np.count_nonzero(wide)) / wide.size
    return Composite(
        first.photo, patches, wide[y0:y1, x0:x1].copy(), box, area, axes=(first, middle)
    )


def crossed_placebo(whole: Composite, one: Composite, two: Composite) -> Composite:
    """A placebo of a grid.  one, two: those of its axes."""
    base = _cut([whole.axes[0].picture(len(one) // 2)], whole.box).astype(np.int16)
    change = _cut(map(one.picture, range(len(one))), whole.box) - base
    levels = change + _cut(map(two.picture, range(len(two))), whole.box)[:, None]
    patches = np.clip(levels, 0, 255).astype(np.uint8).reshape(whole.patches.shape)
    return Composite(whole.photo, patches, whole.weight, whole.box, whole.mask_area)


def _cut(pictures: Iterable[NDArray[Any]], box: Box) -> NDArray[Any]:
    x0, y0, x1, y1 = box
    return np.stack(
        [picture[y0:y1, x0:x1].copy() for picture in pictures]
    )  # no whole picture is held
