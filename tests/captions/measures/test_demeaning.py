"""D1 on stages; its bounds are tested in tests/words/test_mentions.py."""

from __future__ import annotations

from gslopes.captions.analysis import run_technique
from gslopes.captions.config import AuditOptions
from gslopes.words.mentions import Mentions
from tests.captions.conftest import material, things


def test_without_a_users_list_objects_are_not_counted(mentions: Mentions):
    made = material(mentions, {"system-captions": {str(i): [things("slob.n.01")] for i in range(12)}})
    found = run_technique("D1", made, "system-captions", "", AuditOptions(bootstrap=0))
    assert "demeaning-synsets" in found.measures[0]["lists"]
    assert not found.cases
