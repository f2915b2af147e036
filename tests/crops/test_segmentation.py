"""."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from gslopes.ask.boxes import Box, SaliencyMap
from gslopes.crops.segmentation import Region, groups_of, measured, salient_regions, share_on
from gslopes.stats.intervals import newcombe, wilson


def grid():
    scores = np.zeros((20, 16), np.float32)
    scores[3:6, 7:10] = 4
    scores[12:14, 7:9] = 3
    return SaliencyMap(scores, np.arange(16, dtype=np.float32) * 50 + 25, np.arange(20, dtype=np.float32) * 50 + 25)


def corners(region):
    return [region.box.x0, region.box.y0, region.box.x1, region.box.y1]


def test_two_regions_on_the_grid():
    found = salient_regions(grid(), 800, 1000)
    assert [region.area for region in found] == [22_500, 10_000]
    assert corners(found[0]) == [350, 150, 500, 300]
    assert corners(found[1]) == [350, 600, 450, 700]
    assert [region.cells for region in found] == [9, 4]


def test_cells_that_touch_at_a_corner_are_one_region():
    scores = np.zeros((20, 16), np.float32)
    for row, column in [(3, 3), (3, 5), (4, 4)]:
        scores[row, column] = 1
    found = salient_regions(SaliencyMap(scores, grid().x, grid().y), 800, 1000)
    assert [region.area for region in found] == [7_500]


def test_a_constant_map_has_no_region():
    assert salient_regions(SaliencyMap(np.ones((4, 4), np.float32), grid().x[:4], grid().y[:4]), 80, 80) == []


def test_the_smallest_area_is_a_share_of_the_photo_not_pixels():
    """No 9: one cell exceeds 1000 pixels whenever the longer side is over 632."""
    centres = np.arange(20, dtype=np.float32)
    for side in (400, 1600):
        for cells, regions in ((1, 0), (2, 1)):  # 1/400 and 1/200 of the photo
            scores = np.zeros((20, 20), np.float32)
            scores[5, 5 : 5 + cells] = 1
            found = SaliencyMap(scores, centres * side / 20, centres * side / 20)
            assert len(salient_regions(found, side, side)) == regions


def test_share_of_a_region_on_the_head():
    region = Region(Box(0, 0, 10, 10), 100, 1)
    assert share_on(region, Box(5, 0, 20, 20)) == pytest.approx(0.5)
    assert math.isnan(share_on(region, None))


def test_shares_and_differences_by_group():
    photos = [f"p{index}" for index in range(200)]
    frame = pd.DataFrame(
        {"cropper": "x", "photo": photos, "status": "answered", "off_head": [i < 3 for i in range(200)], "kept": 1.0}
    )
    groups = groups_of({"g": {"a": tuple(photos[:100]), "b": tuple(photos[100:])}}, {name: name for name in photos})
    regions = pd.DataFrame({"cropper": [], "photo": [], "on_head": [], "kind": []})
    found = measured(frame, regions, groups)
    gaze = found["gaze"].set_index("group")
    assert gaze.loc["a", ["off_share", "off_low", "off_high"]].tolist() == pytest.approx([0.03, *wilson(0.03, 100)])
    gap = found["gaze_gaps"].set_index("what").loc["off"]
    assert (gap["ci_low"], gap["ci_high"]) == pytest.approx(newcombe(3, 100, 0, 100))
    assert gap["ci_low"] < 0 < gap["ci_high"]  # three of a hundred against none shows nothing
    assert found["gaze_gaps"].set_index("what").loc["crop_off", "difference"] == 0


def test_refused_photos_are_no_photos():
    frame = pd.DataFrame({"cropper": ["x"], "photo": ["p"], "status": ["refused"], "off_head": [None], "kept": [None]})
    assert all(table.empty for table in measured(frame, frame.assign(on_head=0.0, kind=""), {"g": {"p": "a"}}).values())
