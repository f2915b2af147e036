"""Outcomes of units under conditions, for all labels: what every contrast is computed from.

A *unit* is what is resampled and permuted as one: a photo, or all photos of a cluster (a person, a keyword). Its
*outcomes* for a label are K numbers, one a condition. Almost all of them are 0 for almost all labels.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gslopes.core import frozen_identity
from gslopes.core.records import AnyIntegers, Array, Int8Array, Int32Array, Integers, doubles
from gslopes.stats.ols import line_weights
from gslopes.stats.rounding import EXACT, settled

Single = NDArray[np.float32]


@frozen_identity
class Outcomes:
    """The K outcomes of each unit for each label that it has, sums over the unit's photos; all others are zero.

    values: (K,) of the conditions.  sizes: (U,) float64, photos in each unit.
    unit: (P,) int32, sorted inside each label.  starts: (L + 1,) int64: label l has rows starts[l] to starts[l + 1].
    numbers: (P, K) float32.
    errors: (P,) by how much rounding may move any of a row's numbers; as of counts if None.
    orders: (T, K), a group of permutations, or draws from one, that the K are permuted by; None for all of them.
    """

    values: Array
    sizes: Array
    unit: Int32Array
    starts: Integers
    numbers: Single
    errors: Single | None = None
    orders: Int8Array | None = None

    @property
    def rounding(self) -> Array:
        """The errors."""
        if self.errors is None:
            return doubles(EXACT * abs(self.numbers).max(1, initial=0))
        return doubles(self.errors)

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


@frozen_identity
class Spread:
    """One number of each unit for every label: its mean over photos, and how units depart from it, (L,) each.

    error: by how much rounding may move the mean.  squares: sum of the squared departures, 0 if they are nothing but
    rounding.  skew: of the mean, see ``intervals.skewed_ends``.  influence: effective units, see ``spread_of``.
    """

    mean: Array
    error: Array
    squares: Array
    skew: Array
    influence: Array


@frozen_identity
class Moments:
    """What gives a linear estimator's mean and variance.

    photos: n.  units: U.  first: (L, K), sums of the outcomes over units.  slopes: of the units' least squares slopes.
    """

    photos: int
    units: int
    first: Array
    slopes: Spread


def gathered(
    values: Array,
    photos: int,
    photo: Int32Array,
    label: Int32Array,
    numbers: Single,
    labels: int,
    cluster: Integers | None = None,
    errors: Single | None = None,
) -> Outcomes:
    """Outcomes from rows of photo and label, sorted by label, then photo.

    photo, label: (P,) codes.  numbers: (P, K).  cluster: (n,) codes of the units that photos belong to; without it
        each photo is one.  errors: (P,), see ``Outcomes``.
    """
    if cluster is None:
        starts = np.searchsorted(label, np.arange(labels + 1)).astype(np.int64)
        return Outcomes(values, np.ones(photos), photo, starts, numbers, errors)
    _, codes, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    width = max(len(sizes), 1)
    key = label.astype(np.int64) * width + codes[photo]
    order = np.argsort(key, kind="stable")
    keys, heads = np.unique(key[order], return_index=True)
    summed = np.add.reduceat(numbers[order], heads) if len(heads) else numbers[:0]
    if errors is not None and len(heads):
        errors = np.add.reduceat(errors[order], heads)
    starts = np.searchsorted(keys // width, np.arange(labels + 1)).astype(np.int64)
    unit = (keys % width).astype(np.int32)
    return Outcomes(values, doubles(sizes), unit, starts, summed, errors)


def moments(outcomes: Outcomes) -> Moments:
    """The sums."""
    label = outcomes.label
    weights = line_weights(outcomes.values)
    sums = [np.bincount(label, column, outcomes.labels) for column in outcomes.numbers.T]
    slopes = doubles(outcomes.numbers) @ weights
    errors = outcomes.rounding * abs(weights).sum()
    cells = Cells(label, slopes, errors, outcomes.unit, outcomes.sizes, outcomes.labels)
    first = doubles(np.stack(sums, 1))
    return Moments(outcomes.photos, len(outcomes.sizes), first, spread_of(cells))


class Cells(NamedTuple):
    """One number of each unit for each label that it has; all others are 0.

    label, unit: (P,) codes.  numbers: (P,).  errors: (P,) by how much rounding may move each.  sizes: (U,).  labels: L.
    """

    label: Integers
    numbers: Array
    errors: Array
    unit: AnyIntegers
    sizes: Array
    labels: int

    def summed(self, numbers: Array) -> Array:
        """(L,) sums of numbers, (P,)."""
        return doubles(np.bincount(self.label, numbers, self.labels))


def departures(cells: Cells) -> tuple[Array, Array, Array]:
    """(L,) each label's mean over photos, (L,) its error, (P,) how far each number is from it, for the unit's size.

    Means and departures are 0 if they are nothing but rounding.  Numbers that are 0 have no row, and depart by
    minus the mean.
    """
    photos = max(float(cells.sizes.sum()), 1.0)
    at = cells.sizes[cells.unit]
    error = cells.summed(cells.errors)
    means = settled(cells.summed(cells.numbers), error, 1) / photos
    error = error / photos
    gaps = cells.numbers - means[cells.label] * at
    return means, error, settled(gaps, cells.errors + error[cells.label] * at, 1)


def spread_of(cells: Cells) -> Spread:
    """How units depart from each label's mean over photos.

    With d the departures, the skewness of the mean is the sum of d cubed over the sum of d squared to the power 3 / 2,
    see ``intervals.skewed_ends``.  The effective units of influence are the degrees of freedom of the standard error: U
    for normal numbers, 2 if one unit departs and the others do not; never more than U.

    Source: Box 1953, doi 10.1093/biomet/40.3-4.318 (2 U / (kurtosis - 1)).
    """
    means, error, gaps = departures(cells)
    units = max(len(cells.sizes), 1)
    sums = []
    for k in (2, 3, 4):
        powers = cells.sizes**k
        total = float(powers.sum())
        zeros = settled(
            total - cells.summed(powers[cells.unit]), total
        )  # of units without a number
        sums.append(cells.summed(gaps**k) + (-means) ** k * zeros)
    squares, cubes, fourths = sums
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        skew = cubes / squares**1.5
        excess = np.maximum(fourths / squares**2 - 1 / units, 2 / units)
    # squares above 0, and not so small that theirs vanish
    finite = np.isfinite(skew) & np.isfinite(excess)
    influence = np.divide(2, excess, out=np.zeros_like(excess), where=finite)
    return Spread(means, error, squares, np.where(finite, skew, 0.0), influence)


def varying(outcomes: Outcomes) -> Integers:
    """(L,) how many units have numbers that are not all the same."""
    moves = (outcomes.numbers != outcomes.numbers[:, :1]).any(1)
    return np.bincount(outcomes.label[moves], minlength=outcomes.labels)
