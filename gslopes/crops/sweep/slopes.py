"""Slopes of people who stand beside others, when the others are shared: an interval over both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gslopes.stats.intervals import percentile
from gslopes.stats.resampling import multinomial_counts

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_BLOCK = 1 << 24  # weights held at once


@dataclass(frozen=True, slots=True)
class PairSlope:
    """The mean slope over pairs of a person and an opponent.

    slope: per unit of the values.  low, high: ends of the percentile interval.  p: two-sided, of slope 0; 1/B at least.
    """

    slope: float
    low: float
    high: float
    p: float


def pair_slope(
    slopes: Array, person: Codes, opponent: Codes, people: int, count: int = 2000, seed: int = 0
) -> PairSlope:
    """Draw people again: a pair weighs its person's weight times its opponent's.

    A person stands in the sample twice, as the one who is moved and as somebody else's opponent; the one-sample t
    interval over persons knows the first alone. Resampling both ways is conservative for crossed samples.

    slopes: (P,), NaN ones are left out.  person, opponent: (P,) codes below ``people``.
    count: draws.  Source: Owen 2007, "The pigeonhole bootstrap", doi 10.1214/07-AOAS122.
    """
    known = ~np.isnan(slopes)
    slopes, person, opponent = slopes[known], person[known], opponent[known]
    if not len(slopes):
        return PairSlope(*[float("nan")] * 4)
    generator = np.random.default_rng([seed, 12])
    draws = []
    for start in range(0, count, max(1, _BLOCK // len(slopes))):
        size = min(max(1, _BLOCK // len(slopes)), count - start)
        drawn = multinomial_counts(people, size, generator)
        weights = drawn[:, person] * drawn[:, opponent]
        total = weights.sum(axis=1)
        draws.append(np.divide(weights @ slopes, total, out=np.full(size, np.nan), where=total > 0))
    all_draws = np.concatenate(draws)
    all_draws = all_draws[~np.isnan(all_draws)]
    low, high = percentile(all_draws)
    beyond = min(float((all_draws <= 0).mean()), float((all_draws >= 0).mean())) if len(all_draws) else float("nan")
    return PairSlope(float(slopes.mean()), low, high, min(1.0, max(2 * beyond, 1 / count)))
