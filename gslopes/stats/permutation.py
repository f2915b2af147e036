"""Permutation tests: p-values from statistics under permutations, or under changes of signs.

Ours, not scipy's: one permutation serves all labels, and its statistics are a matrix product.

**Permutation of the K outcomes within each unit** (``permute``)

Null hypothesis (counterfactual fairness): a photo's K answers are exchangeable over its K values, for each photo
whatever the others do. Then every assignment of a photo's answers to the values is equally likely, and the share of
permutations whose statistic is as far from 0 as the observed one is a p-value: exact for any number of photos and any
K, with no assumption about distributions. A label's K shares y_k are not K independent points on a line: they all come
from the same photos, which is why the t test with K-2 degrees of freedom on them is not valid and this one is.

The statistic is studentised: the sum of the photos' slopes over the root of the sum of their squares. It is exact
under the null above, and with many photos it also holds its level under the weaker null that photos do move, but by 0
on average; the statistic without its denominator does not. For the paper's estimator the statistic is its slope, z,
with y_c of the permuted answers; if photos move by 0 on average, that test rejects too often, because the answers
do depend on the attribute.

One permutation serves all labels of a photo. Two-sided; p = (b + 1) / (m + 1).

With more units than ``bundles``, units are grouped at random into that many bundles, and the photos of a bundle share
a permutation. These permutations are a subgroup of all permutations, so the p-values stay exact; the sums become dense
matrix products. The cost is power far beyond any threshold: with 1,024 bundles no statistic exceeds about 32.

Sources: Pitman 1937, doi 10.2307/2984124; Phipson & Smyth 2010, doi 10.2202/1544-6115.1585 (the + 1); Hemerik &
Goeman 2018, doi 10.1007/s11749-017-0571-1 (subgroups); Janssen 1997, doi 10.1016/S0167-7152(97)00043-6 (studentised).
"""

from collections.abc import Iterable
from itertools import permutations
from typing import Any

import numpy as np

from gslopes.core import frozen_identity
from gslopes.core.records import (
    AnyArray,
    Array,
    Flags,
    Int8Array,
    Integers,
    Objects,
    centre_of,
    doubles,
    floats,
    quotients,
)
from gslopes.stats.outcomes import Outcomes, Single
from gslopes.stats.resampling import seeded_blocks
from gslopes.stats.rounding import STORED, settled

_CELLS = 1 << 25  # float32 in one block: 128 MiB
_STATISTICS = (
    1 << 22
)  # labels times permutations in one block: some matrices of 16 MiB, for any number of labels
_TIE = 1e-5  # statistics that differ by less are equal, of their size and of a standard error: they are float32


def permutation_p(exceeding: Any, count: int) -> Any:
    """P from how many of ``count`` random permutations have a statistic as extreme as the observed one, which counts.

    Source: Phipson & Smyth 2010, doi 10.2202/1544-6115.1585.

    >>> permutation_p(4, 99)
    0.05
    """
    return (exceeding + 1) / (count + 1)


def as_extreme(observed: Array, error: Array | float = 1.0, rounding: Array | float = 0.0) -> Array:
    """The least statistic that counts as far from 0 as the observed one, below it by what rounding may be.

    observed: 0 or more.  error: the standard error of a statistic that is not studentised.  rounding: by how much
    the rounding of the answers may move it.
    """
    return observed * (1 - _TIE) - _TIE * error - rounding


def count_extreme(sums: Any, assignments: Iterable[AnyArray], limit: Array) -> Integers:
    """(L,) how many assignments give a total as far from 0 as the limit.

    sums: (L, U), an array or a sparse matrix.  assignments: blocks of (U, b), such as signs.
    limit: (L,), see ``as_extreme``.
    """
    extreme = np.zeros(len(limit), np.int64)
    for block in assignments:
        extreme += (abs(sums @ block) >= limit[:, None]).sum(1)
    return extreme


def below_floor(
    p_perm: Array, p: Array, count: int, *, trusted: bool | Flags = True
) -> tuple[Array, Objects]:
    """The p that is adjusted, and its source.

    m permutations cannot show less than 1 / (m + 1), which after adjustment over some hundred labels shows nothing at
    all.  If none of them reached the observed statistic, the t test's p is taken if it is smaller.  The chance of
    a false p below any x is then at most t's, and never more than 1 / (m + 1).

    p_perm, p: (L,) of the same null hypothesis.  count: m; 0 if there was none, and all is t's.
    trusted: whether t may be believed, (L,) or of all; not if one cluster holds most of the photos.
    """
    if not count:
        return p, np.where(np.isnan(p), np.array(None), "t")
    with np.errstate(invalid="ignore"):
        lower = (p_perm <= permutation_p(0, count)) & (p < p_perm) & trusted
    source = np.where(lower, "t below the permutations' floor", "permutation").astype(object)
    source[np.isnan(p_perm)] = None
    return np.where(lower, p, p_perm), source


# -- the outcomes of a unit, permuted over its conditions ---------------------------------------------------------


@frozen_identity
class Permuted:
    """p-values of the labels, (L,), NaN if a label is not tested.

    p: of the studentised mean slope.
    p_paper: of the paper's slope; NaN too if no photo has the label at the centre.
    """

    p: Array
    p_paper: Array


def permute(
    outcomes: Outcomes,
    tested: Flags,
    count: int,
    seed: int,
    *,
    bundles: int = 1024,
    paper: bool = False,
) -> Permuted:
    """Permute within photos.

    outcomes: of presence or scores.  tested: (L,) which labels.
    count: m, how many random permutations.  bundles: see above.  paper: whether to test the paper's slope, too.
    """
    labels = np.flatnonzero(tested)
    units = len(outcomes.sizes)
    chosen = np.arange(units)
    if units > bundles:
        chosen = np.random.default_rng([seed, 2]).permutation(units) % bundles
    groups = int(chosen.max(initial=0)) + 1
    width = len(outcomes.values)
    total, paper_total = np.zeros((2, outcomes.labels), np.int64)
    cells = max(1, groups * width * (width + 1) // 2)
    batch = max(1, min(count, _CELLS // 4 // cells))
    each = max(1, min(_CELLS // cells, _STATISTICS // batch))
    orders = outcomes.orders
    if orders is None and width <= 7:
        orders = np.array(list(permutations(range(width))), np.int8)
    for start in range(0, len(labels), each):
        block = labels[start : start + each]
        state = _Block(outcomes, block, chosen, groups, paper)
        relative_limit = as_extreme(state.relative, 0)[:, None]
        for generator, number in seeded_blocks(count, batch, [seed, 3]):
            if orders is None:
                ordered = np.broadcast_to(np.arange(width, dtype=np.int8), (number, groups, width))
                permuted = generator.permuted(ordered, axis=2)
            else:
                permuted = orders[generator.integers(0, len(orders), (number, groups))]
            statistic, relative = state.statistics(permuted)
            total[block] += (statistic >= state.limit[:, None]).sum(1)
            if paper:
                paper_total[block] += (relative >= relative_limit).sum(1)
    p = np.where(tested, permutation_p(total, count), np.nan)
    at_centre = outcomes.numbers[:, centre_of(outcomes.values)]
    centred = np.bincount(outcomes.label, at_centre, outcomes.labels) > 0
    p_paper = np.where(tested & centred & paper, permutation_p(paper_total, count), np.nan)
    return Permuted(p, p_paper)


class _Block:
    """Some labels' answers in bundles, and their statistics under permutations.

    centred: (l, G, K) sums over bundles, times K, less each bundle's total over the K: whole numbers for presence, so
    that sums of them are exact in float32 and ties are ties.  totals: (l,) what was taken off, summed.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        labels: Integers,
        chosen: Integers,
        groups: int,
        paper: bool,
    ) -> None:
        """labels: which ones, (l,).  chosen: (U,) the bundle of each unit.  groups: how many bundles."""
        width = len(outcomes.values)
        centred = np.zeros((len(labels), groups, width), np.float32)
        totals, rounding = np.zeros((2, len(labels)))
        errors = outcomes.rounding
        for row, label in enumerate(labels):
            rows = slice(outcomes.starts[label], outcomes.starts[label + 1])
            numbers = doubles(outcomes.numbers[rows])
            total = numbers.sum(1)
            totals[row] = total.sum()
            rounding[row] = width * np.linalg.norm(errors[rows])
            bundle = chosen[outcomes.unit[rows]]
            for step in range(width):
                moves = width * numbers[:, step] - total
                centred[row, :, step] = np.bincount(bundle, moves, minlength=groups)
        self.codes = _integers(outcomes.values)
        self.middle = centre_of(outcomes.values)
        self.linear = centred.reshape(len(labels), -1)
        self.rows, self.columns = np.triu_indices(width)
        twice = floats(np.where(self.rows == self.columns, 1, 2))
        products = centred[:, :, self.rows] * centred[:, :, self.columns] * twice
        self.square = products.reshape(len(labels), -1)
        length = np.square(self.linear).sum(1, keepdims=True)
        self.length = length * np.square(self.codes).sum()
        self.totals = floats(totals) if paper else None
        identity = np.broadcast_to(np.arange(width, dtype=np.int8), (1, groups, width))
        statistic, relative = self.statistics(identity)
        self.relative = doubles(relative[:, 0])
        slopes = np.einsum("lgk,k->lg", centred, self.codes, dtype=np.float64)
        spread = np.sqrt(np.square(slopes).sum(1))
        error = abs(self.codes).sum() * rounding
        error = quotients(error, spread, error)
        self.limit = as_extreme(doubles(statistic[:, 0]), 1, error)

    def statistics(self, permuted: Int8Array) -> tuple[Single, Single]:
        """Two (l, b) absolute statistics of (b, G, K) permutations: entry k is the value assigned to answer k."""
        codes = self.codes[permuted]
        count = len(permuted)
        total = abs(self.linear @ codes.reshape(count, -1).T)
        squares = (codes[:, :, self.rows] * codes[:, :, self.columns]).reshape(count, -1)
        spread = self.square @ squares.T
        # less is what float32 leaves of units that do not move
        varies = spread > np.float32(STORED) * self.length
        length = np.sqrt(np.where(varies, spread, 1))
        statistic = np.where(varies, total / length, np.float32(0))
        if self.totals is None:
            return statistic, statistic
        at_centre = floats((permuted == self.middle).reshape(count, -1))
        centre = self.linear @ at_centre.T + self.totals[:, None]
        # counts: below 0.5 no answer is left at the centre, as extreme as can be
        infinite = np.full_like(total, np.inf)
        return statistic, np.divide(total, centre, out=infinite, where=centre >= 0.5)


def _integers(values: Array) -> Single:
    """Centred values; whole numbers if they lie evenly, so that sums of presences are exact."""
    centred = values - values.mean()
    even = np.linspace(-(len(values) // 2), len(values) // 2, len(values))
    scaled = centred / (centred[-1] - centred[0]) * (len(values) - 1)
    apart = settled(scaled - even, len(values), STORED).any()
    return floats(scaled if apart else even)
