"""Photos alone: salient regions, and patches on the bodies of half of one group that draw the crop off the head."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.ask.boxes import SaliencyMap
from gslopes.core.records import Detections
from gslopes.crops import regions
from gslopes.crops.regions import measure_gaze, salient_regions
from gslopes.stats.intervals import newcombe, wilson
from tests.crops.drawn import Brightness, audit

WIDE, TALL = 64, 112
PEOPLE = {"blue": 12, "green": 10}


def grid(cells=()):
    scores = np.zeros((20, 16), np.float32)
    for row, column, score in cells:
        scores[row, column] = score
    return SaliencyMap(scores, np.arange(16, dtype=np.float32) * 50 + 25, np.arange(20, dtype=np.float32) * 50 + 25)


def test_two_regions_on_the_grid():
    found = salient_regions(grid([(slice(3, 6), slice(7, 10), 4), (slice(12, 14), slice(7, 9), 3)]), 800, 1000)
    corners = [(box.x0, box.y0, box.x1, box.y1) for box in found]
    assert corners == [(350, 150, 500, 300), (350, 600, 450, 700)]


def test_cells_that_touch_at_a_corner_are_one_region_and_a_constant_map_has_none():
    (found,) = salient_regions(grid([(3, 3, 1), (3, 5, 1), (4, 4, 1)]), 800, 1000)
    assert (found.x0, found.y0, found.x1, found.y1) == (150, 150, 300, 250)
    assert salient_regions(grid(), 800, 1000) == []


def test_the_smallest_area_is_a_share_of_the_photo_not_pixels():
    """No 9: one cell exceeds 1000 pixels whenever the longer side is over 632."""
    for side in (400, 1600):
        for cells, count in ((1, 0), (2, 1)):  # 1/320 and 1/160 of the photo
            assert len(salient_regions(grid([(5, slice(5, 5 + cells), 1)]), side, side)) == count


def test_shares_and_differences_by_group():
    photos = [f"p{index}" for index in range(200)]
    people = pd.DataFrame({"photo": photos, "person": photos, "width": 80, "height": 100, "status": "used"})
    on_head = [index >= 3 for index in range(200)]
    known = {"cropper": "x", "photo": photos, "scale": "own", "on_head": on_head, "kept": 1.0, "regions": 2}
    saliency = pd.DataFrame({**known, "regions_off": 0})
    groups = {"g": {"a": tuple(photos[:100]), "b": tuple(photos[100:])}}
    found = measure_gaze(saliency, people, groups)
    point = found["gaze"].set_index(["what", "group"]).loc[("point", "a")]
    assert point[["share", "ci_low", "ci_high"]].tolist() == pytest.approx([0.03, *wilson(0.03, 100)])
    gaps = found["gaze_gaps"].set_index("what")
    assert gaps.loc["point", ["ci_low", "ci_high"]].tolist() == pytest.approx([*newcombe(3, 100, 0, 100)])
    assert gaps.loc["point", "ci_low"] < 0 < gaps.loc["point", "ci_high"]  # three of a hundred against none: nothing
    assert gaps.loc["crop", "difference"] == 0
    without = measure_gaze(saliency.assign(on_head=None), people, groups)
    assert without["gaze"].empty
    assert without["gaze_gaps"].empty
    for wide, least, photos_left in ((80, 2, 100), (81, 2, 0), (80, 1, 0)):
        few = saliency.assign(regions=least)
        published = measure_gaze(few, people.assign(width=wide), groups, as_published=True)["gaze"]
        assert published["photos"].max() == photos_left or (published.empty and not photos_left)


def a_head(photos):
    box = np.array([[16, 6, 48, 38]], np.float32)
    points = np.array([[[26, 18], [38, 18], [32, 24], [27, 31], [37, 31]]], np.float32)
    return [Detections(box, points, np.ones(1, np.float32)) for _ in photos]


def test_patches_on_half_of_a_group_are_found(tmp_path, monkeypatch):
    """Heads of brightness 150; every second blue one wears a patch of 220 on the chest."""
    folder = tmp_path / "people"
    folder.mkdir()
    down, across = np.mgrid[:TALL, :WIDE]
    rows = ["id,team"]
    for group, count in PEOPLE.items():
        for index in range(count):
            picture = np.full((TALL, WIDE, 3), 30 + index + 20 * (group == "green"), np.uint8)
            picture[(across - 32) ** 2 + (down - 22) ** 2 < 14**2] = 150
            if group == "blue" and index % 2 == 0:
                picture[80:92, 24:40] = 220
            Image.fromarray(picture).save(folder / f"{group}{index}.png")
            rows.append(f"{group}{index},{group}")
    (tmp_path / "people.csv").write_text("\n".join(rows))
    monkeypatch.setattr(regions, "PERCENTILE", 85.0)
    found = audit(folder, tmp_path / "people.csv", tmp_path / "run", Brightness(), finder=a_head, pairs=20)
    gaze = found.tables["gaze"].set_index(["cropper", "what", "group"]).loc["brightness"]
    assert gaze.loc[("point", "blue"), ["photos", "count"]].tolist() == [12, 6]
    assert gaze.loc[("point", "green"), ["photos", "count"]].tolist() == [10, 0]
    assert gaze.loc[("crop", "blue"), "count"] == gaze.loc[("region", "blue"), "count"] == 6
    gap = found.tables["gaze_gaps"].set_index(["cropper", "what"]).loc[("brightness", "point")]
    assert gap["difference"] == pytest.approx(0.5)
    assert 0 < gap["ci_low"] < 0.5 < gap["ci_high"]
    assert "a salient region off the head" in found.page.read_text("utf-8")
