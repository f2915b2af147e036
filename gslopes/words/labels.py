"""A caption as labels, each once: words, synsets, attributes and relations of people, mentions, lists.

This is how a captioner becomes a classifier: cache, sweep, slopes and permutation work on its labels as on any other's.
"""

from collections.abc import Iterator
from functools import cache

from gslopes.words.chunks import standard
from gslopes.words.graph import (
    BOUNDS,
    Fact,
    Mentions,
    Senses,
    caption_bounds,
    demeaning_synsets,
    with_synsets,
)
from gslopes.words.reading import read_words
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import wordnet

GENDERS = {"feminine": "woman", "masculine": "man", "neutral": "neutral person"}
LISTS = ("judgment-adjectives", "attractiveness-adjectives", "occupation-adjectives")
NOUNS = ("female", "male")


class CaptionLabels:
    """Captions to labels, by the default parser and sense rule.  Raises: UsageError, ModelError as ``standard``."""

    def __init__(self) -> None:
        self.parser = standard()
        self.senses = Senses(wordnet())
        self.mentions = Mentions(self.senses, shipped())
        self._demeaning = demeaning_synsets(self.mentions.lists, self.senses.wordnet)
        self.name = f"{self.parser.name},{self.senses.wordnet.name},{self.senses.rule},up=0"  # part of a run's identity

    def labels(self, caption: str) -> tuple[str, ...]:
        """The labels of one caption, sorted, each once.

        ``word:tie``, ``synset:necktie.n.01``, ``attribute:red of person``, ``relation:hold``, ``mention:person``,
        ``mention:woman`` (and man, neutral person), ``mention:ethnicity``, ``list:weapon``, ``noun:female``;
        ``list:demeaning lower`` (and estimate, upper) as D1 counts them.
        """
        facts = [
            with_synsets(fact, self.senses)
            for fact in self.parser.parse(read_words(caption)[0])
            if not fact.negated
        ]
        words = caption_bounds(facts, self._demeaning, self.senses)
        about = {
            "mention:person": self.mentions.people(facts),
            "list:weapon": self.mentions.weapons(facts),
            "list:animal": self.mentions.animals(facts),
            **{f"list:demeaning {name}": words[name] for name in BOUNDS},
        }
        labels = {label for label, evidence in about.items() if evidence}
        for mention in self.mentions.identity(facts):
            labels.add(f"mention:{GENDERS.get(mention.group, mention.category)}")
        return tuple(sorted(labels.union(*map(self._of_fact, facts))))

    def _of_fact(self, fact: Fact) -> Iterator[str]:
        word = fact.word
        if fact.kind == "object":
            yield f"word:{word}"
            if word in NOUNS:
                yield f"noun:{word}"
            if fact.synset:
                yield f"synset:{fact.synset}"
        elif fact.kind == "relation":
            if fact.synset:
                yield f"relation:{word.split(' ')[0]}"
        elif self.mentions.is_person(fact.subject, fact.subject_synset):
            yield f"attribute:{word} of person"
            for name in LISTS:
                if word in self.mentions.lists[name]:
                    yield f"list:{name}"


@cache
def caption_labels() -> CaptionLabels:
    """What reads captions as labels, made once a process.  Raises: as ``CaptionLabels``."""
    return CaptionLabels()
