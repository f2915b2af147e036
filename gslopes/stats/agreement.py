"""How well two orders, or two people's answers, agree."""

from collections.abc import Sequence
from math import atanh, nan, sqrt, tanh
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from gslopes.core.records import Array, Interval, doubles, quotients
from gslopes.stats.intervals import normal_quantile
from gslopes.stats.permutation import permutation_p
from gslopes.stats.rounding import STORED, exceeds, gap


def kendall(readings: ArrayLike, values: ArrayLike, resolution: float = 0.0) -> Array:
    """Kendall's tau-b of each row with the values, (n,) in [-1, 1]; NaN if all readings of a row are equal.

    Ours, not scipy's: for all rows at once, and with a resolution.

    readings: (n, K).  values: (K,).
    resolution: readings that differ by no more count as equal; a probability near 0 or 1 wavers in its last digits.

    Source: Kendall 1945, The treatment of ties in ranking problems.

    >>> kendall([[0.1, 0.4, 0.9], [0.9, 0.4, 0.1]], [-1, 0, 1]).tolist()
    [1.0, -1.0]
    """
    array = doubles(readings)
    steps = doubles(values)
    first, second = np.triu_indices(len(steps), 1)
    difference = gap(array[:, second], array[:, first], STORED)  # (n, pairs)
    up = np.sign(difference) * exceeds(abs(difference), resolution)
    along = np.sign(steps[second] - steps[first])
    untied = np.sqrt((up != 0).sum(1) * float((along != 0).sum()))
    return quotients(up @ along, untied)


class RankCorrelation(NamedTuple):
    """Spearman's rho and Kendall's tau-b of n pairs, each with ends of its 95 % interval, and p of both.

    NaN if one of the two numbers is the same in all pairs; ends are NaN for fewer than five pairs.
    """

    n: int
    rho: float
    rho_low: float
    rho_high: float
    tau: float
    tau_low: float
    tau_high: float
    p: float


def rank_correlation(x: ArrayLike, y: ArrayLike, permutations: int = 9999) -> RankCorrelation:
    """How far two numbers of the same units have the same order; ties share the mean of their ranks.

    x, y: (n,), finite.  permutations: of p.

    Intervals: Fisher's z, with the variance (1 + rho^2 / 2) / (n - 3) or 0.437 / (n - 4).  p: two-sided, the share of
    random permutations whose rho goes as far.  Null hypothesis: the y are exchangeable over the x.

    Source: Bonett and Wright 2000, doi 10.1007/BF02294183; Fieller, Hartley and Pearson 1957, doi
    10.1093/biomet/44.3-4.470.

    >>> found = rank_correlation(range(12), [0, 2, 1, 3, 5, 4, 6, 8, 7, 9, 11, 10])
    >>> round(found.rho, 3), round(found.rho_low, 2), round(found.rho_high, 2), found.p
    (0.972, 0.87, 0.99, 0.0001)
    """
    ranks = (rankdata(doubles(values)) for values in (x, y))
    first, second = (places - places.mean() for places in ranks)
    n = len(first)
    spread = sqrt(float(first @ first) * float(second @ second))
    if not spread:
        return RankCorrelation(n, *[nan] * 7)
    shuffled = np.random.default_rng(0).permuted(np.tile(second, (permutations, 1)), axis=1)
    observed = float(first @ second)
    exceeding = int((abs(shuffled @ first) > abs(observed) - 1e-9 * spread).sum())
    rho = observed / spread
    tau = float(kendall([second], first)[0])
    of_rho = of_tau = (nan, nan)
    if n >= 5:
        of_rho = _fisher_z(rho, (1 + rho**2 / 2) / (n - 3), 1 - 12 / (n**3 - n))
        of_tau = _fisher_z(tau, 0.437 / (n - 4), 1 - 4 / (n**2 - n))
    return RankCorrelation(n, rho, *of_rho, tau, *of_tau, permutation_p(exceeding, permutations))


def _fisher_z(correlation: float, variance: float, most: float) -> Interval:
    """Ends of the 95 % interval of a correlation.

    variance: of its Fisher z.  most: the correlation with two neighbours out of order, by which a perfect one, whose z
    is infinite, is judged.
    """
    reach = normal_quantile() * sqrt(variance)
    z = atanh(min(max(correlation, -most), most))
    return min(tanh(z - reach), correlation), max(tanh(z + reach), correlation)


def cohens_kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Cohen's kappa of two people's answers to the same questions; NaN without any, 1 if only one answer occurs.

    Source: Cohen 1960, Educational and Psychological Measurement 20:37.

    >>> cohens_kappa(["harm", "harm", "unsure", "unsure"], ["harm", "unsure", "unsure", "unsure"])
    0.5
    """
    if not len(one):
        return nan
    first = np.asarray(one)
    second = np.asarray(other)
    agree = float(np.mean(first == second))
    chance = sum(float(np.mean(first == name) * np.mean(second == name)) for name in {*one, *other})
    return (agree - chance) / (1 - chance) if chance < 1 else 1.0
