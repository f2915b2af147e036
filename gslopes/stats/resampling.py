"""Random draws: changes of signs, which units a resample has, and the interval of what was drawn.

Ours, not scipy's: one draw serves all labels as a matrix product.
"""

from collections.abc import Iterator, Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from gslopes.core.records import Array, FloatArray, Interval, Numbers, doubles, floats

Rows = NDArray[np.intp]


def seeded_blocks(
    count: int, size: int, key: Sequence[int]
) -> Iterator[tuple[np.random.Generator, int]]:
    """(generator, how many) of each block of ``count`` draws, the same whenever they are drawn.

    size: of a block, at most; 1 if that is below 1.  key: the seed, and a number of the test's own.
    """
    size = max(1, min(size, count))
    starts = range(0, count, size)
    for start, source in zip(starts, np.random.SeedSequence(key).spawn(len(starts)), strict=True):
        yield np.random.default_rng(source), min(size, count - start)


def random_signs(shape: tuple[int, int], generator: np.random.Generator) -> FloatArray:
    """1 or -1, with equal chances."""
    return floats(2 * generator.integers(0, 2, shape, dtype=np.int8) - 1)


def multinomial_counts(units: int, count: int, generator: np.random.Generator) -> Array:
    """(count, U): how often each of U units is drawn in each resample of U units with replacement."""
    if not units:
        return np.empty((count, 0))
    return doubles(generator.multinomial(units, np.full(units, 1 / units), size=count))


def bootstrap_rows(n: int, count: int, seed: int = 0) -> Iterator[Rows]:
    """Rows of each resample: n drawn from n."""
    generator = np.random.default_rng(seed)
    return (generator.integers(0, n, n) for _ in range(count))


def percentile(draws: Numbers) -> Interval:
    """Ends of the 95 % percentile interval of resampled numbers, (B,); NaN ones are left out."""
    numbers = draws[np.isfinite(draws)]
    if not len(numbers):
        return nan, nan
    low, high = np.quantile(numbers, [0.025, 0.975])
    return float(low), float(high)
