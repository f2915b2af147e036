"""S1: goldens 26 to 35."""

import numpy as np
import pytest

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.inclusion import THRESHOLD, associate, imageable, judge
from gslopes.captions.measures.techniques import run_technique
from gslopes.captions.stimuli import readers
from gslopes.captions.stimuli.corpus import Corpus, Coverage, Pair
from gslopes.words.graph import Fact, Mentions, Senses, with_synsets
from gslopes.words.wordlists import Lists, WordList, shipped
from gslopes.words.wordnet import WordNet
from tests.captions.conftest import corpus, things

PAIR = Pair("gender", "female", "male")


@pytest.fixture(scope="module")
def fixture_f(words: WordNet) -> Corpus:
    own = WordList("non-imageable-synsets", "1", frozenset({"beauty.n.01"}))
    lists = Lists(shipped() | {own.name: own})
    people = ["woman.n.01"] * 5 + ["man.n.01"] * 5
    truth = {str(i): [person] for i, person in enumerate(people)}
    target = {str(i): [person] for i, person in enumerate(people)}
    truth["1"].append("fruit.n.01")
    truth["5"].append("necktie.n.01")
    for image in "05678":
        target[image].append("necktie.n.01")
    target["1"].append("apple.n.01")
    target["2"].append("beauty.n.01")
    groups = {"gender": {str(i): "female" if i < 5 else "male" for i in range(10)}}
    stages = {
        "human-labels": {image: [things(*names)] for image, names in truth.items()},
        "system-captions": {image: [things(*names)] for image, names in target.items()},
    }
    return corpus(Mentions(Senses(words), lists), stages, groups, [PAIR])


@pytest.fixture(scope="module")
def found(fixture_f: Corpus):
    return run_technique("S1", fixture_f, "system-captions", "human-labels", AuditOptions())


def row(found, concept: str) -> dict:
    (one,) = [row for row in found.inclusions if row["concept"] == concept]
    return one


@pytest.mark.row("captions-s1-invented", "captions-s1-rank", "captions-s1-association")
def test_golden_26_a_necktie_that_is_not_there(found):
    tie = row(found, "necktie.n.01")
    assert tie["scenario"] == "hallucination"
    assert sorted(case["image"] for case in found.cases if case["concept"] == "necktie.n.01") == [
        "0",
        "6",
        "7",
        "8",
    ]
    assert (tie["flagged"], tie["negatives"]) == (4, 9)
    assert tie["fpr"] == pytest.approx(0.4444, abs=5e-5)
    assert tie["fdr"] == pytest.approx(4 / 5)
    assert (tie["association"], tie["towards"]) == (pytest.approx(0.15), "male")
    assert (tie["kept"], tie["rank"]) == (True, 1)


@pytest.mark.row("captions-s1-specific")
def test_golden_27_an_apple_where_truth_says_fruit(found):
    apple = row(found, "apple.n.01")
    assert apple["scenario"] == "too-specific"
    assert (apple["flagged"], apple["negatives"], apple["kept"]) == (1, 10, True)
    assert (apple["association"], apple["towards"]) == (pytest.approx(0.05), "female")


@pytest.mark.row("captions-s1-scenarios")
def test_golden_28_what_no_photo_shows(found):
    beauty = row(found, "beauty.n.01")
    assert beauty["scenario"] == "non-imageable"
    assert (beauty["flagged"], beauty["negatives"], beauty["kept"]) == (1, 10, True)


@pytest.mark.row("captions-s1-share")
def test_golden_29_images_with_a_case(found):
    (share,) = [row for row in found.measures if row["concept"] == "any case"]
    assert (share["active"], share["n"]) == (6, 10)
    assert (share["ci_low"], share["ci_high"]) == (
        pytest.approx(0.3127, abs=5e-5),
        pytest.approx(0.8318, abs=5e-5),
    )
    counts = {row["concept"]: row["value"] for row in found.measures if row["unit"] == "count"}
    assert counts == {"hallucination": 4, "too-specific": 1, "non-imageable": 1}


def test_ideas_and_states_are_found_by_the_shipped_rule_and_things_and_people_are_not(
    words: WordNet,
):
    seen = [*readers.TYPES.values()]
    assert len(seen) == 80
    seen += [
        f"{word}.n.01"
        for word in (
            "woman",
            "leader",
            "tennis",
            "party",
            "red",
            "circle",
            "shadow",
            "sunset",
            "image",
        )
    ]
    unseen = [
        f"{word}.n.01"
        for word in ("beauty", "love", "poverty", "intelligence", "religion", "friendship")
    ]
    assert [name for name in seen if not imageable(*things(name), shipped(), words)] == []
    assert [name for name in unseen if imageable(*things(name), shipped(), words)] == []


@pytest.mark.parametrize(
    ("word", "seen"), [("intersection", True), ("background", True), ("happiness", False)]
)
def test_a_word_is_judged_by_the_sense_that_a_photo_shows(
    mentions: Mentions, word: str, seen: bool
):
    (thing,) = (with_synsets(Fact("object", word), mentions.senses),)
    assert imageable(thing, shipped(), mentions.wordnet) is seen


@pytest.mark.row("captions-s1-objects")
def test_the_users_list_replaces_the_rule(fixture_f: Corpus):
    lists, words = fixture_f.mentions.lists, fixture_f.mentions.wordnet
    assert [imageable(*things(name), lists, words) for name in ("beauty.n.01", "love.n.01")] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("target", "truth", "expected"),
    [
        ("person.n.01", "man.n.01", "correct"),
        ("man.n.01", "person.n.01", "too-specific"),
        ("woman.n.01", "man.n.01", "hallucination"),
        ("street.n.01", "road.n.01", "too-specific"),
    ],
    ids=["golden_30a", "golden_30b", "golden_30c", "golden_31"],
)
@pytest.mark.row("captions-s1-scenarios", "captions-s1-specific", "captions-s1-invented")
def test_golden_30_and_31_scenarios(words: WordNet, target: str, truth: str, expected: str):
    (judged,) = judge(things(target), things(truth), Coverage(), words, shipped())
    assert judged[1] == expected


@pytest.mark.row("captions-3.4-union")
def test_truth_is_what_all_captions_of_an_image_say_together(mentions: Mentions):
    stages = {
        "human-captions": {
            "a": [things("dog.n.01"), things("bench.n.01")],
            "b": [things("dog.n.01")],
        },
        "system-captions": {image: [things("dog.n.01", "bench.n.01")] for image in "ab"},
    }
    found = run_technique(
        "S1", corpus(mentions, stages), "system-captions", "human-captions", AuditOptions()
    )
    assert [(case["image"], case["concept"]) for case in found.cases] == [("b", "bench.n.01")]


def test_golden_32_a_closed_vocabulary_judges_only_its_own(words: WordNet):
    closed = Coverage("closed", "none", "none", frozenset({"person.n.01", "apple.n.01"}))
    judged = judge(
        things("dress.n.01", "apple.n.01"), things("person.n.01"), closed, words, shipped()
    )
    assert {fact.synset: scenario for fact, scenario in judged} == {
        "dress.n.01": "not-judged",
        "apple.n.01": "hallucination",
    }


@pytest.mark.row("captions-s1-association")
def test_golden_33_the_threshold_is_strict():
    member = np.repeat([1, -1], 500)
    ten, eleven = (
        associate(np.arange(1000) < count, member, Pair("gender", "male", "female"))
        for count in (10, 11)
    )
    assert (ten[0], eleven[0]) == (pytest.approx(0.0050), pytest.approx(0.0055))
    assert (ten[0] > THRESHOLD, eleven[0] > THRESHOLD) == (False, True)


@pytest.mark.row("captions-s1-same")
def test_golden_34_an_attribute_of_nothing_alike_is_not_judged(words: WordNet):
    red = Fact("attribute", "red", subject="woman", subject_synset="woman.n.01")
    dress = Fact("attribute", "red", subject="dress", subject_synset="dress.n.01")
    (judged,) = judge([red], [*things("dress.n.01"), dress], Coverage(), words, shipped())
    assert judged[1] == "not-judged"
    with_woman = [*things("woman.n.01"), dress]
    assert judge([red], with_woman, Coverage(), words, shipped())[0][1] == "hallucination"


@pytest.mark.row("captions-s1-have-in", "captions-s1-relations")
def test_golden_35_which_relations_a_photo_can_show(words: WordNet):
    relax, within, have = (
        Fact("relation", word, subject="man", object=thing)
        for word, thing in (("relax in", "chair"), ("in", "car"), ("have", "dog"))
    )
    assert [imageable(fact, shipped(), words) for fact in (relax, within, have)] == [
        False,
        True,
        True,
    ]
    beside = Fact("relation", "beside", subject="man", object="car")
    assert imageable(beside, shipped(), words)
