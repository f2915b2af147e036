"""Two sweeps of the same photos, paired photo by photo: how far apart are a label's two mean slopes?

Each unit (a photo, or a cluster of photos) has one difference of its two slopes; the tests are one-sample tests of
those differences.

    t       mean over its cluster-robust standard error, U - 1 degrees of freedom; null: the mean difference is 0
    signs   the units' differences change sign at random; null: the two sweeps are exchangeable within each unit

The second is exact under its null for any number of units, and with many of them also where only the mean is 0
(Janssen 1997: the statistic is the studentised one, whose denominator no change of signs alters).

Source: Fisher 1935, The Design of Experiments, section 21.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.profiles import Kind, profiles
from gslopes.stats.intervals import half_width, t_test
from gslopes.stats.ols import line_weights, t_ratio
from gslopes.stats.permutation import count_extreme, permutation_p, random_signs
from gslopes.stats.resampling import seeded_blocks

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

SCALE: dict[str, float] = {"rate": 100.0, "score": 1.0, "measure": 1.0}
_BLOCK = 1 << 25  # cells of one block of statistics
_TIE = 1e-5


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
    kept = np.abs(slopes) > 1e-12 * SCALE[kind]
    rows = place[profile.label[kept]]
    shape = (len(names), len(profile.sizes))
    return Units(names, sparse.csr_array((slopes[kept], (rows, profile.unit[kept])), shape=shape), profile.sizes)


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
    known = (varying > 0) & (units > 1)
    se = np.where(known, np.sqrt(spread * units / max(units - 1, 1)) / n, np.nan)
    dof = max(units - 1, 1)
    half = half_width(se, dof, confidence)
    p = np.where(known, t_test(t_ratio(mean, se), dof), np.nan)
    signs = _signs(sums, total, permutations, seed) if permutations else np.full(len(total), np.nan)
    return Paired(mean, se, mean - half, mean + half, p, np.where(known, signs, np.nan), varying)


def _signs(sums: sparse.csr_array, total: Array, count: int, seed: int) -> Array:
    """(L,) p of the totals under changes of signs."""
    labels, units = sums.shape
    size = max(1, min(count, _BLOCK // max(labels, units, 1)))
    blocks = seeded_blocks(count, size, [seed, 5])
    flips = (random_signs((units, number), generator) for generator, number in blocks)
    extreme = count_extreme(sums.astype(np.float32), flips, np.abs(total) * (1 - _TIE))
    return np.asarray(permutation_p(extreme, count), dtype=np.float64)
