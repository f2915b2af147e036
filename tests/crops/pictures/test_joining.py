from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslopes.ask.croppers.geometry import Box
from gslopes.ask.croppers.resizing import fitted, resized
from gslopes.core.errors import ConfigError
from gslopes.crops.asking.portraits import scaled
from gslopes.crops.config import CropsConfig
from gslopes.crops.pictures.joining import join, layout, through_jpeg


def photo(width, height, value=0):
    return np.full((height, width, 3), value, np.uint8)


sizes = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=4)


@given(sizes, st.sampled_from(["horizontal", "vertical"]), st.integers(0, 3))
def test_territories_tile_the_picture(sizes, attach, gap):
    plan = layout(sizes, attach, gap)
    assert sum(box.area for box in plan.territories) == plan.width * plan.height
    for photo_box, territory in zip(plan.photos, plan.territories, strict=True):
        assert territory.shared(photo_box) == photo_box.area


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


@pytest.mark.parametrize(("name", "colour"), [("white", (255, 255, 255)), ("#8a0b0C", (138, 11, 12))])
def test_what_no_photo_covers_has_the_colour_that_is_asked_for(name, colour):
    config = CropsConfig(padding=name)
    picture, _ = join([photo(3, 2, 10), photo(4, 5, 20)], gap=1, padding=config.padding_colour)
    assert (picture[2:, :3] == colour).all()
    assert (picture[:, 3] == colour).all()
    assert (picture[:2, :3] == 10).all()
    assert config.variant == f"native, padding {name.lower()}"
    assert "padding" not in CropsConfig().identity()
    with pytest.raises(ConfigError, match="#8a8a8a"):
        CropsConfig(padding="whiter")


def test_one_below_the_other_with_a_gap():
    picture, plan = join([photo(3, 2, 10), photo(4, 5, 20)], "vertical", gap=1)
    assert picture.shape == (8, 4, 3)
    assert plan.photos[1] == Box(0, 3, 4, 8)
    assert plan.shares(np.full(3, 3.0), np.array([2.4, 2.5, 2.6])).tolist() == [[1, 0], [0.5, 0.5], [0, 1]]


def test_height_256_truncates_the_width_as_published():
    assert scaled(photo(333, 500), CropsConfig(height=256)).shape == (256, 333 * 256 // 500, 3)


def test_fitting_keeps_the_aspect_and_enlarges_small_pictures():
    assert fitted(photo(100, 50), 320).shape == (160, 320, 3)
    assert fitted(photo(1000, 2000), 320).shape == (320, 160, 3)
    assert resized(photo(8, 8), 8, 8) is not None


def test_the_filters_differ_and_a_jpeg_file_leaves_its_traces():
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3)).astype(np.uint8)
    assert (resized(noise, 20, 20) != resized(noise, 20, 20, "area")).any()
    assert (through_jpeg(noise, 75) != noise).any()
    assert (join([noise, noise], jpeg=75)[0] != join([noise, noise])[0]).any()


def test_nothing_to_join():
    with pytest.raises(ConfigError, match="photo at least"):
        layout([])
