"""Many labels are tested at once: p-values adjusted for it, and what is a finding then."""

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gslopes.core.records import Array, Flags, doubles
from gslopes.stats.rounding import settled

LEVEL = 0.05  # of q, below which a number is a finding


def is_finding(
    q: ArrayLike, low: ArrayLike = nan, high: ArrayLike = nan, null: float = 0.0
) -> Flags:
    """Whether a number is a finding: q is below ``LEVEL``, and its interval, if it has one, is without ``null``.

    q: (L,) or one, the adjusted p, or p if one thing is tested; NaN if nothing was: no finding.
    low, high: ends of its 95 % interval; NaN if it has none.

    >>> is_finding(np.array([0.01, 0.01, 0.2, np.nan]), np.array([1, -1, 1, 1]), np.array([3, 3, 3, 3])).tolist()
    [True, False, False, False]
    """
    below = doubles(q) < LEVEL
    inside = (doubles(low) <= null) & (null <= doubles(high))
    return np.asarray(below & ~inside)


def are_findings(rows: Any) -> Flags:
    """``is_finding`` of rows, or of one, with the columns q, ci_low and ci_high."""
    return is_finding(rows["q"], rows["ci_low"], rows["ci_high"])


def benjamini_hochberg(p: Array) -> Array:
    """The smallest false discovery rate at which each test would be called a finding.

    p: (L,) p-values of one family of tests, in [0, 1]; NaN if nothing was tested: it stays NaN and does not count.

    What is ``LEVEL`` but for rounding is returned as the level, and so is not below it.

    Source: Benjamini & Hochberg 1995, doi 10.1111/j.2517-6161.1995.tb02031.x.

    >>> benjamini_hochberg(np.array([0.01, np.nan, 0.04])).tolist()
    [0.02, nan, 0.04]
    """
    from scipy import stats  # not at the top: LEVEL is also read by pages

    q = np.full(p.shape, nan)
    tested = ~np.isnan(p)
    if tested.any():
        adjusted = stats.false_discovery_control(p[tested], method="bh")
        q[tested] = np.where(settled(adjusted - LEVEL, LEVEL) == 0, LEVEL, adjusted)
    return q


def adjust(rows: Sequence[dict[str, Any]], p: str = "p") -> None:
    """Give each row its ``q``, see ``benjamini_hochberg``; all rows are one family of tests.  p: the name of theirs."""
    q = benjamini_hochberg(doubles([row[p] for row in rows]))
    for row, value in zip(rows, q.tolist(), strict=True):
        row["q"] = value
