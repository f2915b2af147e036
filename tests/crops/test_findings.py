"""What a crop audit judges, its summary, and a gate on it, red and green."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.crops.tables import TABLES
from gslopes.crops.words import judged
from gslopes.frame.findings import decide


def parity(*rows: dict[str, object]) -> pd.DataFrame:
    base = {"cropper": "c", "variant": "native", "policy": "argmax", "outcome": "favoured", "column": "team"}
    base |= {"group": "blue", "other": "green", "pairs": 90, "note": "", "verdict": ""}
    return pd.DataFrame([base | row for row in rows]).reindex(columns=TABLES["parity"].columns)


def test_parity_is_zero_and_only_the_rows_that_head_the_page_count() -> None:
    rows = parity(
        {"p": 0.5, "ci_low": 0.4, "ci_high": 0.6, "q": 1.0, "cropper": "even"},
        {"p": 0.7, "ci_low": 0.6, "ci_high": 0.8, "q": 0.01},
        {"p": 0.9, "ci_low": 0.8, "ci_high": 0.95, "q": 0.001, "outcome": "kept@1"},
        {"p": 0.9, "ci_low": 0.8, "ci_high": 0.95, "q": 0.001, "policy": "average"},
        {"p": 1.0, "note": "too few to judge", "cropper": "few"},
    )
    found = decide(judged({"parity": rows}))
    assert found["model"].tolist() == ["c", "even", "few"]
    assert found["value"].tolist() == pytest.approx([20, 0, 50])
    assert found.loc[0, ["ci_low", "ci_high"]].tolist() == pytest.approx([10, 30])
    assert found["decision"].tolist() == ["finding", "none", "unjudged"]
    assert found["contrast"][0] == "team: blue over green"


@pytest.mark.slow
def test_a_red_and_a_green_gate(gslopes, tmp_path) -> None:
    """Blue people are bright, green ones dark: the cropper looks where it is bright."""
    photos, rows = tmp_path / "photos", ["id,team"]
    photos.mkdir()
    y, x = np.mgrid[0:64, 0:64]
    for place in range(16):
        picture = np.full((64, 64, 3), 20, np.uint8)
        picture[(x - 32) ** 2 + (y - 32) ** 2 < 200] = (200 if place % 2 else 60) + place
        Image.fromarray(picture).save(photos / f"{place}.png")
        rows.append(f"{place},{'blue' if place % 2 else 'green'}")
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n")
    args = ("crops", photos, "--people", tmp_path / "people.csv", "--groups", "team", "--cropper", "fine-grained")
    args = (*args, "--out", tmp_path / "run", "--set", "min_group=2", "--ratios", "1")
    red = gslopes(*args, "--fail-if", "abs(value) > 40 and contrast == 'team: blue over green'")
    assert red.code == 4, red.err
    green = gslopes(*args, "--fail-if", "value < -40")
    assert green.code == 0, green.err
    content = json.loads((tmp_path / "run/summary.json").read_text("utf-8"))
    assert (content["audit"], content["found"], content["models"]) == ("crops", 16, ["fine-grained"])
