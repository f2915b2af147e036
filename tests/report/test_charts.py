"""The one palette, and intervals in their strips."""

import colorsys
import math
import re

import numpy as np
import pytest

from gslopes.report import charts
from gslopes.report.inline import TEMPLATES

HOUSES = ("contexts/templates", "crops", "captions")


# From light as it is to light as eyes without red or green cones have it: Viénot, Brettel and Mollon 1999, linear RGB.
DEFICIENT = {
    "as it is": np.eye(3),
    "protanopia": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deuteranopia": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
}


def lab(colour: str, eyes: str) -> np.ndarray:
    """CIE L*a*b* of a colour, D65."""
    level = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    linear = np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.asarray(DEFICIENT[eyes]) @ linear, 0, 1)
    xyz = (
        np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        @ linear
    )
    x, y, z = np.cbrt(np.maximum(xyz / [0.9505, 1, 1.089], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_no_pair_of_colours_is_red_against_blue_and_all_eyes_tell_the_ends_apart() -> None:
    blocks = re.findall(r":root \{(.*?)\}", (TEMPLATES / "page.css").read_text("utf-8"), re.DOTALL)[
        :2
    ]
    for block in blocks:
        expected = dict(re.findall(r"--([\w-]+): (#\w+)", block))
        for name in (
            "neg",
            "pos",
            *(f"{end}-{position}" for end in ("neg", "pos") for position in (1, 2, 3)),
            "series-1",
        ):
            hue = (
                360
                * colorsys.rgb_to_hsv(
                    *(int(expected[name][start : start + 2], 16) for start in (1, 3, 5))
                )[0]
            )
            assert 15 <= hue <= 180 or 240 <= hue <= 320, f"{name} {expected[name]} is red or blue"
        for eyes in DEFICIENT:
            for item, second in (
                ("neg", "pos"),
                ("neg", "like"),
                ("pos", "like"),
                ("series-1", "series-2"),
            ):
                apart = np.linalg.norm(lab(expected[item], eyes) - lab(expected[second], eyes))
                assert apart > 15, f"{item}, {second}: {apart:.0f} with {eyes}"


def test_no_other_style_sheet_has_a_colour_of_its_own() -> None:
    folders = [TEMPLATES, *(TEMPLATES.parents[1] / house for house in HOUSES)]
    sheets = [
        path for folder in folders for path in folder.glob("*.css") if path.name != "page.css"
    ]
    assert len(sheets) >= len(HOUSES)
    assert [
        path.name
        for path in sheets
        if re.search(r"#[0-9a-f]{3,8}\b|rgb|hsl|prefers-color", path.read_text("utf-8"))
    ] == []


def test_an_interval_that_reaches_beyond_its_strip_is_cut() -> None:
    assert charts.whisker(-50.0, 0.5, np.inf, 1.0) == {
        "low": 2.0,
        "high": 118.0,
        "at": 89.0,
        "cut_low": True,
        "cut_high": True,
    }
    whole = charts.whisker(-0.5, 0.0, 0.5, 1.0)
    assert (whole["cut_low"], whole["cut_high"]) == (False, False)


def test_an_endless_interval_stretches_no_axis():
    ends = [(1.0, 0.5, np.inf), (1.0, -np.inf, 2.0), (1.0, 0.5, 2.0)]
    rows = charts.panel([charts.Mark("", "", number) for number in ends], "log odds")["rows"]
    places = [place for _, place in rows]
    assert [place["at"] for place in places] == [89.0] * 3
    assert [place["cut_high"] for place in places] == [True, False, False]
    assert (places[0]["high"], places[1]["low"]) == (118.0, 2.0)


@pytest.mark.parametrize(
    ("wide", "cut"),
    [
        ((10.0, -80.0, 100.0), True),  # a group of two
        ((90.0, math.nan, math.nan), True),  # of one: a value without an interval
        ((60.0, 40.0, 80.0), False),  # large, and beyond doubt
    ],
)
def test_a_group_of_two_stretches_no_axis_and_a_large_difference_does(wide, cut):
    usual = [(2.0, -1.0, 5.0), (3.0, -2.0, 6.0), (0.0, 0.0, 0.0)]
    drawn = charts.panel([charts.Mark("", "", number) for number in (*usual, wide)], "points")
    places = [place for _, place in drawn["rows"]]
    assert drawn["cut"] == cut
    reach = places[1]["high"] - 60
    assert (reach > 10) == (wide[1] != 40)
    assert places[3]["cut_high"] == cut
    assert charts.panel([charts.Mark("", "", wide)], "points")["cut"] is False
