"""The tables of an editor's card, from readings that are planted: no network is asked."""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.faces.gate.manipulation import Estimate
from training.evaluation.composites import VALUES
from training.evaluation.editor import (
    Composites,
    edited_table,
    group_table,
    leakage_table,
    realism_table,
    thirds,
)

WAY, OTHER_WAY = ("face", "difference"), ("skin", "ratio")
FACES = 60
STEPS = np.array(VALUES)


def reading(slope: float, centre: float = 0.5) -> np.ndarray:
    """(FACES, K) probabilities on a line, each face a little off."""
    off = np.random.default_rng(0).uniform(-0.02, 0.02, (FACES, 1))
    return centre + off + slope * STEPS


class Held:
    """Held-out faces: half of them men, all of one gray."""

    def __len__(self) -> int:
        return FACES

    def groups(self) -> dict[str, np.ndarray]:
        return {"gender": np.where(np.arange(FACES) % 2, "men", "women").astype(object)}

    def chips(self, size: int) -> np.ndarray:
        noise = np.random.default_rng(1).integers(0, 40, (FACES, size, size, 3))
        return (100 + noise).astype(np.uint8)


@pytest.fixture
def seen() -> Composites:
    target = reading(0.2)
    target[1::2] = reading(0.1)[1::2]  # men move half as far
    readings = {
        "gender": target,
        "race": reading(0.0),
        "young": reading(-0.06),
        "smiling": reading(0.0),
        "luminance": reading(0.0),
        "sharpness": reading(0.0),
    }
    flat = {name: values * 0 + values[:, 2:3] for name, values in readings.items()}
    found = Composites(WAY, {WAY: readings, OTHER_WAY: flat})
    found.plain = {name: values[:, 2].copy() for name, values in readings.items()}
    found.plain["luminance"] = np.arange(FACES, dtype=float)
    return found


def test_the_shift_and_the_faces_that_follow_are_those_planted(seen):
    table = edited_table(seen, "gender")
    row = table["face, difference: reader"]
    span = STEPS[-1] - STEPS[0]
    assert row["shift"]["value"] == pytest.approx(0.15 * span, abs=1e-3)
    assert row["shift, -1 to 1"]["value"] == pytest.approx(0.15 * (STEPS[-2] - STEPS[1]), abs=1e-3)
    assert row["shift"]["low"] < row["shift"]["value"] < row["shift"]["high"]
    assert row["monotone"]["value"] == 1
    assert row["+0"]["value"] == pytest.approx(0.5, abs=0.01)
    assert table["skin, ratio: reader"]["shift"]["value"] == 0


def test_what_else_moves_is_a_share_of_the_targets_slope_with_its_sign(seen):
    table = leakage_table(seen, "gender")
    assert set(table) == {"race", "young", "smiling", "luminance", "sharpness"}
    assert table["young"]["face, difference"]["value"] == pytest.approx(-0.06 / 0.15, abs=0.02)
    assert table["smiling"]["face, difference"]["value"] == pytest.approx(0, abs=0.02)


def test_groups_have_their_own_shift_and_the_gap_between_them(seen):
    table = group_table(seen, Held(), "gender")
    span = STEPS[-1] - STEPS[0]
    assert table["women"] == {"faces": 30, "shift": table["women"]["shift"]}
    assert table["women"]["shift"]["value"] == pytest.approx(0.2 * span, abs=1e-3)
    assert table["men"]["shift"]["value"] == pytest.approx(0.1 * span, abs=1e-3)
    assert abs(table["gap by gender"]["shift"]["value"]) == pytest.approx(0.1 * span, abs=0.02)
    assert {"darkest third", "middle third", "lightest third", "gap by skin tone"} <= set(table)


def test_composites_that_are_the_photos_pass_and_those_of_another_colour_do_not(seen, monkeypatch):
    def two_sample_auc(
        photos, composites, people, most, readings=None
    ):  # tests/faces/gate/test_realism.py has the network
        if readings is not None and not np.array_equal(photos, composites):
            return Estimate(np.nan, np.nan, np.nan)  # no one is matched
        return Estimate(0.5 if np.array_equal(photos, composites) else 1.0, 0.5, 1.0)

    monkeypatch.setattr("training.evaluation.realism.two_sample_auc", two_sample_auc)
    held = Held()
    chips = np.repeat(held.chips(64)[:, None], len(VALUES), axis=1)
    chips[:, -1, :, :, 0] = 250
    seen.chips = {WAY: chips}
    seen.masks = {"face": np.ones((FACES, 64, 64), np.float32)}
    seen.found = np.ones((10, len(VALUES)), bool)
    seen.found[:5, 0] = False
    table = realism_table(seen, held, "gender")
    alike, red = table["face, difference at +0"], table[f"face, difference at {VALUES[-1]:+g}"]
    assert (alike["two-sample AUC"]["value"], red["two-sample AUC"]["value"]) == (0.5, 1.0)
    assert alike["matched two-sample AUC"]["value"] == 0.5
    assert "matched two-sample AUC" not in red
    first = table[f"face, difference at {VALUES[0]:+g}"]
    assert first["face found"]["value"] == 0.5


def test_thirds_are_by_rank_and_hold_as_many_each():
    names = thirds(np.array([5.0, 1.0, 9.0, 2.0, 7.0, 3.0]))
    assert names.tolist() == [
        "middle third",
        "darkest third",
        "lightest third",
        "darkest third",
        "lightest third",
        "middle third",
    ]
