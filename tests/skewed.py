"""Intervals of means corrected for skewness once more: Hall's cubic, its roots searched for."""

import numpy as np
from scipy import optimize, stats


def corrected_ends(
    value: float, se: float, dof: float, skew: float, level: float = 0.05
) -> tuple[float, float]:
    """Low and high of the interval of 1 - level.  skew: of the mean."""
    limit = stats.t.isf(level / 2, dof)

    def hall(t: float) -> float:
        return t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6

    ends = []
    for sign in (1, -1):  # 1: the end below the mean
        distance = sign * optimize.brentq(
            lambda t, sign=sign: hall(t) - sign * limit, -1e9, 1e9, xtol=1e-12
        )
        far = np.expm1(min(abs(skew) * limit, 500)) / abs(skew) + abs(skew) / 6
        distance = far if sign * skew < 0 else (distance + limit) / 2
        ends.append(value - sign * distance * se)
    return ends[0], ends[1]


def corrected(numbers: np.ndarray) -> tuple[float, float, float]:
    """Low, high and p of a mean of independent numbers."""
    n, skew = len(numbers), float(stats.skew(numbers)) / np.sqrt(len(numbers))
    return corrected_parts(float(np.mean(numbers)), float(stats.sem(numbers)), n - 1, skew)


def corrected_parts(value: float, se: float, dof: float, skew: float) -> tuple[float, float, float]:
    """Low, high and p: the level of the interval that ends at 0."""

    def end(log_level: float) -> float:
        return corrected_ends(value, se, dof, skew, np.exp(log_level))[int(value < 0)]

    none = value * end(-1e-9) < 0  # nearer than the middle of the narrowest
    result = 0.0 if none else optimize.brentq(end, -60, -1e-9, xtol=1e-12)
    return *corrected_ends(value, se, dof, skew), float(np.exp(result))
