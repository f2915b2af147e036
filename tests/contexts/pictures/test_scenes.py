"""Rendered rooms."""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.contexts.pictures.scenes import SCENES, draw_scene


@pytest.mark.parametrize("key", SCENES)
def test_a_scene_is_drawn_at_any_size_and_always_the_same(key):
    picture = draw_scene(key, 2, width=300, height=200)
    assert picture.shape == (200, 300, 3)
    assert picture.dtype == np.uint8
    assert np.array_equal(picture, draw_scene(key, 2, width=300, height=200))


def test_two_layouts_are_different_pictures():
    drawn = {draw_scene(key, layout, width=96, height=64).tobytes() for key in SCENES for layout in (1, 2)}
    assert len(drawn) == 16
    assert [SCENES[key].paper for key in SCENES] == ["F1", "F2", "F3", "F4", "M1", "M2", "M3", "M4"]


@pytest.mark.parametrize("key", [key for key in SCENES if key != "nursery"])
def test_cues_stand_at_the_sides_and_the_middle_is_free(key):
    picture = draw_scene(key, width=300, height=200).astype(float)
    busy = np.abs(np.diff(picture.mean(axis=2), axis=1))[80:190] > 12
    assert busy[:, 120:180].mean() < busy[:, :90].mean()
