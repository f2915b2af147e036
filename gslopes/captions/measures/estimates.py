"""Differences of groups, how they change between stages, and rates: one interval for each, by what is counted.

Newcombe's and Fisher's where a concept is in an image or not; Welch's t where an image counts by its share of captions;
added pairs for changes; Wilson's for rates.  Images count as independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Presence
from gslopes.stats.clusters import clustered_ratio
from gslopes.stats.contrast import Units, difference, spreads
from gslopes.stats.intervals import mean_change, newcombe, normal_quantile, wilson
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.shares import fisher

Array = NDArray[np.float64]
Sides = NDArray[np.int8]
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
        """One concept's columns in the measures table; what is not tested has no interval either."""
        low, high = np.where(np.isnan(self.p), np.nan, (self.low, self.high))
        numbers = {"value": self.difference, "ci_low": low, "ci_high": high, "p": self.p, "q": self.q}
        counts = {"n": self.n + self.n_other, "active": int(self.active[concept]), "unit": "pp"}
        return counts | {name: values[concept] for name, values in numbers.items()}


def compare(presence: Presence, sides: Sides, options: AuditOptions) -> Differences:
    """Shares of images in two groups, by concept.

    Estimator: difference of the shares.  Interval and p: Newcombe's and Fisher's exact; Welch's t over images where an
    image counts by its share of captions.  No t where a group has fewer than 10 images with a share above 0,
    or fewer than 10 with one below 1.  q: over the concepts in at least ``min_active`` images.

    sides: (U,) 1, −1 or 0 for neither.
    """
    groups = [presence.matrix[:, np.flatnonzero(sides == side)].tocsr() for side in (1, -1)]
    n, m = (group.shape[1] for group in groups)
    sums = [np.asarray(group.sum(axis=1)).ravel() for group in groups]
    with np.errstate(invalid="ignore"):
        share, other = sums[0] / np.float64(n), sums[1] / np.float64(m)
    active = sum(np.diff(group.indptr) for group in groups).astype(np.int64)
    tested = (active >= options.min_active) & (min(n, m) >= LEAST)
    if presence.binary:
        counts = [(round(a), n, round(b), m) for a, b in zip(*sums, strict=True)]
        low, high = np.array([newcombe(*row) for row in counts]).reshape(-1, 2).T
        p = np.array([fisher(*row) if test else np.nan for row, test in zip(counts, tested, strict=True)], np.float64)
    else:
        units = [Units(group, np.ones(group.shape[1])) for group in groups]
        variances = [spreads(unit, unit.means) / max(len(unit.sizes) * (len(unit.sizes) - 1), 1) for unit in units]
        welch, _ = difference((share, np.sqrt(variances[0]), n), (other, np.sqrt(variances[1]), m))
        varied = np.logical_and.reduce([_varies(group) for group in groups])
        low, high, p = np.where(varied, [welch.low, welch.high, np.where(tested, welch.p, np.nan)], np.nan)
    points = 100 * (share - other)
    return Differences(n, m, active, share, other, points, 100 * low, 100 * high, p, benjamini_hochberg(p))


def _varies(shares: sparse.csr_array) -> NDArray[np.bool_]:
    """(C,) whether at least ``LEAST`` images have a share above 0, and as many one below 1."""
    full = sparse.csr_array((shares.data >= 1 - 1e-9, shares.indices, shares.indptr), shares.shape).sum(axis=1)
    return np.asarray((np.diff(shares.indptr) >= LEAST) & (shares.shape[1] - np.asarray(full).ravel() >= LEAST))


def change(before: sparse.csr_array, after: sparse.csr_array, sides: Sides) -> tuple[Array, Array, Array, Array]:
    """(value, low, high, p): how the difference of two groups changes from before to after, (C,) each, as shares.

    Interval: ``stats.intervals.mean_change`` of each group, and p of the same normal.  Null hypothesis: the difference
    does not change.

    before, after: (C, U) of the same images.  sides: (U,) 1, −1 or 0 for neither.
    """
    changed = (after - before).tocsr()
    middle, variance, value = np.zeros((3, changed.shape[0]))
    for sign in (1, -1):
        part = changed[:, np.flatnonzero(sides == sign)]
        total, squares = (np.asarray(some.sum(axis=1)).ravel() for some in (part, part.multiply(part)))
        mean, spread = mean_change(total, squares, part.shape[1])
        middle, variance, value = middle + sign * mean, variance + spread, value + sign * total / max(part.shape[1], 1)
    half = normal_quantile() * np.sqrt(variance)
    p = 2 * special.ndtr(-np.abs(middle) / np.sqrt(variance))
    return value, np.maximum(middle - half, -2), np.minimum(middle + half, 2), np.asarray(p)


def rate(counts: Array, captions: Array) -> tuple[float, float, float]:
    """A ratio of sums over images, Σ counts / Σ captions, with its interval; NaN where there is nothing to count.

    Interval: Wilson's with as many captions as would tell as much if they were independent; where none has a case, or
    all have one, as many as there are images.

    counts, captions: (U,) captions with a case, and all captions.

    Source of the number of captions: Korn & Graubard 1998, Survey Methodology 24:193.
    """
    share, se, *_ = clustered_ratio(counts, captions)
    images, total = int((captions > 0).sum()), float(captions.sum())
    n = share * (1 - share) / se**2 * images / (images - 1) if se > 0 else images
    low, high = wilson(share, min(n, total))
    return share, float(low), float(high)
