"""The causal version on drawn discs whose brightness follows the value: slope and duels are recovered."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import stats

from gslopes.audits.crops.croppers.opencv import centres
from gslopes.core import tables
from gslopes.core.errors import UsageError
from gslopes.core.records import SaliencyMap
from gslopes.studies.crops import CropsConfig
from gslopes.studies.crops.sweep import sweep_crops

VALUES = np.linspace(-2, 2, 5)
PEOPLE = 36


class Brightness:
    name, version, local = "brightness", "1", True

    def maps(self, pictures):
        found = []
        for picture in pictures:
            scores = picture[::4, ::4].mean(axis=2).astype(np.float32)
            found.append(SaliencyMap(scores, *centres(picture.shape[1], picture.shape[0], *scores.shape[::-1])))
        return found


@pytest.fixture(scope="module")
def synthesised(tmp_path_factory):
    run = tmp_path_factory.mktemp("sweep") / "run"
    (run / "edits").mkdir(parents=True)
    level = 130 + 24 * stats.norm.ppf((np.arange(PEOPLE) + 0.5) / PEOPLE)
    edits, photos = [], []
    for person in range(PEOPLE):
        photo = f"{person:064x}"
        known = dict.fromkeys(("points", "detection"))
        box = np.array([8, 8, 24, 24], np.float32)
        row = {"photo": photo, "path": f"{person}.png", "width": 32, "height": 32, "status": "used", "reason": ""}
        photos.append({**row, "faces": 1, "box": box, **known})
        for attribute, rise in (("gender", 6.0), ("gender-same", 0.0), ("gender-random", 0.0)):
            for step, value in enumerate(VALUES):
                picture = np.full((32, 32, 3), 10, np.uint8)
                picture[8:24, 8:24] = round(float(level[person] + rise * value))
                name = f"edits/{person}-{attribute}-{step}.png"
                Image.fromarray(picture).save(run / name)
                key = {"photo": photo, "attribute": attribute, "step": step, "value": np.float32(value)}
                edits.append({**key, "file": name, "mask_area": np.float32(0.2)})
    tables.write(tables.EDITS, pd.DataFrame(edits), run / "edits.parquet")
    tables.write(tables.PHOTOS, pd.DataFrame(photos), run / "photos.parquet")
    values = {name: VALUES.tolist() for name in ("gender", "gender-same", "gender-random")}
    (run / "run.json").write_text(json.dumps({"values": values, "config": {}}))
    return run


@pytest.fixture(scope="module")
def swept(synthesised, tmp_path_factory):
    config = CropsConfig(cropper=("centre",), ratios=(1.0,), bootstrap=100)
    out = tmp_path_factory.mktemp("swept") / "run"
    return sweep_crops(synthesised, out, config=config, croppers=[Brightness()], others=6)


def slope(swept, attribute, cropper="brightness"):
    rows = swept.slopes[(swept.slopes["classifier"] == f"crop:{cropper}") & (swept.slopes["label"] == "favoured")]
    return rows[rows["attribute"] == attribute].iloc[0]


def test_the_planted_slope_is_found_and_the_placebos_holds_nothing(swept):
    fitted = slope(swept, "gender")
    # the chance to be lighter than another: Phi((level + 6 v - level')/ ...), its mean slope near 0.24/(2 sqrt(pi))
    assert fitted["ci_low"] < 6 / 24 / (2 * np.sqrt(np.pi)) < fitted["ci_high"]
    assert fitted["p"] < 1e-6
    assert slope(swept, "gender-same")["slope"] == pytest.approx(0, abs=1e-9)
    assert slope(swept, "gender", "centre")["slope"] == pytest.approx(0, abs=1e-9)


def test_in_duels_the_lighter_picture_always_wins_and_identical_ones_are_even(swept):
    results = swept.duels[(swept.duels["cropper"] == "brightness") & swept.duels["low"].isna()].set_index("attribute")
    assert results.loc["gender", "p"] == 1
    assert results.loc["gender-same", "p"] == 0
    single = swept.duels[swept.duels["low"].notna() & (swept.duels["cropper"] == "brightness")]
    assert len(single) == 3 * 10


def test_the_page_tells_it_against_the_placebo(swept):
    text = swept.page.read_text("utf-8")
    assert "association under this edit" in text
    assert "placebo: the same picture, encoded anew" in text
    assert "placebo: a random change as large" in text


def test_a_run_without_pictures(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(UsageError, match="has no pictures yet"):
        sweep_crops(tmp_path, tmp_path / "out")
