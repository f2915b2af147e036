"""Lips, eyes and brows move within the mask, by as much as they should, and nothing else does."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gslopes.core.records import Motion
from gslopes.faces.compose.composite import STEEPEST, within
from gslopes.faces.compose.masks import soft_mask
from tests.faces.compose.conftest import compose

S = 64
IDENTITY = np.array([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
FACE = soft_mask(np.pad(np.ones((48, 40), np.float32), ((8, 8), (12, 12))), border=4)


def even(x: float, y: float, distances: tuple[float, ...] = (1.0,)) -> Motion:
    """The same motion everywhere."""
    return Motion(
        np.broadcast_to(np.array([x, y], np.float32), (S, S, 2)), np.array(distances, np.float32)
    )


def still(
    pixels: np.ndarray,
    motion: Motion,
    mask: np.ndarray = FACE,
    matrix: np.ndarray = IDENTITY,
    **more,
):
    """The photo with its colours unchanged."""
    chips = np.full((len(motion.distances), S, S, 3), 100, np.float32)
    return compose(pixels, False, chips, chips[0], mask, matrix, "ratio", motion=motion, **more)


def spot(x: float, y: float, side: int = S) -> np.ndarray:
    rows, columns = np.mgrid[:side, :side]
    item = 40 + 160 * np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / 18)
    return np.repeat(np.rint(item)[..., None], 3, 2).astype(np.uint8)


def centre(picture: np.ndarray) -> tuple[float, float]:
    light = picture[..., 0].astype(float) - 40
    rows, columns = np.indices(light.shape)
    return (columns * light).sum() / light.sum(), (rows * light).sum() / light.sum()


def test_a_spot_in_the_middle_moves_by_the_distance_times_the_unit():
    pictures = still(spot(32, 32), even(0.6, -1.0, (0.0, 2.0, -1.0))).pictures
    np.testing.assert_array_equal(pictures[0], spot(32, 32))
    assert centre(pictures[1]) == pytest.approx((33.2, 30.0), abs=0.15)
    assert centre(pictures[2]) == pytest.approx((31.4, 33.0), abs=0.15)


@pytest.mark.parametrize(("scale", "angle"), [(0.25, 0.0), (0.5, 0.7), (1.6, -1.2)])
def test_it_moves_in_the_photos_own_frame(scale, angle):
    turn = scale * np.array([(np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))])
    side = round(S / scale)
    matrix = np.column_stack([turn, (S - 1) / 2 - turn @ ((side - 1) / 2, (side - 1) / 2)])
    rows, columns = np.mgrid[:side, :side]
    width = 4 / scale
    item = 40 + 160 * np.exp(-((columns - side / 2) ** 2 + (rows - side / 2) ** 2) / width**2)
    photo = np.repeat(np.rint(item)[..., None], 3, 2).astype(np.uint8)
    picture = still(photo, even(0.0, 1.5), matrix=matrix).picture(0)
    shift = np.subtract(centre(picture), centre(photo))
    np.testing.assert_allclose(turn @ shift, (0.0, 1.5), atol=0.2)


def test_at_the_masks_edge_and_around_its_holes_nothing_moves():
    mask = FACE.copy()
    mask[30:34, 30:34] = 0
    field = within(even(1.0, 1.0), mask)
    assert np.abs(field[mask == 0]).max() < 0.15
    assert np.abs(field[29:35, 29:35]).max() < 0.6
    assert np.abs(field[44, 24]).max() > 0.9


@settings(max_examples=40, deadline=None)
@given(st.floats(-12, 12), st.floats(-12, 12), st.integers(0, 1000))
def test_no_motion_folds(x, y, seed):
    rng = np.random.default_rng(seed)
    field = np.repeat(np.repeat(rng.normal(0, 1, (8, 8, 2)), 8, 0), 8, 1).astype(np.float32)
    motion = Motion(field, np.array([x, y], np.float32))
    field = within(motion, FACE)
    change = np.stack([np.diff(field, axis=1)[:-1], np.diff(field, axis=0)[:, :-1]], -1)
    assert max(abs(x), abs(y)) * np.linalg.norm(change, 2, axis=(-2, -1)).max() <= STEEPEST + 1e-4
    for distance in (x, y):
        assert np.linalg.det(np.eye(2) - distance * change).min() >= (1 - STEEPEST) ** 2 - 1e-3


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10_000),
    st.floats(0.3, 3),
    st.floats(-3, 3),
    st.sampled_from(["ratio", "difference", "paste"]),
)
def test_outside_of_the_mask_every_pixel_is_the_photos_and_without_motion_none_moves(
    seed, scale, angle, blend
):
    rng = np.random.default_rng(seed)
    turn = scale * np.array([(np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))])
    matrix = np.column_stack([turn, (S - 1) / 2 - turn @ (40, 35)])
    pixels = rng.integers(0, 256, (70, 80, 3), np.uint8)
    chips = rng.uniform(60, 200, (2, S, S, 3)).astype(np.float32)
    motion = Motion(
        rng.normal(0, 0.5, (S, S, 2)).astype(np.float32), np.array([0.0, 1.5], np.float32)
    )
    given_ = pixels, False, chips, chips.mean(0), FACE, matrix, blend
    first = compose(*given_, motion=motion)
    x0, y0, x1, y1 = first.box
    np.testing.assert_array_equal(
        first.patches[1][first.weight == 0], pixels[y0:y1, x0:x1][first.weight == 0]
    )
    np.testing.assert_array_equal(first.patches[0], compose(*given_).patches[0])


def test_values_with_a_field_each_move_as_they_would_alone():
    pixels = spot(30, 30)
    fields = np.stack(
        [np.broadcast_to(np.array(way, np.float32), (S, S, 2)) for way in ((1, 0), (0, -1))]
    )
    both = still(pixels, Motion(fields, np.ones(2, np.float32)))
    for step, field in enumerate(fields):
        alone = still(pixels, Motion(field, np.ones(1, np.float32)))
        np.testing.assert_array_equal(both.patches[step], alone.patches[0])
    assert both.motion.field.shape == (2, *both.weight.shape, 2)
    with_head = Motion(fields, np.array([0, 1], np.float32))
    np.testing.assert_array_equal(still(pixels, with_head).picture(0), pixels)
