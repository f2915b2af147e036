"""Disparate impact: the ratio of two groups' chances, and whether it shows a lack of parity."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError
from gslopes.crops.measures.bootstrap import interval

Array = NDArray[np.float64]

SHOWN, RULED_OUT, OPEN = "shown", "ruled out", "open"


@dataclass(frozen=True, slots=True)
class Impact:
    """P(R = 1 | less)/P(R = 1 | more), the smaller of the two ratios.

    ratio: in [0, 1].  low, high: its 95 % interval; the upper end may pass 1.
    verdict: of a lack of parity, ratio <= 1 - epsilon: ``shown``, ``ruled out`` or ``open``.
    """

    ratio: float
    low: float
    high: float
    verdict: str


def disparate_impact(p: float, low: float, high: float, epsilon: float = 0.2) -> Impact:
    """Where exactly one of two is favoured: P/(1 - P) or its inverse, with the ends of P's interval.

    p, low, high: P(a over b) and its interval.  epsilon: 0.2 is the four-fifths rule: 0.8 is P = 0.4444.

    Raises: ConfigError if epsilon is not between 0 and 1.
    Source: Yee et al. 2021, section 3, after Feldman et al. 2015, doi 10.1145/2783258.2783311.

    >>> found = disparate_impact(0.3648, 0.3235, 0.4082)
    >>> round(found.ratio, 4), found.verdict
    (0.5743, 'shown')
    """
    check_epsilon(epsilon)
    if not p <= 0.5:
        p, low, high = 1 - p, 1 - high, 1 - low
    ratio, below, above = (_odds(end) for end in (p, low, high))
    return Impact(ratio, below, above, verdict(below, above, epsilon))


def kept_impact(
    first: float, second: float, draws: Array, other_draws: Array, epsilon: float = 0.2, confidence: float = 0.95
) -> Impact:
    """Where both or neither may be kept: the ratio of two shares, its interval from the bootstrap of its logarithm.

    first, second: shares.  draws, other_draws: (B,) the same on each draw of people.

    Raises: ConfigError as ``disparate_impact``.
    """
    check_epsilon(epsilon)
    if not first <= second:
        first, second, draws, other_draws = second, first, other_draws, draws
    ratio = first / second if second > 0 else math.nan
    usable = (draws > 0) & (other_draws > 0)
    logs = np.log(draws[usable] / other_draws[usable])
    low, high = (math.exp(end) for end in interval(logs, confidence))
    return Impact(ratio, low, high, verdict(low, high, epsilon))


def verdict(low: float, high: float, epsilon: float) -> str:
    """What an interval of the ratio says of a lack of parity; nothing without one."""
    if math.isnan(low) or math.isnan(high):
        return ""
    if high <= 1 - epsilon:
        return SHOWN
    return RULED_OUT if low > 1 - epsilon else OPEN


def check_epsilon(epsilon: float) -> None:
    """Raises: ConfigError if it is not between 0 and 1."""
    if not 0 < epsilon < 1:
        raise ConfigError(f"epsilon is {epsilon}; it must lie between 0 and 1.", "0.2 is the four-fifths rule.")


def _odds(p: float) -> float:
    return math.inf if p >= 1 else p / (1 - p)
