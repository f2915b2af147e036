"""Logistic regression by Newton's method: of counts at a few values, many fits at once, and of weighted outcomes.

Ours, not statsmodels': one call fits all labels on all resamples.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]


def fit_logits(counts: Array, photos: Array | float, values: Array, *, start: Array | None = None) -> Array:
    """(..., 2) intercept and slope of the logit of presence on the attribute; NaN where they are not finite.

    They are not where the label is on no photo, on all, or only beyond some value while absent only before it.  With an
    independence working model they depend on the counts alone; that the K answers of one photo are correlated enters
    through the standard error.

    counts: (..., K) photos with the label at each value.  photos: how many there are, broadcast against counts[..., 0].
    start: (..., 2) where to begin; four steps from there instead of up to thirty from the mean.

    Source: McCullagh & Nelder, Generalized Linear Models, section 4.4.
    """
    n = np.broadcast_to(np.asarray(photos, dtype=np.float64), counts.shape[:-1])
    share = counts / np.maximum(n, 1)[..., None]
    if start is None:
        mean = np.clip(share.mean(axis=-1), 1e-9, 1 - 1e-9)
        beta = np.stack([special.logit(mean), np.zeros_like(mean)], axis=-1)
    else:
        beta = np.broadcast_to(start, (*counts.shape[:-1], 2)).copy()
    finite = ~_separated(share, values)
    for _ in range(30 if start is None else 4):
        fitted = special.expit(beta[..., :1] + beta[..., 1:] * values)
        step = _newton(share - fitted, fitted * (1 - fitted), values)
        beta = beta + np.clip(step, -2, 2)
        if np.abs(step[finite]).max(initial=0.0) < 1e-10:
            break
    beta[~finite] = np.nan
    return beta


def influence_weights(fitted: Array, values: Array) -> Array:
    """(L, K) w such that a photo's influence on the slope is w . (x - p); fitted as ``fit_logits`` returns it."""
    p = special.expit(fitted[:, :1] + fitted[:, 1:] * values)
    v = p * (1 - p)
    zero, one, two = (v.sum(axis=1), v @ values, v @ values**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = (zero[:, None] * values - one[:, None]) / (zero * two - one**2)[:, None]
    return np.asarray(weights, dtype=np.float64)


def fit_weighted(design: Array, y: Array, weights: Array, ridge: float = 0.0, offset: Array | float = 0.0) -> Array:
    """(q,) coefficients of one weighted fit, with a penalty of ridge / 2 times the sum of their squares.

    design: (n, q), a column of ones for an intercept.  y: (n,) in [0, 1].  weights: (n,).  offset: (n,) log odds that
    are given.
    """
    beta = np.zeros(design.shape[1])
    loss = np.inf
    step = np.zeros_like(beta)
    for _ in range(200):
        eta = design @ beta + offset
        fresh = float(weights @ (np.logaddexp(0, eta) - y * eta)) + ridge / 2 * float(beta @ beta)
        if fresh > loss + 1e-12 * abs(loss):
            step = step / 2
            beta = beta - step
            continue
        loss = fresh
        p = special.expit(eta)
        gradient = design.T @ (weights * (y - p)) - ridge * beta
        curvature = (design * (weights * np.maximum(p * (1 - p), 1e-12))[:, None]).T @ design
        step = np.linalg.solve(curvature + np.diag(np.full(len(beta), ridge)), gradient)
        step *= min(1.0, 4 / max(float(np.abs(step).max()), 1e-300))
        beta = beta + step
        if np.abs(step).max() < 1e-10:
            break
    return beta


def _newton(residual: Array, weight: Array, values: Array) -> Array:
    powers = np.stack([np.ones_like(values), values, values**2], axis=1)  # (K, 3); one product of matrices for all sums
    zero, one, two = np.moveaxis(_product(weight, powers), -1, 0)
    score, trend = np.moveaxis(_product(residual, powers[:, :2]), -1, 0)
    determinant = np.maximum(zero * two - one**2, 1e-300)
    return np.stack([(two * score - one * trend) / determinant, (zero * trend - one * score) / determinant], axis=-1)


def _product(numbers: Array, columns: Array) -> Array:
    """(..., q) of (..., K) and (K, q)."""
    leading = numbers.shape[:-1]
    return np.asarray(numbers.reshape(math.prod(leading), numbers.shape[-1]) @ columns).reshape(
        *leading, columns.shape[1]
    )


def _separated(share: Array, values: Array) -> NDArray[np.bool_]:
    """Whether no finite line of log-odds fits best: presence ends, along the values, no later than absence begins."""
    yes, no = share > 0, share < 1
    ends = []
    for one, other in ((yes, no), (no, yes)):
        last = np.where(one, values, -np.inf).max(axis=-1)
        first = np.where(other, values, np.inf).min(axis=-1)
        ends.append(last <= first)
    return np.asarray(ends[0] | ends[1], dtype=bool)
