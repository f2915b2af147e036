"""A caption as facts (objects, attributes, relations), and what their words mean: synsets under a sense rule.

The first sense is often not what a photo shows (*controller*: accountant; *tiger*: a fierce person). Rule ``overrides``
takes those of ``data/senses.csv`` instead, and no synset that names one person or place; rule ``paper`` always takes
the first. Labels and captions go through the same rule, or every *microwave* of a caption would look made up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NamedTuple

from gslopes.core.csv_table import read_csv
from gslopes.words.pos_tagger import PREPOSITIONS
from gslopes.words.wordnet import DATA, WordNet

Rule = Literal["overrides", "paper"]
ROLES = {"object": "n", "attribute": "a", "relation": "v"}
RELAX = "nvar"  # parts of speech, in the order in which they are tried where the role's own has no synset


class Sense(NamedTuple):
    """The meaning of a word: a synset or None, whether of another part of speech, and by which rule."""

    synset: str | None
    relaxed: bool = False
    rule: str = "none"


@cache
def overrides() -> dict[tuple[str, str], str]:
    """(word, part of speech) to synset, of the shipped table."""
    return {(row["word"], row["part"]): row["synset"] for _, row in read_csv(DATA / "senses.csv").rows()}


@cache
def compounds() -> frozenset[tuple[str, str]]:
    """Pairs of tokens that are one noun."""
    return frozenset((row["first"], row["second"]) for _, row in read_csv(DATA / "compounds.csv").rows())


class Senses:
    """Words to synsets under one rule."""

    def __init__(self, wordnet: WordNet, rule: Rule = "overrides") -> None:
        self.wordnet = wordnet
        self.rule = rule
        self.of = cache(self._of)

    def _of(self, word: str, role: str) -> Sense:
        """The sense of a base form as object, attribute or relation; a relation's verb is its first word.

        Prepositions have no synsets in WordNet and stay words.
        """
        if role == "relation":
            word = word.split(" ")[0]
            synsets = () if word in PREPOSITIONS else self.wordnet.synsets(word, "v")
            if synsets and self.rule == "overrides" and (word, "v") in overrides():
                return Sense(overrides()[word, "v"], rule="override")
            return Sense(synsets[0], rule="first") if synsets else Sense(None)
        word, initial = word.replace(" ", "_"), ROLES[role]
        for part in (initial, *(part for part in RELAX if part != initial)):
            synsets = self.wordnet.synsets(word, part)
            if self.rule == "overrides":
                if (word, part) in overrides():
                    return Sense(overrides()[word, part], part != initial, "override")
                synsets = tuple(name for name in synsets if not self.wordnet.is_instance(name))
            if synsets:
                return Sense(synsets[0], part != initial, "first")
        return Sense(None)


KINDS = ("object", "attribute", "relation")


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """One object, attribute or relation of a caption or of labels.

    word: base form with underscores; of a relation the whole of it (``sit on``).
    subject, object: base forms; the owner of an attribute is its subject; empty if there is none.
    synset, subject_synset, object_synset: what they were taken to mean, None if WordNet has nothing.
    relaxed: the synset is of another part of speech than the role's.  rule: first, override, given, none.
    negated: the caption denies it.  plural: the object is in the plural.
    """

    kind: str
    word: str
    subject: str = ""
    object: str = ""
    synset: str | None = None
    subject_synset: str | None = None
    object_synset: str | None = None
    relaxed: bool = False
    rule: str = "none"
    negated: bool = False
    plural: bool = False

    @property
    def concept(self) -> str:
        """Its synset, or its word if it has none."""
        return self.synset or self.word

    @property
    def owner(self) -> str:
        """The subject's synset, or its word."""
        return self.subject_synset or self.subject

    @property
    def target(self) -> str:
        """The object's synset, or its word."""
        return self.object_synset or self.object

    @property
    def text(self) -> str:
        """Kind-specific reading, such as ``woman: red`` or ``man – hold – tie``."""
        if self.kind == "object":
            return self.word
        attribute, relation = f"{self.subject}: {self.word}", f"{self.subject} – {self.word} – {self.object}"
        return attribute if self.kind == "attribute" else relation


def with_synsets(fact: Fact, senses: Senses) -> Fact:
    """The same with synsets under the sense rule; synsets that are there already stay."""
    if fact.synset is not None:
        return fact
    sense = senses.of(fact.word, fact.kind)
    subject = fact.subject_synset or (senses.of(fact.subject, "object").synset if fact.subject else None)
    other = fact.object_synset or (senses.of(fact.object, "object").synset if fact.object else None)
    return replace(
        fact, synset=sense.synset, relaxed=sense.relaxed, rule=sense.rule, subject_synset=subject, object_synset=other
    )
