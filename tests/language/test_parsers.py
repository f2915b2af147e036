"""Parsers by name, one contract for all that can be built here; spaCy's rules on tokens of its shape."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from gslopes.core.errors import ModelError, UnknownName
from gslopes.language.parsers import facts_of_arcs, facts_of_dependencies, find_parser, parser_identity


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
        find_parser("factual:nowhere")
    with pytest.raises(ModelError, match="no folder"):
        find_parser("spacy")


def test_the_identity_names_versions_and_digests(tmp_path: Path):
    assert parser_identity("chunks") == "chunks-1+hanta-1.2.1"
    (tmp_path / "t.parquet").write_bytes(b"x")
    assert parser_identity(f"tuples:{tmp_path / 't.parquet'}").startswith("tuples-")


def test_factuals_text():
    found = facts_of_arcs("( woman , hold , tie ) , ( dress , has_attribute , red )")
    assert found is not None
    assert {fact.text for fact in found} == {"woman", "tie", "dress", "dress: red", "woman – hold – tie"}
    assert facts_of_arcs("no graph") is None


def word(lemma: str, pos: str, dep: str, tag: str = "", *children: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(lemma_=lemma, lower_=lemma, pos_=pos, dep_=dep, tag_=tag, children=list(children))


def test_dependency_rules():
    red, dress = word("red", "ADJ", "amod"), None
    dress = word("dress", "NOUN", "pobj", "NN", red)
    within = word("in", "ADP", "prep", "IN", dress)
    woman = word("woman", "NOUN", "nsubj", "NN", within)
    tie = word("tie", "NOUN", "dobj", "NN")
    hold = word("hold", "VERB", "ROOT", "VBZ", woman, tie)
    found = facts_of_dependencies([woman, within, red, dress, hold, tie])
    assert {fact.text for fact in found} == {
        *("woman", "dress", "tie", "dress: red", "woman – in – dress", "woman – hold – tie"),
    }
