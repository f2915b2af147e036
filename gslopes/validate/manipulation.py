"""Does the edit move what it should? Readings of the target attribute at the K values of a sweep."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gslopes.stats.agreement import kendall
from gslopes.validate import estimates
from gslopes.validate.estimates import Estimate, Floats, Groups


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


def _shifts(readings: ArrayLike) -> Floats:
    array = np.asarray(readings, np.float64)
    return array[:, -1] - array[:, 0]
