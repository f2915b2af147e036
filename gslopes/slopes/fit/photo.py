"""The photo is the unit: each photo's own slope over its K answers, averaged over photos.

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

Sources: photo-rate as summary-statistic analysis of repeated measures, Matthews et al. 1990, doi
10.1136/bmj.300.6719.230; photo-logodds: Liang & Zeger 1986, doi 10.1093/biomet/73.1.13, independence working model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gslopes.slopes.fit.profiles import Kind, Moments, Profiles
from gslopes.stats.intervals import half_width, t_test
from gslopes.stats.logistic import fit_logits, influence_weights
from gslopes.stats.ols import Lines, line_weights, t_ratio

Array = NDArray[np.float64]

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
TESTED = (
    "photo-rate",
    "photo-score",
    "photo-measure",
)  # means over photos: what permutations and pairs test


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """An estimator near its estimate: slope + mean over photos of weights . x - its mean.

    slope, intercept: (L,).  weights: (L, K), on a unit's K numbers.
    """

    slope: Array
    intercept: Array
    weights: Array


def linear(estimator: str, sums: Moments, values: Array) -> Linear:
    """The estimate of every label, with the weights that give its influence values.

    estimator: one of ``slopes.fit.options.ESTIMATORS`` but ``paper``, whose slope and influence are those of
    ``photo-z``.
    sums: moments of profiles of the kind that ``KINDS`` names.  values: (K,).
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


def infer(point: Linear, sums: Moments, *, confidence: float = 0.95) -> Lines:
    """Standard error, t, p and interval of a linear estimator; all NaN where there is no slope.

    A label whose units all have one slope has se 0: t is infinite, or 0 where the slope is 0.  Then there is no
    interval: units that are all alike say nothing about how far others may lie.
    """
    se = standard_error(point.weights, sums)
    t = t_ratio(point.slope, se)
    dof = max(sums.units - 1, 1)
    if sums.units < 2:
        se, t = np.full_like(se, np.nan), np.full_like(t, np.nan)
    half = half_width(se, dof, confidence)
    return Lines(point.slope, point.intercept, se, t, t_test(t, dof), point.slope - half, point.slope + half)


def standard_error(weights: Array, sums: Moments) -> Array:
    """(L,) of the mean over photos of weights . x; units are independent, photos inside one need not be."""
    return np.sqrt(np.maximum(covariance(weights[..., None], sums)[:, 0, 0], 0))


def covariance(weights: Array, sums: Moments) -> Array:
    """(L, q, q) covariance of q means over photos; weights are (L, K, q)."""
    n, units = max(sums.photos, 1), sums.units
    mean = np.einsum("lk,lkq->lq", sums.first, weights) / n
    cross = mean[:, :, None] * np.einsum("lk,lkq->lq", sums.weighted, weights)[:, None, :]
    square = np.einsum("lkq,lkj,ljr->lqr", weights, sums.second, weights, optimize=True)
    spread = square - cross - cross.transpose(0, 2, 1) + sums.squares * mean[:, :, None] * mean[:, None, :]
    # what rounding leaves of a label whose units are all alike
    spread = np.where(np.abs(spread) <= 1e-13 * np.abs(square), 0.0, spread)
    return np.asarray(spread * (units / max(units - 1, 1) / n**2), dtype=np.float64)


def acceleration(point: Linear, profile: Profiles) -> Array:
    """(L,) BCa's acceleration: the skewness of the units' influence values over 6 times the root of their number.

    Source: Efron 1987, doi 10.1080/01621459.1987.10478410, equation 6.6 with the empirical influence.
    """
    result = np.zeros(profile.labels)
    n, total = max(profile.photos, 1), float(np.square(profile.sizes).sum())
    cubes = float((profile.sizes**3).sum())
    for label, (start, stop) in enumerate(zip(profile.starts[:-1], profile.starts[1:], strict=True)):
        value = profile.numbers[start:stop].astype(np.float64) @ point.weights[label]
        size = profile.sizes[profile.unit[start:stop]]
        mean = value.sum() / n
        shifted = value - mean * size
        # units without the label: influence -mean * size each
        second = np.square(shifted).sum() + mean**2 * (total - np.square(size).sum())
        third = (shifted**3).sum() - mean**3 * (cubes - (size**3).sum())
        result[label] = third / (6 * second**1.5) if second > 0 else 0.0
    return result


def _clean(slope: Array, means: Array) -> Array:
    """Slopes that only rounding keeps from 0 are 0."""
    return np.where(np.abs(slope) <= 1e-13 * np.abs(means).max(axis=1, initial=0.0), 0.0, slope)
