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
with y_c of the permuted answers; where photos move by 0 on average, that test rejects too often, because the answers
do depend on the attribute.

One permutation serves all labels of a photo. Two-sided; p = (b + 1) / (m + 1).

With more units than ``bundles``, units are grouped at random into that many bundles, and the photos of a bundle share
a permutation. These permutations are a subgroup of all permutations, so the p-values stay exact; the sums become dense
matrix products. The cost is power far beyond any threshold: with 1,024 bundles no statistic exceeds about 32.

Sources: Pitman 1937, doi 10.2307/2984124; Phipson & Smyth 2010, doi 10.2202/1544-6115.1585 (the + 1); Hemerik &
Goeman 2018, doi 10.1007/s11749-017-0571-1 (subgroups); Janssen 1997, doi 10.1016/S0167-7152(97)00043-6 (studentised).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gslopes.core.arrays import Array, Flags, Integers, Objects, centre_of
from gslopes.core.records import FloatArray
from gslopes.stats.outcomes import Outcomes, Single
from gslopes.stats.resampling import seeded_blocks
from gslopes.stats.rounding import STORED, settled

_CELLS = 1 << 25  # float32 in one block: 128 MiB
_STATISTICS = (
    1 << 22
)  # labels times permutations in one block: some matrices of 16 MiB, however many labels there are
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

    observed: 0 or more.  error: the standard error of a statistic that is not studentised.  rounding: by how much that
    of the answers may move it.
    """
    return observed * (1 - _TIE) - _TIE * error - rounding


def count_extreme(sums: Any, assignments: Iterable[NDArray[Any]], limit: Array) -> Integers:
    """(L,) how many assignments give a total as far from 0 as the limit.

    sums: (L, U), an array or a sparse matrix.  assignments: blocks of (U, b), such as signs.
    limit: (L,), see ``as_extreme``.
    """
    extreme = np.zeros(len(limit), dtype=np.int64)
    for block in assignments:
        extreme += (np.abs(sums @ block) >= limit[:, None]).sum(axis=1)
    return extreme


def random_signs(shape: tuple[int, int], generator: np.random.Generator) -> FloatArray:
    """1 or -1, with equal chances."""
    return (2 * generator.integers(0, 2, shape, dtype=np.int8) - 1).astype(np.float32)


def below_floor(
    p_perm: Array, p: Array, count: int, *, trusted: bool | Flags = True
) -> tuple[Array, Objects]:
    """The p that is adjusted, and where it comes from.

    m permutations cannot show less than 1 / (m + 1), which after adjustment over some hundred labels shows nothing at
    all.  Where none of them reached the observed statistic, the t test's p is taken if it is smaller.  The chance of
    a false p below any x is then at most that of t alone, and never more than 1 / (m + 1).

    p_perm, p: (L,) of the same null hypothesis.  count: m; 0 if there was none, and all is t's.
    trusted: whether t may be believed, (L,) or of all; not where one cluster holds most of the photos.
    """
    if not count:
        alone = np.full(len(p), "t", dtype=object)
        alone[np.isnan(p)] = None
        return p, alone
    with np.errstate(invalid="ignore"):
        lower = (p_perm <= permutation_p(0, count)) & (p < p_perm) & trusted
    source = np.where(lower, "t below the permutations' floor", "permutation").astype(object)
    source[np.isnan(p_perm)] = None
    return np.where(lower, p, p_perm), source


# -- the outcomes of a unit, permuted over its conditions ---------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Permuted:
    """p-values of the labels, (L,), NaN where a label is not tested.

    p: of the studentised mean slope.
    p_paper: of the paper's slope; NaN too where no photo has the label at the centre.
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
    size = int(chosen.max(initial=0)) + 1
    width = len(outcomes.values)
    total = np.zeros(outcomes.labels, dtype=np.int64)
    paper_total = np.zeros(outcomes.labels, dtype=np.int64)
    cells = max(1, size * width * (width + 1) // 2)
    each = max(1, min(_CELLS // cells, _STATISTICS // _batch_size(cells, count)))
    for start in range(0, len(labels), each):
        block = labels[start : start + each]
        centred, totals, rounding = _sums(outcomes, block, chosen, size)
        state = _Block(outcomes.values, centred, totals, rounding, paper)
        for permuted in _permutations(width, size, count, seed, outcomes.orders):
            statistic, relative = state.statistics(permuted)
            total[block] += (statistic >= state.limit[:, None]).sum(axis=1)
            if paper:
                paper_total[block] += (relative >= as_extreme(state.relative, 0)[:, None]).sum(
                    axis=1
                )
    centre = (
        np.bincount(
            outcomes.label, outcomes.numbers[:, centre_of(outcomes.values)], outcomes.labels
        )
        > 0
    )
    untested = np.full(outcomes.labels, np.nan)
    return Permuted(
        np.where(tested, permutation_p(total, count), np.nan),
        np.where(tested & centre, permutation_p(paper_total, count), np.nan) if paper else untested,
    )


class _Block:
    """Some labels' answers in bundles, and their statistics under permutations.

    values: (K,).  centred: (l, G, K) sums over bundles, times K, less each bundle's total over the K: whole numbers for
    presence, so that sums of them are exact in float32 and ties are ties.  totals: (l,) what was taken off, summed.
    rounding: (l,) by how much that of the answers may move a bundle's numbers, over all of them.
    """

    def __init__(
        self, values: Array, centred: Single, totals: Array, rounding: Array, paper: bool
    ) -> None:
        size, groups, width = centred.shape
        self.codes = _integers(values)
        self.middle = centre_of(values)
        self.linear = centred.reshape(size, groups * width)
        self.rows, self.columns = np.triu_indices(width)
        twice = np.where(self.rows == self.columns, 1, 2).astype(np.float32)
        self.square = (centred[:, :, self.rows] * centred[:, :, self.columns] * twice).reshape(
            size, -1
        )
        self.length = (
            np.square(self.linear).sum(axis=1, keepdims=True) * np.square(self.codes).sum()
        )
        self.totals = totals.astype(np.float32) if paper else None
        identity = np.broadcast_to(np.arange(width, dtype=np.int8), (1, groups, width))
        statistic, relative = self.statistics(identity)
        observed = statistic[:, 0].astype(np.float64)
        self.relative = relative[:, 0].astype(np.float64)
        spread = np.square(np.einsum("lgk,k->lg", centred, self.codes, dtype=np.float64)).sum(
            axis=1
        )
        error = np.abs(self.codes).sum() * rounding
        self.limit = as_extreme(
            observed, 1, np.divide(error, np.sqrt(spread), out=error, where=spread > 0)
        )

    def statistics(self, permuted: NDArray[np.int8]) -> tuple[Single, Single]:
        """Two (l, b) absolute statistics of (b, G, K) permutations: entry k is the value assigned to answer k."""
        codes = self.codes[permuted]
        count = len(permuted)
        total = np.abs(self.linear @ codes.reshape(count, -1).T)
        squares = (codes[:, :, self.rows] * codes[:, :, self.columns]).reshape(count, -1)
        spread = self.square @ squares.T
        varies = (
            spread > np.float32(STORED) * self.length
        )  # less is what float32 leaves of units that do not move
        statistic = np.where(varies, total / np.sqrt(np.where(varies, spread, 1)), np.float32(0))
        if self.totals is None:
            return statistic, statistic
        at_centre = (permuted == self.middle).reshape(count, -1).astype(np.float32)
        centre = self.linear @ at_centre.T + self.totals[:, None]
        empty = centre < 0.5  # counts: no answer is left at the centre, as extreme as can be
        return statistic, np.where(empty, np.float32(np.inf), total / np.where(empty, 1, centre))


def _sums(
    outcomes: Outcomes, block: Integers, chosen: Integers, size: int
) -> tuple[Single, Array, Array]:
    """(l, G, K) centred sums of each bundle, times K, (l,) the sum of what was taken off, and (l,) rounding."""
    width = len(outcomes.values)
    errors = outcomes.rounding
    result = np.zeros((len(block), size, width), dtype=np.float32)
    totals, rounding = np.zeros((2, len(block)))
    for row, label in enumerate(block):
        rows = slice(outcomes.starts[label], outcomes.starts[label + 1])
        numbers = outcomes.numbers[rows].astype(np.float64)
        total = numbers.sum(axis=1)
        totals[row], rounding[row] = total.sum(), width * np.linalg.norm(errors[rows])
        bundle = chosen[outcomes.unit[rows]]
        for step in range(width):
            result[row, :, step] = np.bincount(
                bundle, width * numbers[:, step] - total, minlength=size
            )
    return result, totals, rounding


def _batch_size(cells: int, count: int) -> int:
    """How many permutations a block has.  cells: of one of them."""
    return max(1, min(count, _CELLS // 4 // cells))


def _permutations(
    width: int, groups: int, count: int, seed: int, orders: NDArray[np.int8] | None = None
) -> Iterator[NDArray[np.int8]]:
    """Blocks of (b, G, K) permutations, the same whenever they are asked for."""
    every = (
        np.array(list(permutations(range(width))), dtype=np.int8)
        if width <= 7 and orders is None
        else None
    )
    table = every if orders is None else orders
    size = _batch_size(max(1, groups * width * (width + 1) // 2), count)
    for generator, number in seeded_blocks(count, size, [seed, 3]):
        if table is not None:
            yield table[generator.integers(0, len(table), (number, groups))]
        else:
            ordered = np.broadcast_to(np.arange(width, dtype=np.int8), (number, groups, width))
            yield generator.permuted(ordered, axis=2)


def _integers(values: Array) -> Single:
    """Centred values; whole numbers where they lie evenly, so that sums of presences are exact."""
    centred = values - values.mean()
    even = np.linspace(-(len(values) // 2), len(values) // 2, len(values))
    scaled = centred / (centred[-1] - centred[0]) * (len(values) - 1)
    apart = settled(scaled - even, len(values), STORED).any()
    return (scaled if apart else even).astype(np.float32)
