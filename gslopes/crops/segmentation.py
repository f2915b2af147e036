"""Which parts of a photo are salient, and whether the crop looks at the head.

Source: Yee et al. 2021, section 5. Its published mask works only through the noise of a JPEG file (Otsu's threshold of
a two-valued mask is 0, and "at least 0" is everything), and its smallest area counts pixels of the original, so that
it depends on resolution; here cells of the map make regions, and the smallest area is a share of the photo.

Here too: shares of photos whose point, or crop, leaves the head, and their differences between groups, with intervals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import ndimage

from gslopes.ask.boxes import Box, SaliencyMap
from gslopes.crops.config import INSIDE
from gslopes.crops.tables import TABLES
from gslopes.stats.intervals import newcombe, wilson

PERCENTILE = 90.0  # of a map, above which regions lie
LEAST_AREA = 0.005  # of a region, share of the photo
_NEIGHBOURS = np.ones((3, 3), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Region:
    """One salient region: box and area in pixels of the photo; cells of the map that it has."""

    box: Box
    area: float
    cells: int


def salient_regions(saliency: SaliencyMap, width: int, height: int) -> list[Region]:
    """Regions above ``PERCENTILE`` of the map, the largest first; none of a constant map.

    width, height: of the photo, pixels.
    """
    if np.ptp(saliency.scores) == 0:
        return []
    rows, columns = saliency.scores.shape
    cell = width / columns * height / rows
    bright = saliency.scores > np.percentile(saliency.scores, PERCENTILE)
    labels, count = ndimage.label(bright, structure=_NEIGHBOURS)
    regions = []
    for index, where in enumerate(ndimage.find_objects(labels, count), start=1):
        cells = int((labels[where] == index).sum())
        down, across = where
        x0, x1 = (side * width / columns for side in (across.start, across.stop))
        y0, y1 = (side * height / rows for side in (down.start, down.stop))
        regions.append(Region(Box(x0, y0, x1, y1), cells * cell, cells))
    large = [region for region in regions if region.area >= LEAST_AREA * width * height]
    return sorted(large, key=lambda region: (-region.area, region.box.y0, region.box.x0))


def share_on(region: Region, head: Box | None) -> float:
    """Share of the region's box that lies on the head; NaN without one."""
    return region.box.shared(head) / region.box.area if head is not None and region.box.area else float("nan")


NAMES = ("off", "crop_off")
Groups = Mapping[str, Mapping[str, str]]


def groups_of(groups: Mapping[str, Mapping[str, tuple[str, ...]]], person: Mapping[str, str]) -> Groups:
    """Column to photo to group.  person: photo to person."""
    found: dict[str, dict[str, str]] = {}
    for column, photos in groups.items():
        of = {name: group for group, persons in photos.items() for name in persons}
        found[column] = {photo: of[name] for photo, name in person.items() if name in of}
    return found


def measured(glances: pd.DataFrame, regions: pd.DataFrame, groups: Groups) -> dict[str, pd.DataFrame]:
    """The tables gaze, gaze_gaps and kinds, by their names.

    Intervals: Wilson's of a share, Newcombe's of a difference,
    over photos (one a person, or people with several would count more than once).
    """
    gaze: list[dict[str, Any]] = []
    gaps: list[dict[str, Any]] = []
    kinds: list[dict[str, Any]] = []
    for cropper, answered in glances[glances["status"] == "answered"].groupby("cropper", sort=True):
        cropper_regions = regions[regions["cropper"] == cropper]
        for column, group in groups.items():
            key = {"cropper": cropper, "column": column}
            seen = answered.assign(group=answered["photo"].map(group)).dropna(subset=["group"])
            counts = {str(name): _counts(rows) for name, rows in seen.groupby("group", sort=True)}
            gaze += [{**key, "group": name, **_gaze(one)} for name, one in counts.items()]
            for first, second in combinations(counts, 2):
                labels = {**key, "group": first, "other": second}
                gaps += [{**labels, "what": name, **_gap(counts[first], counts[second], name)} for name in NAMES]
            kinds += [{**key, **row} for row in _kinds(seen, cropper_regions)]
    made = {"gaze": gaze, "gaze_gaps": gaps, "kinds": kinds}
    return {name: pd.DataFrame(rows, columns=TABLES[name].columns) for name, rows in made.items()}


Counts = dict[str, tuple[int, int]]


def _counts(rows: pd.DataFrame) -> Counts:
    """What to (how many, of how many)."""
    pointed = rows["off_head"].dropna().astype(bool)
    kept = rows["kept"].dropna().to_numpy(np.float64)
    return {
        "photos": (len(rows), len(rows)),
        "off": (int(pointed.sum()), len(pointed)),
        "crop_off": (int((kept < INSIDE).sum()), len(kept)),
    }


def _gaze(counts: Counts) -> dict[str, Any]:
    row: dict[str, Any] = {"photos": counts["photos"][0]}
    row |= {"off_head": counts["off"][0], "crop_off_head": counts["crop_off"][0]}
    for name in NAMES:
        count, total = counts[name]
        low, high = wilson(count / total, total) if total else (math.nan, math.nan)
        row |= {f"{name}_share": count / total if total else math.nan, f"{name}_low": low, f"{name}_high": high}
    return row


def _gap(first: Counts, second: Counts, name: str) -> dict[str, float]:
    (a, m), (b, n) = first[name], second[name]
    if not m or not n:
        return dict.fromkeys(("difference", "ci_low", "ci_high"), math.nan)
    low, high = newcombe(a, m, b, n)
    return {"difference": a / m - b / n, "ci_low": low, "ci_high": high}


def _kinds(seen: pd.DataFrame, regions: pd.DataFrame) -> list[dict[str, Any]]:
    """Of the regions of each group: how many are off the head, and what people marked them as."""
    grouped = regions.assign(group=regions["photo"].map(dict(seen[["photo", "group"]].itertuples(index=False))))
    rows = []
    for group, in_group in grouped.dropna(subset=["group"]).groupby("group", sort=True):
        photos = int((seen["group"] == group).sum())
        off = in_group[in_group["on_head"] < 0.5]
        named: dict[str, pd.DataFrame] = {"off the head": off, "not marked": in_group[in_group["kind"] == ""]}
        named |= {str(kind): of_kind for kind, of_kind in in_group[in_group["kind"] != ""].groupby("kind", sort=True)}
        for kind, of_kind in named.items():
            with_one = int(of_kind["photo"].nunique())
            low, high = wilson(with_one / photos, photos)
            counts = {"regions": len(of_kind), "of_regions": len(in_group), "photos": with_one, "of_photos": photos}
            ends = {"share": with_one / photos, "ci_low": low, "ci_high": high}
            rows.append({"group": group, "kind": kind, **counts, **ends})
    return rows
