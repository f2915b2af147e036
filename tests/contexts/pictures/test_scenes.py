"""Rendered rooms."""

import numpy as np
import pytest

from gslopes.contexts.pictures.scenes import SCENES, draw_scene


@pytest.mark.row("contexts-4.1-eight")
def test_two_layouts_of_every_scene_are_always_the_same_pictures_at_any_size():
    drawn = {}
    for key, layout in ((key, layout) for key in SCENES for layout in (1, 2)):
        picture = draw_scene(key, layout, width=96, height=64)
        assert (picture.shape, picture.dtype) == ((64, 96, 3), np.uint8)
        assert np.array_equal(picture, draw_scene(key, layout, width=96, height=64))
        drawn[picture.tobytes()] = key
    assert len(drawn) == 16
    assert [scene.paper for scene in SCENES.values()] == ["F1", "F2", "F3", "F4", "M1", "M2", "M3", "M4"]


@pytest.mark.parametrize("key", [key for key in SCENES if key != "nursery"])
@pytest.mark.row("contexts-4.1-composition")
def test_cues_stand_at_the_sides_and_the_middle_is_free(key):
    picture = draw_scene(key, width=300, height=200).astype(float)
    busy = np.abs(np.diff(picture.mean(axis=2), axis=1))[80:190] > 12
    assert busy[:, 120:180].mean() < busy[:, :90].mean()
