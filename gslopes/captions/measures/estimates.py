"""Differences of groups, how they change between stages, and rates: one interval for each, by what is counted.

Newcombe's and Fisher's where images are independent and a concept is in one or not; Welch's t over images or clusters
where an image counts by its share of captions, or clusters; added pairs for changes; Wilson's for rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special, stats

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Presence
from gslopes.stats.clusters import clustered_ratio, codes_of
from gslopes.stats.intervals import (
    half_width,
    mean_change,
    newcombe,
    normal_quantile,
    t_test,
    welch_satterthwaite,
    wilson,
)
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.resampling import enough

Array = NDArray[np.float64]
Sides = NDArray[np.int8]
Clusters = NDArray[np.int64]
LEAST = 10  # images of a group, below which nothing is tested


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Of C concepts between two groups, percentage points, (C,) each; NaN where there is none.

    share, other: of each group, 0 to 1.  active: images of both with the concept.  n, n_other: images of each group.
    """

    n: int
    n_other: int
    active: NDArray[np.int64]
    share: Array
    other: Array
    difference: Array
    low: Array
    high: Array
    p: Array
    q: Array

    def columns(self, concept: int) -> dict[str, Any]:
        """One concept's columns in the measures table."""
        numbers = {"value": self.difference, "ci_low": self.low, "ci_high": self.high, "p": self.p, "q": self.q}
        counts = {"n": self.n + self.n_other, "active": int(self.active[concept]), "unit": "pp"}
        return counts | {name: values[concept] for name, values in numbers.items()}


@lru_cache(maxsize=100_000)
def fisher(a: int, n: int, b: int, m: int) -> float:
    """Fisher's exact p, two-sided.  Null hypothesis: the same probability in both groups.

    >>> round(fisher(4, 5, 1, 5), 4)
    0.2063
    """
    return float(stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue) if n and m else math.nan


def compare(presence: Presence, sides: Sides, options: AuditOptions, clusters: Clusters | None = None) -> Differences:
    """Shares of images in two groups, by concept.

    Estimator: difference of the shares.  Interval and p: Newcombe's and Fisher's exact; ``welch`` where an image counts
    by its share of captions, or over clusters.  q: over the concepts in at least ``min_active`` images.

    sides: (U,) 1, −1 or 0 for neither.  clusters: (U,) numbers of the images' clusters; None: each is its own.
    """
    used = np.flatnonzero(sides)
    matrix, first = presence.matrix[:, used].tocsr(), sides[used] == 1
    n, m = int(first.sum()), int((~first).sum())
    sums = [np.asarray(matrix[:, group].sum(axis=1)).ravel() for group in (first, ~first)]
    with np.errstate(invalid="ignore"):
        share, other = sums[0] / np.float64(n), sums[1] / np.float64(m)
    active = np.diff(matrix.indptr).astype(np.int64)
    tested = (active >= options.min_active) & (min(n, m) >= LEAST)
    if presence.binary and clusters is None:
        counts = [(round(a), n, round(b), m) for a, b in zip(*sums, strict=True)]
        low, high = np.array([newcombe(*row) for row in counts]).reshape(-1, 2).T
        p = np.array([fisher(*row) if test else np.nan for row, test in zip(counts, tested, strict=True)], np.float64)
    else:
        low, high, p = welch(matrix, first, None if clusters is None else clusters[used])
        p = np.where(tested, p, np.nan)
    difference = 100 * (share - other)
    return Differences(n, m, active, share, other, difference, 100 * low, 100 * high, p, benjamini_hochberg(p))


def welch(
    matrix: sparse.csr_array, first: NDArray[np.bool_], clusters: Clusters | None = None
) -> tuple[Array, Array, Array]:
    """(low, high, p) of the first group's mean less the other's, (C,) each, by Welch's t over images or clusters.

    A cluster with images of both groups counts in both, with their covariance.  NaN where a group has fewer than 10
    units with a number other than 0, or with one below 1.  Null hypothesis: both groups have the same mean.

    matrix: (C, U) numbers from −1 to 1.  first: (U,) whether an image is of the first group.  clusters: (U,) numbers.

    Source: Liang & Zeger 1986, doi 10.1093/biomet/73.1.13 (robust errors); Welch 1947, doi 10.1093/biomet/34.1-2.28.
    """
    codes = codes_of(clusters, len(first))
    units, known = int(codes.max(initial=-1)) + 1, np.ones(matrix.shape[0], dtype=np.bool_)
    parts, counts = [], []
    for group in (np.flatnonzero(first), np.flatnonzero(~first)):
        if not len(group):
            low, high, p = np.full((3, len(known)), np.nan)
            return low, high, p
        some = matrix[:, group].tocsr()
        known &= enough(abs(some), codes_of(codes[group], len(group)))
        weights = np.full(len(group), 1 / len(group)), (np.arange(len(group)), codes[group])
        of = sparse.csr_array(weights, (len(group), units))
        parts.append(((some @ of).tocsr(), np.asarray(of.sum(axis=0)).ravel(), np.asarray(some.mean(axis=1)).ravel()))
        counts.append(int(np.count_nonzero(parts[-1][1])))

    def covariance(one: int, two: int) -> Array:
        """Σ over units of what each adds to one mean times what it adds to the other."""
        (sums, sizes, mean), (others, their_sizes, their_mean) = parts[one], parts[two]
        product = np.asarray(sums.multiply(others).sum(axis=1)).ravel() + mean * their_mean * (sizes @ their_sizes)
        return product - their_mean * (sums @ their_sizes) - mean * (others @ sizes)

    variances = [covariance(at, at) * count / max(count - 1, 1) for at, count in enumerate(counts)]
    se = np.sqrt(np.maximum(variances[0] + variances[1] - 2 * covariance(0, 1), 0))
    dof = welch_satterthwaite(variances[0], counts[0], variances[1], counts[1])
    difference = parts[0][2] - parts[1][2]
    half, p = half_width(se, dof), t_test(difference / np.where(se > 0, se, np.nan), dof)
    ends = np.array([difference - half, difference + half, p])
    low, high, p = np.where(known & (se > 0), ends, np.nan)
    return low, high, p


def change(
    before: sparse.csr_array, after: sparse.csr_array, sides: Sides, clusters: Clusters | None = None
) -> tuple[Array, Array, Array, Array]:
    """(value, low, high, p): how the difference of two groups changes from before to after, (C,) each, as shares.

    Interval: ``stats.intervals.mean_change`` of each group, and p of the same normal; ``welch`` over clusters.  Null
    hypothesis: the difference does not change.

    before, after: (C, U) of the same images.  sides: (U,) 1, −1 or 0 for neither.
    """
    used = np.flatnonzero(sides)
    changed, first = (after - before).tocsr()[:, used], sides[used] == 1
    middle, variance, value = np.zeros((3, changed.shape[0]))
    for group, sign in ((first, 1), (~first, -1)):
        part = changed[:, group]
        total, squares = (np.asarray(some.sum(axis=1)).ravel() for some in (part, part.multiply(part)))
        mean, spread = mean_change(total, squares, part.shape[1])
        middle, variance, value = middle + sign * mean, variance + spread, value + sign * total / max(part.shape[1], 1)
    if clusters is not None:
        return value, *welch(changed, first, clusters[used])
    half = normal_quantile() * np.sqrt(variance)
    p = 2 * special.ndtr(-np.abs(middle) / np.sqrt(variance))
    return value, np.maximum(middle - half, -2), np.minimum(middle + half, 2), np.asarray(p)


def rate(counts: Array, of: Array, clusters: Clusters | None = None) -> tuple[float, float, float]:
    """A ratio of sums over images, Σ counts / Σ of, with its interval; NaN where there is nothing to count.

    Interval: Wilson's with as many captions as would tell as much if they were independent; where none has a case, or
    all have one, as many as there are images, or clusters.

    counts, of: (U,) captions with a case, and captions.

    Source of the number of captions: Korn & Graubard 1998, Survey Methodology 24:193.
    """
    codes = codes_of(clusters, len(of))
    cases, captions = (np.bincount(codes, one).astype(np.float64) for one in (counts, of))
    share, se, *_ = clustered_ratio(cases, captions)
    units, total = int((captions > 0).sum()), float(captions.sum())
    n = share * (1 - share) / se**2 * units / (units - 1) if se > 0 else units
    low, high = wilson(share, min(n, total))
    return share, float(low), float(high)
