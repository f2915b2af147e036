"""A caption as labels, each once: words, synsets, attributes and relations of people, mentions, lists.

This is how a captioner becomes a classifier: cache, sweep, slopes and permutation work on its labels as on any other's.
"""

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
from gslopes.words.wordlists import shipped
from gslopes.words.wordnet import wordnet

GENDERS = {"feminine": "woman", "masculine": "man", "neutral": "neutral person"}
LISTS = ("judgment-adjectives", "attractiveness-adjectives", "occupation-adjectives")
NOUNS = ("female", "male")


class CaptionLabels:
    """Captions to labels, by the default parser and sense rule.  Raises: UsageError, ModelError as ``standard``."""

    def __init__(self) -> None:
        self.parser, self.senses = standard(), Senses(wordnet())
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
            for fact in self.parser.parse(caption)
            if not fact.negated
        ]
        labels = set[str]().union(*map(self._of_fact, facts))
        labels |= {"mention:person"} if self.mentions.people(facts) else set()
        labels |= {"list:weapon"} if self.mentions.weapons(facts) else set()
        labels |= {"list:animal"} if self.mentions.animals(facts) else set()
        bounds = caption_bounds(facts, self._demeaning, self.senses)
        labels |= {f"list:demeaning {name}" for name in BOUNDS if bounds[name]}
        mentioned = self.mentions.identity(facts)
        labels |= {
            f"mention:{GENDERS[m.group] if m.category == 'gender' else m.category}"
            for m in mentioned
        }
        return tuple(sorted(labels))

    def _of_fact(self, fact: Fact) -> set[str]:
        if fact.kind == "object":
            labels = {f"word:{fact.word}"} | (
                {f"noun:{fact.word}"} if fact.word in NOUNS else set()
            )
            return labels | ({f"synset:{fact.synset}"} if fact.synset else set())
        if fact.kind == "relation":
            verb = fact.word.split(" ")[0]
            if fact.synset:
                return {f"relation:{verb}"}
            return set()
        if not self.mentions.is_person(fact.subject, fact.subject_synset):
            return set()
        lists = self.mentions.lists
        return {f"attribute:{fact.word} of person"} | {
            f"list:{name}" for name in LISTS if fact.word in lists[name]
        }


@cache
def caption_labels() -> CaptionLabels:
    """What reads captions as labels, made once a process.  Raises: as ``CaptionLabels``."""
    return CaptionLabels()
