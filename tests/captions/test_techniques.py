from __future__ import annotations

from gslopes.captions.options import AuditOptions
from gslopes.captions.techniques import TECHNIQUES, default_targets, default_truth, exculpated, lacking, run
from gslopes.language.mentions import Mentions
from tests.captions.conftest import material, things


def test_every_technique_says_how_it_is_read_and_what_it_assumes():
    assert len(TECHNIQUES) == 15
    assert all(t.reading in ("look", "face") and t.assumptions for t in TECHNIQUES.values())


def test_truth_and_targets():
    stages = ["human-labels", "human-captions", "system-captions"]
    assert default_truth(stages) == "human-labels"
    assert default_targets(stages, "human-labels") == ["human-captions", "system-captions"]
    assert default_truth(["system-captions"]) == ""
    assert exculpated("system-captions", "human-captions") == "the human captions"


def test_what_lacks_something_is_told_and_the_rest_runs(mentions: Mentions):
    made = material(mentions, {"system-captions": {str(i): [things("dog.n.01")] for i in range(12)}})
    assert "truth" in lacking(TECHNIQUES["S1"], made, "system-captions", "")
    found, described = run(made, "", ["system-captions"], ["S1", "D1", "I3"], AuditOptions(bootstrap=0))
    assert {row["technique"]: row["ran"] for row in described} == {"S1": "no", "D1": "yes", "I3": "yes"}
    assert {row["technique"] for row in found.measures} == {"D1", "I3"}
