from __future__ import annotations

import numpy as np
import pytest

from gslopes.ask.croppers import has_map, load_cropper
from gslopes.ask.croppers.simple import needed
from gslopes.core.errors import ConfigError, UnknownName, UsageError
from gslopes.core.records import Detections

PICTURE = np.random.default_rng(0).integers(0, 255, (100, 200, 3)).astype(np.uint8)


def two_faces(photos):
    boxes = np.array([[10, 10, 30, 40], [120, 20, 190, 90]], np.float32)
    return [Detections(boxes, np.zeros((2, 5, 2), np.float32), np.array([0.99, 0.9], np.float32)) for _ in photos]


def nobody(photos):
    empty = np.zeros((0, 4), np.float32), np.zeros((0, 5, 2), np.float32), np.zeros(0, np.float32)
    return [Detections(*empty) for _ in photos]


def test_around_the_face_that_is_surest():
    crop = load_cropper("faces", finder=two_faces).crop(PICTURE, 1.0)
    assert (crop.left, crop.width, crop.height) == (0, 100, 100)


def test_without_a_face_around_the_middle():
    assert load_cropper("faces", finder=nobody).crop(PICTURE, 1.0) == load_cropper("centre").crop(PICTURE, 1.0)
    with pytest.raises(UsageError, match="face detector"):
        load_cropper("faces")


def test_the_placebo_is_the_same_for_the_same_picture_and_seed():
    one, again, other = (load_cropper("random", seed=seed).crop(PICTURE, 0.25) for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_names_and_options():
    with pytest.raises(UnknownName, match="spectral-residual"):
        load_cropper("spectral-residul")
    with pytest.raises(ConfigError, match="key=value"):
        load_cropper("fastgaze:x,means")
    with pytest.raises(ConfigError, match="needs its path"):
        load_cropper("fastgaze")
    assert has_map(load_cropper("spectral-residual"))
    assert not has_map(load_cropper("centre"))


# -- packages ----------------------------------------------------------------------------------------------------------


LEFT_DARK = np.full((120, 240, 3), 40, np.uint8)
LEFT_DARK[30:90, 170:220] = (230, 170, 130)
PACKAGES = {"smartcrop": "smartcrop", "vips-attention": "pyvips"}


@pytest.mark.parametrize("name", PACKAGES)
def test_the_crop_keeps_what_stands_out(name):
    pytest.importorskip(PACKAGES[name], reason=f"pip install 'gslopes[{name.split('-')[0]}]'")
    cropper = load_cropper(name)
    crop = cropper.crop(LEFT_DARK, 1.0)
    assert cropper.version
    assert abs(crop.width - 120) <= 1
    assert abs(crop.height - 120) <= 1
    assert crop.left >= 90


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(UsageError, match=r"pip install 'gslopes\[nothing\]'"):
        needed("no_such_package_here", "nothing", "mine")
