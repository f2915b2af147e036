"""The drawn rooms, and that those that ship are what is drawn."""

import numpy as np
import pytest

from gslopes.contexts.stimuli.backgrounds import ROOMS, read_contexts
from gslopes.photos.folder import open_srgb
from training.rooms import SCENES, draw_scene, main


@pytest.mark.row("contexts-4.1-eight")
def test_two_layouts_of_every_scene_are_always_the_same_pictures_at_any_size():
    drawn = {}
    for key, layout in ((key, layout) for key in SCENES for layout in (1, 2)):
        picture = draw_scene(key, layout, width=96, height=64)
        assert (picture.shape, picture.dtype) == ((64, 96, 3), np.uint8)
        assert np.array_equal(picture, draw_scene(key, layout, width=96, height=64))
        drawn[picture.tobytes()] = key
    assert len(drawn) == 16
    assert [scene.paper for scene in SCENES.values()] == [
        "F1",
        "F2",
        "F3",
        "F4",
        "M1",
        "M2",
        "M3",
        "M4",
    ]


@pytest.mark.parametrize("key", [key for key in SCENES if key != "nursery"])
@pytest.mark.row("contexts-4.1-composition")
def test_cues_stand_at_the_sides_and_the_middle_is_free(key):
    picture = draw_scene(key, width=300, height=200).astype(float)
    busy = np.abs(np.diff(picture.mean(axis=2), axis=1))[80:190] > 12
    assert busy[:, 120:180].mean() < busy[:, :90].mean()


def test_what_ships_is_what_is_drawn_and_each_room_has_its_record(tmp_path, monkeypatch):
    monkeypatch.setattr("training.rooms.ROOMS", tmp_path)
    main()
    files = sorted(file.relative_to(tmp_path) for file in tmp_path.rglob("*.png"))
    assert files == sorted(file.relative_to(ROOMS) for file in ROOMS.rglob("*.png"))
    for file in files:
        assert np.array_equal(open_srgb(tmp_path / file), open_srgb(ROOMS / file)), file
    assert read_contexts(ROOMS / "contexts.toml").keys() == SCENES.keys()
