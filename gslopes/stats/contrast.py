"""One contrast of all labels at once: the mean over photos of a weighted sum of each one's outcomes.

The slope of a photo along a sweep, the difference of two sweeps or runs photo by photo, the difference of two groups of
photos, the trend of refusals and the gated slope are all of this kind. Units (photos, or clusters of them) are
independent; photos inside one need not be.

Estimator: the mean over photos. Interval and p: t with U - 1 degrees of freedom, U the number of units, with the
cluster-robust standard error of the mean, corrected for skewness (``intervals.skewed_ends``). Null hypotheses: of p,
the mean is 0; of p_perm, each unit's number is as likely with the other sign (``contrast``), or membership is
exchangeable over the units (``membership_p``). q is for ``stats.multiplicity``; resamples are in ``stats.resampling``,
the permutation of conditions within units in ``stats.permutation``, a second random factor in
``stats.clusters.crossed``.

Sources: Matthews et al. 1990, doi 10.1136/bmj.300.6719.230 (summary statistics of repeated measures); Liang & Zeger
1986, doi 10.1093/biomet/73.1.13 (robust errors); Fisher 1935, The Design of Experiments, section 21 (signs); Janssen
1997, doi 10.1016/S0167-7152(97)00043-6 (the statistics are studentised, so with many units the tests also hold where
only the means are equal); Welch 1947, doi 10.1093/biomet/34.1-2.28.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from gslopes.core.arrays import Array, Flags, Integers
from gslopes.stats.intervals import skewed_ends, skewed_test, welch_satterthwaite
from gslopes.stats.ols import Lines, t_ratio
from gslopes.stats.outcomes import Moments, departures
from gslopes.stats.permutation import count_extreme, permutation_p, random_signs
from gslopes.stats.resampling import seeded_blocks

_BLOCK = 1 << 25  # cells of one block of statistics
_TIE = 1e-5


# -- K outcomes a unit ------------------------------------------------------------------------------------------------


def infer(slope: Array, intercept: Array, weights: Array, sums: Moments) -> Lines:
    """Standard error, t, p and interval of mean slopes; all NaN without a slope.

    slope, intercept: (L,).  weights: (L, K), whose sum with a unit's K numbers is the unit's own slope.

    A label whose units all have one slope has se 0: t is infinite, or 0 where the slope is 0.  Then there is no
    interval: units that are all alike say nothing about how far others may lie.
    """
    n, dof = max(sums.photos, 1), max(sums.units - 1, 1)
    mean, weighted = (np.einsum("lk,lk->l", part, weights) for part in (sums.first / n, sums.weighted))
    square = np.einsum("lk,lkj,lj->l", weights, sums.second, weights, optimize=True)
    spread = square - 2 * mean * weighted + sums.squares * mean**2
    # what rounding leaves of a label whose units are all alike
    spread = np.where(np.abs(spread) <= 1e-13 * np.abs(square), 0.0, np.maximum(spread, 0))
    se = np.sqrt(spread * sums.units / dof) / n
    t = t_ratio(slope, se)
    if sums.units < 2:
        se, t = np.full_like(se, np.nan), np.full_like(t, np.nan)
    low, high = skewed_ends(slope, se, dof, sums.skew)
    return Lines(slope, intercept, se, t, skewed_test(t, dof, sums.skew), low, high)


# -- one number a unit ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """One number of each unit for each label, summed over the unit's photos.

    sums: (L, U) sparse.  sizes: (U,) photos in each unit, or their weights.
    """

    sums: sparse.csr_array
    sizes: Array

    @classmethod
    def of(cls, numbers: sparse.csr_array, codes: Integers, weights: Array | None = None) -> "Units":
        """Numbers of photos, (L, n), summed over their units.

        codes: (n,) of the units, from 0.  weights: (n,) of the photos; 1 each without them.
        """
        each, size = np.ones(len(codes)) if weights is None else weights, int(codes.max(initial=-1)) + 1
        members = sparse.csr_array((each, (np.arange(len(codes)), codes)), (len(codes), size))
        return cls((numbers @ members).tocsr(), np.bincount(codes, each, size).astype(np.float64))

    @property
    def means(self) -> Array:
        """(L,) mean over photos."""
        return np.asarray(self.sums.sum(axis=1)).ravel() / max(float(self.sizes.sum()), 1)

    def minus(self, other: "Units", sign: int = 1) -> "Units":
        """Unit by unit, less ``sign`` times the other's, over the same labels and units; what rounding leaves is 0."""
        gap = (self.sums - sign * other.sums).tocsr()
        gap.data[np.abs(gap.data) <= 1e-9 * np.abs(self.sums.data).max(initial=1e-300)] = 0
        gap.eliminate_zeros()
        return Units(gap, self.sizes)


def spreads(units: Units, means: Array) -> Array:
    """(L,) sums of the units' squared departures from the means; what rounding leaves of units that are alike is 0."""
    sums, sizes = units.sums, units.sizes
    squares = np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
    spread = squares - 2 * means * (sums @ sizes) + means**2 * float(np.square(sizes).sum())
    return np.where(spread <= 1e-13 * np.maximum(squares, 1e-300), 0.0, spread)


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """Differences and their tests, (L,) each; NaN where no unit's number is other than 0.

    varying: units whose number is not 0.  p_perm is NaN throughout if no permutations were asked for.
    skew: of the difference, see ``outcomes.departures``.
    """

    difference: Array
    se: Array
    low: Array
    high: Array
    p: Array
    p_perm: Array
    varying: Integers
    skew: Array


def contrast(units: Units, *, permutations: int = 0, seed: int = 0) -> Contrast:
    """Is the mean over photos 0?  permutations: m, changes of signs; 0 for none.

    The changes of signs are exact for any number of units where each unit's number is as likely with the other sign;
    no change of signs alters the denominator of the studentised mean.
    """
    sums, count, n = units.sums, len(units.sizes), max(float(units.sizes.sum()), 1)
    varying = np.diff(sums.indptr).astype(np.int64)
    total = np.asarray(sums.sum(axis=1)).ravel().astype(np.float64)
    mean = total / n
    estimable = (varying > 0) & (count > 1)
    se = np.where(estimable, np.sqrt(spreads(units, mean) * count / max(count - 1, 1)) / n, np.nan)
    dof = max(count - 1, 1)
    skew, _ = departures(np.repeat(np.arange(len(total)), varying), sums.data, sums.indices, units.sizes, len(total))
    low, high = skewed_ends(mean, se, dof, skew)
    p = np.where(estimable, skewed_test(t_ratio(mean, se), dof, skew), np.nan)
    p_perm = np.full(len(total), np.nan)
    if permutations:
        blocks = seeded_blocks(permutations, max(1, min(permutations, _BLOCK // max(*sums.shape, 1))), [seed, 5])
        flips = (random_signs((count, number), generator) for generator, number in blocks)
        extreme = count_extreme(sums.astype(np.float32), flips, np.abs(total) * (1 - _TIE))
        p_perm = np.where(estimable, permutation_p(extreme, permutations), np.nan)
    return Contrast(mean, se, low, high, p, p_perm, varying, skew)


# -- two groups of units ----------------------------------------------------------------------------------------------


def difference(
    first: tuple[Array, Array, int],
    second: tuple[Array, Array, int],
    skews: tuple[Array | float, Array | float] = (0.0, 0.0),
) -> tuple[Contrast, Array]:
    """The first group's means less the second's, by Welch's t, and its degrees of freedom, (L,).

    Where all numbers of one group are equal, its spread is not taken for 0: both groups then share one (Student's t).

    first, second: means, (L,), their standard errors, (L,), and how many units they are over.
    skews: of both means; 0 is Welch's own interval.
    """
    (one, a, n), (other, b, m) = first, second
    parts = np.square(a), np.square(b)
    dof = welch_satterthwaite(parts[0], n, parts[1], m)
    shared = ((n - 1) * n * parts[0] + (m - 1) * m * parts[1]) / max(n + m - 2, 1) * (1 / max(n, 1) + 1 / max(m, 1))
    flat = (a == 0) != (b == 0)
    dof = np.where(flat, max(n + m - 2, 1), np.where(np.isfinite(dof), dof, 1.0))
    se = np.sqrt(np.where(flat, shared, parts[0] + parts[1]))
    gap, unknown = one - other, np.full(len(one), np.nan)
    skew = (skews[0] * a**3 - skews[1] * b**3) / np.maximum(se, 1e-90) ** 3
    low, high = skewed_ends(gap, se, dof, skew)
    tested = skewed_test(t_ratio(gap, se), dof, skew)
    return Contrast(gap, se, low, high, tested, unknown, np.zeros(len(gap), np.int64), skew), dof


def membership_p(units: Units, first: Flags, permutations: int, seed: int, within: Integers | None = None) -> Array:
    """(L,) two-sided p of Welch's t where membership is permuted; NaN where all is 0.

    Null hypothesis: membership is exchangeable over the units.  With many units the level also holds where only the
    means are equal and the groups differ in spread.  It holds where one group is small and the label rare, as Welch's t
    against its own table may not.

    first: (U,) which units are in the first group.  within: (U,) codes, inside of which membership is permuted.

    Sources: Janssen 1997, doi 10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi 10.1214/13-AOS1090.
    """
    sums, sizes = units.sums, units.sizes
    matrices = [sparse.csr_array(part, dtype=np.float64) for part in (sums, sums * sizes[None, :], sums.multiply(sums))]
    observed = _welch(matrices, sizes, first[:, None].astype(np.float64))[:, 0]
    exceeding = np.zeros(len(observed), dtype=np.int64)
    for members in _memberships(first, within, permutations, seed, sums.shape[0]):
        exceeding += (_welch(matrices, sizes, members) >= observed[:, None] * (1 - _TIE)).sum(axis=1)
    return np.where(np.diff(matrices[0].indptr) > 0, permutation_p(exceeding, permutations), np.nan)


def _welch(matrices: list[sparse.csr_array], sizes: Array, members: Array) -> Array:
    """(L, b) absolute Welch t of (U, b) memberships."""
    first = [matrix @ members for matrix in matrices]
    second = [np.asarray(matrix.sum(axis=1)).reshape(-1, 1) - one for matrix, one in zip(matrices, first, strict=True)]
    means, spreads = [], []
    for (total, weighted, squares), part in ((first, members), (second, 1 - members)):
        numbers, units = np.maximum(sizes @ part, 1), part.sum(axis=0)
        mean = total / numbers
        spread = squares - 2 * mean * weighted + mean**2 * (np.square(sizes) @ part)
        means.append(mean)
        spreads.append(np.maximum(spread, 0) * units / np.maximum(units - 1, 1) / numbers**2)
    distance, variance = np.abs(means[0] - means[1]), spreads[0] + spreads[1]
    flat = variance <= 1e-20
    exact = np.where(distance > 1e-9, np.inf, 0.0)
    return np.where(flat, exact, distance / np.sqrt(np.where(flat, 1, variance)))


def _memberships(first: Flags, within: Integers | None, count: int, seed: int, labels: int) -> Iterator[Array]:
    """Blocks of (U, b) memberships drawn at random, 0 or 1."""
    size = max(1, min(count, _BLOCK // 2 // max(labels, len(first))))
    member = first.astype(np.float64)
    for generator, number in seeded_blocks(count, size, [seed, 7]):
        if within is None:
            yield generator.permuted(np.broadcast_to(member, (number, len(member))), axis=1).T
            continue
        ordered, drawn = member[np.argsort(within, kind="stable")], np.empty((len(member), number))
        for column in range(number):
            drawn[np.lexsort((generator.random(len(member)), within)), column] = ordered
        yield drawn
