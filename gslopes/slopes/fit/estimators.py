"""The estimators: what a slope is, and how it comes out on resamples of the photos.

The photo is the unit: each photo's own slope over its K answers, averaged over photos.

``photo-rate`` is the recommended reading. With x_k = 1 where the label was returned and 0 elsewhere, a photo's slope is
that of the least squares line of x on the K values; a photo that never has the label has slope 0. The n slopes are
independent numbers, one a photo, so the mean, its one-sample t and its interval need no more than that, however the K
answers of one photo hang together. The same mean is the least squares slope of the shares y_k on the values: what the
paper's estimator divides by y_c. Only the uncertainty is another.

========================  ============================================  ================================================
estimator                 slope                                         unit
========================  ============================================  ================================================
``photo-rate``            mean over photos of the slope of presence     percentage points per unit of the attribute
``photo-score``           the same of the score, 0 where not returned   score (0 to 1) per unit
``photo-measure``         the same of the number by which a label     log-odds, score or its own unit, per unit
                          is judged that is always returned
``photo-z``               photo-rate / y_c: the paper's slope           share of y_c per unit
``photo-logodds``         slope of the logit of presence, fitted by     log-odds per unit
                          independence logistic regression (GEE)
========================  ============================================  ================================================

Null hypothesis of each p: the mean slope over photos (for ``photo-logodds`` the slope of the fitted logit) is 0; single
photos may move. Interval: t with U - 1 degrees of dof, U the number of units (photos, or clusters of them, with the
cluster-robust standard error). ``photo-z`` and ``photo-logodds`` are not means; their standard errors are those of the
mean of their influence values (delta method, sandwich).

``paper`` is the slope of the shares y_k / y_c on the K values, tested with K-2 degrees of freedom as if the K shares
were independent; see ``paper``.

Intervals by resampling: one draw of weights for all labels and estimators, as sparse matrix products. Resampling U
units with replacement gives each of them a count; counts are the weights of a product with the labels' answers. They
hold where the units are independent and enough of them carry the label; below about ten the resamples repeat too few
patterns, which is why such labels are not judged.

Sources: photo-rate as summary-statistic analysis of repeated measures, Matthews et al. 1990, doi
10.1136/bmj.300.6719.230; photo-logodds: Liang & Zeger 1986, doi 10.1093/biomet/73.1.13, independence working model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from gslopes.slopes.fit.answers import Answers, columns_of
from gslopes.slopes.fit.measures import Kind
from gslopes.stats.contrast import Linear
from gslopes.stats.logistic import fit_logits, influence_weights
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.ols import fit_lines, line_weights
from gslopes.stats.outcomes import Moments, Outcomes
from gslopes.stats.resampling import bootstrap_counts, seeded_blocks

Array = NDArray[np.float64]
Single = NDArray[np.float32]

BLOCK = 32  # resamples at once: their weights stay in the cache
_LOGITS = 256  # labels at once, of whose resamples logits are fitted: so do the counts

UNITS = {
    "paper": "share of y_centre per unit",
    "photo-rate": "percentage points per unit",
    "photo-score": "score per unit",
    "photo-measure": "",  # by label: slopes.fit.measures.UNITS
    "photo-z": "share of y_centre per unit",
    "photo-logodds": "log-odds per unit",
}
KINDS: dict[str, Kind] = {
    "paper": "rate",
    "photo-rate": "rate",
    "photo-score": "score",
    "photo-measure": "measure",
    "photo-z": "rate",
    "photo-logodds": "rate",
}
TESTED = ("photo-rate", "photo-score", "photo-measure")  # means over photos: what permutations and pairs test


def paper(answers: Answers) -> pd.DataFrame:
    """The paper's rows of one classifier and attribute; the columns that it does not speak of are left out.

    y_k is the share of photos with the label at step k, over the photos answered at all K steps; z_k = y_k / y_c with c
    the middle step; the slope is that of the least squares line of z on the K values, so 0.1 reads: 10 % of its
    frequency at the centre more for each unit of the attribute.  The p-value is two-sided, from t with K-2 degrees of
    freedom, for the null hypothesis that the slope is 0; the interval covers 95 %; q is Benjamini and Hochberg's over
    the labels that have a p-value.  A label that no photo has at the centre has no slope: its row holds nulls.

    Source: Joo & Kärkkäinen 2020, section 4.3, doi 10.1145/3422841.3423533.
    """
    counts = answers.counts()
    centre = counts[:, [len(answers.values) // 2]].astype(np.float64)
    relative = np.divide(counts, centre, out=np.full(counts.shape, np.nan), where=centre > 0)
    lines = fit_lines(answers.values, relative)
    fitted = columns_of(lines) | {"p_perm": np.nan, "q": benjamini_hochberg(lines.p), "estimator": "paper"}
    return answers.frame(**answers.facts(), **fitted)


def linear(estimator: str, sums: Moments, values: Array) -> Linear:
    """The estimate of every label, with the weights that give its influence values.

    estimator: one of ``slopes.fit.options.ESTIMATORS`` but ``paper``, whose slope and influence are those of
    ``photo-z``.
    sums: moments of outcomes of the kind that ``KINDS`` names.  values: (K,).
    """
    means = sums.first / sums.photos if sums.photos else np.full(sums.first.shape, np.nan)
    line = np.broadcast_to(line_weights(values), means.shape)
    slope = _clean((means * line).sum(axis=1), means)
    intercept = means.mean(axis=1) - slope * values.mean()
    if estimator in ("photo-score", "photo-measure"):
        return Linear(slope, intercept, line)
    if estimator == "photo-rate":
        return Linear(100 * slope, 100 * intercept, 100 * line)
    if estimator == "photo-logodds":
        fitted = fit_logits(sums.first, sums.photos, values)
        return Linear(fitted[..., 1], fitted[..., 0], influence_weights(fitted, values))
    centre = means[:, len(values) // 2]
    centre = np.where(centre > 0, centre, np.nan)
    relative = slope / centre
    weights = line.copy()
    weights[:, len(values) // 2] -= relative
    return Linear(relative, intercept / centre, weights / centre[:, None])


def _clean(slope: Array, means: Array) -> Array:
    """Slopes that only rounding keeps from 0 are 0."""
    return np.where(np.abs(slope) <= 1e-13 * np.abs(means).max(axis=1, initial=0.0), 0.0, slope)


def replicates(
    outcomes: Mapping[str, Outcomes],
    estimators: Sequence[str],
    count: int,
    seed: int,
    *,
    start: Array | None = None,
    wanted: Mapping[str, NDArray[np.bool_]] | None = None,
) -> dict[str, Single]:
    """Each estimator's slopes on resamples of the units: name to (L, B) float32, NaN where a resample has no slope.

    Call it with ``Outcomes.part`` of some labels at a time where L is large: the resamples are the same in each call.

    outcomes: kind of number (see ``measures.outcomes``) to its outcomes, all over the same units.
    estimators: names; ``paper`` is ``photo-z``.  count: B.
    start: (L, 2) the fitted logits, from which those of the resamples are found.
    wanted: name to (L,), which labels' slopes are computed; the others' rows are NaN.  All of them without it.
    """
    first_kind = next(iter(outcomes.values()))
    products = {kind: _products(rows, kind) for kind, rows in outcomes.items()}
    result = {name: np.full((first_kind.labels, count), np.nan, dtype=np.float32) for name in estimators}
    columns = {name: slice(None) if wanted is None else np.flatnonzero(wanted[name]) for name in estimators}
    first = 0
    for generator, size in seeded_blocks(count, BLOCK, [seed, 1]):
        weights = bootstrap_counts(len(first_kind.sizes), size, generator)
        photos = first_kind.sizes @ weights
        sums = {kind: _sums(product, weights) for kind, product in products.items()}
        for name, place in columns.items():
            start_at = None if start is None else start[place]
            value = _slopes(name, sums[KINDS[name]][place], photos, first_kind.values, start_at)
            result[name][place, first : first + size] = value
        first += size
    return result


def _products(rows: Outcomes, kind: str) -> list[sparse.csr_array]:
    """Matrices of units: for presence the unvarying part and (L * K) varying parts, for scores the slopes."""
    units, labels, width = len(rows.sizes), rows.labels, len(rows.values)
    if kind != "rate":
        with np.errstate(invalid="ignore"):  # BLAS may raise the flag for lanes of a vector that hold no number
            slope = (rows.numbers @ line_weights(rows.values).astype(np.float32)).astype(np.float32)
        return [_matrix(slope, rows.unit, rows.starts, units)]
    moves = (rows.numbers != rows.numbers[:, :1]).any(axis=1)
    label = rows.label
    flat = np.flatnonzero(~moves)
    starts = np.searchsorted(label[flat], np.arange(labels + 1))
    constant = _matrix(rows.numbers[flat, 0], rows.unit[flat], starts, units)
    row, step = np.nonzero(np.where(moves[:, None], rows.numbers, 0))
    place = (label[row] * width + step, rows.unit[row])
    moving = sparse.coo_array((rows.numbers[row, step], place), shape=(labels * width, units)).tocsr()
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
