from __future__ import annotations

import json

import numpy as np
import pytest

from gslopes.ask.croppers import load_cropper
from gslopes.ask.croppers.given import picture_key
from gslopes.core.errors import AnswerError, ModelError

PICTURE = np.arange(600, dtype=np.uint8).reshape(10, 20, 3)


def recorded(folder, **changed):
    line = {"picture": picture_key(PICTURE), "ratio": 1.0, "box": [3, 0, 10, 10]} | changed
    (folder / "a.jsonl").write_text(json.dumps({key: value for key, value in line.items() if value is not None}))
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
