"""Bootstrap: which units a resample draws.

Ours, not scipy's: one draw of counts serves all labels as a matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


def seeded_blocks(count: int, size: int, key: Sequence[int]) -> Iterator[tuple[np.random.Generator, int]]:
    """(generator, how many) of each block of ``count`` draws: at most ``size`` each, the same whenever they are drawn.

    key: the seed, and a number of the test's own.
    """
    starts = range(0, count, size)
    for start, source in zip(starts, np.random.SeedSequence(key).spawn(len(starts)), strict=True):
        yield np.random.default_rng(source), min(size, count - start)


def multinomial_counts(units: int, count: int, generator: np.random.Generator) -> Array:
    """(count, U): how often each of U units is drawn in each resample of U units with replacement."""
    if not units:
        return np.empty((count, 0))
    return generator.multinomial(units, np.full(units, 1 / units), size=count).astype(np.float64)


def bootstrap_rows(n: int, count: int, seed: int = 0, clusters: NDArray[np.generic] | None = None) -> Iterator[Rows]:
    """Rows of each resample: n drawn from n, or whole clusters from as many clusters.

    clusters: (n,) which rows belong together, such as the person in each photo.
    """
    generator = np.random.default_rng(seed)
    if clusters is None:
        for _ in range(count):
            yield generator.integers(0, n, n)
        return
    _, which = np.unique(clusters, return_inverse=True)
    members = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])
    for _ in range(count):
        yield np.concatenate([members[index] for index in generator.integers(0, len(members), len(members))])
