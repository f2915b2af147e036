"""Measures from tables of answers alone: photos that are never joined, and where they are looked at."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gslopes.crops.measures import Panel, gaze_rows
from gslopes.crops.parity import compared
from gslopes.stats.intervals import newcombe, wilson


def test_ties_of_photos_alone_count_for_neither_group():
    """No 12: the published comparison prints P(a >= b) as 1 - P(a < b), so that a tie is a win of the first group."""
    ties = np.array([1.0, 1.0, 2.0])
    published = 1 - np.less.outer(ties, ties).mean()
    assert published == pytest.approx(7 / 9)
    assert compared(ties, ties).mean() == 0.5
    assert compared(ties, ties[:2]).mean() + compared(ties[:2], ties).mean() == 1


def test_photos_alone_that_tie_are_even_whichever_group_stands_first():
    """Every maximum of the blue is a maximum of the green, too."""
    photos = ["b1", "b2", "g1", "g2"]
    people = pd.DataFrame({"photo": photos, "person": photos, "status": "used"})
    panel = Panel.of(people, {"team": {"blue": photos[:2], "green": photos[2:]}})
    h = panel.alone(pd.DataFrame({"photo": photos, "max": [90.0, 130.0, 90.0, 130.0]}))
    ((names, place, *_),) = panel.pairs("team", h)
    assert names == {"column": "team", "group": "blue", "other": "green"}
    assert h[place].mean() == 0.5


def test_shares_and_differences_by_group():
    photos = [f"p{index}" for index in range(200)]
    people = pd.DataFrame({"photo": photos, "person": photos, "width": 80, "height": 100, "status": "used"})
    on_head = [index >= 3 for index in range(200)]
    known = {"cropper": "x", "photo": photos, "scale": "own", "on_head": on_head, "kept": 1.0, "regions": 2}
    saliency = pd.DataFrame({**known, "regions_off": 0})
    groups = {"g": {"a": tuple(photos[:100]), "b": tuple(photos[100:])}}
    made = gaze_rows(saliency, people, groups)
    point = pd.DataFrame(made["gaze"]).set_index(["what", "group"]).loc[("point", "a")]
    assert point[["share", "ci_low", "ci_high"]].tolist() == pytest.approx([0.03, *wilson(0.03, 100)])
    gaps = pd.DataFrame(made["gaze_gaps"]).set_index("what")
    assert gaps.loc["point", ["ci_low", "ci_high"]].tolist() == pytest.approx([*newcombe(3, 100, 0, 100)])
    assert gaps.loc["point", "ci_low"] < 0 < gaps.loc["point", "ci_high"]  # three of a hundred against none: nothing
    assert gaps.loc["crop", "difference"] == 0
    assert gaze_rows(saliency.assign(on_head=None), people, groups) == {"gaze": [], "gaze_gaps": []}
    for wide, least, counted in ((80, 2, 100), (81, 2, 0), (80, 1, 0)):
        few = saliency.assign(regions=least)
        published = gaze_rows(few, people.assign(width=wide), groups, as_published=True)["gaze"]
        assert max((one["photos"] for one in published), default=0) == counted
