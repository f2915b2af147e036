import math

import pytest
from hypothesis import given, settings, strategies as st

from gslopes.ask.boxes import RATIOS, Box, crop_rectangle
from gslopes.core.errors import ConfigError

# W, H, x, y: left top width height at 0.56, 1.0, 1.14, 2.0
GOLDEN = {
    (1200, 800, 300, 200): "0 0 1200 672 | 0 0 800 800 | 0 0 702 800 | 100 0 400 800",
    (1200, 800, 0, 0): "0 0 1200 672 | 0 0 800 800 | 0 0 702 800 | 0 0 400 800",
    (1200, 800, 1199, 799): "0 128 1200 672 | 400 0 800 800 | 498 0 702 800 | 800 0 400 800",
    (1000, 1000, 500, 500): "0 220 1000 560 | 0 0 1000 1000 | 62 0 877 1000 | 250 0 500 1000",
    (640, 1136, 320, 1100): "0 778 640 358 | 0 496 640 640 | 0 406 640 730 | 36 0 568 1136",
    (675, 675, 336, 355): "0 166 675 378 | 0 0 675 675 | 40 0 592 675 | 167 0 338 675",
    (1350, 675, 354, 354): "0 0 1205 675 | 17 0 675 675 | 58 0 592 675 | 185 0 338 675",
    (625, 401, 312, 200): "0 25 625 350 | 112 0 401 401 | 136 0 352 401 | 212 0 201 401",
    (3, 1000, 1, 999): "0 998 3 2 | 0 997 3 3 | 0 997 3 3 | 0 994 3 6",
    (1000, 3, 999, 1): "995 0 5 3 | 997 0 3 3 | 997 0 3 3 | 998 0 2 3",
    (1, 1, 0, 0): "0 0 1 1 | 0 0 1 1 | 0 0 1 1 | 0 0 1 1",
}


@pytest.mark.parametrize("given_", GOLDEN, ids=str)
@pytest.mark.row("crops-2.3-ratios")
def test_rectangles_of_the_published_program(given_):
    for ratio, text in zip(RATIOS, GOLDEN[given_].split("|"), strict=True):
        crop = crop_rectangle(*given_, ratio)
        assert [crop.left, crop.top, crop.width, crop.height] == [
            int(part) for part in text.split()
        ]
    width, height = given_[:2]
    whole = crop_rectangle(*given_, height / width)
    assert (whole.left, whole.top, whole.width, whole.height) == (0, 0, width, height)


sizes = st.integers(1, 1500)


@settings(max_examples=300)
@given(sizes, sizes, st.floats(0, 0.999), st.floats(0, 0.999), st.floats(0.05, 10))
def test_the_rectangle_lies_inside_and_holds_the_point_and_one_dimension_is_full(
    width, height, across, down, ratio
):
    x, y = int(across * width), int(down * height)
    crop = crop_rectangle(width, height, x, y, ratio)
    assert crop.left >= 0
    assert crop.top >= 0
    assert crop.left + crop.width <= width
    assert crop.top + crop.height <= height
    assert crop.width == width or crop.height == height
    assert crop.left <= x < crop.left + crop.width + 1
    assert crop.top <= y < crop.top + crop.height + 1
    sides = [(crop.width * ratio, crop.height)] if crop.width == width else []
    sides += (
        [(crop.height / ratio, crop.width)] if crop.height == height else []
    )  # of a whole picture either may do
    assert any(abs(one - other) <= max(1.0, 0.0001 * other) for one, other in sides) or 1 in (
        crop.width,
        crop.height,
    )


@settings(max_examples=200)
@given(sizes, sizes, st.floats(0, 0.999), st.floats(0.05, 10))
def test_a_mirrored_picture_mirrors_the_crop(width, height, across, ratio):
    x = int(across * width)
    one = crop_rectangle(width, height, x, height // 2, ratio)
    other = crop_rectangle(width, height, width - 1 - x, height // 2, ratio)
    assert one.width == other.width
    assert abs(one.left - (width - other.left - other.width)) <= 1


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan, math.inf])
def test_a_ratio_that_is_none(ratio):
    with pytest.raises(ConfigError, match="ratio"):
        crop_rectangle(10, 10, 3, 3, ratio)


def test_a_point_outside():
    with pytest.raises(ConfigError, match="outside"):
        crop_rectangle(10, 10, 10, 3, 1.0)


def test_boxes_share_their_overlap():
    assert Box(0, 0, 4, 4).shared(Box(2, 1, 9, 3)) == 4
    assert Box(0, 0, 1, 1).shared(Box(5, 5, 6, 6)) == 0
    assert Box(1, 2, 3, 4).shifted(10, 20) == Box(11, 22, 13, 24)
