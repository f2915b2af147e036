"""Intervals by resampling photos: one draw of weights for all labels and estimators, as sparse matrix products.

Resampling U units with replacement gives each of them a count; counts are the weights of a product with the labels'
answers. Null hypothesis: none, it makes intervals. They hold where the units are independent and enough of them carry
the label; below about ten the resamples repeat too few patterns, which is why such labels are not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gslopes.slopes.fit.photo import KINDS
from gslopes.slopes.fit.profiles import Profiles
from gslopes.stats.logistic import fit_logits
from gslopes.stats.ols import line_weights
from gslopes.stats.resampling import bootstrap_counts, seeded_blocks

Array = NDArray[np.float64]
Single = NDArray[np.float32]

BLOCK = 32  # resamples at once: their weights stay in the cache
_LOGITS = 256  # labels at once, of whose resamples logits are fitted: so do the counts


def replicates(
    profiles: Mapping[str, Profiles],
    estimators: Sequence[str],
    count: int,
    seed: int,
    *,
    start: Array | None = None,
    wanted: Mapping[str, NDArray[np.bool_]] | None = None,
) -> dict[str, Single]:
    """Each estimator's slopes on resamples of the units: name to (L, B) float32, NaN where a resample has no slope.

    Call it with ``Profiles.part`` of some labels at a time where L is large: the resamples are the same in each call.

    profiles: kind of number (see ``profiles``) to its profiles, all over the same units.
    estimators: names; ``paper`` is ``photo-z``.  count: B.
    start: (L, 2) the fitted logits, from which those of the resamples are found.
    wanted: name to (L,), which labels' slopes are computed; the others' rows are NaN.  All of them without it.
    """
    any_profile = next(iter(profiles.values()))
    products = {kind: _products(profile, kind) for kind, profile in profiles.items()}
    result = {name: np.full((any_profile.labels, count), np.nan, dtype=np.float32) for name in estimators}
    columns = {name: slice(None) if wanted is None else np.flatnonzero(wanted[name]) for name in estimators}
    first = 0
    for generator, size in seeded_blocks(count, BLOCK, [seed, 1]):
        weights = bootstrap_counts(len(any_profile.sizes), size, generator)
        photos = any_profile.sizes @ weights
        sums = {kind: _sums(product, weights) for kind, product in products.items()}
        for name, place in columns.items():
            start_at = None if start is None else start[place]
            value = _slopes(name, sums[KINDS[name]][place], photos, any_profile.values, start_at)
            result[name][place, first : first + size] = value
        first += size
    return result


def _products(profile: Profiles, kind: str) -> list[sparse.csr_array]:
    """Matrices of units: for presence the unvarying part and (L * K) varying parts, for scores the slopes."""
    units, labels, width = len(profile.sizes), profile.labels, len(profile.values)
    if kind != "rate":
        with np.errstate(invalid="ignore"):  # BLAS may raise the flag for lanes of a vector that hold no number
            slope = (profile.numbers @ line_weights(profile.values).astype(np.float32)).astype(np.float32)
        return [_matrix(slope, profile.unit, profile.starts, units)]
    moves = (profile.numbers != profile.numbers[:, :1]).any(axis=1)
    label = profile.label
    flat = np.flatnonzero(~moves)
    starts = np.searchsorted(label[flat], np.arange(labels + 1))
    constant = _matrix(profile.numbers[flat, 0], profile.unit[flat], starts, units)
    row, step = np.nonzero(np.where(moves[:, None], profile.numbers, 0))
    place = (label[row] * width + step, profile.unit[row])
    moving = sparse.coo_array((profile.numbers[row, step], place), shape=(labels * width, units)).tocsr()
    return [constant, moving]


def _matrix(data: Single, unit: NDArray[np.int32], starts: NDArray[np.int64], units: int) -> sparse.csr_array:
    return sparse.csr_array((data, unit, starts), shape=(len(starts) - 1, units))


def _sums(products: list[sparse.csr_array], weights: Single) -> Single:
    """(L, K, b) counts, or (L, b) sums of slopes."""
    first = products[0] @ weights
    if len(products) == 1:
        return np.asarray(first)
    rest = (products[1] @ weights).reshape(len(first), products[1].shape[0] // max(len(first), 1), weights.shape[1])
    return np.asarray(first[:, None] + rest)


def _slopes(name: str, sums: Single, photos: Array, values: Array, start: Array | None) -> Array:
    if sums.ndim == 2:
        return np.asarray(sums / photos, dtype=np.float64)
    if name == "photo-logodds":
        found = np.empty((len(sums), sums.shape[2]))
        for place in range(0, len(sums), _LOGITS):
            part = slice(place, place + _LOGITS)
            counts = np.moveaxis(sums[part], 1, -1).astype(np.float64)
            found[part] = fit_logits(counts, photos, values, start=None if start is None else start[part, None])[..., 1]
        return found
    slope = np.einsum("k,lkb->lb", line_weights(values), sums)
    if name == "photo-rate":
        return np.asarray(100 * slope / photos, dtype=np.float64)
    centre = sums[:, len(values) // 2].astype(np.float64)
    return np.divide(slope, centre, out=np.full(slope.shape, np.nan), where=centre > 0)
