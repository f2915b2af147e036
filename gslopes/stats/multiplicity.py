"""Many labels are tested at once: p-values adjusted for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LEVEL = 0.05  # of q, below which a number is a finding


def benjamini_hochberg(p: Array) -> Array:
    """The smallest false discovery rate at which each test would be called a finding.

    p: (L,) p-values of one family of tests, in [0, 1]; NaN where nothing was tested: it stays NaN and does not count.

    Source: Benjamini & Hochberg 1995, doi 10.1111/j.2517-6161.1995.tb02031.x.

    >>> benjamini_hochberg(np.array([0.01, np.nan, 0.04])).tolist()
    [0.02, nan, 0.04]
    """
    from scipy import stats  # LEVEL is read where nothing is fitted

    return _of_tested(p, partial(stats.false_discovery_control, method="bh"))


def benjamini_yekutieli(p: Array) -> Array:
    """The same, holding however the tests depend on one another.  p: (L,), as for ``benjamini_hochberg``.

    Source: Benjamini & Yekutieli 2001, doi 10.1214/aos/1013699998.

    >>> benjamini_yekutieli(np.array([0.01, np.nan, 0.04])).tolist()
    [0.03, nan, 0.06]
    """
    from scipy import stats  # LEVEL is read where nothing is fitted

    return _of_tested(p, partial(stats.false_discovery_control, method="by"))


def holm(p: Array) -> Array:
    """The smallest chance of any false finding at which each test would be one.  p: as for ``benjamini_hochberg``.

    Ours, not statsmodels', which loads slowly.  Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.

    >>> holm(np.array([0.01, np.nan, 0.04])).tolist()
    [0.02, nan, 0.04]
    """

    def stepped_down(tested: Array) -> Array:
        order = np.argsort(tested, kind="stable")
        q = np.empty(len(tested))
        q[order] = np.minimum(np.maximum.accumulate(tested[order] * np.arange(len(order), 0, -1)), 1)
        return q

    return _of_tested(p, stepped_down)


def adjust(p: Array, how: str) -> Array:
    """(L,) q by ``bh``, ``by`` or ``holm``.  p: (L,) one family, NaN where nothing was tested."""
    return {"bh": benjamini_hochberg, "by": benjamini_yekutieli, "holm": holm}[how](p)


def _of_tested(p: Array, adjusted: Callable[[Array], Array]) -> Array:
    q = np.full(p.shape, np.nan)
    tested = ~np.isnan(p)
    if tested.any():
        q[tested] = adjusted(p[tested])
    return q
