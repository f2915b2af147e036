"""A caption as facts (objects, attributes, relations), what their words mean, and what of a person they mention.

The first sense is often not what a photo shows (*controller*: accountant; *tiger*: a fierce person). Rule ``overrides``
takes ``data/senses.toml`` instead, and no synset that names one person or place; rule ``paper`` always takes
the first. Labels and captions go through the same rule, or every *microwave* of a caption would look made up.

Mentions: a person at all, gender, other identity words; listed words are counted as lower bound, estimate and upper
bound over their senses.  Source: Wang et al. 2022, Measuring Representational Harms in Image Captioning,
arXiv 2206.07173.
"""

from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import Literal, NamedTuple

from gslopes.core import read_toml
from gslopes.words.pos_tagger import PREPOSITIONS
from gslopes.words.wordlists import Lists
from gslopes.words.wordnet import DATA, GRAMMAR, WordNet

Rule = Literal["overrides", "paper"]
ROLES = {"object": "n", "attribute": "a", "relation": "v"}
RELAX = (
    "nvar"  # parts of speech, in the order in which they are tried if the role's own has no synset
)


class Sense(NamedTuple):
    """The meaning of a word: a synset or None, whether of another part of speech, and by which rule."""

    synset: str | None
    relaxed: bool = False
    rule: str = "none"


OVERRIDES = read_toml(DATA / "senses.toml")  # "word.part" to synset
COMPOUNDS = frozenset(map(tuple, GRAMMAR["compounds"]))  # pairs of tokens that are one noun


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
        initial = ROLES[role]
        parts = initial + RELAX.replace(initial, "")
        if role == "relation":
            word = word.split(" ")[0]
            parts = "" if word in PREPOSITIONS else initial
        word = word.replace(" ", "_")
        for part in parts:
            synsets = self.wordnet.synsets(word, part)
            if self.rule == "overrides":
                if override := OVERRIDES.get(f"{word}.{part}"):
                    return Sense(override, part != initial, "override")
                synsets = tuple(name for name in synsets if not self.wordnet.is_instance(name))
            if synsets:
                return Sense(synsets[0], part != initial, "first")
        return Sense(None)


KINDS = ("object", "attribute", "relation")


class Fact(NamedTuple):
    """One object, attribute or relation of a caption or of labels.

    word: base form with underscores; of a relation the whole of it (``sit on``).
    subject, object: base forms; the owner of an attribute is its subject; empty without one.
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
        if self.kind == "attribute":
            return f"{self.subject}: {self.word}"
        return f"{self.subject} – {self.word} – {self.object}"


Facts = Collection[Fact]


def with_synsets(fact: Fact, senses: Senses) -> Fact:
    """The same with synsets under the sense rule; synsets that it has stay."""
    if fact.synset is not None:
        return fact
    subject = fact.subject_synset or senses.of(fact.subject, "object").synset
    other = fact.object_synset or senses.of(fact.object, "object").synset
    sense = senses.of(fact.word, fact.kind)._asdict()
    return fact._replace(**sense, subject_synset=subject, object_synset=other)


# -- mentions of people ------------------------------------------------------------------------------------------------

PERSON = "person.n.01"
ANIMAL = "animal.n.01"
WEAPONS = ("weapon.n.01", "weaponry.n.01")
ADJECTIVES = {"female": "feminine", "male": "masculine"}  # of gender
IDENTITY = ("gender", "ethnicity", "age", "religion", "disability", "sexuality")


class Mention(NamedTuple):
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
        person = word in self._people or self._is_below(word, synset, PERSON)
        return person and not {word, word.rpartition("_")[2]} & self._others

    def is_animal(self, word: str, synset: str | None = None) -> bool:
        """Whether its synset is ``animal.n.01`` or below it, and it is not a listed person word."""
        return word not in self._people and self._is_below(word, synset, ANIMAL)

    def _is_below(self, word: str, synset: str | None, *tops: str) -> bool:
        sense = synset or self.senses.of(word, "object").synset
        return sense is not None and any(self.wordnet.at_or_below(sense, top) for top in tops)

    def gender(self, word: str) -> str:
        """The gender group of a word or of the last part of a compound, empty if it is in none."""
        for part in (word, word.rpartition("_")[2]):
            for group, words in self._genders.items():
                if part in words:
                    return group
        return ""

    # -- whole captions --

    def people(self, facts: Facts) -> list[Fact]:
        """Objects that are people."""
        return self._objects(facts, self.is_person)

    def animals(self, facts: Facts) -> list[Fact]:
        """Objects that are animals."""
        return self._objects(facts, self.is_animal)

    def weapons(self, facts: Facts) -> list[Fact]:
        """Objects that are weapons or below; *knife*, *axe*, *arrow* and *bow* are not by first sense."""
        return self._objects(facts, lambda word, synset: self._is_below(word, synset, *WEAPONS))

    def _objects(self, facts: Facts, is_one: Callable[[str, str | None], bool]) -> list[Fact]:
        objects = (fact for fact in facts if fact.kind == "object" and not fact.negated)
        return [fact for fact in objects if is_one(fact.word, fact.synset)]

    def identity(self, facts: Facts) -> set[Mention]:
        """Identity mentions: a listed noun as object, or a listed adjective as attribute of a person mention."""
        mentions: set[Mention] = set()
        for fact in facts:
            word = fact.word
            if fact.negated:
                continue
            if fact.kind == "object" and self.is_person(word, fact.synset):
                group = self.gender(word)
                suffix = "_noun"
            elif fact.kind == "attribute" and self.is_person(fact.subject, fact.subject_synset):
                group = ADJECTIVES.get(word, "")
                suffix = "_adjective"
            else:
                continue
            if group:
                mentions.add(Mention("gender", word, group))
            for category in IDENTITY[1:]:
                if word in self._identity.get(category + suffix, ()):
                    mentions.add(Mention(category, word))
        return mentions


BOUNDS = ("lower", "estimate", "upper")
Bounds = tuple[bool, bool, bool]
DEMEANING = {"object": "demeaning-synsets", "attribute": "demeaning-adjectives"}


def demeaning_synsets(lists: Lists, wordnet: WordNet) -> dict[str, frozenset[str]]:
    """Kind of fact to the listed synsets, of the lists that have entries; of a word the first synset of that part."""
    return {
        kind: frozenset(
            next(iter(wordnet.synsets(entry, ROLES[kind])), entry) for entry in lists[name].entries
        )
        for kind, name in DEMEANING.items()
        if lists[name].entries
    }


def bounds(
    word: str,
    part: str,
    listed: Iterable[str],
    wordnet: WordNet,
    chosen: str | None = None,
    every: bool = False,
) -> Bounds:
    """Whether a word counts as demeaning under each bound; always lower ≤ estimate ≤ upper.

    lower: it has synsets and all of them are listed.  estimate: its synset under the sense rule is.  upper: any is.

    word: base form.  part: n or a, of its role; if it has no synset as that, the first other part in which it has any.
    listed: synsets.  chosen: the synset under the sense rule, None for the first.  every: its synsets of all parts of
        speech count, as published.

    >>> from gslopes.words.wordnet import wordnet
    >>> bounds("pig", "n", {"slob.n.01"}, wordnet())
    (False, False, True)
    """
    listed = frozenset(listed)
    synsets: list[str] = []
    for other in part + RELAX.replace(part, ""):
        if every or not synsets:
            synsets += wordnet.synsets(word, other)
    if not synsets:
        return (word in listed,) * 3
    lower = listed.issuperset(synsets)
    estimate = (chosen or synsets[0]) in listed
    return lower, estimate or lower, estimate or not listed.isdisjoint(synsets)


def caption_bounds(
    facts: Facts, lists: dict[str, frozenset[str]], senses: Senses
) -> dict[str, set[str]]:
    """Bound to the words of a caption that count under it.  lists: kind of fact to listed synsets.

    By the sense rule of the paper all synsets of a word count, in any of the lists.
    """
    every = senses.rule == "paper"
    both = frozenset().union(*lists.values())
    words: dict[str, set[str]] = {name: set() for name in BOUNDS}
    for fact in facts:
        if fact.kind not in lists:
            continue
        chosen = fact.synset or senses.of(fact.word, fact.kind).synset
        listed = both if every else lists[fact.kind]
        counts = bounds(fact.word, ROLES[fact.kind], listed, senses.wordnet, chosen, every)
        for name, counted in zip(BOUNDS, counts, strict=True):
            if counted:
                words[name].add(fact.word)
    return words
