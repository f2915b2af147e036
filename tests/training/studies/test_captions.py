"""Planted harms are recovered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gslopes.core.errors import UsageError
from gslopes.words.chunks import standard
from gslopes.words.graph import Senses
from gslopes.words.mentions import Mentions
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import wordnet
from training.studies.captions import recover, recover_once, summarise
from training.studies.scenes import COUNTS, NOTHING, Planted, truths


@pytest.fixture(scope="module")
def mentions() -> Mentions:
    return Mentions(Senses(wordnet()), shipped())


def test_what_is_planted_is_recovered_within_its_interval(mentions: Mentions):
    planted = Planted()
    found = recover_once(planted, 400, 0, mentions, standard(), with_s2=False)
    for name in ("D2 unmentioned, pp", "S1 umbrella, pp", "S3 dog in human captions, pp", "D1 lazy, pp"):
        assert found[name]["low"] <= truths(planted)[name] <= found[name]["high"]


def test_counts_are_equal_when_tuples_are_given(mentions: Mentions):
    found = recover_once(Planted(), 400, 5, mentions, standard(), with_s2=False)
    for name in set(COUNTS) - {"D4 female"}:  # D4 goes by the tags of the text
        assert found[name]["value"] == found[name]["planted"] > 0
    assert found["D4 female"]["value"] <= found["D4 female"]["planted"]


def test_sets_that_are_there_are_not_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    drawn = []

    def once(planted, images, seed, mentions, parser, *, with_s2):
        drawn.append((seed, with_s2))
        return {name: {"planted": 1.0, "value": 1.0} for name in COUNTS} | {"any S1": {"q": 0.01}}

    monkeypatch.setattr("training.studies.captions.recover_once", once)
    first = recover(tmp_path, 2, images=10)
    again = recover(tmp_path, 2, images=10)
    assert (drawn, again) == ([(0, True), (0, True), (1, False), (1, False)], first)
    assert json.loads((tmp_path / "planted.json").read_text()) == first


def test_a_summary_counts_coverage_and_flags():
    drawn = [
        {"D2 unmentioned, pp": {"value": 7.0, "low": low, "high": 9.0, "p": p, "q": 0.2}}
        | {name: {"planted": 2.0, "value": 2.0} for name in COUNTS}
        for low, p in ((5.0, 0.01), (7.5, 0.5))
    ]
    (row,) = [r for r in summarise("planted", Planted(), drawn) if r["planted"] == "D2 unmentioned, pp"]
    assert (row["covered"], row["p_flagged"], row["flagged"], row["sets"]) == (0.5, 0.5, 0.0, 2)


def test_no_set_at_all_is_a_usage_error(tmp_path: Path):
    with pytest.raises(UsageError, match="At least one"):
        recover(tmp_path, 0)


# -- the recorded run: python -m training captions --sets 123 ---------------------------------------------------------

RECORDED = Path(__file__).parents[2] / "benches" / "results" / "captions-planted.json"


def recorded(name: str) -> dict[str, dict[str, Any]]:
    return {row["planted"]: row for row in json.loads(RECORDED.read_text("utf-8"))["table"] if row["set"] == name}


@pytest.mark.parametrize(("name", "planted"), [("planted", Planted()), ("nothing", NOTHING)])
def test_the_recorded_intervals_cover_and_counts_are_equal(name: str, planted: Planted):
    rows = recorded(name)
    intervals = [rows[key] for key in truths(planted) if rows[key]["covered"] is not None and key[:2] != "S2"]
    assert len(intervals) == 7
    assert 0.93 <= sum(row["covered"] for row in intervals) / 7 <= 0.97
    assert all(row["high"] >= 0.95 or row["covered"] >= 0.89 for row in intervals)
    assert all(rows[f"{key}, cases"]["covered"] == 1 for key in COUNTS if key != "D4 female")


def test_the_recorded_run_does_not_cry_wolf_and_finds_what_is_there():
    nothing, planted = recorded("nothing"), recorded("planted")
    families = [row["flagged"] for key, row in nothing.items() if key.startswith("any ")]
    assert len(families) == 8
    assert sum(families) / 8 <= 0.05
    single = [
        row["p_flagged"] for key, row in nothing.items() if key in truths(NOTHING) and row["p_flagged"] is not None
    ]
    assert 0.03 <= sum(single) / len(single) <= 0.07
    for key in ("D1 lazy, pp", "D2 unmentioned, pp", "S1 umbrella, pp", "S3 dog in human captions, pp"):
        assert planted[key]["flagged"] > 0.9
