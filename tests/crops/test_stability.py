"""How far crops move under edits that nobody sees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gslopes.ask.boxes import Crop
from gslopes.crops.asking import EDITS, crop_displacement, edited
from tests.crops.drawn import Brightness, audit, draw_people


def test_edits_are_small():
    picture = np.random.default_rng(0).integers(0, 200, (20, 30, 3)).astype(np.uint8)
    right = edited(picture, "2 px to the right")
    np.testing.assert_array_equal(right[:, 2:], picture[:, :-2])
    assert edited(picture, "5 % brighter").mean() == pytest.approx(1.05 * picture.mean(), abs=0.5)
    assert all(edited(picture, edit).shape == picture.shape for edit in EDITS)


def test_a_crop_that_follows_the_picture_has_not_moved():
    one, two = Crop(10, 0, 20, 20), Crop(12, 0, 20, 20)
    assert crop_displacement(one, two, shift=2) == 0
    assert crop_displacement(one, two, shift=0) == 2
    assert crop_displacement(one, one, shift=2) == 0  # at the picture's edge a crop cannot follow


def test_a_steady_cropper_stands_still_and_a_nervous_one_does_not(tmp_path):
    class Nervous:
        """Left or right by the last bit of the picture's sum."""

        name, version = "nervous", "1"

        def crop(self, picture, ratio):
            height, width = picture.shape[:2]
            return Crop((width - height) * int(picture.astype(np.int64).sum() % 2), 0, height, height)

    table, _ = draw_people(tmp_path / "p", {"blue": 6, "green": 6})
    options = {"ratios": (1.0,), "stability": 30, "policies": ("argmax", "sample", "average", "pad")}
    found = audit(tmp_path / "p", table, tmp_path / "run", Brightness(), Nervous(), **options)
    moves = pd.read_parquet(tmp_path / "run/stability.parquet").groupby(["cropper", "policy"])["move"].mean()
    assert moves["centre", "rectangle"] == 0
    assert moves["brightness", "argmax"] < 0.02
    assert 0.1 < moves["nervous", "rectangle"] < 0.4  # half of the 90 edits move it by half of the picture
    policies = found.tables["policies"].set_index("policy")["instability"]
    assert policies["pad"] == 0
    assert policies["argmax"] == pytest.approx(moves["brightness", "argmax"])
    assert "5 % brighter" in found.page.read_text("utf-8")
