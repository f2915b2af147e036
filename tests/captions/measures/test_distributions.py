"""S3 and S4: goldens 41, 43, 44."""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.captions.analysis import run_technique
from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Pair
from gslopes.captions.measures.distributions import amplification, divergence, log_odds
from gslopes.language.mentions import Mentions
from tests.captions.conftest import material, things

PAIR = Pair("gender", "female", "male")


def test_golden_41_divergence():
    pairs = [((2, 2), (4, 0)), ((3, 1, 0), (1, 1, 2)), ((3, 1), (3, 1))]
    found = [divergence(np.array(one, float), np.array(other, float)) for one, other in pairs]
    assert found == [pytest.approx(0.3113, abs=5e-5), pytest.approx(0.3444, abs=5e-5), pytest.approx(0)]


def test_golden_43_log_odds_with_a_prior():
    value, z = log_odds(np.array([4.0]), 20, np.array([1.0]), 20, np.array([1.0]), 10)
    assert (value[0], z[0]) == (pytest.approx(1.0296, abs=5e-5), pytest.approx(1.2306, abs=5e-5))


def _stages(after: tuple[int, int]):
    def images(have: tuple[int, int]):
        names = {f"f{i}": i < have[0] for i in range(5)} | {f"m{i}": i < have[1] for i in range(5)}
        return {name: [things("tie.n.01")] if said else [()] for name, said in names.items()}

    return {"human-captions": images((3, 2)), "system-captions": images(after)}


@pytest.mark.parametrize(("after", "expected"), [((4, 1), 40), ((2, 3), -40)])
def test_golden_44_amplification(mentions: Mentions, after: tuple[int, int], expected: float):
    assert amplification(20, 100 * (after[0] - after[1]) / 5) == pytest.approx(expected)
    stages = _stages(after)
    groups = {"gender": {name: "female" if name[0] == "f" else "male" for name in stages["human-captions"]}}
    whole = {stage: {f"{i}{c}": v for i, v in images.items() for c in "ab"} for stage, images in stages.items()}
    groups["gender"] = {f"{i}{c}": v for i, v in groups["gender"].items() for c in "ab"}
    made = material(mentions, whole, groups, [PAIR])
    options = AuditOptions(bootstrap=50, permutations=99, min_active=1)
    (row,) = run_technique("S4", made, "system-captions", "human-captions", options).measures
    assert row["value"] == pytest.approx(expected)
    assert 0 < row["p"] <= 1


def test_golden_67_images_all_alike_give_no_finding(mentions: Mentions):
    stages = {"system-captions": {str(i): [things("dog.n.01")] for i in range(40)}}
    groups = {"gender": {str(i): "female" if i % 2 else "male" for i in range(40)}}
    made = material(mentions, stages, groups, [PAIR])
    found = run_technique("S3", made, "system-captions", "", AuditOptions(permutations=99))
    (row,) = [row for row in found.measures if row["unit"] == "pp"]
    assert row["boot_low"] == row["boot_high"] == row["value"] == 0
    assert row["p"] == 1
    assert not [row for row in found.measures if row["q"] < 0.05]


def test_golden_68_the_order_of_images_and_captions_changes_nothing(mentions: Mentions):
    options = AuditOptions(bootstrap=50, permutations=99, min_active=1)
    images = {str(i): [things("dog.n.01"), things("cat.n.01" if i % 3 else "dog.n.01")] for i in range(30)}
    groups = {"gender": {str(i): "female" if i % 2 else "male" for i in range(30)}}
    turned = {image: captions[::-1] for image, captions in reversed(images.items())}
    one, other = (
        run_technique("S3", material(mentions, {"human-captions": some}, groups, [PAIR]), "human-captions", "", options)
        for some in (images, turned)
    )
    assert str(one.measures) == str(other.measures)
