"""Shares of photos, from answers of people where there are any and from calibrated probabilities elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special


@dataclass(frozen=True, slots=True)
class Share:
    """A share of n photos with its interval; all three are NaN where there is no photo."""

    n: int
    answered: int
    share: float
    low: float
    high: float


def wilson(share: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share.

    share: in [0, 1].  n: how many independent observations it comes from.

    Source: Wilson 1927, doi 10.1080/01621459.1927.10502953.

    >>> [round(end, 4) for end in wilson(0.8, 10)]
    [0.4902, 0.9433]
    """
    if not n > 0:
        return math.nan, math.nan
    z = float(special.ndtri(0.5 + confidence / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def newcombe(first: int, of_first: int, second: int, of_second: int, confidence: float = 0.95) -> tuple[float, float]:
    """Newcombe's interval for a difference of two shares, first less second, by the distances of Wilson's ends.

    first, second: how many.  of_first, of_second: of how many independent observations, at least 1.

    Source: Newcombe 1998, doi 10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I, method 10.

    >>> [round(end, 4) for end in newcombe(56, 70, 48, 80)]
    [0.0524, 0.3339]
    """
    p, q = first / of_first, second / of_second
    (low, high), (under, over) = wilson(p, of_first, confidence), wilson(q, of_second, confidence)
    return p - q - math.hypot(p - low, over - q), p - q + math.hypot(high - p, q - under)


def estimate_share(chance: NDArray[np.float64], answered: NDArray[np.bool_], confidence: float = 0.95) -> Share:
    """The share of photos that count, such as those perceived as female.

    Estimator: the mean of 0 and 1 where a person answered and of calibrated probabilities elsewhere.  Interval:
    Wilson's for a sample of n, each end moved away by what the readings that nobody checked add, whose variance is the
    sum of p (1 - p) over n squared.  Every answer narrows it; with all of them answered it is Wilson's own.  There is
    no test.  It is conservative as a statement about the search, whose next photos would be read as well; that the
    calibration may be off on photos unlike those it was made on, it leaves out.

    chance: (n,) in [0, 1].  answered: (n,) whether a person said so.

    Source: two parts joined by the distances of their ends, Zou & Donner 2008, Statistics in Medicine 27:1693.
    """
    n = len(chance)
    if not n:
        return Share(0, 0, math.nan, math.nan, math.nan)
    share = float(np.mean(chance))
    reading = float(special.ndtri(0.5 + confidence / 2)) ** 2 * float(np.sum(chance * (1 - chance) * ~answered)) / n**2
    low, high = wilson(share, n, confidence)
    low, high = share - math.sqrt((share - low) ** 2 + reading), share + math.sqrt((high - share) ** 2 + reading)
    return Share(n, int(np.sum(answered)), share, max(0.0, low), min(1.0, high))
