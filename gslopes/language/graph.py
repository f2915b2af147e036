"""A caption's graph: objects, their attributes and the relations between them, one fact each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from gslopes.language.senses import Senses

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
    def text(self) -> str:
        """Kind-specific reading, such as ``woman: red`` or ``man – hold – tie``."""
        if self.kind == "object":
            return self.word
        return (
            f"{self.subject}: {self.word}"
            if self.kind == "attribute"
            else f"{self.subject} – {self.word} – {self.object}"
        )


class Parser(Protocol):
    """Whatever makes facts of a caption; ``name`` (with version and digest) is part of a run's identity.

    Deterministic; no fact for an empty caption; words without synsets, which ``with_synsets`` adds.
    """

    name: str

    def parse(self, caption: str) -> tuple[Fact, ...]:
        """The facts of one caption, sorted, each once."""
        ...


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
