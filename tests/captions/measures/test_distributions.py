"""S3 and S4: golden 67; golden 68 is in tests/captions/test_order.py."""

import pytest

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.techniques import run_technique
from gslopes.captions.stimuli.corpus import Pair
from gslopes.words.graph import Mentions
from tests.captions.conftest import corpus, things

PAIR = Pair("gender", "female", "male")


def _stages(after: tuple[int, int]):
    def images(have: tuple[int, int]):
        names = {f"f{i}": i < have[0] for i in range(5)} | {f"m{i}": i < have[1] for i in range(5)}
        return {name: [things("tie.n.01")] if text else [()] for name, text in names.items()}

    return {"human-captions": images((3, 2)), "system-captions": images(after)}


@pytest.mark.parametrize(("after", "expected"), [((4, 1), 40), ((2, 3), -40)])
@pytest.mark.row("captions-s3-s4")
def test_a_change_keeps_its_sign(mentions: Mentions, after: tuple[int, int], expected: float):
    stages, times = _stages(after), "abcdefghijklmnopqrstuvwx"
    whole = {
        stage: {f"{i}{c}": v for i, v in images.items() for c in times}
        for stage, images in stages.items()
    }
    groups = {
        "gender": {name: "female" if name[0] == "f" else "male" for name in whole["human-captions"]}
    }
    built = corpus(mentions, whole, groups, [PAIR])
    (change,) = run_technique(
        "S4", built, "system-captions", "human-captions", AuditOptions()
    ).measures
    assert (change["value"], change["unit"]) == (pytest.approx(expected), "pp")
    assert change["ci_low"] < expected < change["ci_high"]
    assert 0 < change["p"] < 0.001


@pytest.mark.row("captions-s3-s4")
def test_golden_67_images_all_alike_give_no_finding(mentions: Mentions):
    stages = {"system-captions": {str(i): [things("dog.n.01")] for i in range(40)}}
    groups = {"gender": {str(i): "female" if i % 2 else "male" for i in range(40)}}
    built = corpus(mentions, stages, groups, [PAIR])
    result = run_technique("S3", built, "system-captions", "", AuditOptions())
    (row,) = [row for row in result.measures if row["unit"] == "pp"]
    assert row["value"] == 0
    assert row["ci_low"] < 0 < row["ci_high"]
    assert row["p"] == 1
    assert not [row for row in result.measures if row["q"] < 0.05]
