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
from gslopes.stats.clusters import codes_of
from gslopes.stats.intervals import mean_change, newcombe, normal_quantile, percentile, percentiles
from gslopes.stats.multiplicity import adjust
from gslopes.stats.permutation import count_extreme, lone_q, permutation_p, welch_permutation
from gslopes.stats.resampling import bootstrap_counts, enough

Array = NDArray[np.float64]
Sides = NDArray[np.int8]
Clusters = NDArray[np.int64]
BLOCK = 64
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Of C concepts between two groups, percentage points, (C,) each; NaN where there is none.

    share, other: of each group.  active: images of both with the concept.  n, n_other: images of each group.
    low, high: Newcombe's interval, NaN under shares of captions.  boot_low, boot_high: percentiles of the bootstrap,
    NaN where a group has fewer than 10 images (or clusters) with the concept, or without it.
    floor: the q of a lone effect whose p is the least that the permutations can show; 0 for exact tests.
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
    floor: float = 0.0

    def columns(self, concept: int) -> dict[str, Any]:
        """One concept's columns in the measures table."""
        numbers = {"value": self.difference, "ci_low": self.low, "ci_high": self.high, "boot_low": self.boot_low}
        numbers |= {"boot_high": self.boot_high, "p": self.p, "q": self.q}
        counts = {"n": self.n + self.n_other, "active": int(self.active[concept]), "unit": "pp"}
        return counts | {name: values[concept] for name, values in numbers.items()}


@lru_cache(maxsize=100_000)
def fisher(a: int, n: int, b: int, m: int) -> float:
    """Fisher's exact p, two-sided.  Null hypothesis: the same probability in both groups.

    >>> round(fisher(4, 5, 1, 5), 4)
    0.2063
    """
    return float(stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue) if n and m else math.nan


def floor_note(q: float) -> str:
    """What is said where permutations cannot show a lone finding.  q: of a lone effect, as ``lone_q``."""
    return f"with so few permutations a lone effect has q = {q:.2g}" if q >= 0.05 else ""


class Sampler:
    """Resamples and permutations of the images of two groups, by whole clusters.

    A cluster with images of both groups is drawn among such clusters, and permuted within itself.

    sides: (U,) 1, −1, or 0 for an image that is never drawn.  clusters: (U,) numbers; None: each image is its own.
    """

    def __init__(self, sides: Sides, clusters: Clusters | None = None) -> None:
        self.used = np.flatnonzero(sides)
        self.size, self.sides = len(sides), sides[self.used]
        self.codes = codes_of(None if clusters is None else clusters[self.used], len(self.used))
        self.units = int(self.codes.max(initial=-1)) + 1
        first, second = (np.bincount(self.codes[self.sides == s], minlength=self.units) > 0 for s in (1, -1))
        kinds = (first & ~second, second & ~first, first & second)
        self.strata = [np.flatnonzero(kind) for kind in kinds]
        self.mixed = [np.flatnonzero(self.codes == unit) for unit in self.strata[2]]

    def resample(self, count: int, generator: np.random.Generator) -> NDArray[np.float32]:
        """(U, count) how often each image is drawn, with replacement within its group."""
        drawn = np.zeros((self.units, count), dtype=np.float32)
        for units in self.strata:
            if len(units):
                drawn[units] = bootstrap_counts(len(units), count, generator)
        weights = np.zeros((self.size, count), dtype=np.float32)
        weights[self.used] = drawn[self.codes]
        return weights

    def shuffle(self, generator: np.random.Generator) -> Sides:
        """The sides of the images that are not 0, permuted."""
        labels = np.zeros(self.units, dtype=np.int8)
        labels[self.codes] = self.sides
        pure = np.sort(np.concatenate(self.strata[:2]))
        labels[pure] = generator.permutation(labels[pure])
        shuffled = labels[self.codes]
        for inside in self.mixed:
            shuffled[inside] = generator.permutation(self.sides[inside])
        return shuffled

    def bootstrap(
        self, statistic: Callable[[NDArray[np.float32]], Array], concepts: int, options: AuditOptions, stream: int
    ) -> Array:
        """(2, C) percentiles of a statistic over resamples; NaN without resamples, concepts or a group.

        statistic: (U, B) how often each image is drawn, to (C, B).  stream: second number of the seed.
        """
        if not options.bootstrap or not concepts or len(set(self.sides.tolist())) < 2:
            return np.full((2, concepts), np.nan)
        values = np.empty((concepts, options.bootstrap), dtype=np.float32)
        generator = np.random.default_rng([options.seed, stream])
        with np.errstate(invalid="ignore", divide="ignore"):  # a resample may lack a group, or images without a concept
            for block in _blocks(options.bootstrap):
                values[:, block] = statistic(self.resample(block.stop - block.start, generator))
            return percentiles(values)


def _blocks(count: int) -> Iterator[slice]:
    return (slice(first, min(first + BLOCK, count)) for first in range(0, count, BLOCK))


def compare(presence: Presence, sides: Sides, options: AuditOptions, clusters: Clusters | None = None) -> Differences:
    """Shares of images in two groups, by concept.

    Estimator: difference of the shares.  Interval: Newcombe's, or the percentiles of a bootstrap over images within
    group where an image counts by its share of captions, or over clusters.  p: Fisher's exact, or a permutation of
    group labels with Welch's t, (b + 1) / (m + 1).  q: over the concepts in at least ``min_active`` images.

    sides: (U,) 1, −1 or 0 for neither.  clusters: (U,) numbers of the images' clusters; None: each is its own.
    """
    sampler = Sampler(sides, clusters)
    matrix, side = presence.matrix[:, sampler.used].tocsr(), sampler.sides
    n, m = int((side == 1).sum()), int((side == -1).sum())
    sums = [np.asarray(matrix[:, side == s].sum(axis=1)).ravel() for s in (1, -1)]
    with np.errstate(invalid="ignore"):
        share, other = sums[0] / np.float64(n), sums[1] / np.float64(m)
    active = np.diff(matrix.indptr).astype(np.int64)
    tested = (active >= options.min_active) & (min(n, m) >= 10)
    low = high = p = np.full(len(active), np.nan)
    floor = 0.0
    if presence.binary and clusters is None:
        counts = [(round(a), n, round(b), m) for a, b in zip(*sums, strict=True)]
        if n and m:
            low, high = 100 * np.array([newcombe(*row) for row in counts]).reshape(-1, 2).T
        p = np.array([fisher(*row) if test else np.nan for row, test in zip(counts, tested, strict=True)], np.float64)
    elif tested.any():
        p = np.where(tested, _permuted(matrix, sampler, options), np.nan)
        floor = lone_q(options.permutations, int(tested.sum()), options.correction)
    groups = [sampler.used[side == s] for s in (1, -1)]
    parts = [presence.matrix[:, group].tocsr() for group in groups]

    def difference(drawn: NDArray[np.float32]) -> Array:
        first, second = (p @ drawn[g] / drawn[g].sum(axis=0) for p, g in zip(parts, groups, strict=True))
        return np.asarray(first - second)

    boot = 100 * sampler.bootstrap(difference, len(active), options, 2)
    low_boot, high_boot = np.where(_resampled_well(presence.matrix, sides, clusters), boot, np.nan)
    q = adjust(p, options.correction)
    change = 100 * (share - other)
    return Differences(n, m, active, share, other, change, low, high, low_boot, high_boot, p, q, floor)


def _resampled_well(matrix: sparse.csr_array, sides: Sides, clusters: Clusters | None) -> NDArray[np.bool_]:
    """(C,) whether a bootstrap of both groups' shares may be shown."""
    columns, codes = matrix.tocsc(), codes_of(clusters, len(sides))
    groups = (found for side in (1, -1) if len(found := np.flatnonzero(sides == side)))
    parts = [enough(columns[:, group].tocsr(), codes_of(codes[group], len(group))) for group in groups]
    return np.logical_and.reduce(parts) if parts else np.zeros(matrix.shape[0], dtype=np.bool_)


def _permuted(matrix: sparse.csr_array, sampler: Sampler, options: AuditOptions) -> Array:
    """P of the difference of mean shares; units are clusters, or images where a cluster has images of both groups."""
    generator = np.random.default_rng([options.seed, 3])
    units = np.arange(len(sampler.sides)) if sampler.mixed else np.unique(sampler.codes, return_index=True)[1]
    codes = np.arange(len(sampler.sides)) if sampler.mixed else sampler.codes
    of = sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)), (len(codes), len(units)))
    drawn = (
        np.stack([sampler.shuffle(generator)[units] == 1 for _ in range(block.start, block.stop)], axis=1)
        for block in _blocks(options.permutations)
    )
    members = (block.astype(np.float64) for block in drawn)
    sizes, first = np.bincount(codes).astype(np.float64), sampler.sides[units] == 1
    return welch_permutation((matrix @ of).tocsr(), sizes, first, members, options.permutations)


def bootstrap_rates(
    flagged: sparse.csr_array,
    held: sparse.csr_array,
    sides: Sides,
    options: AuditOptions,
    clusters: Clusters | None = None,
) -> Array:
    """(2, C) percentiles of the difference of two groups' false positive rates, pp, over resamples of the images.

    A rate is the flagged images over those that do not hold the concept; both vary with the resample.  NaN where a
    group has fewer than 10 images (or clusters) that are flagged, or that are neither flagged nor hold the concept.

    flagged, held: (C, U) 1 where a concept is wrongly included, and where truth holds it.  sides: (U,) 1, −1 or 0.
    """

    def difference(drawn: NDArray[np.float32]) -> Array:
        parts = [drawn * (sides == side)[:, None] for side in (1, -1)]
        first, second = ((flagged @ part) / (part.sum(axis=0) - held @ part) for part in parts)
        return np.asarray(first - second)

    boot = 100 * Sampler(sides, clusters).bootstrap(difference, flagged.shape[0], options, 9)
    well = _resampled_well(flagged, sides, clusters) & _resampled_well((flagged + held).tocsr(), sides, clusters)
    return np.where(well, boot, np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Of C concepts the change between two stages, (C,) each; NaN where there is none.

    low, high: ends by added pairs, NaN over clusters.  boot_low, boot_high: percentiles of the bootstrap, NaN where a
    group has fewer than 10 images (or clusters) that change.
    """

    value: Array
    low: Array
    high: Array
    boot_low: Array
    boot_high: Array
    p: Array

    def at(self, concept: int) -> tuple[float, ...]:
        """One concept's numbers in the order of the fields."""
        columns = self.value, self.low, self.high, self.boot_low, self.boot_high, self.p
        return tuple(float(column[concept]) for column in columns)


def change(
    before: sparse.csr_array,
    after: sparse.csr_array,
    weight: Array,
    options: AuditOptions,
    clusters: Clusters | None = None,
) -> Change:
    """Weighted sums of (after − before) over the same images.

    Interval: ``stats.intervals.mean_change`` of the images of each sign of weight; bootstrap within each of them.
    p: sign flips within images (null: the two stages are exchangeable for each image), (b + 1) / (m + 1).

    before, after: (C, U).  weight: (U,), 1/n in one group and −1/m in the other, or 0.
    """
    changed = (after - before).tocsr()
    scaled = (changed @ sparse.diags_array(weight)).tocsr()
    value = np.asarray(scaled.sum(axis=1)).ravel()
    low, high, boot_low, boot_high, p = np.full((5, len(value)), np.nan)
    generator = np.random.default_rng([options.seed, 4])
    codes = codes_of(clusters, len(weight))
    if options.permutations:
        shape, signs = int(codes.max(initial=-1)) + 1, np.array([-1.0, 1.0])
        flips = (generator.choice(signs, (shape, b.stop - b.start))[codes] for b in _blocks(options.permutations))
        p = permutation_p(count_extreme(scaled, flips, np.abs(value) - ROUNDING), options.permutations)
    sides = np.sign(weight).astype(np.int8)
    groups = [(side, found) for side in (1, -1) if len(found := np.flatnonzero(sides == side))]
    if clusters is None:
        middle, variance = np.zeros((2, len(value)))
        for side, group in groups:
            part = changed[:, group]
            total, squares = (np.asarray(some.sum(axis=1)).ravel() for some in (part, part.multiply(part)))
            mean, of = mean_change(total, squares, len(group))
            middle, variance = middle + side * mean, variance + of
        half = normal_quantile() * np.sqrt(variance)
        low, high = np.maximum(middle - half, -len(groups)), np.minimum(middle + half, len(groups))
    if options.bootstrap:
        values = np.zeros((len(value), options.bootstrap), dtype=np.float32)
        drawn = Sampler(sides, clusters).resample(options.bootstrap, generator)
        for _, group in groups:
            size = np.maximum(drawn[group].sum(axis=0), 1)
            values += (scaled[:, group] @ drawn[group]) * (len(group) / size)
        boot_low, boot_high = np.where(_resampled_well(abs(changed), sides, clusters), percentiles(values), np.nan)
    return Change(value, low, high, boot_low, boot_high, np.asarray(p))


def ratio(
    counts: Array, of: Array, options: AuditOptions, clusters: Clusters | None = None
) -> tuple[float, float, float]:
    """A ratio of sums over images with its bootstrap interval: Σ counts / Σ of; none for fewer than 10 images with any.

    counts, of: (U,).
    """
    cases = sparse.csr_array(np.where(of > 0, counts / np.maximum(of, 1), 0.0)[None])
    if not of.sum() or not options.bootstrap or not enough(cases, codes_of(clusters, len(counts)))[0]:
        return float(counts.sum() / of.sum()) if of.sum() else math.nan, math.nan, math.nan
    generator = np.random.default_rng([options.seed, 5])
    both = np.stack([counts, of]).astype(np.float32)
    sampler = Sampler(np.ones(len(counts), dtype=np.int8), clusters)
    drawn = (sampler.resample(block.stop - block.start, generator) for block in _blocks(options.bootstrap))
    sums = np.concatenate([both @ weights for weights in drawn], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(counts.sum() / of.sum()), *percentile(sums[0] / sums[1])
