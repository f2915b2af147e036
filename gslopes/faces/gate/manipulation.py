"""Does the edit move what it should, and does anything else move? Estimates with intervals, of readings at K values.

Every interval is a percentile bootstrap over photos: it speaks of their choice, not of training a model again.
"""

from collections.abc import Callable, Mapping
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gslopes.core import frozen
from gslopes.core.records import Array, doubles
from gslopes.stats.agreement import kendall
from gslopes.stats.ols import line_slopes
from gslopes.stats.resampling import Rows, bootstrap_rows, percentile
from gslopes.stats.rounding import STORED, settled

Statistic = Callable[[Rows], float]

RESAMPLES = 500


@frozen
class Interval:
    """A value and the ends of its 95 % interval; all NaN if nothing can be measured."""

    value: float
    low: float
    high: float


UNKNOWN = Interval(nan, nan, nan)


@frozen
class Group:
    """One group's number, and of how many photos."""

    n: int
    number: Interval


@frozen
class Groups:
    """A number group by group, sorted by name.

    gap: largest minus smallest number among the groups that are large enough; None with fewer than two of them. Of
        equal groups it is above 0 only by chance, the more so the smaller they are.
    """

    each: Mapping[str, Group]
    gap: Interval | None


def interval(statistic: Statistic, n: int, resamples: int = RESAMPLES) -> Interval:
    """A statistic of n photos, a function of their rows, with its interval; NaN from a resample is left out."""
    if n == 0:
        return UNKNOWN
    resampled = doubles([statistic(rows) for rows in bootstrap_rows(n, resamples)])
    return _estimate(float(statistic(np.arange(n))), resampled)


def mean(values: ArrayLike, resamples: int = RESAMPLES) -> Interval:
    """The mean of one value a photo, (n,), with its interval; photos whose value is NaN are left out.

    >>> mean([1.0, 1.0, nan])
    Interval(value=1.0, low=1.0, high=1.0)
    """
    array = doubles(values)
    return means(array[np.isfinite(array)][:, None], resamples)[0]


def means(columns: ArrayLike, resamples: int = RESAMPLES) -> tuple[Interval, ...]:
    """The mean of every column of (n, K), with intervals from the same resamples of the n photos."""
    array = doubles(columns)
    if not len(array):
        return (UNKNOWN,) * array.shape[1]
    resampled = np.array([array[rows].mean(0) for rows in bootstrap_rows(len(array), resamples)])
    return tuple(
        _estimate(float(v), column) for v, column in zip(array.mean(0), resampled.T, strict=True)
    )


def by_group(
    statistic: Statistic, groups: ArrayLike, least: int = 20, resamples: int = RESAMPLES
) -> Groups:
    """A statistic of rows in every group, with intervals, and the gap between groups; photos are drawn within theirs.

    groups: (n,) name of each photo's group.  least: a smaller group has its number, but no part in the gap.
    """
    names = np.asarray(groups).astype(str)
    by_name = {}
    large = []
    for index, name in enumerate(np.unique(names)):  # groups are drawn independently of one another
        rows = np.flatnonzero(names == name)
        drawn = bootstrap_rows(len(rows), resamples, index)
        resampled = doubles([statistic(rows[chosen]) for chosen in drawn])
        by_name[str(name)] = Group(len(rows), _estimate(float(statistic(rows)), resampled))
        if len(rows) >= least:
            large.append((by_name[str(name)].number.value, resampled))
    if len(large) < 2:
        return Groups(by_name, None)
    values, draws = zip(*large, strict=True)
    return Groups(by_name, _estimate(max(values) - min(values), np.ptp(np.array(draws), axis=0)))


def _estimate(value: float, resampled: Array) -> Interval:
    return Interval(value, *(percentile(resampled) if np.isfinite(value) else (nan, nan)))


def shift(readings: ArrayLike) -> Interval:
    """Mean reading at the last value minus that at the first, of (n, K)."""
    return mean(_shifts(readings))


def share_monotone(
    readings: ArrayLike, values: ArrayLike, least: float = 0.8, *, resolution: float = 0.0
) -> Interval:
    """Share of faces whose readings (n, K) rise with the values (K,): tau-b of at least ``least``.

    A face whose readings are all equal does not count as rising.  resolution: as in ``kendall``.
    """
    return mean(doubles(kendall(readings, values, resolution) >= least))


def shift_by_group(readings: ArrayLike, groups: ArrayLike) -> Groups:
    """The shift of readings (n, K) in every group (n,), and the gap between those that are large enough."""
    shifts = _shifts(readings)
    return by_group(lambda rows: float(shifts[rows].mean()), groups)


def share_of_target(
    other: ArrayLike,
    target: ArrayLike,
    values: ArrayLike,
    *,
    other_unedited: ArrayLike,
    target_unedited: ArrayLike,
) -> Interval:
    """How far another reading moves with the edit, as a share of how far the target's moves; it has a sign.

    other, target: (n, K) readings of the same n photos at the K values, in any units.  values: (K,).
    other_unedited, target_unedited: (m,) the same readings of unedited photos.

    Mean slope of each reading per unit of the attribute (a line for every photo), divided by the standard deviation
    of that reading over unedited photos; then the other's over the target's: 0.1 says that while the edit carries a
    face one standard deviation along the target, it carries it a tenth of one along the other. Slopes of opposite sign
    cancel over photos. NaN if a reading does not vary over the unedited photos. The interval is over the n photos.
    """
    unedited = [doubles(x) for x in (other_unedited, target_unedited)]
    spread_other, spread_target = (
        float(settled(np.std(x), np.abs(x).max(), STORED)) for x in unedited
    )
    if not spread_other * spread_target > 0:
        return UNKNOWN
    a = line_slopes(other, values) / spread_other
    b = line_slopes(target, values) / spread_target

    def ratio(rows: NDArray[np.intp]) -> float:
        below = float(settled(b[rows].mean(), np.abs(b[rows]).mean()))
        if below:
            return float(a[rows].mean()) / below
        return nan

    return interval(ratio, len(a))


def _shifts(readings: ArrayLike) -> Array:
    array = doubles(readings)
    return array[:, -1] - array[:, 0]
