"""What the techniques work on: facts of every image at every stage, groups, boxes, coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gslopes.captions.options import PerImage
from gslopes.language.graph import Fact
from gslopes.language.mentions import Mentions
from gslopes.language.tagger import Token

STAGES = ("human-labels", "system-labels", "human-captions", "system-captions")
BLAME = {
    ("system-captions", "system-labels"): "the vision model",
    ("system-captions", "human-captions"): "the human captions",
    ("human-captions", "human-labels"): "the system",
    ("system-labels", "human-labels"): "the language model",
}


@dataclass(frozen=True, slots=True)
class Caption:
    """One caption of an image, or its labels (source −1)."""

    source: int
    facts: tuple[Fact, ...]
    text: str = ""
    kept: tuple[Fact, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", tuple(fact for fact in self.facts if not fact.negated))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two groups of one column that are compared: group minus other."""

    column: str
    group: str
    other: str


@dataclass(frozen=True, slots=True)
class Box:
    """An instance in an image; corners as shares of the sides."""

    synset: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """Per kind ``open`` (absence means not depicted), ``closed`` (only its types are judged) or ``none``.

    types: synsets that a closed vocabulary holds.
    """

    object: str = "open"
    attribute: str = "open"
    relation: str = "open"
    types: frozenset[str] = frozenset()

    def of(self, kind: str) -> str:
        """The coverage of one kind."""
        return {"object": self.object, "attribute": self.attribute, "relation": self.relation}[kind]


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Everything that was read and parsed.

    stages: stage to image to its captions.  groups: column to image to value (empty: unknown).
    pairs: what is compared.  areas: image to the share of it that people cover, where boxes are known.
    boxes: image to instances of stage 1.  tag: tokens of a caption's sentences.
    clusters: image to what it is sampled with, such as its photographer; empty: every image is sampled by itself.
    """

    stages: Mapping[str, Mapping[str, Sequence[Caption]]]
    mentions: Mentions
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    pairs: Sequence[Pair] = ()
    areas: Mapping[str, float] = field(default_factory=dict)
    boxes: Mapping[str, Sequence[Box]] = field(default_factory=dict)
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    tag: Callable[[str], list[list[Token]]] | None = None
    clusters: Mapping[str, str] = field(default_factory=dict)
    _unions: dict[tuple[str, str], frozenset[Fact]] = field(default_factory=dict, init=False, repr=False)

    def images(self, *stages: str) -> list[str]:
        """Images that all these stages have, sorted."""
        found = [set(self.stages[stage]) for stage in stages]
        return sorted(set.intersection(*found)) if found else []

    def facts(self, stage: str, image: str) -> frozenset[Fact]:
        """The union of an image's captions at a stage, without what they deny."""
        key = stage, image
        if key not in self._unions:
            captions = self.stages[stage].get(image, ())
            self._unions[key] = frozenset(fact for caption in captions for fact in caption.kept)
        return self._unions[key]

    def several(self, stage: str) -> bool:
        """Whether any image has more than one caption there."""
        return any(len(captions) > 1 for captions in self.stages[stage].values())

    def members(self, pair: Pair, images: Sequence[str]) -> np.ndarray:
        """(U,) 1 for the group, −1 for the other, 0 for neither."""
        values = self.groups.get(pair.column, {})
        sides = {pair.group: 1, pair.other: -1}
        return np.array([sides.get(values.get(image, ""), 0) for image in images], dtype=np.int8)

    def cluster_of(self, images: Sequence[str]) -> NDArray[np.int64] | None:
        """(U,) the number of each image's cluster, an image without one being its own; None without clusters."""
        if not self.clusters:
            return None
        names = [self.clusters.get(image) or f"\0{image}" for image in images]
        return np.unique(names, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """Which concept is in which image: (C, U) shares of its captions, 0 or 1 under ``union`` and ``one``."""

    concepts: tuple[str, ...]
    images: tuple[str, ...]
    matrix: sparse.csr_array
    binary: bool = True


def pairs_of(groups: Mapping[str, Mapping[str, str]]) -> list[Pair]:
    """Every pair of values of every column, in alphabetical order."""
    found = []
    for column, values in groups.items():
        found += [Pair(column, *two) for two in combinations(sorted({v for v in values.values() if v}), 2)]
    return found


def presence(
    captions: Mapping[str, Sequence[Caption]],
    images: Sequence[str],
    concepts_of: Callable[[Iterable[Fact]], Iterable[str]],
    how: PerImage,
) -> Presence:
    """Concepts by image.

    concepts_of: concepts of one caption's facts.  how: see ``AuditOptions.captions_per_image``.
    """
    rows: dict[str, dict[int, float]] = {}
    for place, image in enumerate(images):
        chosen = captions.get(image, ())
        chosen = chosen[:1] if how == "one" else chosen
        share = 1 / len(chosen) if how == "each" and chosen else 1.0
        for caption in chosen:
            for concept in dict.fromkeys(concepts_of(caption.kept)):
                row = rows.setdefault(concept, {})
                row[place] = row.get(place, 0.0) + share if how == "each" else 1.0
    return tabulate(rows, images, binary=how != "each")


def tabulate(rows: Mapping[str, Mapping[int, float]], images: Sequence[str], *, binary: bool = True) -> Presence:
    """A presence from concept to place of an image to value."""
    names = tuple(sorted(rows))
    data = [(value, row, place) for row, name in enumerate(names) for place, value in sorted(rows[name].items())]
    values, row, place = (np.array(part) for part in zip(*data, strict=True)) if data else ([], [], [])
    shape = len(names), len(images)
    matrix = sparse.coo_array((np.asarray(values, np.float64), (np.asarray(row, int), np.asarray(place, int))), shape)
    return Presence(names, tuple(images), matrix.tocsr(), binary)


def flags(named: Mapping[str, Iterable[str]], images: Sequence[str]) -> Presence:
    """A presence from concept to the images that have it."""
    place = {image: number for number, image in enumerate(images)}
    return tabulate({name: {place[i]: 1.0 for i in have if i in place} for name, have in named.items()}, images)
