"""Which parts of a photo alone are salient, and whether focal point and crop are on the head.

Source: Yee et al. 2021, section 3.4. The published mask works only through the noise of a JPEG file (Otsu's threshold
of a two-valued mask is 0, and "at least 0" is everything), and its smallest area counts pixels of the original, so that
it depends on resolution; here cells of the map make regions, and the smallest area is a share of the photo.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import ndimage

from gslopes.ask.boxes import Box, SaliencyMap
from gslopes.crops.config import INSIDE
from gslopes.crops.people import Groups
from gslopes.crops.tables import TABLES
from gslopes.stats.intervals import newcombe, wilson

PERCENTILE = 90.0  # of a map, above which regions lie
LEAST_AREA = 0.005  # of a region, share of the photo
TALL, LEAST_REGIONS = 1.25, 2  # as published: smallest height/width of a photo, and salient regions on it
WHAT = {
    "point": "focal point off the head",
    "crop": "crop of ratio 1 loses the head",
    "region": "a salient region off the head",
}


def salient_regions(saliency: SaliencyMap, width: int, height: int) -> list[Box]:
    """Boxes of the 8-connected regions above ``PERCENTILE`` of the map, pixels of the photo; none of a constant map.

    width, height: of the photo, pixels.
    """
    if np.ptp(saliency.scores) == 0:
        return []
    rows, columns = saliency.scores.shape
    bright = saliency.scores > np.percentile(saliency.scores, PERCENTILE)
    labels, count = ndimage.label(bright, structure=np.ones((3, 3), dtype=np.int64))
    boxes = []
    for index, (down, across) in enumerate(ndimage.find_objects(labels, count), start=1):
        if (labels[down, across] == index).sum() >= LEAST_AREA * rows * columns:
            x0, x1 = (side * width / columns for side in (across.start, across.stop))
            y0, y1 = (side * height / rows for side in (down.start, down.stop))
            boxes.append(Box(x0, y0, x1, y1))
    return boxes


def measure_gaze(
    saliency: pd.DataFrame, people: pd.DataFrame, groups: Groups, *, as_published: bool = False
) -> dict[str, pd.DataFrame]:
    """The tables gaze and gaze_gaps, by their names, of photos with a face and a focal point.

    Intervals: Wilson's of a share, Newcombe's of a difference, over photos (one a person, or people with several would
    count more than once).

    saliency, people: rows of SALIENCY and PEOPLE.  as_published: only tall photos with two salient regions.
    """
    looked = people[people["status"] == "used"].drop_duplicates("photo")
    rows = saliency[(saliency["scale"] == "own") & saliency["on_head"].notna()].merge(
        looked[["photo", "person", "width", "height"]], on="photo"
    )
    if as_published:
        rows = rows[(rows["height"] >= TALL * rows["width"]) & (rows["regions"] >= LEAST_REGIONS)]
    rows = rows.assign(point=~rows["on_head"].astype(bool), crop=rows["kept"] < INSIDE, region=rows["regions_off"] > 0)
    gaze: list[dict[str, Any]] = []
    gaps: list[dict[str, Any]] = []
    for cropper, answered in rows.groupby("cropper", sort=True):
        for column, members in groups.items():
            group = {person: name for name, persons in members.items() for person in persons}
            by_group = dict(iter(answered.groupby(answered["person"].map(group), sort=True)))
            for what in WHAT:
                counts = {str(name): (int(one[what].sum()), len(one)) for name, one in by_group.items()}
                key = {"cropper": cropper, "column": column, "what": what}
                for name, (count, photos) in counts.items():
                    low, high = wilson(count / photos, photos)
                    ends = {"share": count / photos, "ci_low": low, "ci_high": high}
                    gaze.append({**key, "group": name, "photos": photos, "count": count, **ends})
                for first, second in combinations(counts, 2):
                    (a, m), (b, n) = counts[first], counts[second]
                    low, high = newcombe(a, m, b, n)
                    ends = {"difference": a / m - b / n, "ci_low": low, "ci_high": high}
                    gaps.append({**key, "group": first, "other": second, **ends})
    made = {"gaze": gaze, "gaze_gaps": gaps}
    return {name: pd.DataFrame(rows, columns=TABLES[name].columns) for name, rows in made.items()}
