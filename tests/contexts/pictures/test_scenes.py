"""Rendered rooms."""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.contexts.pictures.scenes import SCENES, backgrounds, draw_scene
from gslopes.core.errors import ConfigError, UnknownName


@pytest.mark.parametrize("key", SCENES)
def test_a_scene_is_drawn_at_any_size_and_always_the_same(key):
    picture = draw_scene(key, 2, width=300, height=200)
    assert picture.shape == (200, 300, 3)
    assert picture.dtype == np.uint8
    assert np.array_equal(picture, draw_scene(key, 2, width=300, height=200))


def test_two_layouts_and_two_colours_are_different_pictures():
    drawn = set()
    for key, layout, palette in backgrounds():
        drawn.add(draw_scene(key, layout, width=96, height=64, palette=palette).tobytes())
    assert len(drawn) == 16
    pink, blue = (draw_scene("nursery", palette=palette, width=96, height=64) for palette in (0, 1))
    assert not np.array_equal(pink, blue)


@pytest.mark.parametrize("key", [key for key in SCENES if key != "nursery"])
def test_cues_stand_at_the_sides_and_the_middle_is_free(key):
    picture = draw_scene(key, width=300, height=200).astype(float)
    busy = np.abs(np.diff(picture.mean(axis=2), axis=1))[80:190] > 12
    assert busy[:, 120:180].mean() < busy[:, :90].mean()


def test_the_nurserys_palette_is_varied_alone():
    assert len(SCENES["nursery"].palettes) == 4
    assert [SCENES[key].paper for key in SCENES] == ["F1", "F2", "F3", "F4", "M1", "M2", "M3", "M4"]


def test_what_there_is_not():
    with pytest.raises(UnknownName, match="nursery"):
        draw_scene("nurserie")
    with pytest.raises(ConfigError, match="layout 3"):
        draw_scene("nursery", 3)
    with pytest.raises(ConfigError, match="too small"):
        draw_scene("nursery", width=40, height=40)
