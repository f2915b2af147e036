"""S3 and S4: goldens 41, 43, 44."""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.captions.analysis import run_technique
from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Pair
from gslopes.captions.measures.distributions import OPEN_SIGN, amplification, divergence, log_odds
from gslopes.words.mentions import Mentions
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


def _audited(mentions: Mentions, after: tuple[int, int], times: str, **options: int):
    stages = _stages(after)
    whole = {stage: {f"{i}{c}": v for i, v in images.items() for c in times} for stage, images in stages.items()}
    groups = {"gender": {name: "female" if name[0] == "f" else "male" for name in whole["human-captions"]}}
    made = material(mentions, whole, groups, [PAIR])
    chosen = AuditOptions(**{"bootstrap": 50, "permutations": 99, "min_active": 1, **options})
    return run_technique("S4", made, "system-captions", "human-captions", chosen).measures


@pytest.mark.parametrize(("after", "expected"), [((4, 1), 40), ((2, 3), -40)])
def test_golden_44_amplification(mentions: Mentions, after: tuple[int, int], expected: float):
    assert amplification(20, 100 * (after[0] - after[1]) / 5) == pytest.approx(expected)
    change, wider = _audited(mentions, after, "abcdefghijklmnopqrstuvwx")
    assert [change["value"], wider["value"]] == [pytest.approx(expected)] * 2
    assert change["ci_low"] < expected < change["ci_high"]
    assert 0 < change["p"] <= 1


def test_a_change_keeps_its_sign_and_no_difference_at_truth_is_made_wider(mentions: Mentions):
    change, wider = _audited(mentions, (4, 1), "ab")
    assert change["value"] == pytest.approx(40)
    assert change["unit"] == "pp"
    assert np.isnan([wider["value"], wider["boot_low"], wider["p"]]).all()
    assert wider["note"] == OPEN_SIGN


def test_the_floor_of_permutations_is_said(mentions: Mentions):
    assert "a lone effect has q = 0.1" in _audited(mentions, (4, 1), "ab", permutations=9)[0]["note"]
    assert not _audited(mentions, (4, 1), "ab")[0]["note"]


def test_golden_67_images_all_alike_give_no_finding(mentions: Mentions):
    stages = {"system-captions": {str(i): [things("dog.n.01")] for i in range(40)}}
    groups = {"gender": {str(i): "female" if i % 2 else "male" for i in range(40)}}
    made = material(mentions, stages, groups, [PAIR])
    found = run_technique("S3", made, "system-captions", "", AuditOptions(permutations=99))
    (row,) = [row for row in found.measures if row["unit"] == "pp"]
    assert row["value"] == 0
    assert np.isnan([row["boot_low"], row["boot_high"]]).all()  # of width 0: no image is without it
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
