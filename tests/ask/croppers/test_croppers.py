"""Croppers of this machine: saliency of OpenCV, faces, centre, random, smartcrop, a function, a recording."""

import json
from dataclasses import replace
from functools import partial

import cv2
import numpy as np
import pytest

from gslopes.ask.croppers import CATALOGUE, Setting, has_map, load_cropper
from gslopes.ask.croppers.given import as_cropper, picture_key
from gslopes.ask.croppers.joining import check_map, focal_point
from gslopes.core.errors import AnswerError, ConfigError, ModelError, UnknownName, UsageError
from gslopes.core.records import Detections

PICTURE = np.random.default_rng(0).integers(0, 255, (100, 200, 3)).astype(np.uint8)
saliency = pytest.mark.parametrize("name", ["spectral-residual", "fine-grained"])

# -- saliency ----------------------------------------------------------------------------------------------------------


def disc(width, height, x, y, value=220):
    picture = np.full((height, width, 3), 60, np.uint8)
    cv2.circle(picture, (x, y), min(width, height) // 8, (value,) * 3, -1)
    return picture


@saliency
def test_the_point_lies_on_the_only_thing_there_is(name):
    picture = disc(240, 160, 170, 60)
    (found,) = load_cropper(name).maps([picture])
    check_map(found, 240, 160, name, "a disc")
    x, y = focal_point(found)
    assert abs(x - 170) < 40
    assert abs(y - 60) < 40


@saliency
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
    np.testing.assert_array_equal(
        model.maps_of_shrunk(halves[None])[0], model.maps([whole])[0].scores
    )


def test_our_grid_is_opencvs_own_map_before_it_is_enlarged():
    picture = disc(300, 200, 90, 120)
    (found,) = load_cropper("spectral-residual").maps([picture])
    gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    whole = cv2.saliency.StaticSaliencySpectralResidual.create().computeSaliency(gray)[1]
    np.testing.assert_array_equal(
        cv2.resize(found.scores, (300, 200), interpolation=cv2.INTER_LINEAR), whole
    )


@saliency
def test_another_build_over_the_contrib_build_is_named_before_any_work_with_the_command_that_mends_it(
    name, monkeypatch
):
    monkeypatch.delattr(cv2, "saliency")
    with pytest.raises(UsageError, match="no saliency models") as raised:
        load_cropper(name)
    assert "opencv-contrib-python-headless" in raised.value.hint


# -- without a map -----------------------------------------------------------------------------------------------------


def two_faces(photos):
    boxes = np.array([[10, 10, 30, 40], [120, 20, 190, 90]], np.float32)
    return [
        Detections(boxes, np.zeros((2, 5, 2), np.float32), np.array([0.99, 0.9], np.float32))
        for _ in photos
    ]


def nobody(photos):
    empty = np.zeros((0, 4), np.float32), np.zeros((0, 5, 2), np.float32), np.zeros(0, np.float32)
    return [Detections(*empty) for _ in photos]


def test_around_the_face_that_is_surest():
    crop = load_cropper("faces", Setting(finder=two_faces)).crop(PICTURE, 1.0)
    assert (crop.left, crop.width, crop.height) == (0, 100, 100)


def test_without_a_face_around_the_middle():
    assert load_cropper("faces", Setting(finder=nobody)).crop(PICTURE, 1.0) == load_cropper(
        "centre"
    ).crop(PICTURE, 1.0)
    with pytest.raises(UsageError, match="face detector"):
        load_cropper("faces")


def test_the_placebo_is_the_same_for_the_same_picture_and_seed():
    one, again, other = (
        load_cropper("random", Setting(seed=seed)).crop(PICTURE, 0.25) for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_names_and_options():
    with pytest.raises(UnknownName, match="spectral-residual"):
        load_cropper("spectral-residul")
    with pytest.raises(ConfigError, match="no parameter 'sise'"):
        load_cropper("fine-grained,sise=3")
    with pytest.raises(ConfigError, match="key=value"):
        load_cropper("fastgaze:x,means")
    with pytest.raises(ConfigError, match="needs its path"):
        load_cropper("fastgaze")
    assert has_map(load_cropper("spectral-residual"))
    assert not has_map(load_cropper("centre"))


# -- packages ----------------------------------------------------------------------------------------------------------


LEFT_DARK = np.full((120, 240, 3), 40, np.uint8)
LEFT_DARK[30:90, 170:220] = (230, 170, 130)


def test_the_crop_keeps_what_stands_out():
    pytest.importorskip("smartcrop", reason="pip install 'gslopes[smartcrop]'")
    cropper = load_cropper("smartcrop")
    crop = cropper.crop(LEFT_DARK, 1.0)
    assert cropper.version
    assert abs(crop.width - 120) <= 1
    assert abs(crop.height - 120) <= 1
    assert crop.left >= 90


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    lacking = replace(CATALOGUE["smartcrop"], needs=("no_such_package_here",))
    monkeypatch.setitem(CATALOGUE, "smartcrop", lacking)
    with pytest.raises(
        UsageError, match=r"no_such_package_here.*pip install 'gslopes\[smartcrop\]'"
    ):
        load_cropper("smartcrop")


# -- a function --------------------------------------------------------------------------------------------------------


@pytest.fixture
def module(tmp_path, monkeypatch):
    text = (
        "import numpy as np\n"
        "def brightness(pictures):\n    return [p.mean(axis=2) for p in pictures]\n"
        "def left(pictures, ratio):\n    return [(0, 0, int(p.shape[0] / ratio), p.shape[0]) for p in pictures]\n"
        "def broken(pictures):\n    raise RuntimeError('out of order')\n"
        "def few(pictures):\n    return []\n"
    )
    (tmp_path / "my_own_cropper.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_a_function_of_maps_and_one_of_rectangles(module):
    named = load_cropper("python:my_own_cropper:brightness")
    assert named.version.startswith("source ")
    assert load_cropper("python:my_own_cropper:brightness,version=2").version == "2"
    (found,) = named.maps([PICTURE])
    assert found.scores.shape == (100, 200)
    crop = load_cropper("python:my_own_cropper:left,answers=rectangles").crop(PICTURE, 1.0)
    assert (crop.left, crop.width) == (0, 100)


def test_what_goes_wrong_is_told(module):
    with pytest.raises(AnswerError, match="out of order"):
        load_cropper("python:my_own_cropper:broken").maps([PICTURE])
    with pytest.raises(AnswerError, match="0 answers about 1"):
        load_cropper("python:my_own_cropper:few").maps([PICTURE])
    with pytest.raises(UsageError, match="cannot be imported"):
        load_cropper("python:my_own_cropper:nothing")
    with pytest.raises(ConfigError, match=r"defines brightness, left, broken, few\. Name the one"):
        load_cropper("python:my_own_cropper")


def test_a_function_at_hand_is_a_cropper_by_what_it_takes():
    def brightness(pictures):
        return [picture.mean(axis=2) for picture in pictures]

    def left(pictures, ratio, keep=1):
        return [
            (0, 0, int(picture.shape[0] / ratio) * keep, picture.shape[0]) for picture in pictures
        ]

    (found,) = as_cropper(brightness).maps([PICTURE])
    assert found.scores.shape == (100, 200)
    cropper = as_cropper(left)
    assert (cropper.name, cropper.crop(PICTURE, 1.0).width) == ("left", 100)
    assert cropper.version == as_cropper(left).version != as_cropper(brightness).version
    assert as_cropper(cropper) is cropper
    assert (
        as_cropper(partial(left, ratio=0.5)).version != as_cropper(partial(left, ratio=0.6)).version
    )
    with pytest.raises(UsageError, match="takes 0 arguments"):
        as_cropper(lambda: None)
    with pytest.raises(UsageError, match="'centre' is not a cropper"):
        as_cropper("centre")


# -- a recording -------------------------------------------------------------------------------------------------------


def recorded(folder, **changed):
    line = {"picture": picture_key(PICTURE), "ratio": 1.0, "box": [3, 0, 10, 10]} | changed
    (folder / "a.jsonl").write_text(
        json.dumps({key: value for key, value in line.items() if value is not None})
    )
    return load_cropper(f"replay:{folder}/a.jsonl")


def test_answers_got_elsewhere(tmp_path):
    cropper = recorded(tmp_path)
    assert cropper.crop(PICTURE, 1.0).left == 3
    with pytest.raises(AnswerError, match="no answer about the picture"):
        cropper.crop(PICTURE, 0.5)


@pytest.mark.parametrize("box", [[3.5, 0, 10, 10], [3, 0, 10], "box", 3, [None, 0, 1, 1]])
def test_what_is_no_rectangle_of_whole_pixels_is_an_error(tmp_path, box):
    with pytest.raises(AnswerError, match="not left, top, width, height"):
        recorded(tmp_path, box=box).crop(PICTURE, 1.0)


def test_a_recording_that_is_none(tmp_path):
    for changed in ({"box": None}, {"picture": "no hex"}, {"ratio": "square"}):
        with pytest.raises(ModelError, match="Line 1 of the recording"):
            recorded(tmp_path, **changed)
    with pytest.raises(ModelError, match="There is no recording"):
        load_cropper(f"replay:{tmp_path}/b.jsonl")
