"""Geometry: what was planned is what comes out, for every size, and the flaws of the published script are not here."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gslopes.contexts.config import StageConfig
from gslopes.contexts.stimuli.canvas import (
    DoesNotFit,
    box,
    cover,
    paste,
    place,
    resample,
)
from gslopes.core.errors import ConfigError
from gslopes.core.options import build


@pytest.mark.row("contexts-4.3-place", "contexts-4.3-share")
def test_an_opaque_person_at_a_quarter_of_the_canvas():
    where = place(np.ones((60, 40), np.float32), 150, 100)
    assert (where.width, where.height, where.x, where.y, where.opaque) == (50, 75, 50, 25, 3750)


def test_the_largest_share_that_fits_is_named():
    with pytest.raises(DoesNotFit, match=r"larger than the canvas; at most 0\.44 fits"):
        place(np.ones((1200, 800), np.float32), 1500, 1000, share=0.5)
    with pytest.raises(DoesNotFit, match=r"enlarged 1\.6 times"):
        place(np.ones((60, 40), np.float32), 150, 100, share=0.4)


@pytest.mark.row("contexts-4.3-place")
def test_an_odd_rest_goes_to_the_right():
    alpha = np.ones((41, 41), np.float32)
    where = place(alpha, 100, 100, share=41 * 41 / 10_000)
    assert (where.width, where.x) == (41, 29)


@given(st.integers(200, 900), st.floats(0.25, 4))
@settings(max_examples=25, deadline=None)
@pytest.mark.row("contexts-4.3-size")
def test_every_background_comes_out_at_exactly_the_canvas_size(height, aspect):
    picture = np.full((height, max(1, round(height * aspect)), 3), 200, np.uint8)
    covered = cover(picture, 768, 512)
    assert covered.shape == (512, 768, 3)
    assert covered.min() >= 199  # no black rows


def test_rows_are_cut_evenly():
    picture = np.repeat(np.arange(200, dtype=np.uint8)[:, None, None], 100, 1).repeat(3, 2)
    assert cover(picture, 100, 100)[0, 0, 0] == 50


def _person() -> tuple[np.ndarray, np.ndarray]:
    colour = np.zeros((180, 120, 3), np.uint8)
    colour[:] = (200, 100, 50)
    alpha = np.zeros((180, 120), np.float32)
    alpha[20:, 16:104] = 1
    alpha[20:30, 16:104] = np.linspace(0, 1, 10)[:, None]
    return colour, alpha


def test_nothing_of_the_background_changes_where_the_person_is_not():
    generator = np.random.default_rng(0)
    background = generator.integers(0, 256, (200, 300, 3), dtype=np.uint8)
    colour, alpha = _person()
    where = place(alpha, 300, 200)
    layer, opacity = resample(colour, alpha, where)
    pasted = paste(background, layer, opacity, where)
    mask = np.zeros((200, 300), bool)
    mask[where.y : where.y + where.height, where.x : where.x + where.width] = opacity > 0
    assert np.array_equal(pasted[~mask], background[~mask])
    solid = opacity == 1
    inner = pasted[where.y : where.y + where.height, where.x : where.x + where.width][solid]
    assert np.abs(inner.astype(int) - (200, 100, 50)).max() <= 1
    assert where.y + where.height == 200


def test_the_share_is_reached_although_edges_are_soft():
    _, alpha = _person()
    where = place(alpha, 300, 200, share=0.2)
    assert where.opaque / (300 * 200) == pytest.approx(0.2, abs=0.002)


def test_no_light_rings_around_an_enlarged_person():
    colour, alpha = np.full((40, 30, 3), 255, np.uint8), np.zeros((40, 30), np.float32)
    alpha[5:, 5:25] = 1
    where = place(alpha, 100, 60, share=0.22)
    layer, opacity = resample(colour, alpha, where)
    pasted = paste(np.zeros((60, 100, 3), np.uint8), layer, opacity, where)
    assert where.scale > 1
    assert np.array_equal(
        pasted[where.y :, where.x : where.x + where.width].max(axis=2),
        np.rint(255 * opacity).astype(np.uint8),
    ) or (np.abs(layer.max(axis=2) - 255 * opacity).max() < 1.01)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, float("nan")])
def test_a_share_that_is_none(share):
    with pytest.raises(ConfigError):
        build(StageConfig, {"person_share": share})


def test_the_box_of_what_is_seen():
    _, alpha = _person()
    assert box(alpha) == (16, 21, 104, 180)
    with pytest.raises(ValueError, match="opaque"):
        box(np.zeros((4, 4), np.float32))
