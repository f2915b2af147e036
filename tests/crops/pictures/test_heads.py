from __future__ import annotations

import math

import pytest

from gslopes.ask.croppers.geometry import Box
from gslopes.ask.croppers.records import Crop
from gslopes.core.errors import AnswerError
from gslopes.crops.pictures.heads import checked_crop, head_box, larger_share, share_inside


def test_a_head_is_cut_to_the_photo():
    assert head_box([0, 0, 20, 20], 30, 22) == Box(0.0, 0.0, 25.0, 22.0)


def test_share_of_a_head_in_a_crop():
    assert share_inside(Box(0, 0, 10, 10), Crop(5, 0, 50, 50)) == 0.5
    assert math.isnan(share_inside(Box(3, 3, 3, 3), Crop(0, 0, 9, 9)))


def test_both_kept_is_a_tie():
    assert larger_share([1.0, 1.0]) == [0.5, 0.5]
    assert larger_share([0.2, 0.1, 0.0]) == [1.0, 0.0, 0.0]


def test_rectangles_are_clamped_by_a_pixel_and_refused_beyond():
    crop, other = checked_crop(Crop(-1, 0, 100, 100), 99, 100, 1.0, "mine")
    assert (crop.left, crop.width, other) == (0, 99, False)
    with pytest.raises(AnswerError, match="mine answers with the rectangle"):
        checked_crop(Crop(-2, 0, 50, 50), 99, 100, 1.0, "mine")
    with pytest.raises(AnswerError, match="mine"):
        checked_crop(Crop(0, 0, 0, 50), 99, 100, 1.0, "mine")


def test_another_ratio_than_asked_is_flagged():
    assert checked_crop(Crop(0, 0, 90, 50), 99, 100, 1.0, "mine")[1]
    assert not checked_crop(Crop(0, 0, 50, 51), 99, 100, 1.0, "mine")[1]
