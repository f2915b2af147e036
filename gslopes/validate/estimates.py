"""An estimate to publish: its value with the ends of a 95 % bootstrap interval, and the same by group.

Every interval in this room is a percentile bootstrap over photos, or over people where several photos show one: it
speaks of the choice of photos, not of training a model again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

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


def draws(
    n: int, resamples: int = RESAMPLES, seed: int = 0, clusters: NDArray[np.generic] | None = None
) -> Iterator[Rows]:
    """Rows of each bootstrap resample: n drawn from n, or whole clusters from as many clusters.

    clusters: (n,) which rows belong together, such as the person in each photo.
    """
    random = np.random.default_rng(seed)
    if clusters is None:
        for _ in range(resamples):
            yield random.integers(0, n, n)
        return
    _, which = np.unique(clusters, return_inverse=True)
    members = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])
    for _ in range(resamples):
        yield np.concatenate([members[index] for index in random.integers(0, len(members), len(members))])


def interval(
    statistic: Callable[[Rows], float],
    n: int,
    resamples: int = RESAMPLES,
    seed: int = 0,
    clusters: NDArray[np.generic] | None = None,
) -> Estimate:
    """A statistic of n photos, a function of their rows, with its interval.

    statistic: called with all rows once, then with the rows of each resample; NaN from a resample is left out.
    clusters: as in ``draws``.
    """
    if n == 0:
        return Estimate(np.nan, np.nan, np.nan)
    resampled = np.array([statistic(rows) for rows in draws(n, resamples, seed, clusters)], np.float64)
    return _ends(float(statistic(np.arange(n))), resampled)


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
    return tuple(_ends(float(v), column) for v, column in zip(array.mean(0), np.concatenate(resampled).T, strict=True))


def by_group(
    statistic: Callable[[Rows], float],
    groups: ArrayLike,
    least: int = 20,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Groups:
    """A statistic in every group, with intervals, and the gap between groups; photos are drawn within their group.

    statistic: a function of the rows of photos.  groups: (n,) name of each photo's group.
    least: a smaller group has its number, but no say in the gap.
    """
    names = np.asarray(groups).astype(str)
    each: dict[str, Group] = {}
    large_groups = []
    for name in np.unique(names):
        rows = np.flatnonzero(names == name)
        resampled = np.array([statistic(rows[drawn]) for drawn in draws(len(rows), resamples, seed)], np.float64)
        each[str(name)] = Group(len(rows), _ends(float(statistic(rows)), resampled))
        if len(rows) >= least:
            large_groups.append(resampled)
        seed += 1  # groups are drawn independently of one another
    large = [group.number.value for group in each.values() if group.n >= least]
    if len(large) < 2:
        return Groups(each, None)
    return Groups(each, _ends(max(large) - min(large), np.ptp(np.array(large_groups), axis=0)))


def _ends(value: float, resampled: Floats) -> Estimate:
    resampled = resampled[np.isfinite(resampled)]
    if not np.isfinite(value) or not len(resampled):
        return Estimate(value, np.nan, np.nan)
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Estimate(value, float(low), float(high))
