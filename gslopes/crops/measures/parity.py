"""How often one of a person of group a and a person of group b is favoured: a two-sample U-statistic over people.

P(a over b) = (1/mn) sum_i sum_j h_ij with h_ij in [0, 1] the share of the answers about persons i of a and j of b that
favoured i. People are the sample: pairs that share a person are not independent, and a thousand draws from the same
forty people add nothing to these forty. The standard error is DeLong's, from the m row means and n column means.

Here too are intervals by drawing people again, once for all pairs of groups, and disparate impact (the ratio of two
groups' chances).
"""

from collections.abc import Mapping, Sequence
from math import exp, inf, isinf, isnan, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from gslopes.core.records import Array, Integers, Interval, quotients
from gslopes.crops.config import EPSILON
from gslopes.stats.intervals import normal_quantile, t_quantile, t_test
from gslopes.stats.resampling import multinomial_counts, percentile
from gslopes.stats.rounding import STORED, exceeds, levelled, settled


class Parity(NamedTuple):
    """P(a over b) with its uncertainty over people, in the columns of the table parity.

    persons, other_persons: m and n.  pairs: how many pairs of persons were asked about.
    draws: what the pairs count together.
    p: in [0, 1].  se: standard error over people.  df: degrees of freedom of its t.
    ci_low, ci_high: 95 % interval, on the logit scale.  p_value: two-sided by t = (p - 1/2)/se, null hypothesis
        P = 1/2; if all pairs agree (P of 0 or 1), the level at which the interval ends at 1/2.
    """

    persons: int
    other_persons: int
    pairs: int
    draws: int
    p: float
    se: float
    df: float
    ci_low: float
    ci_high: float
    p_value: float


def parity(h: Array, counts: ArrayLike = 1.0) -> Parity:
    """The share of pairs in which the person of the first group is favoured.

    h: (m, n) in [0, 1], one row a person of a, one column a person of b; NaN if the pair was not asked about. A
        person without any pair does not count.
    counts: (m, n) how much each pair counts: how often it was drawn; or one number for all.

    Standard error of an incomplete design: row and column means over what was asked, weighted by how much. It holds the
    error of the draws twice, so that the interval is a little too wide if there are few of them.

    Sources: DeLong, DeLong & Clarke-Pearson 1988, doi 10.2307/2531595; degrees of freedom: Brunner & Munzel 2000, doi
    10.1002/(SICI)1521-4036(200001)42:1<17::AID-BIMJ17>3.0.CO;2-U.

    >>> round(parity(np.array([[1.0, 1.0], [0.0, 1.0]])).p, 2)
    0.75
    """
    weights = weights_of(h, counts)
    if not weights.any():
        return Parity(0, 0, 0, 0, *[nan] * 6)
    met = np.ix_(weights.any(1), weights.any(0))
    p, *moves = influences(h[met], weights[met])
    pairs = int(np.count_nonzero(weights))
    draws = round(float(weights.sum()))
    estimate = over_people(p, moves)
    parity = Parity(len(moves[0]), len(moves[1]), pairs, draws, *estimate, nan)
    if parity.se > 0:
        return parity._replace(p_value=float(t_test((p - 0.5) / parity.se, parity.df)))
    if p in (0, 1):  # of k pairs without a person in common, all agree at most so often
        return parity._replace(p_value=0.5 ** (min(map(len, moves)) - 1))
    return parity


def weights_of(h: Array, counts: ArrayLike) -> Array:
    """How much each pair counts: 0 if it was not asked about.  h, counts: as of ``parity``."""
    return np.where(np.isnan(h), 0.0, counts)


def influences(h: Array, weights: Array) -> tuple[float, Array, Array]:
    """The weighted mean of h, and what each row and each column adds to it: (m,) and (n,), sum 0.

    How far a person's own pairs lie from the mean, in proportion to how much they count.

    h: (m, n), NaN if not asked.  weights: as ``weights_of`` gives them.
    """
    counted = weights * np.nan_to_num(h)
    total = weights.sum()
    p = 0.5 + float(settled(counted.sum() / total - 0.5, 0.5))
    sides = [(counted.sum(axis), weights.sum(axis)) for axis in (1, 0)]
    rows, columns = (settled(sums - p * weight, weight) / total for sums, weight in sides)
    return p, rows, columns


def over_people(p: float, moves: Sequence[Array]) -> tuple[float, float, float, float, float]:
    """(p, se, df, ci_low, ci_high) of a mean, see ``Parity``.  moves: by group what each of its persons adds to it."""
    persons = np.array([len(group) for group in moves])
    parts = np.full(len(moves), nan)
    if persons.min() > 1:
        parts = persons * [np.var(group, ddof=1) for group in moves]
    se = sqrt(parts.sum())
    df = nan
    if se > 0:
        df = se**4 / float((parts**2 / (persons - 1)).sum())
    return p, se, df, *logit_interval(p, se, df, int(persons.min()))


class Average(NamedTuple):
    """The mean of a share over several pairs of groups, in the columns of the table averages.

    persons: whose answers count.  cells: how many pairs of groups.  p, se, df, ci_low, ci_high: as of ``Parity``.
    draws_half: two standard errors of only the draws.
    """

    persons: int
    cells: int
    p: float
    se: float
    df: float
    ci_low: float
    ci_high: float
    draws_half: float


def average(
    h: Array,
    counts: Array,
    groups: Sequence[Integers],
    cells: Sequence[tuple[int, int]],
) -> Average:
    """The mean of P over pairs of groups, all of one weight, with its uncertainty over people.

    A person has one influence, on all the pairs of its group; people are drawn within each group.

    h, counts: (N, N), NaN and 0 if not asked.  groups: the numbers of each group's persons, who are in no other.
    cells: the numbers of both groups of each pair; one without any answer does not count.

    Source: Yee et al. 2021, Figure 2, right panel.

    >>> h = np.array([[np.nan, 0.9, 0.7], [0.1, np.nan, np.nan], [0.3, np.nan, np.nan]])
    >>> one, two, three = (np.array([number]) for number in range(3))
    >>> average(h, np.ones((3, 3)), [one, two, three], [(0, 1), (0, 2)]).p
    0.8
    """
    moved, size = np.zeros((2, len(h)))
    shares = []
    variances = []
    met = set()
    for cell in cells:
        rows, columns = (groups[number] for number in cell)
        block = np.ix_(rows, columns)
        weights = weights_of(h[block], counts[block])
        if not weights.any():
            continue
        p, *sides = influences(h[block], weights)
        for persons, influence in zip((rows, columns), sides, strict=True):
            moved[persons] += influence
            size[persons] += abs(influence)
        met |= {*cell}
        shares.append(p)
        variances.append(p * (1 - p) / weights.sum())
    if not shares:
        return Average(0, 0, *[nan] * 6)
    moved = settled(moved, size) / len(shares)
    moves = [moved[groups[number]] for number in sorted(met)]
    half = 2 * sqrt(sum(variances)) / len(shares)
    estimate = over_people(float(np.mean(shares)), moves)
    return Average(sum(map(len, moves)), len(shares), *estimate, half)


def logit_interval(
    p: float,
    se: float,
    df: float,
    persons: int,
) -> Interval:
    """Ends of a 95 % interval that stays inside (0, 1).

    p: the share.  se: its standard error.  df: degrees of freedom of t; infinity for the normal.
    persons: in the smaller group. If P is 0 or 1 the interval is one-sided: with k persons of whom all agree, its
        other end is 0.025^(1/k) away from it (k = 8: 0.631), as Clopper and Pearson have it for k independent ones.
        Any other share that does not vary has no interval: NaN.

    >>> [round(end, 4) for end in logit_interval(0.5695, 0.0141, float("inf"), 621)]
    [0.5417, 0.5969]
    """
    if p <= 0 or p >= 1:
        end = 0.025 ** (1 / max(persons, 1))
        if p <= 0:
            return 0.0, 1 - end
        return end, 1.0
    if not se > 0:  # people who all give the same share tell nothing about others
        return nan, nan
    half = (normal_quantile() if isinf(df) else float(t_quantile(df))) * se / (p * (1 - p))
    middle = float(special.logit(p))
    return float(special.expit(middle - half)), float(special.expit(middle + half))


def half_width(p: float, persons: int, others: int) -> float:
    """Half of the 95 % interval to expect before anybody is asked, normal.

    p: the expected share, in (0, 1).  persons, others: m and n.

    Source: Hanley & McNeil 1982, doi 10.1148/radiology.143.1.7063747, for negative exponential scores.

    >>> round(half_width(0.6171, 213, 606), 4)
    0.0452
    """
    first = p / (2 - p)
    second = 2 * p * p / (1 + p)
    spread = p * (1 - p) + (persons - 1) * (first - p * p) + (others - 1) * (second - p * p)
    return normal_quantile() * sqrt(max(spread, 0.0) / (persons * others))


def draws_half(p: float, draws: int) -> float:
    """Two standard errors of independent draws from a fixed set of people: the published kind of interval.

    It covers the randomness of the draws among these people, not other people.

    >>> round(draws_half(0.635, 10_000), 4)
    0.0096
    """
    if draws:
        return 2 * sqrt(p * (1 - p) / draws)
    return nan


def draw_weights(sizes: Mapping[str, int], count: int, seed: int = 0) -> dict[str, Array]:
    """How often each person is drawn, by group: name to (count, persons), multinomial within the group."""
    generator = np.random.default_rng([seed, 3])
    return {name: multinomial_counts(size, count, generator) for name, size in sizes.items()}


def resampled(
    h: Array,
    rows: Array,
    columns: Array,
    counts: ArrayLike = 1.0,
) -> Array:
    """(B,) P(a over b) on each draw of people; NaN if a draw has no pair that was asked about.

    h, counts: see ``parity``.  rows: (B, m) weights.  columns: (B, n) weights.
    """
    weights = weights_of(h, counts)
    over = np.einsum("bn,bn->b", rows @ (weights * np.nan_to_num(h)), columns)
    under = np.einsum("bn,bn->b", rows @ weights, columns)
    return quotients(over, under)


def interval(draws: Array) -> Interval:
    """Ends of the 95 % percentile interval; NaN if draws differ only by rounding: the people do not vary."""
    finite = draws[np.isfinite(draws)]
    if len(finite) and settled(np.ptp(finite), abs(finite).max()) > 0:
        return percentile(finite)
    return nan, nan


class Impact(NamedTuple):
    """P(R = 1 | less)/P(R = 1 | more), the smaller of the two ratios, in [0, 1], and its 95 % interval.

    The upper end may pass 1, and is infinite if only one group is shown.
    """

    ratio: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Of a lack of parity, ratio <= 1 - ``EPSILON``: shown, ruled out or open; empty without an interval."""
        if isnan(self.low) or isnan(self.high):
            return ""
        if self.high <= 1 - EPSILON:
            return "shown"
        if self.low > 1 - EPSILON:
            return "ruled out"
        return "open"


def disparate_impact(p: float, low: float, high: float) -> Impact:
    """If exactly one of two is favoured: P/(1 - P) or its inverse, with the ends of P's interval.

    p, low, high: P(a over b) and its interval.  The four-fifths rule: a ratio of 0.8 is P = 0.4444.

    Source: Yee et al. 2021, section 3, after Feldman et al. 2015, doi 10.1145/2783258.2783311.

    >>> impact = disparate_impact(0.3648, 0.3235, 0.4082)
    >>> round(impact.ratio, 4), impact.verdict
    (0.5743, 'shown')
    """
    if exceeds(p, 0.5):
        p, low, high = 1 - p, 1 - high, 1 - low
    return Impact(*(inf if end >= 1 else end / (1 - end) for end in (p, low, high)))


def kept_impact(
    first: float,
    second: float,
    draws: Array,
    other_draws: Array,
) -> Impact:
    """If both or neither may be kept: the ratio of two shares, its interval from the bootstrap of its logarithm.

    It has no interval if either share is 0 in 2.5 % of the draws: then no such interval has an end.

    first, second: shares.  draws, other_draws: (B,) the same on each draw of people.
    """
    if exceeds(first, second):
        first, second, draws, other_draws = second, first, other_draws, draws
    usable = (draws > 0) & (other_draws > 0)
    ratios = np.log(levelled(draws[usable] / other_draws[usable]))
    low, high = map(exp, interval(ratios[: len(ratios) * (usable.mean() > 0.975)]))
    return Impact(first / second if second > 0 else nan, low, high)


def comparable(highest: Array) -> bool:
    """Whether maps of photos can be compared: they cannot if the model scales each to one maximum, such as 1.

    highest: (n,) each map's maximum.
    """
    return bool(settled(np.ptp(highest), abs(highest).max(), STORED) > 0)


def compared(first: Array, second: Array) -> Array:
    """(m, n) 1 if the first is higher, 1/2 if both are equal, else 0; NaN if either is NaN.

    >>> compared(np.array([1.0, 2.0]), np.array([1.0])).tolist()
    [[0.5], [1.0]]
    """
    size = np.add.outer(abs(first), abs(second))
    return np.asarray((np.sign(settled(np.subtract.outer(first, second), size, STORED)) + 1) / 2)
