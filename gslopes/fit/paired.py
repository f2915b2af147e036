"""Two sweeps of the same photos, paired photo by photo: how far apart are a label's two mean slopes?

Each unit (a photo, or a cluster of photos) has one difference of its two slopes; the tests are one-sample tests of
those differences.

    t       mean over its cluster-robust standard error, U - 1 degrees of freedom; null: the mean difference is 0
    signs   the units' differences change sign at random; null: the two sweeps are exchangeable within each unit

The second is exact under its null for any number of units, and with many of them also where only the mean is 0
(Janssen 1997: the statistic is the studentised one, whose denominator no change of signs alters).

Sources: Fisher 1935, The Design of Experiments, section 21; Phipson & Smyth 2010, doi 10.2202/1544-6115.1585 (the + 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from gslopes.fit.answers import Answers
from gslopes.fit.profiles import Kind, profiles
from gslopes.stats.ols import line_weights, t_ratio

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

SCALE: dict[str, float] = {"rate": 100.0, "score": 1.0, "censored": 1.0}
_BLOCK = 1 << 25  # cells of one block of statistics
_TIE = 1e-5
FEW = 10.0  # effective units, below which a t over clusters is not to be trusted


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Slopes of every label, unit by unit, in the estimator's unit, summed over a unit's photos.

    labels: (L,) sorted.  sums: (L, U) sparse.  sizes: (U,) photos in each unit.
    """

    labels: NDArray[np.object_]
    sums: sparse.csr_array
    sizes: Array

    @property
    def means(self) -> Array:
        """(L,) mean over photos."""
        return np.asarray(self.sums.sum(axis=1)).ravel() / max(float(self.sizes.sum()), 1)


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Differences of mean slopes and their tests, (L,) each; NaN where no unit's difference is other than 0.

    varying: units with a difference.  p_perm is NaN throughout if no permutations were asked for.
    """

    difference: Array
    se: Array
    low: Array
    high: Array
    p: Array
    p_perm: Array
    varying: Integers


def unit_slopes(
    answers: Answers, kind: Kind, cluster: Integers | None = None, labels: NDArray[np.object_] | None = None
) -> Units:
    """Each unit's slopes.  labels: those wanted, sorted, all of the answers' among them; the answers' own if None."""
    profile = profiles(answers, kind, cluster)
    slopes = SCALE[kind] * (profile.numbers.astype(np.float64) @ line_weights(profile.values))
    names = answers.labels if labels is None else labels
    place = np.searchsorted(names.astype(str), answers.labels.astype(str)) if len(answers.labels) else np.empty(0, int)
    rows = place[profile.label] if len(profile.unit) else np.empty(0, int)
    kept = np.abs(slopes) > 1e-12 * SCALE[kind]
    shape = (len(names), len(profile.sizes))
    sums = sparse.csr_array((slopes[kept], (rows[kept], profile.unit[kept])), shape=shape)
    return Units(names, sums, profile.sizes)


def paired_test(
    one: Units, other: Units, *, permutations: int = 0, seed: int = 0, confidence: float = 0.95, sign: int = 1
) -> Paired:
    """The first's mean slopes minus ``sign`` times the second's.

    one, other: over the same labels and units.  permutations: m, changes of signs; 0 for none.
    """
    difference = (one.sums - sign * other.sums).tocsr()
    difference.data[np.abs(difference.data) <= 1e-9 * np.abs(one.sums.data).max(initial=1e-300)] = 0
    difference.eliminate_zeros()
    return mean_test(difference, one.sizes, permutations=permutations, seed=seed, confidence=confidence)


def mean_test(
    sums: sparse.csr_array, sizes: Array, *, permutations: int = 0, seed: int = 0, confidence: float = 0.95
) -> Paired:
    """Is the mean over photos 0?  sums: (L, U) of each unit's photos.  sizes: (U,)."""
    units, n = len(sizes), max(float(sizes.sum()), 1)
    varying = np.diff(sums.indptr).astype(np.int64)
    total = np.asarray(sums.sum(axis=1)).ravel().astype(np.float64)
    mean = total / n
    squares = np.asarray(sums.multiply(sums).sum(axis=1)).ravel()
    spread = squares - 2 * mean * (sums @ sizes) + mean**2 * float(np.square(sizes).sum())
    spread = np.where(spread <= 1e-13 * np.maximum(squares, 1e-300), 0.0, spread)
    se = np.sqrt(spread * units / max(units - 1, 1)) / n
    known = (varying > 0) & (units > 1)
    se = np.where(known, se, np.nan)
    dof = max(units - 1, 1)
    half = special.stdtrit(dof, 0.5 + confidence / 2) * se
    p = np.where(known, 2 * special.stdtr(dof, -np.abs(t_ratio(mean, se))), np.nan)
    signs = _signs(sums, total, permutations, seed) if permutations else np.full(len(total), np.nan)
    return Paired(mean, se, mean - half, mean + half, p, np.where(known, signs, np.nan), varying)


def _signs(sums: sparse.csr_array, total: Array, count: int, seed: int) -> Array:
    """(L,) share of changes of signs, the observed one among them, whose total is as far from 0."""
    labels, units = sums.shape
    limit = np.abs(total)[:, None] * (1 - _TIE)
    single = sums.astype(np.float32)
    size = max(1, min(count, _BLOCK // max(labels, units, 1)))
    blocks = range(0, count, size)
    exceeding = np.zeros(labels, dtype=np.int64)
    for start, source in zip(blocks, np.random.SeedSequence([seed, 5]).spawn(len(blocks)), strict=True):
        generator = np.random.default_rng(source)
        flips = 2 * generator.integers(0, 2, (units, min(size, count - start)), dtype=np.int8) - 1
        exceeding += (np.abs(single @ flips.astype(np.float32)) >= limit).sum(axis=1)
    return np.asarray((exceeding + 1) / (count + 1), dtype=np.float64)


def below_floor(p_perm: Array, p: Array, count: int, *, trusted: bool = True) -> tuple[Array, NDArray[np.object_]]:
    """The p that is adjusted, and where it comes from.

    m permutations cannot show less than 1 / (m + 1), which after adjustment over some hundred labels is no evidence at
    all.  Where none of them reached the observed statistic, the t test's p is taken if it is smaller.  The chance of
    a false p below any x is then at most that of t alone, and never more than 1 / (m + 1).

    p_perm, p: (L,) of the same null hypothesis.  count: m; 0 if there was none, and all is t's.
    trusted: whether t may be believed; not where one cluster holds most of the photos.
    """
    if not count:
        alone = np.full(len(p), "t", dtype=object)
        alone[np.isnan(p)] = None
        return p, alone
    floor = p_perm <= (1 + 1e-9) / (count + 1)
    with np.errstate(invalid="ignore"):
        lower = floor & (p < p_perm) & trusted
    source = np.where(lower, "t below the permutations' floor", "permutation").astype(object)
    source[np.isnan(p_perm)] = None
    return np.where(lower, p, p_perm), source


def effective_units(sizes: Array) -> float:
    """How many units of equal size tell as much about a mean, if photos of one unit are alike.

    Source: Carter, Schnepel & Steigerwald 2017, doi 10.1162/REST_a_00639, G* of an intercept.

    >>> round(effective_units(np.ones(30)), 6), round(effective_units(np.array([40.0, *[1.0] * 60])), 1)
    (30.0, 1.1)
    """
    if not len(sizes):
        return 0.0
    squares = np.square(np.asarray(sizes, dtype=np.float64))
    return float(len(sizes) / (1 + np.var(squares) / np.mean(squares) ** 2))
