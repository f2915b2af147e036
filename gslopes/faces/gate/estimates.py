"""An estimate to publish: its value with the ends of a 95 % bootstrap interval, and the same by group.

Every interval in this room is a percentile bootstrap over photos, or over people where several photos show one: it
speaks of the choice of photos, not of training a model again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gslopes.stats.intervals import percentile
from gslopes.stats.resampling import Rows, bootstrap_rows

Floats = NDArray[np.float64]
Statistic = Callable[[Rows], float]

RESAMPLES = 500
_CELLS = 4_000_000  # of one block of resampled rows: bounds the memory


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the ends of its 95 % interval; all NaN where there is nothing to measure."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Group:
    """One group's number, and of how many photos."""

    n: int
    number: Estimate


@dataclass(frozen=True, slots=True)
class Groups:
    """A number group by group, sorted by name.

    each: name to its number.
    gap: largest minus smallest number among the groups that are large enough; None with fewer than two of them. Of
        equal groups it is above 0 by chance alone, the more so the smaller they are.
    """

    each: Mapping[str, Group]
    gap: Estimate | None


def interval(
    statistic: Statistic,
    n: int,
    resamples: int = RESAMPLES,
    seed: int = 0,
    clusters: NDArray[np.generic] | None = None,
) -> Estimate:
    """A statistic of n photos, a function of their rows, with its interval.

    statistic: called with all rows once, then with the rows of each resample; NaN from a resample is left out.
    clusters: (n,) which rows belong together, such as the person in each photo.
    """
    if n == 0:
        return Estimate(np.nan, np.nan, np.nan)
    resampled = np.array([statistic(rows) for rows in bootstrap_rows(n, resamples, seed, clusters)], np.float64)
    return _estimate(float(statistic(np.arange(n))), resampled)


def mean(values: ArrayLike, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """The mean of one value a photo, (n,), with its interval; photos whose value is NaN are left out.

    >>> mean([1.0, 1.0, float("nan")])
    Estimate(value=1.0, low=1.0, high=1.0)
    """
    array = np.asarray(values, np.float64)
    return means(array[np.isfinite(array)][:, None], resamples, seed)[0]


def means(columns: ArrayLike, resamples: int = RESAMPLES, seed: int = 0) -> tuple[Estimate, ...]:
    """The mean of every column of (n, K), with intervals from the same resamples of the n photos."""
    array = np.asarray(columns, np.float64)
    n, width = array.shape
    if n == 0:
        return (Estimate(np.nan, np.nan, np.nan),) * width
    random = np.random.default_rng(seed)
    block = max(1, _CELLS // max(1, n * width))
    resampled = [
        array[random.integers(0, n, (min(block, resamples - start), n))].mean(1) for start in range(0, resamples, block)
    ]
    return tuple(
        _estimate(float(v), column) for v, column in zip(array.mean(0), np.concatenate(resampled).T, strict=True)
    )


def by_group(
    statistic: Statistic, groups: ArrayLike, least: int = 20, resamples: int = RESAMPLES, seed: int = 0
) -> Groups:
    """A statistic in every group, with intervals, and the gap between groups; photos are drawn within their group.

    statistic: a function of the rows of photos.  groups: (n,) name of each photo's group.
    least: a smaller group has its number, but no part in the gap.
    """
    names = np.asarray(groups).astype(str)
    each: dict[str, Group] = {}
    large = []
    for place, name in enumerate(np.unique(names)):  # groups are drawn independently of one another
        rows = np.flatnonzero(names == name)
        drawn = bootstrap_rows(len(rows), resamples, seed + place)
        resampled = np.array([statistic(rows[chosen]) for chosen in drawn], np.float64)
        each[str(name)] = Group(len(rows), _estimate(float(statistic(rows)), resampled))
        if len(rows) >= least:
            large.append((each[str(name)].number.value, resampled))
    if len(large) < 2:
        return Groups(each, None)
    values, draws = zip(*large, strict=True)
    return Groups(each, _estimate(max(values) - min(values), np.ptp(np.array(draws), axis=0)))


def _estimate(value: float, resampled: Floats) -> Estimate:
    return Estimate(value, *(percentile(resampled) if np.isfinite(value) else (np.nan, np.nan)))
