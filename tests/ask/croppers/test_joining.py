import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gslopes.ask.boxes import Box
from gslopes.ask.croppers.joining import (
    almost_symmetric,
    asymmetry,
    check_map,
    checked_crop,
    focal_point,
    head_box,
    join,
    layout,
    salient_regions,
    share_inside,
)
from gslopes.ask.croppers.policies import outcomes
from gslopes.core.errors import AnswerError
from gslopes.core.records import Crop, SaliencyMap
from gslopes.crops.asking import scaled
from gslopes.crops.config import CropsConfig


def photo(width, height, value=0):
    return np.full((height, width, 3), value, np.uint8)


sizes = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=4)


@given(sizes, st.booleans())
def test_territories_tile_the_picture(sizes, stacked):
    plan = layout(sizes, stacked=stacked)
    assert sum(box.area for box in plan.territories) == plan.width * plan.height
    for photo_box, territory in zip(plan.photos, plan.territories, strict=True):
        assert territory.shared(photo_box) == photo_box.area


@pytest.mark.row("crops-3.2-joined")
def test_photos_stand_at_the_top_on_black():
    picture, plan = join([photo(3, 2, 10), photo(4, 5, 20)])
    assert picture.shape == (5, 7, 3)
    assert (picture[:2, :3] == 10).all()
    assert (picture[:, 3:] == 20).all()
    assert (picture[2:, :3] == 0).all()
    x, y = np.array([2.5, 3.0, 3.5]), np.array([4.5, 0.5, 4.5])
    assert plan.shares(x, y).tolist() == [[1, 0], [0.5, 0.5], [0, 1]]
    assert plan.on_padding(2, 4)
    assert not plan.on_padding(2, 1)


@pytest.mark.row("crops-3.2-vertical")
def test_photos_stand_one_above_the_other_at_the_left_on_black():
    picture, plan = join([photo(3, 2, 10), photo(4, 5, 20)], stacked=True)
    assert picture.shape == (7, 4, 3)
    assert (picture[:2, :3] == 10).all()
    assert (picture[:2, 3] == 0).all()
    assert (picture[2:] == 20).all()
    x, y = np.array([3.5, 0.5, 0.5]), np.array([1.5, 2.0, 2.5])
    assert plan.shares(x, y).tolist() == [[1, 0], [0.5, 0.5], [0, 1]]
    assert plan.on_padding(3, 1)


@pytest.mark.row("crops-3.2-vertical")
def test_the_row_decides_where_one_photo_lies_above_the_other():
    plan = layout([(40, 40), (40, 40)], stacked=True)
    scores = np.zeros((1, 4, 4), np.float32)
    scores[0, 3, 0] = 1
    places = np.arange(4, dtype=np.float32)
    found = outcomes(
        scores, 5 + 10 * places, 10 + 20 * places, plan, ("argmax", "average", "choose-k")
    )
    assert found["argmax"].shares.tolist() == found["choose-k"].shares.tolist() == [[0, 1]]
    equal = scores + scores[:, ::-1]
    assert outcomes(equal, 5 + 10 * places, 10 + 20 * places, plan, ["choose-k"])[
        "choose-k"
    ].shares.tolist() == [[0.5] * 2]


ACROSS = np.tile(np.arange(10.0), (10, 1))


@pytest.mark.row("crops-2.3-symmetry")
@pytest.mark.parametrize(
    ("grid", "score"),
    [
        (np.full((10, 10), 128.0), 0),
        (20 * ACROSS, 129.7895),
        (3 * ACROSS, 99.9730),
        (100.0 + 10 * (ACROSS >= 5), 68.5),
        (245.0 * (ACROSS.T < 5) + 10 * (ACROSS >= 5), 5.1698),
        (255.0 * (ACROSS == 0) * (ACROSS.T == 0), 0),
        (255.0 * (ACROSS == 0), 131.8302),
    ],
)
def test_halves_that_differ_have_the_published_score(grid, score):
    assert asymmetry(grid) == pytest.approx(score, abs=5e-5)


@pytest.mark.row("crops-2.3-symmetry")
def test_a_map_that_is_nearly_its_mirror_image_is_symmetric_whatever_its_unit():
    bump = np.exp(-((np.arange(40) - 10) ** 2) / 20)
    one, both = np.outer(np.ones(20), bump), np.outer(np.ones(20), bump + 0.95 * bump[::-1])
    for unit in (1e-3, 1.0, -50.0):
        assert not almost_symmetric(unit * one)
        assert almost_symmetric(unit * both)


@pytest.mark.row("crops-fig-3", "crops-3.2-draws")
def test_height_256_truncates_the_width_as_published():
    assert scaled(photo(333, 500), CropsConfig(height=256)).shape == (256, 333 * 256 // 500, 3)
    published = CropsConfig(as_published=True).variants
    assert [(one.height, one.draws) for one in published] == [(None, 10_000), (256, 5_000)]


def test_a_jpeg_file_leaves_its_traces():
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3)).astype(np.uint8)
    assert (join([noise, noise], jpeg=75)[0] != join([noise, noise])[0]).any()


PLAN = layout([(40, 40), (40, 30)])


def make(scores):
    scores = np.asarray(scores, np.float32)
    rows, columns = scores.shape
    x = (np.arange(columns) + 0.5) * PLAN.width / columns
    y = (np.arange(rows) + 0.5) * PLAN.height / rows
    return SaliencyMap(scores, x.astype(np.float32), y.astype(np.float32))


def favoured(found, plan, ties="half"):
    chosen = outcomes(found.scores[None], found.x, found.y, plan, ["argmax"], ties=ties)
    return chosen["argmax"].shares[0]


@pytest.mark.row("crops-2.3-point", "crops-3.2-favoured")
def test_the_focal_point_is_the_first_maximum_truncated():
    found = make([[0, 1, 1, 0], [1, 0, 0, 0]])
    assert focal_point(found) == (30, 10)
    assert favoured(found, PLAN).tolist() == [0.5, 0.5]
    assert favoured(make([[0, 0, 0, 3], [1, 2, 0, 0]]), PLAN).tolist() == [0.0, 1.0]


def test_a_tie_is_half_and_not_a_win_of_the_left():
    """Nos 8 and 12: the first group always stands on the left, and ties count for it."""
    tied = make([[0, 1, 1, 0]])
    assert favoured(tied, PLAN).tolist() == [0.5, 0.5]
    assert favoured(tied, PLAN, "first").tolist() == [1.0, 0.0]
    assert favoured(make([[5, 5, 5, 5]]), PLAN).tolist() == [0.5, 0.5]
    assert favoured(make([[0, 1, 1 + 1e-7, 0]]), PLAN).tolist() == [0.5, 0.5]


def test_the_point_on_padding_counts_for_the_column():
    lowest = make([[0, 0, 0, 0]] * 3 + [[0, 0, 0, 9]])
    assert favoured(lowest, PLAN).tolist() == [0.0, 1.0]
    assert PLAN.on_padding(*focal_point(lowest))


@given(st.integers(0, 1000), st.floats(-5, 5), st.floats(0.1, 5))
def test_constants_and_rising_transforms_leave_the_winner(seed, shift, factor):
    scores = np.random.default_rng(seed).integers(-10, 10, (4, 6)).astype(np.float32)
    winner = favoured(make(scores), PLAN).tolist()
    assert favoured(make(np.float32(factor) * scores + np.float32(shift)), PLAN).tolist() == winner
    assert favoured(make(np.arctan(scores)), PLAN).tolist() == winner


@pytest.mark.parametrize(
    ("scores", "x", "y", "says"),
    [
        (np.zeros((0, 3)), [0, 1, 2], [], "needs rows and columns"),
        (np.array([[np.nan, 1]]), [0, 1], [0], "NaN"),
        (np.zeros((1, 2)), [1, 1], [0], "do not increase"),
        (np.zeros((1, 2)), [0, 99], [0], "do not increase inside of the picture"),
        (np.zeros((1, 2)), [0], [0], "1 coordinates x for 2"),
    ],
)
def test_maps_that_make_no_sense_name_cropper_and_picture(scores, x, y, says):
    broken = SaliencyMap(
        scores.astype(np.float32), np.array(x, np.float32), np.array(y, np.float32)
    )
    with pytest.raises(AnswerError, match=f"mine for a.jpg .*{says}"):
        check_map(broken, 50, 50, "mine", "a.jpg")


def test_a_head_is_cut_to_the_photo_and_shared_by_a_crop():
    assert head_box([0, 0, 20, 20], 30, 22) == Box(0.0, 0.0, 25.0, 22.0)
    assert share_inside(Box(0, 0, 10, 10), Crop(5, 0, 50, 50)) == 0.5
    assert math.isnan(share_inside(Box(3, 3, 3, 3), Crop(0, 0, 9, 9)))


def test_rectangles_are_clamped_by_a_pixel_refused_beyond_and_of_another_ratio_flagged():
    crop, other = checked_crop(Crop(-1, 0, 100, 100), 99, 100, 1.0, "mine")
    assert (crop.left, crop.width, other) == (0, 99, False)
    with pytest.raises(AnswerError, match="mine answers with the rectangle"):
        checked_crop(Crop(-2, 0, 50, 50), 99, 100, 1.0, "mine")
    with pytest.raises(AnswerError, match="mine"):
        checked_crop(Crop(0, 0, 0, 50), 99, 100, 1.0, "mine")
    assert checked_crop(Crop(0, 0, 90, 50), 99, 100, 1.0, "mine")[1]
    assert not checked_crop(Crop(0, 0, 50, 51), 99, 100, 1.0, "mine")[1]


# --- salient regions ---


def grid(cells=()):
    scores = np.zeros((20, 16), np.float32)
    for row, column, score in cells:
        scores[row, column] = score
    return SaliencyMap(
        scores, np.arange(16, dtype=np.float32) * 50 + 25, np.arange(20, dtype=np.float32) * 50 + 25
    )


@pytest.mark.row("crops-3.4-regions")
def test_two_regions_on_the_grid():
    found = salient_regions(
        grid([(slice(3, 6), slice(7, 10), 4), (slice(12, 14), slice(7, 9), 3)]), 800, 1000
    )
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
