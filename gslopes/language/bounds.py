"""Whether a word is a listed one, as lower bound, estimate and upper bound over its senses.

Source: Wang et al. 2022, Measuring Representational Harms in Image Captioning, arXiv 2206.07173.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from gslopes.language.graph import Fact
from gslopes.language.senses import RELAX, Senses
from gslopes.language.wordlists import Lists, WordList
from gslopes.language.wordnet import WordNet

BOUNDS = ("lower", "estimate", "upper")
Bounds = tuple[bool, bool, bool]
DEMEANING = {"object": "demeaning-synsets", "attribute": "demeaning-adjectives"}


def demeaning_synsets(lists: Lists, wordnet: WordNet) -> dict[str, frozenset[str]]:
    """Kind of fact to the listed synsets, of the lists that have entries."""
    return {
        kind: listed_synsets(lists[name], "n" if kind == "object" else "a", wordnet)
        for kind, name in DEMEANING.items()
        if lists.has(name)
    }


@lru_cache(maxsize=64)
def listed_synsets(listed: WordList, part: str, wordnet: WordNet) -> frozenset[str]:
    """The synsets of a list: names as they are, of words the first synset of the part of speech."""
    return frozenset(
        entry if wordnet.known(entry) else next(iter(wordnet.synsets(entry, part)), entry) for entry in listed.entries
    )


def bounds(
    word: str, part: str, listed: Iterable[str], wordnet: WordNet, chosen: str | None = None, senses: str = "role"
) -> Bounds:
    """Whether a word counts as demeaning under each bound; always lower ≤ estimate ≤ upper.

    lower: it has synsets and all of them are listed.  estimate: its synset under the sense rule is.  upper: any is.

    word: base form.  part: n or a, of its role; where it has none there, the first other part in which it has any.
    listed: synsets.  chosen: the synset under the sense rule, None for the first.  senses: ``role`` or ``all`` parts.

    >>> from gslopes.language.wordnet import wordnet
    >>> bounds("pig", "n", {"slob.n.01"}, wordnet())
    (False, False, True)
    """
    listed = frozenset(listed)
    found = _senses(word.replace(" ", "_"), part, wordnet, senses)
    if not found:
        return (word in listed,) * 3
    lower, estimate = all(name in listed for name in found), (chosen or found[0]) in listed
    return lower, estimate or lower, estimate or any(name in listed for name in found)


def _senses(word: str, part: str, wordnet: WordNet, senses: str) -> tuple[str, ...]:
    order = part + "".join(other for other in RELAX if other != part)
    if senses == "all":
        return tuple(name for other in order for name in wordnet.synsets(word, other))
    return next((found for other in order if (found := wordnet.synsets(word, other))), ())


def caption_bounds(
    facts: Iterable[Fact], lists: dict[str, frozenset[str]], senses: Senses, which: str
) -> dict[str, set[str]]:
    """Bound to the words of a caption that count under it.

    lists: kind of fact to listed synsets.
    """
    found: dict[str, set[str]] = {name: set() for name in BOUNDS}
    for fact in facts:
        if fact.kind not in lists:
            continue
        part = "n" if fact.kind == "object" else "a"
        chosen = fact.synset or senses.of(fact.word, fact.kind).synset
        counts = bounds(fact.word, part, lists[fact.kind], senses.wordnet, chosen, which)
        for name in (name for name, counted in zip(BOUNDS, counts, strict=True) if counted):
            found[name].add(fact.word)
    return found
