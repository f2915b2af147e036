"""Which parts of a photo are salient, and whether the crop looks at the head.

Source: Yee et al. 2021, section 5. Its published mask works only through the noise of a JPEG file (Otsu's threshold of
a two-valued mask is 0, and "at least 0" is everything), and its smallest area counts pixels of the original, so that
it depends on resolution: ``mask="grid"`` repairs both, ``mask="published"`` reproduces them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from scipy import ndimage, special

from gslopes.ask.croppers.geometry import Box
from gslopes.ask.croppers.records import SaliencyMap
from gslopes.crops.pictures.joining import through_jpeg

Mask = Literal["grid", "published"]
PERCENTILE = 90.0
TALL = 1.25  # photos of at least this height/width are looked at
_NEIGHBOURS = np.ones((3, 3), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Region:
    """One salient region: box and area in pixels of the photo; cells of the map that it has, 0 if of a pixel mask."""

    box: Box
    area: float
    cells: int


def salient_regions(
    saliency: SaliencyMap,
    width: int,
    height: int,
    mask: Mask = "grid",
    percentile: float = PERCENTILE,
    min_area: float | None = None,
) -> list[Region]:
    """Regions above a percentile of the map, the largest first; none of a constant map.

    width, height: of the photo, pixels.
    min_area: of a region, share of the photo. None: 0.005 of it, or more than 1000 pixels of the published mask.
    """
    if np.ptp(saliency.scores) == 0:
        return []
    if mask == "published":
        return _of_pixels(saliency, width, height, percentile, 1000 if min_area is None else min_area * width * height)
    rows, columns = saliency.scores.shape
    cell = width / columns * height / rows
    bright = saliency.scores > np.percentile(saliency.scores, percentile)
    labels, count = ndimage.label(bright, structure=_NEIGHBOURS)
    regions = []
    for index, where in enumerate(ndimage.find_objects(labels, count), start=1):
        cells = int((labels[where] == index).sum())
        down, across = where
        x0, x1 = (side * width / columns for side in (across.start, across.stop))
        y0, y1 = (side * height / rows for side in (down.start, down.stop))
        regions.append(Region(Box(x0, y0, x1, y1), cells * cell, cells))
    least = (0.005 if min_area is None else min_area) * width * height
    return _sorted([region for region in regions if region.area >= least])


def _of_pixels(saliency: SaliencyMap, width: int, height: int, percentile: float, least: float) -> list[Region]:
    chance = special.expit(saliency.scores.astype(np.float64))
    chance[chance <= np.percentile(chance, percentile)] = 0.0
    picture = cv2.resize(np.ceil(255 * chance).astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST_EXACT)
    stored = through_jpeg(np.asarray(picture, np.uint8), 75)
    threshold, _ = cv2.threshold(stored, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    bright = (stored >= threshold).astype(np.uint8)
    closed = cv2.morphologyEx(bright, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=8)
    regions = []
    for x, y, wide, tall, area in stats[1:count]:
        if area > least:
            regions.append(Region(Box(float(x), float(y), float(x + wide), float(y + tall)), float(area), 0))
    return _sorted(regions)


def share_on(region: Region, head: Box | None) -> float:
    """Share of the region's box that lies on the head; NaN without one."""
    return region.box.shared(head) / region.box.area if head is not None and region.box.area else float("nan")


def _sorted(regions: list[Region]) -> list[Region]:
    return sorted(regions, key=lambda region: (-region.area, region.box.y0, region.box.x0))
