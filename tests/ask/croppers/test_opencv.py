from __future__ import annotations

import cv2
import numpy as np
import pytest

from gslopes.ask.croppers import load_cropper
from gslopes.core.errors import ConfigError, UsageError
from gslopes.crops.pictures import check_map, focal_point


def disc(width, height, x, y, value=220):
    picture = np.full((height, width, 3), 60, np.uint8)
    cv2.circle(picture, (x, y), min(width, height) // 8, (value,) * 3, -1)
    return picture


@pytest.mark.parametrize("name", ["spectral-residual", "fine-grained"])
def test_the_point_lies_on_the_only_thing_there_is(name):
    picture = disc(240, 160, 170, 60)
    (found,) = load_cropper(name).maps([picture])
    check_map(found, 240, 160, name, "a disc")
    x, y = focal_point(found)
    assert abs(x - 170) < 40
    assert abs(y - 60) < 40


@pytest.mark.parametrize("name", ["spectral-residual", "fine-grained"])
def test_one_colour_has_no_map(name):
    (found,) = load_cropper(name).maps([np.full((80, 100, 3), 128, np.uint8)])
    assert np.ptp(found.scores) == 0


@pytest.mark.parametrize("side", [64, 96, 131, 675])
def test_photos_of_one_size_shrunk_and_joined_are_the_joined_photos_shrunk(side):
    generator = np.random.default_rng(side)
    photos = [generator.integers(0, 255, (side, side, 3)).astype(np.uint8) for _ in range(2)]
    model = load_cropper("spectral-residual")
    halves = np.concatenate([model.shrink(photo, 32, 64) for photo in photos], axis=1)
    whole = np.concatenate(photos, axis=1)
    np.testing.assert_array_equal(halves, model.shrink(whole, 64, 64))
    np.testing.assert_array_equal(model.maps_of_shrunk(halves[None])[0], model.maps([whole])[0].scores)


def test_our_grid_is_opencvs_own_map_before_it_is_enlarged():
    picture = disc(300, 200, 90, 120)
    (found,) = load_cropper("spectral-residual").maps([picture])
    gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    whole = cv2.saliency.StaticSaliencySpectralResidual.create().computeSaliency(gray)[1]
    np.testing.assert_array_equal(cv2.resize(found.scores, (300, 200), interpolation=cv2.INTER_LINEAR), whole)


def test_a_parameter_that_there_is_none_of_is_said():
    with pytest.raises(ConfigError, match="no parameter 'sise'"):
        load_cropper("fine-grained,sise=3")


@pytest.mark.parametrize("name", ["spectral-residual", "fine-grained"])
def test_another_build_over_the_contrib_build_is_named_before_any_work_with_the_command_that_mends_it(
    name, monkeypatch
):
    monkeypatch.delattr(cv2, "saliency")
    with pytest.raises(UsageError, match="no saliency models") as raised:
        load_cropper(name)
    assert "opencv-contrib-python-headless" in raised.value.hint
