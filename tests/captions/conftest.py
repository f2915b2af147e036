"""Short ways to write facts of labels and captions."""

from collections.abc import Callable, Sequence

import pytest

from gslopes.captions.stimuli.corpus import Caption, Corpus, Pair
from gslopes.words.chunks import standard
from gslopes.words.graph import Fact, Mentions, Senses, with_synsets
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import WordNet, wordnet

Facts = tuple[Fact, ...]


def things(*names: str) -> Facts:
    """Objects by synset, or by word without a dot."""
    return tuple(Fact("object", n.split(".")[0], synset=n if "." in n else None) for n in names)


@pytest.fixture(scope="session")
def words() -> WordNet:
    return wordnet()


@pytest.fixture(scope="session")
def paper(words: WordNet) -> Mentions:
    return Mentions(Senses(words, "paper"), shipped())


@pytest.fixture(scope="session")
def mentions(words: WordNet) -> Mentions:
    return Mentions(Senses(words), shipped())


@pytest.fixture(scope="session")
def say(mentions: Mentions) -> Callable[..., Facts]:
    """A caption's facts with synsets, under a sense rule."""
    parser = standard()

    def facts(text: str, known: Mentions = mentions) -> Facts:
        return tuple(with_synsets(fact, known.senses) for fact in parser.parse(text))

    return facts


def corpus(
    mentions: Mentions,
    stages: dict[str, dict[str, Sequence[Facts]]],
    groups: dict[str, dict[str, str]] | None = None,
    pairs: Sequence[Pair] = (),
    **more: object,
) -> Corpus:
    """Stages as image to the facts of each caption (labels: one)."""
    built = {
        stage: {
            image: [
                Caption(-1 if stage == "human-labels" else place, facts)
                for place, facts in enumerate(captions)
            ]
            for image, captions in images.items()
        }
        for stage, images in stages.items()
    }
    return Corpus(built, mentions, groups or {}, pairs, **more)  # type: ignore[arg-type]
