"""From a word in its role to a synset: the first-listed sense, or one that a photo is likelier to show.

The first sense is often not what a photo shows (*controller*: accountant; *tiger*: a fierce person). Rule ``overrides``
takes those of ``data/senses.csv`` instead, and no synset that names one person or place; rule ``paper`` always takes
the first. Labels and captions go through the same rule, or every *microwave* of a caption would look made up.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from typing import Literal

from gslopes.language.phrases import PREPOSITIONS
from gslopes.language.wordnet import DATA, WordNet

Rule = Literal["overrides", "paper"]
ROLES = {"object": "n", "attribute": "a", "relation": "v"}
RELAX = "nvar"


@dataclass(frozen=True, slots=True)
class Sense:
    """The meaning of a word: a synset or None, whether of another part of speech, and by which rule."""

    synset: str | None
    relaxed: bool = False
    rule: str = "none"


@cache
def overrides() -> dict[tuple[str, str], str]:
    """(word, part of speech) to synset, of the shipped table."""
    with (DATA / "senses.csv").open(encoding="utf-8") as file:
        return {(row["word"], row["part"]): row["synset"] for row in csv.DictReader(file)}


@cache
def compounds() -> frozenset[tuple[str, str]]:
    """Pairs of tokens that are one noun."""
    with (DATA / "compounds.csv").open(encoding="utf-8") as file:
        return frozenset((row["first"], row["second"]) for row in csv.DictReader(file))


class Senses:
    """Words to synsets under one rule.

    relax: other parts of speech, in the order in which they are tried where the role's own has no synset.
    """

    def __init__(self, wordnet: WordNet, rule: Rule = "overrides", relax: str = RELAX) -> None:
        self.wordnet = wordnet
        self.rule = rule
        self.relax = relax
        self._known: dict[tuple[str, str], Sense] = {}

    def of(self, word: str, role: str) -> Sense:
        """The sense of a base form as object, attribute or relation; a relation's verb is its first word.

        Prepositions have no synsets in WordNet and stay words.
        """
        key = word, role
        if key not in self._known:
            self._known[key] = self._find(word, role)
        return self._known[key]

    def _find(self, word: str, role: str) -> Sense:
        if role == "relation":
            word = word.split(" ")[0]
            found = () if word in PREPOSITIONS else self.wordnet.synsets(word, "v")
            if found and self.rule == "overrides" and (word, "v") in overrides():
                return Sense(overrides()[word, "v"], rule="override")
            return Sense(found[0], rule="first") if found else Sense(None)
        word, initial = word.replace(" ", "_"), ROLES[role]
        for part in (initial, *(part for part in self.relax if part != initial)):
            found = self.wordnet.synsets(word, part)
            if self.rule == "overrides":
                if (word, part) in overrides():
                    return Sense(overrides()[word, part], part != initial, "override")
                found = tuple(name for name in found if not self.wordnet.is_instance(name))
            if found:
                return Sense(found[0], part != initial, "first")
        return Sense(None)
