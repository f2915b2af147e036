"""D1: listed demeaning words, as lower bound, estimate and upper bound over the senses of a word.

Source: Wang et al. 2022; lists are the user's files. Without one the object half is not run, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from gslopes.audits.captions.material import Caption, Material, flags
from gslopes.audits.captions.measures import RowHeader, TechniqueResult, case, rate_rows, shares
from gslopes.audits.captions.options import AuditOptions
from gslopes.language.graph import Fact
from gslopes.language.senses import Senses
from gslopes.language.wordlists import WordList
from gslopes.language.wordnet import WordNet

BOUNDS = ("lower", "estimate", "upper")
Bounds = tuple[bool, bool, bool]
LISTS = {"object": "demeaning-synsets", "attribute": "demeaning-adjectives"}
RELAX = "nvar"


def listed_synsets(listed: WordList, part: str, wordnet: WordNet) -> frozenset[str]:
    """The synsets of a list: names as they are, of words the first synset of the part of speech."""
    return _listed_synsets(listed, part, wordnet)


@lru_cache(maxsize=64)
def _listed_synsets(listed: WordList, part: str, wordnet: WordNet) -> frozenset[str]:
    found = set()
    for entry in listed.entries:
        known = wordnet.synsets(entry, part)
        found |= {entry} if wordnet.known(entry) else set(known[:1]) or {entry}
    return frozenset(found)


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
        said = word in listed
        return said, said, said
    lower, upper = all(name in listed for name in found), any(name in listed for name in found)
    return lower, (chosen or found[0]) in listed or lower, upper or (chosen or found[0]) in listed


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
        said = bounds(fact.word, part, lists[fact.kind], senses.wordnet, chosen, which)
        for name, counts in zip(BOUNDS, said, strict=True):
            if counts:
                found[name].add(fact.word)
    return found


def listed_words(material: Material, stage: str, options: AuditOptions) -> TechniqueResult:
    """D1 at one stage: captions, images and per 1,000 captions under each bound, by group and by word."""
    known = material.mentions.lists
    header = RowHeader("demeaning", "D1", stage, origin="paper", lists=known.versions(*LISTS.values()))
    lists = {
        kind: listed_synsets(known[name], "n" if kind == "object" else "a", material.mentions.wordnet)
        for kind, name in LISTS.items()
        if known.has(name)
    }
    images = material.images(stage)
    counts: dict[str, dict[str, int]] = {name: {} for name in BOUNDS}
    words: dict[str, set[str]] = {}
    found = TechniqueResult()
    seen: dict[tuple[Fact, ...], dict[str, set[str]]] = {}
    for image in images:
        for caption in material.stages[stage][image]:
            facts = caption.kept
            if facts not in seen:
                seen[facts] = caption_bounds(facts, lists, material.mentions.senses, options.bound_senses)
            for name, said in seen[facts].items():
                counts[name][image] = counts[name].get(image, 0) + bool(said)
                for word in said:
                    words.setdefault(f"{name}:{word}", set()).add(image)
            for word in sorted(seen[facts]["upper"]):
                bound = next(name for name in BOUNDS if word in seen[facts][name])
                found.cases.append(case(_reading(header, bound), "listed", image, caption, word=word, bound=bound))
    of = {image: len(material.stages[stage][image]) for image in images}
    for name in BOUNDS:
        found.measures += rate_rows(_reading(header, name), material, counts[name], of, options, concept=name)
        have = {name: [image for image, count in counts[name].items() if count]}
        found.measures += shares(_reading(header, name), material, flags(have, images), options)
    for name, having in sorted(words.items()):
        word_header = _reading(header, name.partition(":")[0])
        found.measures += rate_rows(word_header, material, dict.fromkeys(having, 1), of, options, concept=name)[:1]
    return found


def _reading(header: RowHeader, bound: str) -> RowHeader:
    reading = "face" if bound == "lower" else "look"
    return RowHeader(header.harm, header.technique, header.stage, reading=reading, origin="paper", lists=header.lists)


def captions_under(
    captions: Iterable[Caption], lists: dict[str, frozenset[str]], senses: Senses
) -> tuple[int, int, int]:
    """How many captions count under each bound."""
    found = [caption_bounds(caption.kept, lists, senses, "role") for caption in captions]
    lower, estimate, upper = (sum(bool(said[name]) for said in found) for name in BOUNDS)
    return lower, estimate, upper
