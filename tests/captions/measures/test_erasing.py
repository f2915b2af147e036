"""E2 and E3: goldens 62 and 64."""

from __future__ import annotations

import pytest

from gslopes.captions.analysis import run_technique
from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Pair
from gslopes.captions.measures.erasing import replaced
from gslopes.words.mentions import Mentions
from gslopes.words.wordnet import WordNet
from tests.captions.conftest import material, things


def test_golden_62_wheelchairs(mentions: Mentions):
    names = {f"d{i}": i < 3 for i in range(10)} | {f"l{i}": i < 7 for i in range(10)}
    stages = {
        "human-labels": {name: [things("wheelchair.n.01")] for name in names},
        "system-captions": {n: [things("wheelchair.n.01" if said else "bench.n.01")] for n, said in names.items()},
    }
    groups = {"skin": {name: "darker" if name[0] == "d" else "lighter" for name in names}}
    made = material(mentions, stages, groups, [Pair("skin", "darker", "lighter")])
    found = run_technique("E2", made, "system-captions", "human-labels", AuditOptions(bootstrap=50))
    (row,) = [row for row in found.measures if row["unit"] == "pp"]
    assert row["value"] == pytest.approx(-40)
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(-67.18, abs=5e-3), pytest.approx(2.88, abs=5e-3))


def test_golden_64_a_doctor_described_as_a_person(words: WordNet, mentions: Mentions):
    assert replaced("doctor.n.01", things("person.n.01"), words) == "person.n.01"
    assert replaced("doctor.n.01", things("doctor.n.01", "person.n.01"), words) == ""
    stages = {
        "human-labels": {name: [things("doctor.n.01")] for name in "ab"},
        "system-captions": {"a": [things("person.n.01")], "b": [things("doctor.n.01", "person.n.01")]},
    }
    made = material(mentions, stages)
    found = run_technique("E3", made, "system-captions", "human-labels", AuditOptions(bootstrap=0))
    assert [case["image"] for case in found.cases] == ["a"]
