"""Intervals of shares, means, ratios and resampled numbers.

Proportions are ours, not statsmodels': a share may be a mean of probabilities, and loading statsmodels takes a second.
"""

from math import hypot, inf, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from gslopes.core import frozen
from gslopes.core.records import Array, Flags, Integers, Interval
from gslopes.stats.rounding import EXACT, settled

Ends = tuple[Array, Array]  # low and high


def normal_quantile(confidence: float = 0.95) -> float:
    """How many standard errors a two-sided normal interval goes to either side."""
    return float(special.ndtri(0.5 + confidence / 2))


def t_quantile(dof: float | Array, confidence: float = 0.95) -> Array:
    """The same of a t interval with ``dof`` degrees of freedom."""
    return np.asarray(special.stdtrit(dof, 0.5 + confidence / 2))


def t_test(t: float | Array, dof: float | Array) -> Array:
    """Two-sided p of a t statistic."""
    return np.asarray(2 * special.stdtr(dof, -np.abs(t)))


# -- means of skewed numbers ------------------------------------------------------------------------------------------

Bounds = tuple[Array | float, Array | float]  # the least and the most that a number can be
UNBOUNDED: Bounds = (-inf, inf)
_STRAIGHT = 1e-6  # a skewness below which both ends are t's, to as many digits


def bent(value: Array | float, ends: Ends, bounds: Bounds) -> Ends:
    """Ends of an interval of a number that has bounds, such as a share: inside them, and nearer than they were.

    An end that lies within half of the way from the number to the bound stays where it is.  Of the other half each
    further such way leaves a share of 1 / e.  If the bounds are as far from 0, no end passes 0: a p stays that of the
    interval.

    bounds: infinite for none.

    Source: ours, chosen among five, mostly on six designs, and reported on others: tests/benches/coverage_bounds.py.

    >>> [round(float(end), 3) for end in bent(0.8, (0.436, 1.005), (-1, 1))]
    [0.436, 0.965]
    """
    value = np.asarray(value)
    inside = []
    for end, bound in zip(ends, bounds, strict=True):
        room = abs(bound - value)
        way = abs(end - value)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            left = room * np.exp(1 - 2 * way / room) / 2
            near = bound - np.copysign(left, bound - value)
        inside.append(np.where(way > room / 2, near, end))
    low, high = inside
    return low, high


def skewed_ends(
    value: Array | float,
    se: Array | float,
    dof: float | Array,
    skew: Array | float,
    bounds: Bounds = UNBOUNDED,
) -> Ends:
    """Ends of a 95 % interval of a mean: t's, moved for its skewness; NaN if the standard error is 0.

    Of numbers skewed to the right, the mean is more often far too small than far too large: t's interval, as far to
    both sides, ends too early above.  With s the skewness of the mean and q the quantile, it ends there after
    (e^(s q) - 1) / s + s / 6 standard errors.  Below it ends
    midway between t's and Hall's, which is nearer: one unit far from the others may be skewness, or chance.  Without
    skewness it is t's.  Numbers that are all equal tell nothing of others, and have no interval.

    skew: of the mean, in [-1, 1]: the numbers' own, over the root of how many they are.  bounds: see ``bent``.

    Source: Hall 1992, Journal of the Royal Statistical Society B 54, 221-228, of the near end.  The far one (Hall's
    cube root leaps if s q is about 1) and the way half are ours, by simulation: tests/benches/coverage_skew.py.

    >>> [round(float(end), 2) for end in skewed_ends(1.0, 1.0, 19, 0.3)]
    [-0.91, 3.96]
    """
    quantile = t_quantile(dof)
    size = np.maximum(np.abs(skew), _STRAIGHT)
    far = np.expm1(np.minimum(size * quantile, 500)) / size + size / 6
    near = 3 / size * (np.cbrt(1 + size * (quantile - size / 6)) - 1)
    straight = np.abs(skew) < _STRAIGHT
    right = np.asarray(skew) > 0
    long = np.where(straight, quantile, far)
    short = np.where(straight, quantile, (quantile + near) / 2)
    se = np.where(np.asarray(se) > 0, se, nan)
    low = value - np.where(right, short, long) * se
    high = value + np.where(right, long, short) * se
    return bent(value, (low, high), bounds)


def skewed_test(t: Array | float, dof: float | Array, skew: Array | float) -> Array:
    """Two-sided p of the null hypothesis that a mean is 0: the level at which ``skewed_ends`` has an end at 0.

    t: the mean over its standard error.  If that is 0, t tells nothing of how far other units may lie: NaN.
    """
    size = np.maximum(np.abs(skew), _STRAIGHT)
    turned = np.asarray(t) * np.where(np.asarray(skew) < 0, -1.0, 1.0)  # as if skewed to the right
    below = np.minimum(turned, 0.0)
    above = np.maximum(turned, 0.0)
    far = -np.log1p(size * np.maximum(-below - size / 6, 0.0)) / size
    # of w^3 + 3 w = 4 - size^2 / 6 + 2 size t
    root = 2 * np.sinh(np.arcsinh(2 - size**2 / 12 + size * above) / 3)
    near = (root**3 - 1) / size + size / 6
    straightened = np.where(np.abs(skew) < _STRAIGHT, t, np.where(turned > 0, near, far))
    return np.where(np.isinf(t), nan, t_test(straightened, dof))


class Estimate(NamedTuple):
    """A number with its standard error, ends of the interval, p of the null hypothesis that it is 0.

    All but ``value`` are NaN for fewer than two units (numbers or clusters); if none departs from it but by
    rounding, se is 0 and ends and p are NaN.
    """

    value: float
    se: float
    low: float
    high: float
    p: float


def linearised(
    value: float,
    moves: Array,
    size: ArrayLike,
    grain: float = EXACT,
    bounds: Bounds = UNBOUNDED,
) -> Estimate:
    """A number by how far each independent unit moves it, (U,), which sum to 0; t over units, and their skewness.

    size: of what each move was computed from, see ``rounding.settled``.  bounds: see ``bent``.
    """
    units = len(moves)
    moves = settled(moves, size, grain)
    if units < 2:
        return Estimate(value, *[nan] * 4)
    length = float(np.linalg.norm(moves))
    if not length > 0:
        return Estimate(value, 0.0, *[nan] * 3)
    se = length * sqrt(units / (units - 1))
    skew = float(((moves / length) ** 3).sum())
    low, high = map(float, skewed_ends(value, se, units - 1, skew, bounds))
    return Estimate(value, se, low, high, float(skewed_test(value / se, units - 1, skew)))


def mean_t(values: Array, bounds: Bounds = UNBOUNDED) -> Estimate:
    """The mean of independent numbers, (n,), with interval and p by t and their skewness; NaN ones are left out.

    bounds: what each number can be.

    >>> found = mean_t(np.array([1.0, 2.0, 3.0, np.nan]))
    >>> round(found.value, 3), round(found.low, 3), round(found.p, 3)
    (2.0, -0.484, 0.074)
    """
    numbers = values[~np.isnan(values)]
    return clustered_mean(numbers, np.arange(len(numbers)), bounds)


def clustered_mean(values: Array, clusters: Integers, bounds: Bounds = UNBOUNDED) -> Estimate:
    """The mean of numbers, (n,), alike in one cluster; t over clusters, corrected for skewness.

    clusters: (n,) codes from 0, as ``clusters.codes_of`` gives them.  bounds: what each number can be.

    Source: Liang & Zeger 1986, doi 10.1093/biomet/73.1.13, identity link, independence working model.

    >>> found = clustered_mean(np.array([1.0, 1.0, 2.0, 3.0]), np.array([0, 0, 1, 2]))
    >>> round(found.value, 2), round(found.se, 3)
    (1.75, 0.603)
    """
    if not len(values):
        return Estimate(*[nan] * 5)
    sizes = abs(values)
    mean = float(settled(values.mean(), sizes.mean()))
    moves = np.bincount(clusters, values - mean) / len(values)
    size = np.bincount(clusters, sizes + abs(mean)) / len(values)
    return linearised(mean, moves, size, bounds=bounds)


def welch_satterthwaite(first: Array | float, n: float, second: Array | float, m: float) -> Array:
    """Degrees of freedom of a difference of two means; NaN if neither varies.

    first, second: squared standard errors of the means.  n, m: how many independent numbers each is of, 2 or more.

    Source: Welch 1947, doi 10.1093/biomet/34.1-2.28.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        below = np.square(first) / max(n - 1, 1) + np.square(second) / max(m - 1, 1)
        return np.asarray(np.square(np.add(first, second)) / below)


def fieller(
    top: Array | float,
    bottom: float,
    spread: Array | float,
    of_bottom: float,
    shared: Array | float,
    limit: float,
) -> Ends:
    """Ends of the ratios of two means; NaN if the interval of the lower one contains 0.

    spread, of_bottom, shared: variances of both means, and their covariance.  limit: the t quantile.

    Source: Fieller 1954, Journal of the Royal Statistical Society B 16, 175-185.
    """
    a = bottom**2 - limit**2 * of_bottom
    if not a > 0:
        a = nan
    b = top * bottom - limit**2 * shared
    c = np.square(top) - limit**2 * spread
    root = np.sqrt(np.maximum(b**2 - a * c, 0))
    return np.asarray((b - root) / a), np.asarray((b + root) / a)


# -- shares -----------------------------------------------------------------------------------------------------------


def wilson(share: Any, n: float) -> tuple[Any, Any]:
    """Wilson's 95 % interval of a share, or of several; NaN without an observation.

    share: in [0, 1].  n: how many independent observations each comes from.

    Source: Wilson 1927, doi 10.1080/01621459.1927.10502953.

    >>> [round(float(end), 4) for end in wilson(0.8, 10)]
    [0.4902, 0.9433]
    """
    z = normal_quantile()
    if not n > 0:
        n = nan
    shrink = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / shrink
    half = z / shrink * np.sqrt(share * (1 - np.asarray(share)) / n + z * z / (4 * n * n))
    low = np.maximum(0.0, settled(middle - half, middle))
    return low, 1 - np.maximum(0.0, settled(1 - middle - half, 1))


def newcombe(
    first: float,
    of_first: float,
    second: float,
    of_second: float,
    correlation: float = 0.0,
) -> Interval:
    """Newcombe's 95 % interval of a difference of two shares, first less second, by the distances of Wilson's ends.

    first, second: how many.  of_first, of_second: of how many independent observations; NaN if either is 0.
    correlation: of the two shares; 0 if they are of different people.

    Source: Newcombe 1998, doi 10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I, method 10; with a
    correlation, doi 10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C, method 10.

    >>> [round(end, 4) for end in newcombe(56, 70, 48, 80)]
    [0.0524, 0.3339]
    """
    if not of_first or not of_second:
        return nan, nan
    p = first / of_first
    q = second / of_second
    (low, high), (under, over) = wilson(p, of_first), wilson(q, of_second)

    def distance(first: float, second: float) -> float:
        """The root of first² - 2 correlation first second + second²."""
        return hypot(first - correlation * second, second * sqrt(1 - correlation**2))

    return p - q - distance(p - low, over - q), p - q + distance(high - p, q - under)


def mean_change(total: Array, squares: Array, n: int) -> Ends:
    """A mean of n paired changes and its variance, after two pairs are added: without a change, and with one each way.

    For changes of a share from 0 or 1 to 0 or 1, or between 0 and 1.  A sum of such means plus and minus
    ``normal_quantile`` standard errors holds if few pairs change.

    total, squares: (L,) sums of the changes and of their squares.

    Source: Agresti & Min 2005, doi 10.1002/sim.1781: half a pair in each of the four cells.

    >>> value, variance = mean_change(np.array([8.0]), np.array([10.0]), 48)
    >>> float(value[0]), float(variance[0])
    (0.16, 0.003888)
    """
    value = total / (n + 2)
    return value, ((squares + 1) / (n + 2) - value**2) / (n + 2)


@frozen
class Share:
    """A share of n photos with its interval; all three are NaN without a photo."""

    n: int
    answered: int
    share: float
    low: float
    high: float


def estimate_share(chance: Array, answered: Flags) -> Share:
    """The share of photos that count, such as those perceived as female.

    Estimator: the mean of 0 and 1 if a person answered and of calibrated probabilities if not.  Interval:
    Wilson's for a sample of n, each end moved away by what the unchecked readings add, whose variance is the sum of
    p (1 - p) over n squared.  Every answer narrows it; with all of them answered it is Wilson's.  It has no test.
    It is conservative as a statement about the search, whose next photos would be read as well; that the calibration
    may be off on photos unlike the ones it was made on, it leaves out.

    chance: (n,) in [0, 1].  answered: (n,) whether a person answered.

    Source: two parts joined by the distances of their ends, Zou & Donner 2008, Statistics in Medicine 27:1693.
    """
    n = len(chance)
    if not n:
        return Share(0, 0, nan, nan, nan)
    share = float(np.mean(chance))
    reading = normal_quantile() ** 2 * float(np.sum(chance * (1 - chance) * ~answered)) / n**2
    low, high = wilson(share, n)
    low = share - sqrt((share - low) ** 2 + reading)
    high = share + sqrt((high - share) ** 2 + reading)
    return Share(n, int(np.sum(answered)), share, max(0.0, low), min(1.0, high))
