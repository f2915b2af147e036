"""Bootstrap: which units a resample draws.

Ours, not scipy's: one draw of counts serves all labels as a matrix product.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gslopes.core.arrays import Array

Rows = NDArray[np.intp]


def seeded_blocks(
    count: int, size: int, key: Sequence[int]
) -> Iterator[tuple[np.random.Generator, int]]:
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


def bootstrap_rows(n: int, count: int, seed: int = 0) -> Iterator[Rows]:
    """Rows of each resample: n drawn from n."""
    generator = np.random.default_rng(seed)
    return (generator.integers(0, n, n) for _ in range(count))
