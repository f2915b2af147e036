"""Bootstrap: which units a resample draws.

Ours, not scipy's: one draw of counts serves all labels as a matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
ENOUGH = 10  # with and without: below, percentiles hold too seldom (tests/benches/coverage_captions.py)


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


def enough(values: sparse.csr_array, clusters: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(L,) whether resamples show how a mean share varies: ``ENOUGH`` units with more than 0, and with less than 1.

    values: (L, n) shares.  clusters: (n,) the rows' units, from 0.
    """
    units = int(clusters.max(initial=-1)) + 1
    of = sparse.csr_array((np.ones(len(clusters)), (np.arange(len(clusters)), clusters)), (len(clusters), units))
    by_unit = (values @ of).tocsr()
    whole = by_unit.data >= np.bincount(clusters, minlength=units)[by_unit.indices] - 1e-9
    full = np.asarray(sparse.csr_array((whole, by_unit.indices, by_unit.indptr), by_unit.shape).sum(axis=1))
    return np.asarray((np.diff(by_unit.indptr) >= ENOUGH) & (units - full >= ENOUGH))


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
