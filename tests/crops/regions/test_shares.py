from __future__ import annotations

import pandas as pd
import pytest

from gslopes.crops.regions.shares import groups_of, measured
from gslopes.stats.intervals import newcombe, wilson


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
