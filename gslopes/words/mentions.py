"""What of a person a caption mentions: a person at all, gender, other identity words; and whether a word is listed.

The listed words are counted as lower bound, estimate and upper bound over their senses.
Source: Wang et al. 2022, Measuring Representational Harms in Image Captioning, arXiv 2206.07173.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from gslopes.words.graph import RELAX, ROLES, Fact, Senses
from gslopes.words.wordlists import Lists
from gslopes.words.wordnet import WordNet

PERSON, ANIMAL, WEAPONS = "person.n.01", "animal.n.01", ("weapon.n.01", "weaponry.n.01")
IDENTITY = ("gender", "ethnicity", "age", "religion", "disability", "sexuality")


@dataclass(frozen=True, slots=True)
class Mention:
    """One identity mention: its category, the word, and for gender its group (feminine, masculine, neutral)."""

    category: str
    word: str
    group: str = ""


class Mentions:
    """Finds mentions under one sense rule and one set of lists."""

    def __init__(self, senses: Senses, lists: Lists) -> None:
        self.senses = senses
        self.lists = lists
        self.wordnet = senses.wordnet
        self._people = lists["people-words"].entries
        self._others = lists["not-people"].entries
        self._genders = lists["gender-words"].groups
        self._identity = lists["identity-terms"].groups
        self.is_person = cache(self._is_person)

    # -- one word --

    def _is_person(self, word: str, synset: str | None = None) -> bool:
        """Whether an object is a person: listed, or its synset ``person.n.01`` or below it; never if listed as none.

        synset: as labelled, or None for the one of the sense rule.
        """
        sense = synset or self.senses.of(word, "object").synset
        below = sense is not None and self.wordnet.at_or_below(sense, PERSON)
        return not {word, word.rpartition("_")[2]} & self._others and (below or word in self._people)

    def is_animal(self, word: str, synset: str | None = None) -> bool:
        """Whether its synset is ``animal.n.01`` or below it, and it is not a listed person word."""
        sense = synset or self.senses.of(word, "object").synset
        return word not in self._people and sense is not None and self.wordnet.at_or_below(sense, ANIMAL)

    def is_weapon(self, word: str, synset: str | None = None) -> bool:
        """Whether its synset is or lies below a weapon; *knife*, *axe*, *arrow* and *bow* do not by first sense."""
        sense = synset or self.senses.of(word, "object").synset
        return sense is not None and any(self.wordnet.at_or_below(sense, top) for top in WEAPONS)

    def gender(self, word: str) -> str:
        """The gender group of a word or of the last part of a compound, empty if it is in none."""
        for part in (word, word.rpartition("_")[2]):
            for group, words in self._genders.items():
                if part in words:
                    return group
        return ""

    # -- whole captions --

    def people(self, facts: Iterable[Fact]) -> list[Fact]:
        """Objects that are people."""
        return self._objects(facts, self.is_person)

    def animals(self, facts: Iterable[Fact]) -> list[Fact]:
        """Objects that are animals."""
        return self._objects(facts, self.is_animal)

    def weapons(self, facts: Iterable[Fact]) -> list[Fact]:
        """Objects that are weapons."""
        return self._objects(facts, self.is_weapon)

    def _objects(self, facts: Iterable[Fact], wanted: Callable[[str, str | None], bool]) -> list[Fact]:
        return [f for f in facts if f.kind == "object" and not f.negated and wanted(f.word, f.synset)]

    def identity(self, facts: Iterable[Fact]) -> set[Mention]:
        """Identity mentions: a listed noun as object, or a listed adjective as attribute of a person mention."""
        mentions: set[Mention] = set()
        for fact in facts:
            noun = fact.kind == "object" and self.is_person(fact.word, fact.synset)
            adjective = fact.kind == "attribute" and self.is_person(fact.subject, fact.subject_synset)
            if fact.negated or not (noun or adjective):
                continue
            group = self.gender(fact.word) if noun else {"female": "feminine", "male": "masculine"}.get(fact.word, "")
            kind = "noun" if noun else "adjective"
            listed = (
                category for category in IDENTITY[1:] if fact.word in self._identity.get(f"{category}_{kind}", ())
            )
            mentions |= {Mention(category, fact.word) for category in listed} | (
                {Mention("gender", fact.word, group)} if group else set()
            )
        return mentions


BOUNDS = ("lower", "estimate", "upper")
Bounds = tuple[bool, bool, bool]
DEMEANING = {"object": "demeaning-synsets", "attribute": "demeaning-adjectives"}


def demeaning_synsets(lists: Lists, wordnet: WordNet) -> dict[str, frozenset[str]]:
    """Kind of fact to the listed synsets, of the lists that have entries; of a word the first synset of that part."""
    return {
        kind: frozenset(
            entry if wordnet.known(entry) else next(iter(wordnet.synsets(entry, ROLES[kind])), entry)
            for entry in lists[name].entries
        )
        for kind, name in DEMEANING.items()
        if lists[name].entries
    }


def bounds(word: str, part: str, listed: Iterable[str], wordnet: WordNet, chosen: str | None = None) -> Bounds:
    """Whether a word counts as demeaning under each bound; always lower ≤ estimate ≤ upper.

    lower: it has synsets and all of them are listed.  estimate: its synset under the sense rule is.  upper: any is.

    word: base form.  part: n or a, of its role; where it has none there, the first other part in which it has any.
    listed: synsets.  chosen: the synset under the sense rule, None for the first.

    >>> from gslopes.words.wordnet import wordnet
    >>> bounds("pig", "n", {"slob.n.01"}, wordnet())
    (False, False, True)
    """
    listed, name = frozenset(listed), word.replace(" ", "_")
    order = part + "".join(other for other in RELAX if other != part)
    synsets: tuple[str, ...] = next((some for other in order if (some := wordnet.synsets(name, other))), ())
    if not synsets:
        return (word in listed,) * 3
    lower, estimate = all(synset in listed for synset in synsets), (chosen or synsets[0]) in listed
    return lower, estimate or lower, estimate or any(synset in listed for synset in synsets)


def caption_bounds(facts: Iterable[Fact], lists: dict[str, frozenset[str]], senses: Senses) -> dict[str, set[str]]:
    """Bound to the words of a caption that count under it.  lists: kind of fact to listed synsets."""
    words: dict[str, set[str]] = {name: set() for name in BOUNDS}
    for fact in facts:
        if fact.kind not in lists:
            continue
        chosen = fact.synset or senses.of(fact.word, fact.kind).synset
        counts = bounds(fact.word, ROLES[fact.kind], lists[fact.kind], senses.wordnet, chosen)
        for name in (name for name, counted in zip(BOUNDS, counts, strict=True) if counted):
            words[name].add(fact.word)
    return words
