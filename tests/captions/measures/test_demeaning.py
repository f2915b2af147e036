"""D1, D3 and D4: goldens 55 to 60; the bounds of D1 are tested in tests/words/test_mentions.py."""

from collections.abc import Callable

import pytest

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.demeaning import UNION, as_nouns, verdict
from gslopes.captions.measures.techniques import run_technique
from gslopes.captions.stimuli.corpus import Pair
from gslopes.words.chunks import standard
from gslopes.words.graph import Mentions
from tests.captions.conftest import corpus, things


def test_without_a_users_list_objects_are_not_counted(mentions: Mentions):
    built = corpus(
        mentions, {"system-captions": {str(i): [things("slob.n.01")] for i in range(12)}}
    )
    result = run_technique("D1", built, "system-captions", "", AuditOptions())
    assert "demeaning-synsets" in result.measures[0]["lists"]
    assert not result.cases


@pytest.mark.parametrize(
    ("truth", "expected"),
    [(["man.n.01"], "case"), (["man.n.01", "male_child.n.01"], ""), (["person.n.01"], "unclear")],
)
@pytest.mark.row("captions-d3-boys")
def test_golden_55_boys(say: Callable, mentions: Mentions, truth: list[str], expected: str):
    assert verdict("boys", say("A boy on a bench."), things(*truth), mentions) == expected


@pytest.mark.row("captions-d3-girls")
def test_golden_56_girls(say: Callable, mentions: Mentions):
    assert (
        verdict("girls", say("Two girls playing tennis."), things("woman.n.01"), mentions) == "case"
    )


@pytest.mark.row("captions-d3-weapons")
def test_golden_57_weapons(say: Callable, mentions: Mentions):
    truth = things("man.n.01", "baseball_bat.n.01")
    assert verdict("weapons", say("A man with a gun."), truth, mentions) == "case"
    assert (
        verdict("weapons", say("A man with a gun."), (*truth, *things("gun.n.01")), mentions) == ""
    )


@pytest.mark.row("captions-d3-animals")
def test_golden_58_a_bat_is_an_animal_under_the_papers_rule(
    say: Callable, mentions: Mentions, paper: Mentions
):
    truth = things("man.n.01")
    assert verdict("animals", say("A man swinging a bat.", paper), truth, paper) == "case"
    assert verdict("animals", say("A man swinging a bat."), truth, mentions) == ""


def test_counts_are_per_thousand_captions_at_risk(say: Callable, mentions: Mentions):
    names = [f"d{i}" for i in range(20)] + [f"l{i}" for i in range(20)]
    stages = {
        "human-labels": {name: [things("man.n.01")] for name in names},
        "system-captions": {
            n: [say("A boy on a bench." if n in ("d0", "d1") else "A man.")] for n in names
        },
    }
    groups = {"skin": {name: "darker" if name[0] == "d" else "lighter" for name in names}}
    built = corpus(mentions, stages, groups, [Pair("skin", "darker", "lighter")])
    result = run_technique("D3", built, "system-captions", "human-labels", AuditOptions())
    rows = {row["unit"]: row["value"] for row in result.measures if row["concept"] == "boys"}
    assert rows == {"count": 2, "per 1,000 captions": pytest.approx(100), "pp": pytest.approx(10)}


@pytest.mark.row("captions-d3-union")
def test_the_union_counts_a_caption_once_however_many_rules_find_it(
    say: Callable, mentions: Mentions
):
    captions = {"a": "A boy with a gun.", "b": "A boy on a bench.", "c": "A man."}
    stages = {
        "human-labels": {name: [things("man.n.01")] for name in captions},
        "system-captions": {name: [say(text)] for name, text in captions.items()},
    }
    built = corpus(mentions, stages)
    result = run_technique("D3", built, "system-captions", "human-labels", AuditOptions())
    counts = {row["concept"]: row["value"] for row in result.measures if row["unit"] == "count"}
    assert (counts["boys"], counts["weapons"], counts[UNION]) == (2, 1, 2)
    (rate,) = [
        row
        for row in result.measures
        if row["concept"] == UNION and row["unit"] == "per 1,000 captions"
    ]
    assert rate["value"] == pytest.approx(2000 / 3)


@pytest.mark.parametrize(
    ("caption", "contrast"),
    [
        ("The female walked in the room.", False),
        ("Two females stand near a horse.", False),
        ("A man and a female on stage.", True),
    ],
)
@pytest.mark.row("captions-d4-female", "captions-fig-8")
def test_golden_59_uses_as_a_noun(mentions: Mentions, caption: str, contrast: bool):
    assert as_nouns(standard().tag(caption), mentions) == [contrast]


@pytest.mark.parametrize(
    "caption",
    [
        "A female tennis player hits a ball.",
        "A female elephant in a zoo.",
        "The female giraffe.",
        "A male and female couple.",
    ],
)
@pytest.mark.row("captions-d4-female")
def test_golden_60_uses_as_an_adjective(mentions: Mentions, caption: str):
    assert as_nouns(standard().tag(caption), mentions) == []
