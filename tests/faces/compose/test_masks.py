from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gslopes.faces.compose.masks import LEAST, border_ramp, central_face, mask_is_degenerate, soft_mask

Y, X = np.mgrid[:128, :128].astype(np.float32)


def disc(x: float, y: float, radius: float) -> np.ndarray:
    return (np.hypot(X - x, Y - y) < radius).astype(np.float32)


FACE = disc(64, 64, 40)


def test_the_mask_is_whole_inside_and_nothing_outside_of_the_region() -> None:
    mask = soft_mask(FACE)
    assert mask.dtype == np.float32
    assert (mask[FACE == 0] == 0).all()
    assert mask[64, 64] == 1
    assert (mask[disc(64, 64, 30) > 0] > 0.99).all()


def test_the_edge_falls_without_a_step() -> None:
    mask = soft_mask(FACE)
    assert np.abs(np.diff(mask, axis=0)).max() < 0.45
    along = mask[64, 64:]
    assert (np.diff(along) <= 1e-6).all()


@pytest.mark.parametrize("sigma", [1.0, 4.0])
def test_a_larger_sigma_makes_a_softer_edge(sigma: float) -> None:
    softest = np.abs(np.diff(soft_mask(FACE, sigma=sigma), axis=1)).max()
    assert softest < 1.2 / sigma
    assert np.abs(np.diff(soft_mask(FACE, sigma=0), axis=1)).max() == 1


def test_a_region_over_the_border_comes_down_to_zero_before_it() -> None:
    mask = soft_mask(np.ones((128, 128), np.float32))
    for edge in (mask[0], mask[-1], mask[:, 0], mask[:, -1]):
        assert (edge == 0).all()
    assert mask[20:-20, 20:-20].min() == 1
    assert np.abs(np.diff(mask, axis=0)).max() < 0.13


def test_the_ramp_is_symmetric_and_one_inside() -> None:
    ramp = border_ramp(32, 6)
    np.testing.assert_array_equal(ramp, ramp[::-1])
    np.testing.assert_array_equal(ramp, ramp.T)
    assert ramp[16, 16] == 1
    assert ramp[0].max() == 0


def test_the_same_face_at_another_size_gives_the_same_mask() -> None:
    yy, xx = np.mgrid[:256, :256]
    large = soft_mask((np.hypot(xx - 127.5, yy - 127.5) < 80).astype(np.float32))
    small = soft_mask((np.hypot(X - 63.5, Y - 63.5) < 40).astype(np.float32))
    assert np.abs(large.reshape(128, 2, 128, 2).mean((1, 3)) - small).mean() < 0.01


def test_specks_go_and_pinholes_close_but_an_eye_stays_open() -> None:
    region = (FACE > 0) & (disc(50, 55, 1.5) == 0) & (disc(78, 55, 6) == 0)
    region |= disc(110, 15, 3) > 0
    clean = central_face(region)
    assert clean[55, 50]
    assert not clean[55, 78]
    assert not clean[15, 110]


def test_of_two_faces_the_one_at_the_centre_stays_even_if_smaller() -> None:
    beside = np.roll(disc(64, 64, 50), (-66, -66), (0, 1)) * (X < 60) * (Y < 60)
    region = (disc(80, 80, 16) > 0) | (beside > 0) & (disc(80, 80, 24) == 0)
    clean = central_face(region)
    assert clean[80, 80]
    assert not clean[5, 5]


def test_spectacle_frames_do_not_part_a_face() -> None:
    region = (FACE > 0) & ~((Y > 50) & (Y < 54))
    np.testing.assert_array_equal(central_face(region), region)


@settings(deadline=None, max_examples=40)
@given(arrays(np.float32, (32, 32), elements=st.floats(0, 1, width=32)))
def test_a_mask_is_in_range_zero_below_an_eighth_bit_and_on_the_border(likely: np.ndarray) -> None:
    mask = soft_mask(likely)
    assert mask.dtype == np.float32
    assert mask.min() >= 0
    assert mask.max() <= 1
    assert not ((mask > 0) & (mask < np.float32(LEAST))).any()
    assert mask[[0, -1]].max() == 0
    assert mask[:, [0, -1]].max() == 0


def test_no_face_and_no_numbers_are_degenerate_and_a_face_is_not() -> None:
    assert mask_is_degenerate(soft_mask(FACE)) is None
    for nothing in (np.zeros((128, 128), np.float32), np.full((128, 128), np.nan, np.float32), disc(64, 64, 3)):
        assert "face region not found" in (mask_is_degenerate(soft_mask(nothing)) or "")
    assert "not finite" in (mask_is_degenerate(np.full((8, 8), np.nan, np.float32)) or "")
