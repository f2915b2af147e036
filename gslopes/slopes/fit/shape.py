"""Is the line the right summary? Curvature, lack of fit, and the slope over the range that the editor has seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from gslopes.stats.contrast import Linear, covariance, infer
from gslopes.stats.ols import Lines, line_weights
from gslopes.stats.outcomes import Moments

Array = NDArray[np.float64]


def shape(
    sums: Moments, values: Array, *, tested: NDArray[np.bool_], confidence: float = 0.95, scale: float = 100.0
) -> pd.DataFrame:
    """What the shape table says of every label, times ``scale``; NaN where ``tested`` is False.

    The curvature is the quadratic coefficient of each photo's least squares parabola, averaged over photos.  Lack of
    fit is Hotelling's T squared for all K - 2 deviations of the mean answers from a line, on F.  The inner slope takes
    the values in [-1, 1] alone, the range seen in training; with fewer than two of them it is NaN.

    Null hypotheses: no curvature in the mean; the K mean answers lie on a line; the inner slope is 0.
    Intervals: one-sample t over units.

    sums: moments of what the labels are judged by.  values: (K,).  tested: (L,).
    scale: 100 makes percentage points of presence.

    Source: Hotelling 1931, doi 10.1214/aoms/1177732979; orthogonal polynomials as in any book on repeated measures.
    """
    means = scale * sums.first / max(sums.photos, 1)
    whole = _contrast(line_weights(values), means, sums, confidence, scale)
    curvature = _contrast(_curve_weights(values), means, sums, confidence, scale)
    inner = _contrast(_inner_weights(values), means, sums, confidence, scale)
    statistic, p = hotelling_t2(scale * _rest(values), sums)
    frame = pd.DataFrame(
        {"slope": whole.slope, "ci_low": whole.low, "ci_high": whole.high}
        | {f"inner_{name}": getattr(inner, name) for name in ("slope", "low", "high", "p")}
        | {"curvature": curvature.slope}
        | {f"curvature_{name}": getattr(curvature, name) for name in ("low", "high", "p")}
        | {"lack_of_fit": statistic, "lack_of_fit_p": p, "within": within(sums)}
    )
    frame.loc[~tested, [name for name in frame if name not in ("slope", "inner_slope", "curvature", "within")]] = np.nan
    return frame.assign(reading=[_reading(row) for row in frame.to_dict("records")])


def hotelling_t2(weights: Array, sums: Moments) -> tuple[Array, Array]:
    """Hotelling's T squared of q means over photos as an F statistic with its p; NaN with too few units.

    weights: (K, q), of a unit's K numbers.  Directions in which the units do not vary are left out.
    """
    if not weights.shape[1]:  # two values lie on a line
        return np.full(len(sums.first), np.nan), np.full(len(sums.first), np.nan)
    many = np.broadcast_to(weights, (len(sums.first), *weights.shape))
    mean = np.einsum("lk,lkq->lq", sums.first, many) / max(sums.photos, 1)
    spread = covariance(many, sums)
    size = np.abs(spread).max(axis=(1, 2), initial=0.0)
    safe = np.where(size[:, None, None] > 0, spread / np.where(size > 0, size, 1)[:, None, None], 0)
    rank = np.linalg.matrix_rank(safe, hermitian=True, tol=1e-9) if len(safe) else np.zeros(0, dtype=np.int64)
    inverse = np.linalg.pinv(safe, hermitian=True, rcond=1e-9) if len(safe) else safe
    squared = np.einsum("lq,lqr,lr->l", mean, inverse, mean) / np.where(size > 0, size, 1)
    dof = sums.units - rank
    enough = (rank > 0) & (dof > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(enough, squared * dof / (rank * (sums.units - 1)), np.nan)
        p = np.where(enough, special.fdtrc(np.maximum(rank, 1), np.maximum(dof, 1), statistic), np.nan)
    flat = (rank == 0) & (np.abs(mean).max(axis=1, initial=0.0) <= 1e-9)
    return np.where(flat, 0.0, statistic), np.where(flat, 1.0, p)


def within(sums: Moments) -> Array:
    """(L,) correlation between a photo's answers at two values, averaged over pairs of values; NaN if none vary."""
    n = max(sums.photos, 1)
    mean = sums.first / n
    spread = sums.second / n - mean[:, :, None] * mean[:, None, :]
    trace = np.trace(spread, axis1=1, axis2=2)
    width = mean.shape[1]
    shared = (spread.sum(axis=(1, 2)) - trace) / (width - 1)
    return np.divide(shared, trace, out=np.full(len(trace), np.nan), where=trace > 1e-15)


def _contrast(weights: Array, means: Array, sums: Moments, confidence: float, scale: float) -> Lines:
    many = np.broadcast_to(scale * weights, means.shape)
    slope = (means * weights).sum(axis=1)
    slope = np.where(np.abs(slope) <= 1e-12 * np.abs(means).max(axis=1, initial=0.0), 0.0, slope)
    if not np.isfinite(weights).all():
        gap = np.full(len(means), np.nan)
        return Lines(gap, gap, gap, gap, gap, gap, gap)
    return infer(Linear(slope, slope, many), sums, confidence=confidence)


def _curve_weights(values: Array) -> Array:
    """(K,) w such that w . y is the quadratic coefficient of the parabola through y; NaN for two values."""
    if len(values) < 3:
        return np.full(len(values), np.nan)
    return np.asarray(np.linalg.pinv(np.vander(values, 3))[0], dtype=np.float64)


def _inner_weights(values: Array) -> Array:
    inside = np.abs(values) <= 1 + 1e-6
    weights = np.zeros(len(values))
    if inside.sum() < 2:
        return np.full(len(values), np.nan)
    weights[inside] = line_weights(values[inside])
    return weights


def _rest(values: Array) -> Array:
    """(K, K-2), orthonormal, orthogonal to constants and lines."""
    return np.asarray(np.linalg.svd(np.vander(values, 2))[0][:, 2:], dtype=np.float64)


def _reading(row: dict[Any, Any]) -> str:
    """What the inner range says about the slope over all values."""
    if np.isnan(row["ci_low"]) or np.isnan(row["inner_low"]):
        return "not judged"
    if row["ci_low"] <= 0 <= row["ci_high"]:
        return "no finding over the whole range"
    if row["inner_low"] <= 0 <= row["inner_high"]:
        return "open: inside [-1, 1] the interval holds 0"
    same = np.sign(row["inner_slope"]) == np.sign(row["slope"])
    return "holds inside [-1, 1]" if same else "turned round inside [-1, 1]"
