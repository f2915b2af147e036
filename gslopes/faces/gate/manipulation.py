"""Does the edit move what it should, and does anything else move? Readings at the K values of a sweep."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gslopes.faces.gate import estimates
from gslopes.faces.gate.estimates import Estimate, Floats, Groups, interval
from gslopes.stats.agreement import kendall
from gslopes.stats.ols import line_slopes


def means_by_value(readings: ArrayLike) -> tuple[Estimate, ...]:
    """Mean reading at each of the K values.

    readings: (n, K), such as P(masculine) of n faces at K values in increasing order.
    """
    return estimates.means(readings)


def shift(readings: ArrayLike) -> Estimate:
    """Mean reading at the last value minus that at the first, of (n, K)."""
    return estimates.mean(_shifts(readings))


def share_monotone(readings: ArrayLike, values: ArrayLike, least: float = 0.8, *, resolution: float = 0.0) -> Estimate:
    """Share of faces whose readings rise with the values: tau-b of at least ``least``.

    A face whose readings are all equal does not count as rising. readings: (n, K).  values: (K,).
    resolution: as in ``kendall``. At 0 a probability that stays at 0.99 for three values may cost a face its place by
        its fourth digit.
    """
    return estimates.mean((kendall(readings, values, resolution) >= least).astype(np.float64))


def by_group(readings: ArrayLike, groups: ArrayLike, least: int = 20) -> Groups:
    """The shift in every group, and the gap between the groups that have ``least`` faces or more.

    readings: (n, K).  groups: (n,) name of each face's group.
    """
    shifts = _shifts(readings)
    return estimates.by_group(lambda rows: float(shifts[rows].mean()), groups, least)


def share_of_target(
    other: ArrayLike,
    target: ArrayLike,
    values: ArrayLike,
    *,
    other_unedited: ArrayLike,
    target_unedited: ArrayLike,
) -> Estimate:
    """How far another reading moves with the edit, as a share of how far the target's moves. 0 is none; it has a sign.

    other, target: (n, K) readings of the same n photos at the K values, in any units.  values: (K,).
    other_unedited, target_unedited: (m,) the same readings of unedited photos.

    Mean slope of each reading per unit of the attribute (every photo its own line), divided by the standard deviation
    of that reading over unedited photos; then the other's over the target's. The division makes readings of different
    units and spreads comparable: 0.1 says that while the edit carries a face one standard deviation along the target,
    it carries it a tenth of one along the other. The standard deviations are those of people as they come, not of
    edited faces, whose spread in the target the edit itself has changed. Slopes of opposite sign cancel over photos.
    NaN where a reading does not vary over the unedited photos. The interval is over the n photos.

    The photos may be correlated in both readings (men smile less): a perfect edit still has a share of 0, since it
    changes one thing alone; a share is therefore what the edit does, not what the world does.
    """
    spread_other, spread_target = (float(np.std(np.asarray(x, np.float64))) for x in (other_unedited, target_unedited))
    if spread_other < 1e-12 or spread_target < 1e-12:
        return Estimate(np.nan, np.nan, np.nan)
    a, b = line_slopes(other, values) / spread_other, line_slopes(target, values) / spread_target

    def ratio(rows: NDArray[np.intp]) -> float:
        below = float(b[rows].mean())
        return float(a[rows].mean()) / below if abs(below) > 1e-12 else np.nan

    return interval(ratio, len(a))


def _shifts(readings: ArrayLike) -> Floats:
    array = np.asarray(readings, np.float64)
    return array[:, -1] - array[:, 0]
