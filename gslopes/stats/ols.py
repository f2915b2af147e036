"""Ordinary least squares of many curves on the same few values at once."""

import numpy as np
from numpy.typing import ArrayLike

from gslopes.core import frozen_identity
from gslopes.core.records import Array, doubles
from gslopes.stats.intervals import t_quantile, t_test
from gslopes.stats.rounding import EXACT, settled


@frozen_identity
class Lines:
    """One fitted line a curve; every array is (L,) float64, NaN for a curve that holds a NaN.

    slope: change of the curve per unit of the values.  intercept: the line at value 0.
    se: standard error of the slope.  t: slope / se.
    p: two-sided, t with K-2 degrees of freedom, null hypothesis: the slope is 0.
    low, high: ends of the slope's 95 % t-interval.
    """

    slope: Array
    intercept: Array
    se: Array
    t: Array
    p: Array
    low: Array
    high: Array


def fit_lines(values: Array, curves: Array) -> Lines:
    """Fit a straight line to each curve.

    A curve that is exactly straight has se 0: if it rises or falls, t is infinite, p is 0 and the interval is one
    point; if it is flat, slope and t are 0 and p is 1.  Through two values goes every line: se, t, p and the ends of
    the interval are NaN.

    values: (K,) the same abscissae for all curves, K >= 2, not all equal.
    curves: (L, K), one curve a row.

    Raises: ValueError if there are fewer than 2 values or all are equal.
    Source: Joo & Kärkkäinen 2020, section 4.3; any textbook on simple linear regression.

    >>> lines = fit_lines(np.array([-1.0, 0.0, 1.0]), np.array([[0.5, 1.0, 1.5], [1.0, 1.0, 1.0]]))
    >>> lines.slope.tolist(), lines.p.tolist()
    ([0.5, 0.0], [0.0, 1.0])
    """
    centred = values - values.mean()
    spread = float(centred @ centred)
    dof = len(values) - 2
    if dof < 0 or spread == 0:
        raise ValueError(f"A line needs 2 different values at least, not {values.tolist()}.")

    mean = curves.mean(1)
    around = curves - mean[:, None]
    size = abs(curves).max(1, initial=0.0)
    slope = settled(around @ centred / spread, size / np.sqrt(spread))
    error = np.square(settled(around - slope[:, None] * centred, size[:, None])).sum(1)

    se = np.sqrt(error / dof / spread) if dof else np.full_like(slope, np.nan)
    t = t_ratio(slope, se)
    half = t_quantile(dof) * se
    return Lines(
        slope=slope,
        intercept=mean - slope * values.mean(),
        se=se,
        t=t,
        p=t_test(t, dof),
        low=slope - half,
        high=slope + half,
    )


def line_weights(values: Array) -> Array:
    """(K,) w such that the least squares slope of any curve y on the values is w . y; they sum to 0."""
    centred = values - values.mean()
    return doubles(centred / (centred @ centred))


def line_slopes(curves: ArrayLike, values: ArrayLike, grain: float = EXACT) -> Array:
    """(n,) least squares slope of each curve, (n, K), on the values, (K,), 0 but for rounding; NaN if it has a NaN.

    grain: of the curves, see ``rounding.settled``.

    >>> line_slopes([[0.0, 1.0, 2.0]], [-1.0, 0.0, 1.0]).tolist()
    [1.0]
    """
    numbers = doubles(curves)
    weights = line_weights(doubles(values))
    return settled(numbers @ weights, abs(numbers) @ abs(weights), grain)


def t_ratio(slope: Array, se: Array) -> Array:
    """Slope / se, with 0 / 0 = 0 (a flat line shows nothing) and b / 0 = infinity with the sign of b."""
    exact = np.where(slope == 0, 0.0, np.copysign(np.inf, slope))
    ratio = np.where(se == 0, exact, np.nan)
    with np.errstate(over="ignore"):
        return np.divide(slope, se, out=ratio, where=se != 0)
