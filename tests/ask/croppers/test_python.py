from __future__ import annotations

import numpy as np
import pytest

from gslopes.ask.croppers import load_cropper
from gslopes.ask.croppers.given import as_cropper
from gslopes.core.errors import AnswerError, ConfigError, UsageError

PICTURE = np.zeros((40, 60, 3), np.uint8)


@pytest.fixture(autouse=True)
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


def test_a_function_of_maps_and_one_of_rectangles():
    (found,) = load_cropper("python:my_own_cropper:brightness").maps([PICTURE])
    assert found.scores.shape == (40, 60)
    crop = load_cropper("python:my_own_cropper:left,answers=rectangles").crop(PICTURE, 1.0)
    assert (crop.left, crop.width) == (0, 40)


def test_what_goes_wrong_is_told():
    with pytest.raises(AnswerError, match="out of order"):
        load_cropper("python:my_own_cropper:broken").maps([PICTURE])
    with pytest.raises(AnswerError, match="0 answers about 1"):
        load_cropper("python:my_own_cropper:few").maps([PICTURE])
    with pytest.raises(UsageError, match="cannot be imported"):
        load_cropper("python:my_own_cropper:nothing")
    with pytest.raises(ConfigError, match="not module:function"):
        load_cropper("python:my_own_cropper")


def test_a_function_at_hand_is_a_cropper_by_what_it_takes():
    def brightness(pictures):
        return [picture.mean(axis=2) for picture in pictures]

    def left(pictures, ratio, keep=1):
        return [(0, 0, int(picture.shape[0] / ratio) * keep, picture.shape[0]) for picture in pictures]

    (found,) = as_cropper(brightness).maps([PICTURE])
    assert found.scores.shape == (40, 60)
    cropper = as_cropper(left)
    assert (cropper.name, cropper.crop(PICTURE, 1.0).width) == ("left", 40)
    assert cropper.version == as_cropper(left).version != as_cropper(brightness).version
    assert as_cropper(cropper) is cropper
    with pytest.raises(UsageError, match="takes 0 arguments"):
        as_cropper(lambda: None)
    with pytest.raises(UsageError, match="'centre' is no cropper"):
        as_cropper("centre")
