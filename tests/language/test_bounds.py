"""D1's bounds: goldens 47 to 50. The lists stand for nothing: mild entries of the specification."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslopes.language.bounds import BOUNDS, bounds, caption_bounds, listed_synsets
from gslopes.language.graph import Fact
from gslopes.language.mentions import Mentions
from gslopes.language.senses import Senses
from gslopes.language.wordlists import WordList, shipped
from gslopes.language.wordnet import WordNet, wordnet

SLOB, CLOWN = {"slob.n.01"}, {"clown.n.01"}


@pytest.mark.parametrize(("word", "expected"), [("slob", (1, 1, 1)), ("pig", (0, 0, 1)), ("chair", (0, 0, 0))])
def test_golden_47_bounds(words: WordNet, word: str, expected: tuple[int, ...]):
    assert bounds(word, "n", SLOB, words) == expected


def test_golden_48_the_clown_of_the_circus(words: WordNet):
    senses = [known.of("clown", "object").synset for known in (Senses(words, "paper"), Senses(words))]
    assert [bounds("clown", "n", CLOWN, words, sense) for sense in senses] == [(0, 1, 1), (0, 0, 1)]


def test_golden_49_four_captions(words: WordNet):
    paper = Mentions(Senses(words, "paper"), shipped())
    lists = {"object": frozenset(SLOB | CLOWN)}
    captions = [(Fact("object", name),) for name in ("slob", "pig", "clown", "chair")]
    found = [caption_bounds(facts, lists, paper.senses, "role") for facts in captions]
    assert [sum(bool(said[name]) for said in found) for name in BOUNDS] == [1, 2, 3]


def test_golden_50_an_adjective_stands_for_its_first_synset(words: WordNet):
    listed = listed_synsets(WordList("mine", "1", "words", frozenset({"lazy"})), "a", words)
    assert listed == {"lazy.s.01"}
    assert bounds("lazy", "a", listed, words) == (0, 1, 1)


@given(
    st.sampled_from(["pig", "clown", "dog", "slob", "zzz"]),
    st.sets(st.sampled_from(["slob.n.01", "clown.n.02", "dog.n.01", "hog.n.03"])),
)
def test_bounds_are_ordered(word: str, listed: set[str]):
    lower, estimate, upper = bounds(word, "n", listed, wordnet())
    assert lower <= estimate <= upper


def test_without_a_list_nothing_is_a_bound(words: WordNet):
    facts = (Fact("object", "slob"),)
    assert not any(caption_bounds(facts, {}, Senses(words), "role").values())
