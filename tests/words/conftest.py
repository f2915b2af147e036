from functools import cache

import pytest

from gslopes.words.chunks import Chunks, standard
from gslopes.words.graph import Fact, Mentions, Senses
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import WordNet, wordnet


@pytest.fixture(scope="session")
def words() -> WordNet:
    return wordnet()


@pytest.fixture(scope="session")
def paper(words: WordNet) -> Senses:
    return Senses(words, "paper")


@pytest.fixture(scope="session")
def senses(words: WordNet) -> Senses:
    return Senses(words)


@pytest.fixture(scope="session")
def mentions(senses: Senses) -> Mentions:
    return Mentions(senses, shipped())


@cache
def _parser() -> Chunks:
    return standard()


def parse(caption: str) -> tuple[Fact, ...]:
    """The facts of one caption by the default parser."""
    return _parser().parse(caption)
