"""How small a slope can a number of photos show? Planning, before any picture is made or any call is paid.

The test is ``photo-rate``'s: the one-sample t of the photos' own slopes. Take a label on a share y of the photos.
Where a photo's answers at the K values are drawn again, its slope has the variance y (1 - y) sum_k w_k^2, with w the
weights of a least squares slope; where a photo keeps to one threshold at all values (it shows a nurse, or it does not)
and changes its answer only as the effect carries it over, |slope| sum_j (v_j - v_(j-1)) (sum_(k >= j) w_k)^2, but for
the square of its mean. Small slopes ask for more photos by the first, large ones by the second: the worse is taken.

Photos do not all have the same slope: where their true slopes have the standard deviation ``SPREAD`` times their mean,
that adds (SPREAD * slope)^2 to the variance. Power follows from the noncentral t. Labels so rare, or so common, that
the slopes of many photos would carry them below 0 or above 1 are found less often (``Design.clipped``): with 500 photos
64 % of such slopes at a share of 0.01 or 0.99, and 73 % at 0.02 or 0.98, where 80 % were planned. Labels whose answers
vary on fewer photos than ``min_varying`` are never judged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from gslopes.core.errors import ConfigError
from gslopes.stats.intervals import t_quantile
from gslopes.stats.ols import line_weights

# Standard deviation of the photos' true slopes over their mean: 0.4 to 1.6, median 1.1, over the nine labels with a t
# beyond 3 in 29 London portraits (gender, celeba-tagger); the upper end is planned for.
SPREAD = 1.5
GENDER = (-2.0, -4 / 3, -2 / 3, 0.0, 2 / 3, 4 / 3, 2.0)


@dataclass(frozen=True, slots=True)
class Design:
    """What is known before the audit.

    rate: y, share of photos with the label, in (0, 1).  alpha: two-sided level.  With L labels under Benjamini and
    Hochberg, alpha / L is on the safe side.
    """

    rate: float
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise ConfigError(f"The rate is {self.rate}; it must lie between 0 and 1.", "0.01 is one photo in 100.")
        if not 0 < self.alpha < 1:
            raise ConfigError(f"alpha is {self.alpha}; it must lie between 0 and 1.")

    def deviation(self, slope: float = 0.0) -> float:
        """Standard deviation of a photo's own slope, percentage points per unit, where the mean slope is ``slope``."""
        values = np.asarray(GENDER)
        weights = line_weights(values)
        tails = np.cumsum(weights[::-1])[::-1][1:]
        by_slope = abs(slope) / 100 * float((np.diff(values) * np.square(tails)).sum())
        drawn = self.rate * (1 - self.rate) * float(np.square(weights).sum())
        return float(np.hypot(100 * np.sqrt(max(drawn, by_slope)), SPREAD * slope))

    def clipped(self, slope: float) -> bool:
        """Whether a photo whose slope lies one standard deviation above the mean would have a share beyond [0, 1]."""
        return min(self.rate, 1 - self.rate) < (1 + SPREAD) * abs(slope) / 100 * GENDER[-1]


def power(design: Design, photos: int, slope: float) -> float:
    """The chance, in [0, 1], that ``photos`` photos show a slope of this size at level alpha.

    slope: percentage points per unit of the attribute; its sign does not matter.

    Raises: ConfigError for fewer than 2 photos.

    >>> round(power(Design(rate=0.1), 400, 1.5), 2)
    0.93
    """
    if photos < 2:
        raise ConfigError(f"{photos} photos have no spread.", "Give 2 or more.")
    limit = float(t_quantile(photos - 1, 1 - design.alpha))
    shift = abs(slope) * np.sqrt(photos) / design.deviation(slope)
    # the noncentral t as a normal over the root of a chi square, averaged over the latter: exact enough for any photos
    middles = (np.arange(4000) + 0.5) / 4000
    root = np.sqrt(2 * special.gammaincinv((photos - 1) / 2, middles) / (photos - 1))
    return float(np.mean(special.ndtr(shift - limit * root) + special.ndtr(-shift - limit * root)))


def smallest_slope(design: Design, photos: int, chance: float = 0.8) -> float:
    """The smallest slope, in the unit of ``power``, that a number of photos shows with this chance.

    Raises: ConfigError as ``power``, or if the chance is not between alpha and 1.

    >>> round(smallest_slope(Design(rate=0.1), 400), 2)
    1.22
    """
    _check(design, chance)
    top = design.deviation() / np.sqrt(photos)
    while power(design, photos, top) < chance:
        top *= 2
    return float(optimize.brentq(lambda slope: power(design, photos, slope) - chance, 0, top, xtol=1e-9 * top))


def photos_needed(design: Design, slope: float, chance: float = 0.8) -> int:
    """How many photos show a slope of this size with this chance.

    slope: in the unit of ``power``, not 0.

    Raises: ConfigError if the slope is 0, or the chance not between alpha and 1.

    >>> photos_needed(Design(rate=0.1), 1.5)
    272
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
