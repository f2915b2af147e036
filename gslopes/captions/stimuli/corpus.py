"""What the techniques work on: facts of every image at every stage, groups, boxes, coverage."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from gslopes.captions.config import CaptionsConfig
from gslopes.core import ConfigError, Names, frozen, frozen_identity
from gslopes.core.records import Int8Array
from gslopes.words.graph import Fact, Facts, Mentions, Senses
from gslopes.words.wordlists import Lists, read_list, shipped
from gslopes.words.wordnet import wordnet

MOST_VALUES = 40  # of a column that is compared: 780 pairs of groups


@frozen
class Caption:
    """One caption of an image, or its labels (source −1).  kept: its facts but for those that it denies."""

    source: int
    facts: tuple[Fact, ...]
    text: str = ""
    kept: tuple[Fact, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", tuple(fact for fact in self.facts if not fact.negated))


Groups = dict[str, dict[str, str]]  # column to image to value


class Pair(NamedTuple):
    """Two groups of one column that are compared, group minus other: the columns of the tables."""

    column: str
    group: str
    other: str


class Instance(NamedTuple):
    """An instance in an image; corners as shares of the sides."""

    synset: str
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def area(self) -> float:
        """Its share of the image."""
        return (self.x1 - self.x0) * (self.y1 - self.y0)


def covered(boxes: Sequence[Sequence[float]]) -> float:
    """The share of the image under the union of boxes, computed exactly.

    boxes: x0, y0, x1, y1 as shares of the sides.

    >>> covered([(0, 0, 0.5, 0.5), (0.25, 0.25, 0.75, 0.5)])
    0.3125
    """
    area = 0.0
    for x, next_x in pairwise(sorted({end for x0, _, x1, _ in boxes for end in (x0, x1)})):
        end = 0.0
        for low, high in sorted((y0, y1) for x0, y0, x1, y1 in boxes if x0 <= x and x1 >= next_x):
            area += max(0.0, high - max(low, end)) * (next_x - x)
            end = max(end, high)
    return area


class Coverage(NamedTuple):
    """Per kind ``open`` (absence means not depicted), ``closed`` (only its types are judged) or ``none``.

    types: synsets that a closed vocabulary holds.
    """

    object: str = "open"
    attribute: str = "open"
    relation: str = "open"
    types: frozenset[str] = frozenset()


@frozen_identity
class Corpus:
    """Everything that was read and parsed.

    stages: stage to image to its captions.  groups: column to image to value (empty: unknown).
    pairs: what is compared.  areas: image to the share of it that people cover, if boxes are known.
    boxes: image to instances of the human labels.
    """

    stages: Mapping[str, Mapping[str, Sequence[Caption]]]
    mentions: Mentions
    groups: Groups = field(default_factory=dict)
    pairs: Sequence[Pair] = ()
    areas: Mapping[str, float] = field(default_factory=dict)
    boxes: Mapping[str, Sequence[Instance]] = field(default_factory=dict)
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    _unions: dict[tuple[str, str], frozenset[Fact]] = field(
        default_factory=dict, init=False, repr=False
    )

    def images(self, *stages: str) -> list[str]:
        """Images that all these stages have, one stage at least, sorted."""
        return sorted(set.intersection(*(set(self.stages[stage]) for stage in stages)))

    def facts(self, stage: str, image: str) -> frozenset[Fact]:
        """The union of an image's captions at a stage, without what they deny."""
        key = stage, image
        if key not in self._unions:
            captions = self.stages[stage].get(image, ())
            self._unions[key] = frozenset(fact for caption in captions for fact in caption.kept)
        return self._unions[key]

    def text_of(self, stage: str, image: str) -> str:
        """A stage's text about an image: its captions, or the words of its objects; empty if it has no such image."""
        captions = self.stages.get(stage, {}).get(image, ())
        texts = [caption.text for caption in captions if caption.text]
        words = {
            fact.word for caption in captions for fact in caption.kept if fact.kind == "object"
        }
        return " · ".join(texts) or ", ".join(sorted(words)[:40])

    def has_several_captions(self, stage: str) -> bool:
        """Whether any image has more than one caption at a stage."""
        return any(len(captions) > 1 for captions in self.stages[stage].values())

    def sides(self, pair: Pair, images: Sequence[str]) -> Int8Array:
        """(U,) 1 for the group, −1 for the other, 0 for neither."""
        values = self.groups.get(pair.column, {})
        sides = {pair.group: 1, pair.other: -1}
        return np.array([sides.get(values.get(image, ""), 0) for image in images], np.int8)


def pairs_of(groups: Groups) -> list[Pair]:
    """Every pair of values of every column of at most ``MOST_VALUES``, in alphabetical order."""
    named = {
        column: sorted({value for value in values.values() if value})
        for column, values in groups.items()
    }
    few = {column: values for column, values in named.items() if len(values) <= MOST_VALUES}
    return [Pair(column, *two) for column, values in few.items() for two in combinations(values, 2)]


class Presence(NamedTuple):
    """Which concept is in which image: a (C, U) matrix of 0 and 1, or of shares of its captions (not binary)."""

    concepts: Names
    images: tuple[Any, ...]
    matrix: sparse.csr_array
    binary: bool = True


def presence_of_captions(
    captions: Mapping[Any, Sequence[Caption]],
    images: Sequence[Any],
    concepts_of: Callable[[Facts], Iterable[str]],
    *,
    each: bool = False,
) -> Presence:
    """Which concept the captions of each image have: any of them, or, with ``each``, the share of them that have it.

    concepts_of: concepts of one caption's facts.
    """
    entries = []
    for index, image in enumerate(images):
        texts = captions.get(image, ())
        for caption in texts:
            share = 1 / len(texts) if each else 1.0
            entries += [(concept, index, share) for concept in set(concepts_of(caption.kept))]
    return presence_of(entries, images, binary=not each)


def presence_of_images(images_with: Mapping[str, Iterable[str]], images: Sequence[str]) -> Presence:
    """A presence from concept to the images that have it."""
    index_of = {image: index for index, image in enumerate(images)}
    entries = [
        (concept, index_of[image], 1.0)
        for concept, have in images_with.items()
        for image in have
        if image in index_of
    ]
    return presence_of(entries, images, images_with)


def presence_of(
    entries: Sequence[tuple[str, int, float]],
    images: Sequence[Any],
    concepts: Iterable[str] = (),
    *,
    binary: bool = True,
) -> Presence:
    """A presence from concept, place of an image, and value.

    Values of one place are added up, or count once if it is binary.  concepts: with a row even if nothing has them.
    """
    frame = pd.DataFrame(entries, columns=["concept", "image", "value"])
    names = pd.Index(sorted({*concepts, *frame["concept"]}))
    places = names.get_indexer(pd.Index(frame["concept"])), frame["image"].astype(int)
    values = frame["value"].astype(float)
    matrix = sparse.coo_array((values, places), (len(names), len(images))).tocsr()
    if binary:
        matrix.data[:] = 1.0
    return Presence(tuple(names), tuple(images), matrix, binary)


# -- words ---


def senses_of(config: CaptionsConfig) -> Senses:
    """The sense rule of a configuration on WordNet."""
    return Senses(wordnet(), config.senses)


def mentions_of(config: CaptionsConfig) -> Mentions:
    """What finds mentions of people under the configured sense rule and lists.

    Raises: ConfigError, also if a list is empty: it would find nothing, and nothing was judged. ModelError.
    """
    lists = {name: read_list(Path(file), name, wordnet()) for name, file in config.lists.items()}
    if empty := [name for name, listed in lists.items() if not listed.entries | listed.below]:
        raise ConfigError(
            f"The word list {empty[0]} is empty: {config.lists[empty[0]]}.",
            "Write one entry a line.",
        )
    return Mentions(Senses(wordnet(), config.senses), Lists(shipped() | lists))
