"""Parsers by name, one contract for all that can be built here; spaCy's rules on tokens of its shape."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from gslopes.core.errors import ModelError, UnknownName, UsageError
from gslopes.words.parsers import facts_of_dependencies, find_parser, parser_identity
from tests.words.tiny_parsers import spacy_pipeline


@pytest.mark.parametrize("caption", ["", "A dog on a bench.", "\x00", "?"])
def test_contract(caption: str):
    parser = find_parser("chunks")
    facts = parser.parse(caption)
    assert facts == parser.parse(caption) == tuple(sorted(set(facts)))
    assert bool(facts) is caption.startswith("A dog")
    assert all(fact.kind in ("object", "attribute", "relation") for fact in facts)


def test_unknown_names_and_missing_folders(tmp_path: Path):
    with pytest.raises(UnknownName, match="chunks"):
        find_parser("chunk")
    with pytest.raises(ModelError, match="no folder"):
        find_parser("spacy:nowhere")
    with pytest.raises(ModelError, match="no folder"):
        find_parser("spacy")


def test_the_identity_names_versions_and_digests(tmp_path: Path):
    assert parser_identity("chunks") == "chunks-2+hanta-1.2.1"
    (tmp_path / "t.parquet").write_bytes(b"x")
    assert parser_identity(f"tuples:{tmp_path / 't.parquet'}").startswith("tuples-")


def word(lemma: str, pos: str, dep: str, tag: str = "", *children: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(lemma_=lemma, lower_=lemma, pos_=pos, dep_=dep, tag_=tag, children=list(children))


def test_dependency_rules():
    red, dress = word("red", "ADJ", "amod"), None
    dress = word("dress", "NOUN", "pobj", "NN", red)
    within = word("in", "ADP", "prep", "IN", dress)
    woman = word("woman", "NOUN", "nsubj", "NN", within)
    tie = word("tie", "NOUN", "dobj", "NN")
    hold = word("hold", "VERB", "ROOT", "VBZ", woman, tie)
    found = facts_of_dependencies([woman, within, red, dress, hold, tie], is_animate)
    assert {fact.text for fact in found} == {
        *("woman", "dress", "tie", "dress: red", "woman – in – dress", "woman – hold – tie")
    }


def is_animate(lemma: str) -> bool:
    return lemma in ("man", "woman", "girl", "team")


def owned(owner: str, tag: str, thing: str, determiner: str, joined: str = "") -> list[SimpleNamespace]:
    article = [word(determiner, "DET", "det")] if determiner else []
    second = word(joined, "NOUN", "conj", tag)
    first = word(owner, "NOUN", "poss", tag, *article, *([second] if joined else []))
    head = word(thing, "NOUN", "ROOT", "NN", first)
    first.head, second.head, head.head = head, first, head
    return [head, first, *([second] if joined else [])]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (owned("woman", "NNS", "restroom", "the"), {"restroom", "restroom: woman"}),
        (owned("man", "NNS", "room", "", "woman"), {"room", "room: man", "room: woman"}),
        (owned("woman", "NNS", "hat", "a"), {"hat", "hat: woman"}),
        (owned("woman", "NN", "hat", "a"), {"hat", "woman"}),
        (owned("woman", "NNS", "team", "a"), {"team", "woman"}),
        (owned("she", "PRP$", "hat", ""), {"hat"}),
    ],
)
def test_dependency_rules_of_possessors(tokens: list[SimpleNamespace], expected: set[str]):
    assert {fact.text for fact in facts_of_dependencies(tokens, is_animate)} == expected


# -- the real loaders, on what can be made here -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def spacy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'gslopes[spacy]'")
    return spacy_pipeline(tmp_path_factory.mktemp("spacy") / "en")


@pytest.mark.slow
def test_a_spacy_pipeline_of_the_users(spacy_folder: Path):
    parser = find_parser(f"spacy:{spacy_folder}")
    found = {fact.text for fact in parser.parse("A woman in a red dress is holding a tie")}
    assert found == {"woman", "dress", "tie", "dress: red", "woman – in – dress", "woman – hold – tie"}
    men = parser.parse("Two men sit on a bench")
    assert {fact.text for fact in men} == {"man", "bench", "man – sit on – bench"}
    assert [fact.plural for fact in men if fact.text == "man"] == [True]
    (hat,) = [fact for fact in parser.parse("A man with no hat") if fact.text == "hat"]
    assert hat.negated
    assert {fact.text for fact in parser.parse("The Ｗomen’s rest\u200broom")} == {"restroom", "restroom: woman"}
    assert {fact.text for fact in parser.parse("A woman's hat")} == {"woman", "hat"}


def test_folders_that_hold_no_such_model(tmp_path: Path):
    pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'gslopes[spacy]'")
    import spacy

    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError):
        find_parser(f"spacy:{tmp_path / 'empty'}")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ModelError, match="no tagger and no parser"):
        find_parser(f"spacy:{tmp_path / 'blank'}")


def test_a_missing_package_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gslopes.words.parsers.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="not installed") as raised:
        find_parser(f"spacy:{tmp_path}")
    assert "gslopes[spacy]" in str(raised.value.hint)
