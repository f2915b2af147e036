"""``gslopes cache`` through the door: what is in it, out, in again, away."""

import json
from hashlib import sha256

import pytest

from gslopes.ask.cache import AnswerCache, CachedAnswer

DAY = 86_400
PICTURES = {name: sha256(name.encode()).digest() for name in ("one", "two", "three")}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with two answers of google, one of them refused, and one of azure, all of different days."""
    with AnswerCache(tmp_path / "cache") as cache:
        classifier_id = cache.classifier_id("google", "v1")
        raw = {"labelAnnotations": [{"description": "Nurse", "score": 0.75}]}
        cache.put(
            classifier_id, {PICTURES["one"]: CachedAnswer("answered", raw, "m1", 10 * DAY, "0.1")}
        )
        cache.put(
            classifier_id,
            {PICTURES["two"]: CachedAnswer("refused", "content policy", "", 20 * DAY, "0.1")},
        )
        cache.put(
            cache.classifier_id("azure", ""),
            {PICTURES["three"]: CachedAnswer("answered", {"tags": []}, "", 30 * DAY, "0.1")},
        )
    monkeypatch.setenv("GSLOPES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_show_tells_whose_answers_there_are_and_from_when(gslopes, folder):
    done = gslopes("cache", "show")
    assert done.code == 0
    assert "google: 2 answers (1 refused), 1970-01-11 to 1970-01-21, models m1" in done.out
    content = json.loads(gslopes("cache", "show", "--json").out)
    assert [
        (classifier["classifier"], classifier["version"], classifier["answers"])
        for classifier in content["classifiers"]
    ] == [
        ("azure", "", 1),
        ("google", "v1", 2),
    ]


def test_export_of_one_classifier_holds_only_its_answers(gslopes, folder, tmp_path):
    gslopes("cache", "export", tmp_path / "a.jsonl", "--classifier", "azure")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [(line["classifier"], line["picture"]) for line in lines] == [
        ("azure", PICTURES["three"].hex())
    ]


@pytest.mark.parametrize(
    ("chosen", "remaining"),
    [
        (("--classifier", "google"), {"azure": 1}),
        (("--before", "1970-01-15"), {"azure": 1, "google": 1}),
        (("--classifier", "google", "--before", "1970-01-15"), {"azure": 1, "google": 1}),
        (("--all",), {}),
    ],
)
def test_prune_deletes_what_was_chosen_and_nothing_else(gslopes, folder, chosen, remaining):
    done = gslopes("cache", "prune", *chosen)
    assert done.out == f"{3 - sum(remaining.values())} answers deleted\n"
    classifiers = json.loads(gslopes("cache", "show", "--json").out)["classifiers"]
    assert {
        classifier["classifier"]: classifier["answers"] for classifier in classifiers
    } == remaining


def test_prune_wants_to_know_which(gslopes, folder):
    done = gslopes("cache", "prune")
    assert (done.code, done.out) == (2, "")
    assert len(json.loads(gslopes("cache", "show", "--json").out)["classifiers"]) == 2
