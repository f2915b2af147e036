from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gslopes.ask.croppers import load_cropper
from gslopes.ask.croppers.replay import picture_key
from gslopes.core.errors import AnswerError, ConfigError

PICTURE = np.arange(600, dtype=np.uint8).reshape(10, 20, 3)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_answers_got_elsewhere(tmp_path, suffix):
    path = tmp_path / f"answers.{suffix}"
    row = {"picture": picture_key(PICTURE), "ratio": 1.0, "left": 3, "top": 0, "width": 10, "height": 10}
    frame = pd.DataFrame([row])
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    cropper = load_cropper(f"replay:{path}")
    assert cropper.crop(PICTURE, 1.0).left == 3
    with pytest.raises(AnswerError, match="no answer about the picture"):
        cropper.crop(PICTURE, 0.5)


@pytest.mark.parametrize(("last", "says"), [("4,0,10,10", "two rectangles"), ("3.5,0,10,10", "whole numbers")])
def test_two_answers_and_halves_of_pixels_are_errors(tmp_path, last, says):
    lines = ["picture,ratio,left,top,width,height", "a,1.0,3,0,10,10", f"{'a' if last[0] == '4' else 'b'},1.0,{last}"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ConfigError, match=says):
        load_cropper(f"replay:{tmp_path}/a.csv")


def test_a_table_that_is_none(tmp_path):
    (tmp_path / "a.csv").write_text("picture,ratio\n")
    with pytest.raises(ConfigError, match="left, top, width, height"):
        load_cropper(f"replay:{tmp_path}/a.csv")
    with pytest.raises(ConfigError, match="There is no file"):
        load_cropper(f"replay:{tmp_path}/b.csv")
