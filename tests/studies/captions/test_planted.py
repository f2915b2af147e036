from __future__ import annotations

import json

from gslopes.language.mentions import Mentions
from gslopes.language.senses import Senses
from gslopes.language.wordlists import shipped
from gslopes.language.wordnet import wordnet
from gslopes.studies.captions.planted import NOTHING, Planted, recover, recover_once, truths


def test_nothing_planted_is_a_truth_of_zero():
    assert set(truths(NOTHING).values()) == {0}
    assert all(truths(Planted()).values())


def test_what_is_planted_is_recovered_within_its_interval():
    mentions = Mentions(Senses(wordnet()), shipped())
    planted = Planted()
    found = recover_once(planted, 300, 0, mentions)
    for name in ("D2 unmentioned, pp", "S1 umbrella, pp"):
        assert found[name]["low"] <= truths(planted)[name] <= found[name]["high"]
        assert found[name]["q"] < 0.05
    assert found["D3 boys, captions"]["value"] == found["D3 boys planted"]["value"]


def test_sets_that_are_there_are_not_drawn_again(tmp_path, monkeypatch):
    drawn = []

    def once(planted, images, seed, mentions):
        drawn.append(seed)
        names = ("D2 unmentioned, pp", "D3 boys, captions", "D3 boys planted", "any S2 finding by q")
        return {name: {"value": 1.0, "low": 0.0, "high": 2.0, "q": 0.5} for name in names}

    monkeypatch.setattr("gslopes.studies.captions.planted.recover_once", once)
    first = recover(tmp_path, 2, images=10)
    again = recover(tmp_path, 2, images=10)
    assert (drawn, again) == ([0, 1, 0, 1], first)
    assert json.loads((tmp_path / "planted.json").read_text()) == first
