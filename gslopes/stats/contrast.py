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
1997, doi 10.1016/S0167-7152(97)00043-6 (the statistics are studentised, so with many units the tests also hold if
only the means are equal); Welch 1947, doi 10.1093/biomet/34.1-2.28.
"""

from collections.abc import Iterator
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gslopes.core import frozen_identity
from gslopes.core.records import AnyIntegers, Array, Flags, Integers, Numbers, doubles, quotients
from gslopes.stats.intervals import skewed_ends, skewed_test, welch_satterthwaite
from gslopes.stats.ols import Lines, t_ratio
from gslopes.stats.outcomes import Cells, Moments, Spread, departures, spread_of
from gslopes.stats.permutation import as_extreme, count_extreme, permutation_p
from gslopes.stats.resampling import random_signs, seeded_blocks
from gslopes.stats.rounding import EXACT, STORED, settled

_BLOCK = 1 << 25  # cells of one block of statistics


# -- K outcomes a unit ------------------------------------------------------------------------------------------------


def infer(sums: Moments, intercept: Array, scale: float, most: float) -> Lines:
    """Mean slopes with standard error, t, p and interval, in the unit of the scale; all NaN without a photo.

    intercept: (L,), in the same unit.  most: how steep a photo's slope can be.

    A label whose units all have one slope has se 0: t is infinite, or 0 if the slope is 0.  Then it has no
    interval: units that are all alike tell nothing of how far others may lie.
    """
    n = max(sums.photos, 1)
    dof = max(sums.units - 1, 1)
    skew = sums.slopes.skew
    slope = scale * sums.slopes.mean
    if not sums.photos:
        slope = np.full_like(slope, nan)
    se = scale * np.sqrt(sums.slopes.squares * sums.units / dof) / n
    if sums.units < 2:
        se = np.full_like(se, nan)
    t = t_ratio(slope, se)
    low, high = skewed_ends(slope, se, dof, skew, (-most, most))
    return Lines(slope, intercept, se, t, skewed_test(t, dof, skew), low, high)


# -- one number a unit ------------------------------------------------------------------------------------------------


@frozen_identity
class Units:
    """One number of each unit for each label, summed over the unit's photos; no stored one is 0 but for rounding.

    sums: (L, U) sparse.  sizes: (U,) photos in each unit, or their weights.
    errors: by how much rounding may move each of the stored sums; as of counts and shares if None.
    most: (L,) or one number: how far from 0 a photo's number can be.
    """

    sums: sparse.csr_array
    sizes: Array
    errors: Array | None = None
    most: Array | float = inf

    @classmethod
    def of(
        cls,
        numbers: Numbers,
        errors: Numbers,
        cells: tuple[AnyIntegers, AnyIntegers],
        shape: tuple[int, int],
        sizes: Array,
        most: Array | float = inf,
    ) -> "Units":
        """From numbers, (P,), with their errors, at cells of label and unit."""
        both = sparse.csr_array((numbers + 1j * errors, cells), shape=shape)
        return _settled(both, sizes, most)

    @property
    def rounding(self) -> Array:
        """The errors."""
        return EXACT * abs(self.sums.data) if self.errors is None else self.errors

    @property
    def means(self) -> Array:
        """(L,) mean over photos."""
        return self.departures()[0]

    @property
    def label(self) -> Integers:
        """The label of each stored sum."""
        return np.repeat(np.arange(self.sums.shape[0]), np.diff(self.sums.indptr))

    def departures(self) -> tuple[Array, Array, Array]:
        """(L,) means, their errors, and how far each stored sum is from them, see ``outcomes.departures``."""
        return departures(self._cells)

    def spread(self) -> Spread:
        """How the units depart from the means."""
        return spread_of(self._cells)

    @property
    def _cells(self) -> Cells:
        rows = self.sums
        return Cells(self.label, rows.data, self.rounding, rows.indices, self.sizes, rows.shape[0])

    def joined(
        self, codes: Integers, weights: Array | None = None, chosen: Integers | None = None
    ) -> "Units":
        """Summed over units of these units.

        codes: (u,) of the larger units, from 0.  weights: (u,) of these; 1 each without them.
        chosen: (u,) which of these units count; all without it.
        """
        both = self._complex()
        if chosen is not None:
            both = both[:, chosen]
        if weights is None:
            weights = np.ones(len(codes))
        sizes = doubles(np.bincount(codes, weights))
        cells = np.arange(len(codes)), codes
        members = sparse.csr_array((weights, cells), (len(codes), len(sizes)))
        return _settled(both @ members, sizes, self.most)

    def times(self, factors: Array) -> "Units":
        """Each label's numbers times its factor, (L,)."""
        each = factors[self.label]
        numbers = self.sums.data * each + 1j * self.rounding * abs(each)
        most = self.most * np.maximum(abs(factors), 1e-300)  # no factor of 0: most may be infinite
        return _settled(self.stored(numbers), self.sizes, most)

    def minus(self, other: "Units", sign: int = 1) -> "Units":
        """Unit by unit, less ``sign`` times the other's, over the same labels and units; what rounding leaves is 0."""
        rest = self._complex() - sign * other._complex(-sign)
        return _settled(rest, self.sizes, self.most + other.most)

    def _complex(self, sign: int = 1) -> sparse.csr_array:
        """Sums, and as their imaginary parts the errors, with a sign: what adds the ones adds the others alike."""
        return self.stored(self.sums.data + sign * 1j * self.rounding)

    def stored(self, numbers: Array | NDArray[np.complex128]) -> sparse.csr_array:
        """A matrix with other numbers in the places of the stored sums."""
        return sparse.csr_array((numbers, self.sums.indices, self.sums.indptr), self.sums.shape)

    def lengths(self, numbers: Array) -> Array:
        """(L,) root of the sum of squares of numbers in the places of the stored sums."""
        return np.sqrt(np.bincount(self.label, np.square(numbers), self.sums.shape[0]))


def _settled(both: sparse.csr_array, sizes: Array, most: Array | float) -> Units:
    """The units of complex sums, see ``Units``, without those that are nothing but rounding."""
    both = both.tocsr()
    both.data[settled(both.data.real, both.data.imag, 1) == 0] = 0
    both.eliminate_zeros()
    sums = sparse.csr_array((both.data.real.copy(), both.indices, both.indptr), both.shape)
    return Units(sums, sizes, both.data.imag.copy(), most)


@frozen_identity
class Contrast:
    """Differences and their tests, (L,) each; NaN if no unit's number is other than 0.

    varying: units whose number is not 0.  p_perm is NaN throughout if no permutations were asked for.
    skew: of the difference, see ``outcomes.spread_of``.  error: by how much rounding may move the difference.
    """

    difference: Array
    se: Array
    low: Array
    high: Array
    p: Array
    p_perm: Array
    varying: Integers
    skew: Array
    error: Array


def contrast(units: Units, *, permutations: int = 0, seed: int = 0) -> Contrast:
    """Is the mean over photos 0?  permutations: m, changes of signs; 0 for none.

    The changes of signs are exact for any number of units if each unit's number is as likely with the other sign;
    no change of signs alters the denominator of the studentised mean.
    """
    sums = units.sums
    count = len(units.sizes)
    n = max(float(units.sizes.sum()), 1)
    varying = np.diff(sums.indptr).astype(np.int64)
    spread = units.spread()
    mean, skew = spread.mean, spread.skew
    dof = max(count - 1, 1)
    estimable = (varying > 0) & (count > 1)
    se = np.where(estimable, np.sqrt(spread.squares * count / dof) / n, nan)
    low, high = skewed_ends(mean, se, dof, skew, (-units.most, units.most))
    p = skewed_test(t_ratio(mean, se), dof, skew)
    p_perm = np.full(len(varying), nan)
    if permutations:
        size = _BLOCK // max(*sums.shape, 1)
        blocks = seeded_blocks(permutations, size, [seed, 5])
        flips = (random_signs((count, number), generator) for generator, number in blocks)
        length = units.lengths(sums.data)  # what the signs do not change
        limit = as_extreme(n * abs(mean), length, units.lengths(units.rounding))
        extreme = count_extreme(sums.astype(np.float32), flips, limit)
        p_perm = np.where(estimable, permutation_p(extreme, permutations), nan)
    return Contrast(mean, se, low, high, p, p_perm, varying, skew, spread.error)


# -- two groups of units ----------------------------------------------------------------------------------------------


def difference(
    first: tuple[Array, Array, int],
    second: tuple[Array, Array, int],
    skews: tuple[Array | float, Array | float] = (0.0, 0.0),
    errors: Array | None = None,
    most: float = inf,
) -> tuple[Contrast, Array]:
    """The first group's means less the second's, by Welch's t, and its degrees of freedom, (L,).

    If all numbers of one group are equal, its spread is not taken for 0: both groups then share one (Student's t).

    first, second: means, (L,), their standard errors, (L,), and how many units they are over.
    skews: of both means; 0 is Welch's interval.
    errors: (L,) by how much rounding may move their difference; as of shares of counts if None.
    most: how far apart the means can be.
    """
    one, se_one, n = first
    other, se_other, m = second
    variance, variance_other = np.square(se_one), np.square(se_other)
    welch = welch_satterthwaite(variance, n, variance_other, m)
    pooled_dof = max(n + m - 2, 1)
    pooled = ((n - 1) * n * variance + (m - 1) * m * variance_other) / pooled_dof
    shared = pooled * (1 / max(n, 1) + 1 / max(m, 1))
    flat = (se_one == 0) != (se_other == 0)
    dof = np.where(flat, pooled_dof, np.where(np.isfinite(welch), welch, 1.0))
    se = np.sqrt(np.where(flat, shared, variance + variance_other))
    if errors is None:
        errors = EXACT * (abs(one) + abs(other))
    gap = settled(one - other, errors, 1)
    cubes = skews[0] * se_one**3 - skews[1] * se_other**3
    skew = quotients(cubes, se**3, 0)
    low, high = skewed_ends(gap, se, dof, skew, (-most, most))
    p = skewed_test(t_ratio(gap, se), dof, skew)
    p_perm = np.full(len(gap), nan)
    varying = np.zeros(len(gap), np.int64)
    return Contrast(gap, se, low, high, p, p_perm, varying, skew, errors), dof


def membership_p(
    units: Units,
    first: Flags,
    permutations: int,
    seed: int,
    within: Integers | None = None,
) -> Array:
    """(L,) two-sided p of Welch's t under permutations of membership; NaN if all is 0.

    Null hypothesis: membership is exchangeable over the units.  With many units the level also holds if only the
    means are equal and the groups differ in spread.  It holds if one group is small and the label rare, as Welch's t
    against the t distribution may not.

    first: (U,) which units are in the first group.  within: (U,) codes, inside of which membership is permuted.

    Sources: Janssen 1997, doi 10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi 10.1214/13-AOS1090.
    """
    groups = _Groups(units)
    observed = groups.welch(doubles(first[:, None]))[:, 0]
    limit = as_extreme(observed, 1, groups.rounding)
    exceeding = np.zeros(len(observed), np.int64)
    for members in _memberships(first, within, permutations, seed, len(observed)):
        exceeding += (groups.welch(members) >= limit[:, None]).sum(1)
    return np.where(np.diff(units.sums.indptr) > 0, permutation_p(exceeding, permutations), nan)


class _Groups:
    """Sums from which Welch's t of any two groups of the units follow: of how far the units are from each label's mean.

    Units that have no number are all as far from it, but for their sizes.
    """

    def __init__(self, units: Units) -> None:
        means, _, gaps = units.departures()
        at = units.sizes[units.sums.indices]
        photos = float(units.sizes.sum())
        self.sizes = units.sizes
        self.away = -means[:, None]
        parts = (gaps, gaps * at, np.square(gaps), at, np.square(at))
        self.sums = [units.stored(part) for part in parts]
        totals = [np.asarray(part.sum(1)).reshape(-1, 1) for part in self.sums]
        self.all = self._of(totals, photos, float(np.square(units.sizes).sum()))
        length = np.sqrt(self.all[2])
        self.length = length / max(photos, 1)
        errors = units.lengths(units.rounding)
        self.rounding = quotients(errors, length[:, 0], errors)

    def _of(self, stored: list[Array], photos: Any, squares: Any) -> list[Array]:
        """Sums of the departures, of them times the sizes, and of their squares, over units with and without numbers.

        photos, squares: sums of the units' sizes and of their squares.
        """
        total, weighted, departed, sizes, squared = stored
        rest = squares - squared
        return [
            total + self.away * (photos - sizes),
            weighted + self.away * rest,
            departed + self.away**2 * rest,
        ]

    def welch(self, members: Array) -> Array:
        """(L, b) absolute Welch t of (U, b) memberships."""
        stored = [part @ members for part in self.sums]
        first = self._of(stored, self.sizes @ members, np.square(self.sizes) @ members)
        second = [total - one for total, one in zip(self.all, first, strict=True)]
        mean, variance = self._mean(first, members)
        other_mean, other_variance = self._mean(second, 1 - members)
        distance = settled(abs(mean - other_mean), self.length, STORED)
        variance = variance + other_variance
        exact = np.where(distance > 0, inf, 0.0)
        return np.divide(distance, np.sqrt(variance), out=exact, where=variance > 0)

    def _mean(self, sums: list[Array], members: Array) -> tuple[Array, Array]:
        """(L, b) means of groups, and the squares of their standard errors.  sums: of ``_of``."""
        total, weighted, departed = sums
        photos = np.maximum(self.sizes @ members, 1)
        units = members.sum(0)
        mean = total / photos
        squares = np.square(self.sizes) @ members
        spread = settled(departed - 2 * mean * weighted + mean**2 * squares, self.all[2])
        return mean, np.maximum(spread, 0) * units / np.maximum(units - 1, 1) / photos**2


def _memberships(
    first: Flags,
    within: Integers | None,
    count: int,
    seed: int,
    labels: int,
) -> Iterator[Array]:
    """Blocks of (U, b) memberships drawn at random, 0 or 1."""
    size = _BLOCK // 2 // max(labels, len(first))
    member = doubles(first)
    for generator, number in seeded_blocks(count, size, [seed, 7]):
        if within is None:
            yield generator.permuted(np.broadcast_to(member, (number, len(member))), axis=1).T
            continue
        ordered = member[np.argsort(within, kind="stable")]
        drawn = np.empty((len(member), number))
        for column in range(number):
            drawn[np.lexsort((generator.random(len(member)), within)), column] = ordered
        yield drawn
