from __future__ import annotations

from gslopes.captions.analysis import RUNNERS, missing_need, run_techniques
from gslopes.captions.config import AuditOptions
from gslopes.captions.techniques import TECHNIQUES, excluded_causes
from gslopes.words.mentions import Mentions
from tests.captions.conftest import material, things


def test_every_technique_says_how_it_is_read_and_what_it_assumes():
    assert len(TECHNIQUES) == 15
    assert list(RUNNERS) == list(TECHNIQUES)
    assert all(t.reading in ("look", "face") and t.assumptions for t in TECHNIQUES.values())


def test_what_cannot_have_caused_a_difference():
    assert excluded_causes("system-captions", "human-captions") == "the human captions"
    assert excluded_causes("system-captions", "human-labels") == "nothing is excluded"


def test_a_missing_need_is_named_and_the_rest_runs(mentions: Mentions):
    made = material(mentions, {"system-captions": {str(i): [things("dog.n.01")] for i in range(12)}})
    assert "truth" in missing_need(TECHNIQUES["S1"].needs, made, "system-captions", "")
    found, described = run_techniques(made, "", ["system-captions"], ["S1", "D1", "I3"], AuditOptions(bootstrap=0))
    assert {row["technique"]: row["ran"] for row in described} == {"S1": "no", "D1": "yes", "I3": "yes"}
    assert {row["technique"] for row in found.measures} == {"D1", "I3"}
