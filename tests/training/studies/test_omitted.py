from __future__ import annotations

import pytest

from gslopes.captions.config import AuditOptions
from gslopes.words.graph import Senses
from gslopes.words.mentions import Mentions
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import wordnet
from training.studies.captions import OMITTED, alarm_rows, alarms

QUICK = AuditOptions(bootstrap=0, permutations=0)


@pytest.fixture(scope="module")
def mentions() -> Mentions:
    return Mentions(Senses(wordnet()), shipped())


def test_with_every_label_nothing_is_flagged_and_alarms_rise_with_what_is_missing(mentions: Mentions):
    found = [alarms(omitted, 300, 0, mentions, QUICK) for omitted in OMITTED]
    shares = [one["value"] for one in found]
    assert shares[0] == found[0]["kept"] == 0
    assert shares == sorted(set(shares))
    assert found[-1]["kept"] > 0


def test_what_is_flagged_is_what_has_no_label(mentions: Mentions):
    found = alarms(0.2, 300, 1, mentions, QUICK)
    assert 0.1 < found["value"] == found["missing"] < 0.8


def test_rows_are_means_over_the_sets_beside_a_truth_of_zero():
    sets = [{"value": 0.2, "missing": 0.2, "kept": 2.0, "q": 0.01}, {"value": 0.4, "missing": 0.4, "kept": 4.0, "q": 1}]
    share, kept = alarm_rows({0.1: sets})
    assert share["planted"] == "S1, 10% of labels missing: images with a word flagged, share"
    assert (share["truth"], share["low"], share["high"], share["flagged"], share["sets"]) == (0, 0.2, 0.4, 0.5, 2)
    assert (share["mean"], kept["mean"]) == (pytest.approx(0.3), 3)
