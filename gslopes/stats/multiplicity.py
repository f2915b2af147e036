"""Many labels are tested at once: p-values adjusted for it."""

import numpy as np

from gslopes.core.arrays import Array
from gslopes.stats.rounding import settled

LEVEL = 0.05  # of q, below which a number is a finding


def benjamini_hochberg(p: Array) -> Array:
    """The smallest false discovery rate at which each test would be called a finding.

    p: (L,) p-values of one family of tests, in [0, 1]; NaN where nothing was tested: it stays NaN and does not count.

    What is ``LEVEL`` but for rounding is returned as the level, and so is not below it.

    Source: Benjamini & Hochberg 1995, doi 10.1111/j.2517-6161.1995.tb02031.x.

    >>> benjamini_hochberg(np.array([0.01, np.nan, 0.04])).tolist()
    [0.02, nan, 0.04]
    """
    from scipy import stats  # LEVEL is read where nothing is fitted

    q = np.full(p.shape, np.nan)
    tested = ~np.isnan(p)
    if tested.any():
        found = stats.false_discovery_control(p[tested], method="bh")
        q[tested] = np.where(settled(found - LEVEL, LEVEL) == 0, LEVEL, found)
    return q
