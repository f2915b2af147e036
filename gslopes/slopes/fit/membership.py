"""Do two groups of photos have the same mean slope? Permutation of who belongs to which.

Null hypothesis: group membership is exchangeable over the units.  The statistic is Welch's t, so that with many units
the test also holds its level where the groups differ in spread and only the means are equal.  Welch's t against its own
table can reject too often where one group is small and the label rare.

Units are photos, or clusters that lie in one group as a whole.  Where most photos lie in clusters that both groups
share (one search, several people), membership is permuted inside the clusters.

Sources: Janssen 1997, doi 10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi 10.1214/13-AOS1090.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.paired import unit_slopes
from gslopes.slopes.fit.profiles import Kind
from gslopes.stats.permutation import welch_permutation
from gslopes.stats.resampling import seeded_blocks

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_BLOCK = 1 << 24


def membership_test(
    answers: Answers, kind: Kind, first: NDArray[np.bool_], cluster: Codes | None, *, permutations: int, seed: int
) -> Array:
    """(L,) two-sided p, null hypothesis: both groups have the same mean slope; NaN if nothing can be permuted.

    answers: of the photos of both groups.  first: (n,) which of them are in the first.  cluster: (n,) codes, or None.
    permutations: m; 0 for none.
    """
    gap = np.full(len(answers.labels), np.nan)
    if not permutations or first.all() or not first.any():
        return gap
    within = None
    if cluster is not None:
        codes = np.unique(cluster, return_inverse=True)[1]
        sizes = np.bincount(codes)
        members = np.bincount(codes, first)
        mixed = (members > 0) & (members < sizes)
        if not mixed.any():
            units = unit_slopes(answers, kind, codes)
            drawn = _memberships(members > 0, None, permutations, seed, len(gap))
            return welch_permutation(units.sums, units.sizes, members > 0, drawn, permutations)
        if sizes[mixed].sum() < 0.5 * len(first):
            return gap
        within = codes
    units = unit_slopes(answers, kind)
    drawn = _memberships(first, within, permutations, seed, len(gap))
    return welch_permutation(units.sums, units.sizes, first, drawn, permutations)


def _memberships(first: NDArray[np.bool_], within: Codes | None, count: int, seed: int, labels: int) -> Iterator[Array]:
    """Blocks of (U, b) memberships drawn at random, 0 or 1."""
    size = max(1, min(count, _BLOCK // max(labels, len(first))))
    member = first.astype(np.float64)
    ordered = None if within is None else member[np.argsort(within, kind="stable")]
    for generator, number in seeded_blocks(count, size, [seed, 7]):
        if within is None or ordered is None:
            yield generator.permuted(np.broadcast_to(member, (number, len(member))), axis=1).T
            continue
        drawn = np.empty((len(member), number))
        for column in range(number):
            shuffled = np.lexsort((generator.random(len(member)), within))
            drawn[shuffled, column] = ordered
        yield drawn
