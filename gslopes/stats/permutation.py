"""Permutation tests: p-values from statistics under permutations, or under changes of signs.

Ours, not scipy's: one permutation serves all labels, and its statistics are a matrix product.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gslopes.stats.multiplicity import adjust

Array = NDArray[np.float64]
_TIE = 1e-5


def permutation_p(exceeding: Any, count: int) -> Any:
    """P from how many of ``count`` random permutations have a statistic as extreme as the observed one, which counts.

    Source: Phipson & Smyth 2010, doi 10.2202/1544-6115.1585.

    >>> permutation_p(4, 99)
    0.05
    """
    return (exceeding + 1) / (count + 1)


def count_extreme(sums: Any, assignments: Iterable[NDArray[Any]], limit: Array) -> NDArray[np.int64]:
    """(L,) how many assignments give a total as far from 0 as the limit.

    sums: (L, U), an array or a sparse matrix.  assignments: blocks of (U, b), such as signs.  limit: (L,), 0 or more.
    """
    extreme = np.zeros(len(limit), dtype=np.int64)
    for block in assignments:
        extreme += (np.abs(sums @ block) >= limit[:, None]).sum(axis=1)
    return extreme


def welch_permutation(sums: Any, sizes: Array, first: NDArray[np.bool_], drawn: Iterable[Array], count: int) -> Array:
    """(L,) two-sided p of Welch's t of the means of two groups under ``count`` memberships; NaN where all is 0.

    Null hypothesis: membership is exchangeable over the units.  With many units the level also holds where only the
    means are equal and the groups differ in spread.

    sums: (L, U) each unit's sum, sparse.  sizes: (U,) how many numbers it is of.  first: (U,) which units are in the
    first group.  drawn: blocks of (U, b) memberships, 0 or 1.

    Sources: Janssen 1997, doi 10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi 10.1214/13-AOS1090.
    """
    parts = [matrix.astype(np.float64) for matrix in (sums, sums * sizes[None, :], sums.multiply(sums))]
    matrices = [sparse.csr_array(part) for part in parts]
    observed = _welch(matrices, sizes, first[:, None].astype(np.float64))[:, 0]
    exceeding = np.zeros(len(observed), dtype=np.int64)
    for members in drawn:
        exceeding += (_welch(matrices, sizes, members) >= observed[:, None] * (1 - _TIE)).sum(axis=1)
    return np.where(np.diff(matrices[0].indptr) > 0, permutation_p(exceeding, count), np.nan)


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


def lone_q(count: int, tests: int, method: str = "bh") -> float:
    """The q of a single effect among ``tests`` tests, all others with a p of 1: no permutations show a smaller p.

    count: permutations.  method: as of ``adjust``.

    >>> round(lone_q(10_000, 600), 3)
    0.06
    """
    return float(adjust(np.append(permutation_p(0, count), np.ones(tests - 1)), method)[0])


def random_signs(shape: tuple[int, int], generator: np.random.Generator) -> NDArray[np.float32]:
    """1 or -1, with equal chances."""
    return (2 * generator.integers(0, 2, shape, dtype=np.int8) - 1).astype(np.float32)


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
