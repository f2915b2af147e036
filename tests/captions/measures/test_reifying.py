"""R1: golden 61."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gslopes.captions.analysis import run_technique
from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.reifying import has_trait
from gslopes.words.graph import Fact
from gslopes.words.mentions import Mentions
from tests.captions.conftest import material, things


def test_golden_61_long_hair(mentions: Mentions):
    hair = (*things("woman.n.01"), Fact("attribute", "long", subject="hair"))
    names = [f"l{i}" for i in range(40)] + [f"s{i}" for i in range(40)]
    says = {name: int(name[1:]) < (36 if name[0] == "l" else 24) for name in names}
    stages = {
        "human-labels": {name: [hair if name[0] == "l" else things("woman.n.01")] for name in names},
        "system-captions": {name: [things("woman.n.01" if said else "person.n.01")] for name, said in says.items()},
    }
    made = material(mentions, stages, {"gender": dict.fromkeys(names, "female")})
    found = run_technique("R1", made, "system-captions", "human-labels", AuditOptions(bootstrap=100))
    (row,) = [row for row in found.measures if "long_hair" in row["concept"]]
    assert row["value"] == pytest.approx(30)
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(11.11, abs=5e-3), pytest.approx(46.55, abs=5e-3))
    assert row["p"] == pytest.approx(0.0038, abs=5e-5)


def test_traits_of_captions(say: Callable):
    assert has_trait(say("A woman with long hair."), {"long_hair"})
    assert not has_trait(say("A woman with hair."), {"long_hair"})
