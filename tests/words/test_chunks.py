"""The tagger and the parser: goldens 13 to 25."""

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from gslopes.core.errors import ModelError, UsageError
from gslopes.words.graph import Mentions
from gslopes.words.pos_tagger import HanTa, hanta, sentences
from tests.words.conftest import parse


def test_sentences_and_tokens():
    assert sentences("A man's T-shirt; 2 dogs!") == [["a", "man", "'s", "t-shirt"], ["2", "dogs"]]


@pytest.mark.row("captions-3.5-tools")
def test_tags_are_those_of_the_british_national_corpus():
    assert [
        token.tag for token in hanta().tag(["the", "female", "walked", "in", "the", "room"])
    ] == [*("AT0", "NN1", "VVD", "PRP", "AT0", "NN1")]


def test_a_file_of_its_models_name_in_the_working_folder_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "morphmodel_en.pgz").write_bytes(b"no pickle")
    monkeypatch.chdir(tmp_path)
    assert HanTa().tag(["dog"])[0].tag == "NN1"


@pytest.mark.parametrize(
    ("name", "value", "error", "match"),
    [
        ("DIGEST", "0" * 64, ModelError, "not opened"),
        ("VERSION", "0.1", UsageError, "pip install"),
        ("util.find_spec", lambda name: None, UsageError, "pip install 'gslopes\\[captions\\]'"),
    ],
)
def test_another_model_or_version_or_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object, error: type[Exception], match: str
):
    monkeypatch.setattr(f"gslopes.words.pos_tagger.{name}", value)
    with pytest.raises(error, match=match):
        HanTa()


def test_what_is_remembered_of_words_changes_no_tag():
    from HanTa.HanoverTagger import HanoverTagger

    plain = HanoverTagger(
        str(Path(HanoverTagger.__init__.__code__.co_filename).with_name("morphmodel_en.pgz"))
    )
    captions = [
        "a woman surfs",
        "the old surfers left",
        "blorbed things flew left",
        "a woman left the old blorb",
    ]
    for words in 2 * [caption.split() for caption in captions]:
        expected = [(word, lemma.lower(), tag) for word, lemma, tag in plain.tag_sent(words)]
        assert [(one.word, one.lemma, one.tag) for one in hanta().tag(words)] == expected


GOLDENS = [
    (
        13,
        "A woman in a red dress is holding a tie.",
        "dress tie woman",
        ["dress red"],
        ["woman|in|dress", "woman|hold|tie"],
    ),
    (
        14,
        "A man in a suit holding a knife.",
        "knife man suit",
        [],
        ["man|in|suit", "man|hold|knife"],
    ),
    (
        15,
        "A man riding a wave on top of a surfboard.",
        "man surfboard wave",
        [],
        ["man|ride|wave", "man|on top of|surfboard"],
    ),
    (
        16,
        "A group of people sitting at a table.",
        "group people table",
        [],
        ["group|of|people", "people|sit at|table"],
    ),
    (
        17,
        "A man and a woman are sitting on a bench.",
        "bench man woman",
        [],
        ["man|sit on|bench", "woman|sit on|bench"],
    ),
    (
        18,
        "A female tennis player hits a ball.",
        "ball tennis_player",
        ["tennis_player female"],
        ["tennis_player|hit|ball"],
    ),
    (
        19,
        "A plate of food with a fork.",
        "food fork plate",
        [],
        ["plate|of|food", "plate|with|fork"],
    ),
    (
        20,
        "A leather couch in a living room.",
        "couch living_room",
        ["couch leather"],
        ["couch|in|living_room"],
    ),
    (21, "A woman is happy.", "woman", ["woman happy"], []),
    (22, "Man with no shirt.", "man", [], []),
    (22, "A man is not wearing a helmet.", "man", [], []),
    (23, "A man surfing a wave.", "man wave", [], ["man|surf|wave"]),
    (23, "A person standing.", "person", [], []),
    (
        24,
        "A black man in a white shirt.",
        "man shirt",
        ["man black", "shirt white"],
        ["man|in|shirt"],
    ),
    (
        25,
        "An old man and a young woman with two dogs.",
        "dog man woman",
        ["man old", "woman young"],
        ["man|with|dog", "woman|with|dog"],
    ),
]


@pytest.mark.parametrize(
    ("caption", "objects", "attributes", "relations"),
    [golden[1:] for golden in GOLDENS],
    ids=[f"golden_{golden[0]}-{place}" for place, golden in enumerate(GOLDENS)],
)
@pytest.mark.row("captions-3.4-graphs")
def test_golden_captions(caption: str, objects: str, attributes: list[str], relations: list[str]):
    facts = [fact for fact in parse(caption) if not fact.negated]
    assert sorted(fact.word for fact in facts if fact.kind == "object") == objects.split()
    assert sorted(f"{f.subject} {f.word}" for f in facts if f.kind == "attribute") == attributes
    assert sorted(
        f"{f.subject}|{f.word}|{f.object}" for f in facts if f.kind == "relation"
    ) == sorted(relations)


def test_golden_24_has_one_mention_of_ethnicity(mentions: Mentions):
    found = mentions.identity(parse("A black man in a white shirt."))
    assert [mention.word for mention in found if mention.category == "ethnicity"] == ["black"]
    assert not [
        m for m in mentions.identity(parse("A man in a black shirt.")) if m.category == "ethnicity"
    ]


def test_what_is_denied_is_kept_apart():
    assert {fact.word for fact in parse("A man without a helmet.") if fact.negated} == {"helmet"}


def test_while_and_possessives():
    relations = {
        fact.text
        for fact in parse("Three men standing while eating hot dogs.")
        if fact.kind == "relation"
    }
    assert relations == {"man – eat – hot_dog"}
    assert "dog – have – tail" in {fact.text for fact in parse("The dog's tail.")}


@pytest.mark.parametrize("caption", ["", "...", "\x00\x1f", "1,2,3", "日本語の写真", "a " * 6000])
def test_odd_captions_raise_nothing(caption: str):
    assert parse(caption) == parse(caption)
    assert parse("") == ()


THINGS = ["a", "the", "man", "women", "red", "riding", "horse", "no", "3", "sitting"]
OTHERS = ["on", "of", "and", ",", "is", "not", "with", "'s", "who", "."]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(THINGS + OTHERS)))
def test_any_order_of_words_parses_alike_twice_and_only_into_known_objects(words: list[str]):
    facts = parse(" ".join(words))
    assert facts == parse(" ".join(words))
    objects = {fact.word for fact in facts if fact.kind == "object"}
    assert {fact.subject for fact in facts if fact.kind != "object"} <= objects
