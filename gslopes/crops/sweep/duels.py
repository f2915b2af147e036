"""The causal version: the same person, one face moved along an attribute, beside others or beside itself."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gslopes.stats.intervals import t_quantile

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Duels:
    """A person's pictures at K values beside one another, all K(K-1)/2 pairs.

    p: (K, K) chance that the row's value is favoured over the column's, mean over persons; NaN on the diagonal.
    low, high: (K, K) ends of its 95 % t interval over persons.
    score: (n,) mean over pairs of values of sign(v - v') (h - 1/2) 2, in [-1, 1]: 1 if the larger value always wins.
    """

    p: Array
    low: Array
    high: Array
    score: Array


def value_pairs(values: int) -> list[tuple[int, int]]:
    """(lower, higher) step of every pair."""
    return list(combinations(range(values), 2))


def duels(h: Array, confidence: float = 0.95) -> Duels:
    """h: (n, K, K), share of the answers about a person's pictures at steps k and l that favoured k; NaN: not asked."""
    n, size, _ = h.shape
    mean = np.nanmean(np.where(np.eye(size, dtype=bool), 0.5, h), axis=0)
    spread = (
        np.nanstd(np.where(np.eye(size, dtype=bool), 0.5, h), axis=0, ddof=1) if n > 1 else np.full(mean.shape, np.nan)
    )
    half = t_quantile(max(n - 1, 1), confidence) * spread / np.sqrt(n)
    steps = value_pairs(size)
    score = np.mean([2 * h[:, high, low] - 1 for low, high in steps], axis=0)
    diagonal = np.eye(size, dtype=bool)
    p, low, high_end = (np.where(diagonal, np.nan, table) for table in (mean, mean - half, mean + half))
    return Duels(p, low, high_end, np.asarray(score))
