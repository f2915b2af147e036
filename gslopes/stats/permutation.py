"""Permutation tests: p-values from statistics under permutations, or under changes of signs.

Ours, not scipy's: one permutation serves all labels, and its statistics are a matrix product.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
