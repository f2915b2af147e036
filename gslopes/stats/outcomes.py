"""Outcomes of units under conditions, for all labels: what every contrast is computed from.

A *unit* is what is resampled and permuted as one: a photo, or all photos of a cluster (a person, a keyword). Its
*outcomes* for a label are K numbers, one a condition. Almost all of them are 0 for almost all labels.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gslopes.core.arrays import Array, Integers
from gslopes.stats.ols import line_weights

Single = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The K outcomes of each unit for each label that it has, sums over the unit's photos; all others are zero.

    values: (K,) of the conditions.  sizes: (U,) float64, photos in each unit.
    unit: (P,) int32, sorted inside each label.  starts: (L + 1,) int64: label l has rows starts[l] to starts[l + 1].
    numbers: (P, K) float32.
    orders: (T, K), a group of permutations, or draws from one, that the K are permuted by; None for all of them.
    """

    values: Array
    sizes: Array
    unit: NDArray[np.int32]
    starts: Integers
    numbers: Single
    orders: NDArray[np.int8] | None = None

    @property
    def labels(self) -> int:
        """L."""
        return len(self.starts) - 1

    @property
    def photos(self) -> int:
        """n, over all units."""
        return int(self.sizes.sum())

    @property
    def label(self) -> Integers:
        """(P,) the label of each row."""
        return np.repeat(np.arange(self.labels), np.diff(self.starts))


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Sums over units, from which every linear estimator's mean and variance follow; x is a unit's K numbers.

    photos: n.  units: U.  squares: the sum of sizes squared.
    first: (L, K), sum of x.  weighted: (L, K), sum of size * x.  second: (L, K, K), sum of x x'.
    skew, influence: (L,) of the mean slope, see ``departures``.
    """

    photos: int
    units: int
    squares: float
    first: Array
    weighted: Array
    second: Array
    skew: Array
    influence: Array


def gathered(
    values: Array,
    photos: int,
    photo: NDArray[np.int32],
    label: NDArray[np.int32],
    numbers: Single,
    labels: int,
    cluster: Integers | None = None,
) -> Outcomes:
    """Outcomes from rows of photo and label, sorted by label, then photo.

    photo, label: (P,) codes.  numbers: (P, K).  cluster: (n,) codes of the units that photos belong to; each photo is
        its own without it.
    """  # fmt: skip
    if cluster is None:
        starts = np.searchsorted(label, np.arange(labels + 1)).astype(np.int64)
        return Outcomes(values, np.ones(photos), photo, starts, numbers)
    _, codes, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    width = max(len(sizes), 1)
    key = label.astype(np.int64) * width + codes[photo]
    order = np.argsort(key, kind="stable")
    keys, heads = np.unique(key[order], return_index=True)
    summed = np.add.reduceat(numbers[order], heads, axis=0) if len(heads) else numbers[:0]
    starts = np.searchsorted(keys // width, np.arange(labels + 1)).astype(np.int64)
    return Outcomes(values, sizes.astype(np.float64), (keys % width).astype(np.int32), starts, summed)


def dense(numbers: Single, values: Array, cluster: Integers | None = None) -> Outcomes:
    """Outcomes from a dense array, (L, n, K); cluster as in ``gathered``."""
    label, photo = np.nonzero(numbers.any(axis=2))
    rows = np.ascontiguousarray(numbers[label, photo], dtype=np.float32)
    codes = photo.astype(np.int32), label.astype(np.int32)
    return gathered(values, numbers.shape[1], *codes, rows, len(numbers), cluster)


def moments(outcomes: Outcomes) -> Moments:
    """The sums; one small matrix product a label."""
    width = len(outcomes.values)
    first, weighted = np.zeros((outcomes.labels, width)), np.zeros((outcomes.labels, width))
    second = np.zeros((outcomes.labels, width, width))
    single = bool((outcomes.sizes == 1).all())
    for label, (start, stop) in enumerate(zip(outcomes.starts[:-1], outcomes.starts[1:], strict=True)):
        rows = outcomes.numbers[start:stop].astype(np.float64)
        first[label] = rows.sum(axis=0)
        weighted[label] = first[label] if single else outcomes.sizes[outcomes.unit[start:stop]] @ rows
        second[label] = rows.T @ rows
    squares = float(np.square(outcomes.sizes).sum())
    slopes = outcomes.numbers.astype(np.float64) @ line_weights(outcomes.values)
    skew, influence = departures(outcomes.label, slopes, outcomes.unit, outcomes.sizes, outcomes.labels)
    return Moments(outcomes.photos, len(outcomes.sizes), squares, first, weighted, second, skew, influence)


def departures(
    label: Integers, numbers: Array, unit: NDArray[np.integer], sizes: Array, labels: int
) -> tuple[Array, Array]:
    """How units depart from each label's mean over photos, (L,) each: skewness of the mean, and effective units.

    With d the departures, the skewness of the mean is the sum of d cubed over the sum of d squared to the power 3 / 2,
    see ``intervals.skewed_ends``.  The effective units of influence are the degrees of freedom of the standard error: U
    for normal numbers, 2 where one unit departs and the others do not; never more than U.

    label, unit: (P,) codes.  numbers: (P,) those that are not 0.  sizes: (U,).

    Source: Box 1953, doi 10.1093/biomet/40.3-4.318 (2 U / (kurtosis - 1)).
    """
    at, units = sizes[unit], max(len(sizes), 1)
    means = np.bincount(label, numbers, labels) / max(float(sizes.sum()), 1.0)
    gaps = numbers - means[label] * at
    squares, cubes, fourths = (
        np.bincount(label, gaps**k, labels) + (-means) ** k * ((sizes**k).sum() - np.bincount(label, at**k, labels))
        for k in (2, 3, 4)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        skew, excess = cubes / squares**1.5, np.maximum(fourths / squares**2 - 1 / units, 1e-12)
    known = squares > 1e-200
    return np.where(known, skew, 0.0), np.where(known, np.minimum(2 / excess, units), 0.0)


def varying(outcomes: Outcomes) -> Integers:
    """(L,) how many units have numbers that are not all the same."""
    moves = (outcomes.numbers != outcomes.numbers[:, :1]).any(axis=1)
    return np.bincount(outcomes.label[moves], minlength=outcomes.labels)
