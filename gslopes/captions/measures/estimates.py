"""Shares, differences of groups and of stages, with intervals, permutations and q."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Presence
from gslopes.stats.intervals import newcombe, percentile, percentiles
from gslopes.stats.multiplicity import adjust
from gslopes.stats.permutation import permutation_p
from gslopes.stats.resampling import bootstrap_counts

Array = NDArray[np.float64]
BLOCK = 64


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Of C concepts between two groups, percentage points, (C,) each; NaN where there is none.

    share, other: of each group.  active: images of both with the concept.  n, n_other: images of each group.
    low, high: Newcombe's interval, NaN under shares of captions.  boot_low, boot_high: percentiles of the bootstrap.
    """

    n: int
    n_other: int
    active: NDArray[np.int64]
    share: Array
    other: Array
    difference: Array
    low: Array
    high: Array
    boot_low: Array
    boot_high: Array
    p: Array
    q: Array

    def columns(self, place: int) -> dict[str, Any]:
        """One concept's columns in the measures table.  place: of the concept."""
        numbers = {"value": self.difference, "ci_low": self.low, "ci_high": self.high, "boot_low": self.boot_low}
        numbers |= {"boot_high": self.boot_high, "p": self.p, "q": self.q}
        counts = {"n": self.n + self.n_other, "active": int(self.active[place]), "unit": "pp"}
        return counts | {name: values[place] for name, values in numbers.items()}


@lru_cache(maxsize=100_000)
def fisher(a: int, n: int, b: int, m: int) -> float:
    """Fisher's exact p, two-sided.  Null hypothesis: the same probability in both groups.

    >>> round(fisher(4, 5, 1, 5), 4)
    0.2063
    """
    return float(stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue) if n and m else math.nan


def compare(
    presence: Presence, member: NDArray[np.int8], options: AuditOptions, clusters: NDArray[np.int64] | None = None
) -> Differences:
    """Shares of images in two groups, by concept.

    Estimator: difference of the shares.  Interval: Newcombe's, or the percentiles of a bootstrap over images within
    group where an image counts by its share of captions, or over clusters.  p: Fisher's exact, or a permutation of
    group labels, (b + 1) / (m + 1).  q: over the concepts that are in at least ``min_active`` images.

    member: (U,) 1, −1 or 0 for neither.  clusters: (U,) numbers of the images' clusters; None: each is its own.
    """
    used = np.flatnonzero(member)
    matrix = presence.matrix[:, used].tocsr()
    side = member[used]
    within = None if clusters is None else clusters[used]
    n, m = int((side == 1).sum()), int((side == -1).sum())
    sums = [np.asarray(matrix[:, side == s].sum(axis=1)).ravel() for s in (1, -1)]
    share, other = (
        total / count if count else np.full(len(total), np.nan) for total, count in zip(sums, (n, m), strict=True)
    )
    active = np.diff(matrix.indptr).astype(np.int64)
    tested = (active >= options.min_active) & (min(n, m) >= 10)
    low = high = p = np.full(len(active), np.nan)
    boot = _bootstrap_shares(matrix, side, options, within)
    if presence.binary and within is None:
        counts = [(round(a), n, round(b), m) for a, b in zip(*sums, strict=True)]
        if n and m:
            low, high = 100 * np.array([newcombe(*row) for row in counts]).reshape(-1, 2).T
        p = np.array([fisher(*row) if test else np.nan for row, test in zip(counts, tested, strict=True)])
    elif tested.any():
        p = np.where(tested, _permuted(matrix, side, options, within), np.nan)
    p = np.asarray(p, dtype=np.float64)
    q = adjust(p, options.correction)
    return Differences(n, m, active, share, other, 100 * (share - other), low, high, boot[0], boot[1], p, q)


def resample(
    side: NDArray[np.int8], count: int, generator: np.random.Generator, clusters: NDArray[np.int64] | None = None
) -> NDArray[np.float32]:
    """(U, count) how often each image is drawn, with replacement, within its side; whole clusters if there are any.

    A cluster with images of both sides is drawn among such clusters.

    side: (U,) 1, −1 or 0, which is never drawn.
    """
    weights = np.zeros((len(side), count), dtype=np.float32)
    if clusters is None:
        for value in (1, -1):
            chosen = np.flatnonzero(side == value)
            weights[chosen] = bootstrap_counts(len(chosen), count, generator)
        return weights
    used = np.flatnonzero(side)
    _, number = np.unique(clusters[used], return_inverse=True)
    for units in _strata(side[used], number):
        drawn = np.zeros((number.max() + 1, count), dtype=np.float32)
        drawn[units] = bootstrap_counts(len(units), count, generator)
        weights[used] += drawn[number]
    return weights


def _strata(side: NDArray[np.int8], number: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Clusters of the one side, of the other, and of both."""
    have = [np.bincount(number[side == value], minlength=number.max() + 1) > 0 for value in (1, -1)]
    kinds = (have[0] & ~have[1], have[1] & ~have[0], have[0] & have[1])
    return [np.flatnonzero(kind) for kind in kinds if kind.any()]


def _blocks(count: int) -> Iterator[slice]:
    return (slice(first, min(first + BLOCK, count)) for first in range(0, count, BLOCK))


def _bootstrap(
    statistic: Callable[[NDArray[np.float32]], Array],
    concepts: int,
    side: NDArray[np.int8],
    options: AuditOptions,
    stream: int,
    clusters: NDArray[np.int64] | None,
) -> Array:
    """(2, C) percentiles, in percentage points, of a statistic over resamples of the images.

    statistic: (U, B) how often each image is drawn, to (C, B).  stream: second number of the seed.
    """
    if not options.bootstrap or not concepts or not (side == 1).any() or not (side == -1).any():
        return np.full((2, concepts), np.nan)
    values = np.empty((concepts, options.bootstrap), dtype=np.float32)
    generator = np.random.default_rng([options.seed, stream])
    with np.errstate(invalid="ignore", divide="ignore"):  # a resample may lack a group, or images without a concept
        for block in _blocks(options.bootstrap):
            values[:, block] = statistic(resample(side, block.stop - block.start, generator, clusters))
        return 100 * percentiles(values)


def _bootstrap_shares(
    matrix: sparse.csr_array, side: NDArray[np.int8], options: AuditOptions, clusters: NDArray[np.int64] | None
) -> Array:
    groups = [np.flatnonzero(side == s) for s in (1, -1)]
    parts = [matrix[:, group].tocsr() for group in groups]

    def difference(drawn: NDArray[np.float32]) -> Array:
        first, second = (p @ drawn[g] / drawn[g].sum(axis=0) for p, g in zip(parts, groups, strict=True))
        return np.asarray(first - second)

    return _bootstrap(difference, matrix.shape[0], side, options, 2, clusters)


def bootstrap_rates(
    flagged: sparse.csr_array,
    held: sparse.csr_array,
    side: NDArray[np.int8],
    options: AuditOptions,
    clusters: NDArray[np.int64] | None = None,
) -> Array:
    """(2, C) percentiles of the difference of two groups' false positive rates, pp, over resamples of the images.

    A rate is the flagged images over those that do not hold the concept; both vary with the resample.

    flagged, held: (C, U) 1 where a concept is wrongly included, and where truth holds it.  side: (U,) 1, −1 or 0.
    """

    def difference(drawn: NDArray[np.float32]) -> Array:
        parts = [drawn * (side == value)[:, None] for value in (1, -1)]
        first, second = ((flagged @ part) / (part.sum(axis=0) - held @ part) for part in parts)
        return np.asarray(first - second)

    return _bootstrap(difference, flagged.shape[0], side, options, 9, clusters)


def _permuted(
    matrix: sparse.csr_array, side: NDArray[np.int8], options: AuditOptions, clusters: NDArray[np.int64] | None
) -> Array:
    generator = np.random.default_rng([options.seed, 3])
    observed = np.abs(matrix @ _contrast(side))
    beyond = np.zeros(matrix.shape[0])
    for block in _blocks(options.permutations):
        orders = [shuffle(side, generator, clusters) for _ in range(block.start, block.stop)]
        shuffled = np.stack([_contrast(order) for order in orders], axis=1)
        beyond += (np.abs(matrix @ shuffled) >= observed[:, None] - 1e-12).sum(axis=1)
    return np.asarray(permutation_p(beyond, options.permutations))


def _contrast(side: NDArray[np.int8]) -> Array:
    return np.where(side == 1, 1 / (side == 1).sum(), -1 / (side == -1).sum())


def shuffle(
    side: NDArray[np.int8], generator: np.random.Generator, clusters: NDArray[np.int64] | None = None
) -> NDArray[np.int8]:
    """Group labels in another order: of images, or of clusters of one group, and within clusters of both groups."""
    if clusters is None:
        return generator.permutation(side)
    number = np.unique(clusters, return_inverse=True)[1]
    label = np.zeros(number.max() + 1, dtype=np.int8)
    label[number] = side
    mixed = set(number[side == 1]) & set(number[side == -1])
    pure = np.array([unit for unit in range(len(label)) if unit not in mixed], dtype=np.int64)
    label[pure] = generator.permutation(label[pure])
    found = label[number]
    for unit in sorted(mixed):
        inside = np.flatnonzero(number == unit)
        found[inside] = generator.permutation(side[inside])
    return found


def change(
    before: sparse.csr_array,
    after: sparse.csr_array,
    weight: Array,
    options: AuditOptions,
    clusters: NDArray[np.int64] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """Weighted sums of (after − before) over the same images: value, interval ends and p, (C,) each.

    Interval: percentiles of a bootstrap over images within each sign of weight.  p: sign flips within images (null: the
    two stages are exchangeable for each image), (b + 1) / (m + 1).

    before, after: (C, U).  weight: (U,), such as 1/n in one group and −1/m in the other.
    """
    differences = (after - before).tocsr()
    scaled = (differences @ sparse.diags_array(weight)).tocsr()
    value = np.asarray(scaled.sum(axis=1)).ravel()
    generator = np.random.default_rng([options.seed, 4])
    beyond = np.zeros(len(value))
    number = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    units = len(weight) if number is None else number.max() + 1
    for block in _blocks(options.permutations):
        signs = generator.choice(np.array([-1.0, 1.0]), (units, block.stop - block.start))
        signs = signs if number is None else signs[number]
        beyond += (np.abs(scaled @ signs) >= np.abs(value)[:, None] - 1e-12).sum(axis=1)
    values = np.zeros((len(value), max(options.bootstrap, 1)), dtype=np.float32)
    if options.bootstrap:
        drawn = resample(np.sign(weight).astype(np.int8), options.bootstrap, generator, clusters)
        for group in (np.flatnonzero(weight > 0), np.flatnonzero(weight < 0)):
            if len(group):
                size = np.maximum(drawn[group].sum(axis=0), 1)
                values += (scaled[:, group] @ drawn[group]) * (len(group) / size)
    ends = percentiles(values) if options.bootstrap else np.full((2, len(value)), np.nan)
    p = permutation_p(beyond, options.permutations) if options.permutations else np.full(len(value), np.nan)
    return value, ends[0], ends[1], p


def ratio(
    counts: Array, of: Array, options: AuditOptions, clusters: NDArray[np.int64] | None = None
) -> tuple[float, float, float]:
    """A ratio of sums over images with its bootstrap interval: Σ counts / Σ of.  counts, of: (U,)."""
    if not of.sum():
        return math.nan, math.nan, math.nan
    value = float(counts.sum() / of.sum())
    if not options.bootstrap:
        return value, math.nan, math.nan
    generator = np.random.default_rng([options.seed, 5])
    both = np.stack([counts, of]).astype(np.float32)
    everyone = np.ones(len(counts), dtype=np.int8)
    sums = np.concatenate(
        [
            both @ resample(everyone, block.stop - block.start, generator, clusters)
            for block in _blocks(options.bootstrap)
        ],
        axis=1,
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return value, *percentile(sums[0] / sums[1])
