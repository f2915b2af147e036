"""How small a slope can so many photos show? Planning, before any picture is made or any call is paid.

The test is that of ``photo-rate``: the one-sample t of the photos' own slopes. A photo's K answers for a label that a
share y of photos have vary with variance y (1 - y), of which the part ``within`` is common to all K (the photo is a
portrait of a nurse at every value): it moves no slope. So the variance of a photo's slope is y (1 - y) (1 - within) /
sum (v_k - mean v)^2, and power follows from the noncentral t. The shape table of a fit gives ``within`` for every label;
0, the default, takes the K answers for independent and asks for the most photos.

It holds for small slopes, as the effect itself is left out of the variance; a simulation in the tests agrees within its
own error. Labels on fewer photos than ``min_active`` are never judged, whatever this formula says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from gslopes.core.errors import ConfigError
from gslopes.fit.profiles import line_weights

Array = NDArray[np.float64]
GENDER = (-2.0, -4 / 3, -2 / 3, 0.0, 2 / 3, 4 / 3, 2.0)


@dataclass(frozen=True, slots=True)
class Design:
    """What is known before the audit.

    rate: y, share of photos with the label, in (0, 1).  values: the K values of the sweep.
    within: correlation between a photo's answers at two values, in [0, 1).
    alpha: two-sided level.  With L labels under Benjamini and Hochberg, alpha / L is on the safe side.
    """

    rate: float
    values: Sequence[float] = GENDER
    within: float = 0.0
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise ConfigError(f"The rate is {self.rate}; it must lie between 0 and 1.", "0.01 is one photo in 100.")
        if not 0 <= self.within < 1:
            raise ConfigError(f"The correlation within photos is {self.within}; it must be 0 or more and below 1.")
        if not 0 < self.alpha < 1:
            raise ConfigError(f"alpha is {self.alpha}; it must lie between 0 and 1.")
        if len(set(self.values)) < 3:
            raise ConfigError("A sweep has 3 different values at least.")

    @property
    def deviation(self) -> float:
        """Standard deviation of a photo's own slope, percentage points per unit."""
        squares = float(np.square(line_weights(np.asarray(self.values, dtype=np.float64))).sum())
        return 100 * float(np.sqrt(self.rate * (1 - self.rate) * (1 - self.within) * squares))


def power(design: Design, photos: int, slope: float) -> float:
    """The chance, in [0, 1], that ``photos`` photos show a slope of this size at level alpha.

    slope: percentage points per unit of the attribute; its sign does not matter.

    Raises: ConfigError for fewer than 2 photos.

    >>> round(power(Design(rate=0.1), 400, 1.5), 2)
    0.94
    """
    if photos < 2:
        raise ConfigError(f"{photos} photos have no spread.", "Give 2 or more.")
    limit = float(special.stdtrit(photos - 1, 1 - design.alpha / 2))
    shift = abs(slope) * np.sqrt(photos) / design.deviation
    if photos > 300 or shift > 30:  # the noncentral t is normal there, and slow or inexact to compute
        found = float(special.ndtr(shift - limit) + special.ndtr(-shift - limit))
    else:
        found = float(stats.nct.sf(limit, photos - 1, shift) + stats.nct.cdf(-limit, photos - 1, shift))
    return min(max(found, 0.0), 1.0)


def smallest_slope(design: Design, photos: int, chance: float = 0.8) -> float:
    """The smallest slope, percentage points per unit, that so many photos show with this chance.

    Raises: ConfigError as ``power``, or if the chance is not between alpha and 1.

    >>> round(smallest_slope(Design(rate=0.1), 400), 2)
    1.18
    """
    _check(design, chance)
    top = design.deviation * (special.ndtri(chance) + 40) / np.sqrt(photos)
    return float(optimize.brentq(lambda slope: power(design, photos, slope) - chance, 0, top, xtol=1e-9))


def photos_needed(design: Design, slope: float, chance: float = 0.8) -> int:
    """How many photos show a slope of this size with this chance.

    slope: percentage points per unit, not 0.

    Raises: ConfigError if the slope is 0, or the chance not between alpha and 1.

    >>> photos_needed(Design(rate=0.1), 1.5)
    249
    """
    _check(design, chance)
    if slope == 0 or not np.isfinite(slope):
        raise ConfigError("No number of photos shows a slope of 0.", "Give the smallest slope that would matter.")
    high = 2
    while power(design, high, slope) < chance:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(design, max(middle, 2), slope) >= chance else (middle, high)
    return max(high, 2)


def _check(design: Design, chance: float) -> None:
    if not design.alpha < chance < 1:
        raise ConfigError(f"A power of {chance} cannot be planned for.", f"Give one between {design.alpha:g} and 1.")
