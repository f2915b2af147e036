"""Ridge logistic regressions of one outcome under many weights at once: Newton's steps by conjugate gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # float64, or float32 where there is much of it


def fit_weighted(
    features: Array,
    y: Array,
    weights: Array,
    ridge: float,
    *,
    start: Array | None = None,
    steps: int = 50,
    tolerance: float = 1e-6,
) -> Array:
    """(r + 1, R) intercepts and coefficients, one column for each column of weights.

    Minimises Σ w (log(1 + exp η) − y η) + λ/2 Σ b², the intercept free. All R problems take their Newton steps
    together; each step is solved by conjugate gradients with a diagonal preconditioner, so that nothing but two matrix
    products is needed, and a step that does not lower the loss is halved.

    features: (n, r).  y: (n,) 0 or 1.  weights: (n, R).  ridge: λ.  start: (r + 1, 1) or (r + 1, R).
    """
    n, r = features.shape
    big = n * weights.shape[1] > 200_000
    kind = np.float32 if big else np.float64
    x = np.column_stack([np.ones(n), features]).astype(kind)
    w, outcome = weights.astype(kind), y.astype(kind)[:, None]
    penalty = np.full((r + 1, 1), ridge, dtype=kind)
    penalty[0] = 1e-10
    coefficients = np.zeros((r + 1, w.shape[1]), dtype=kind)
    if start is not None:
        coefficients += start.astype(kind)
    squares = np.square(x)
    active = np.arange(w.shape[1])
    limit = 1e-4 if big else tolerance
    for _ in range(steps):
        part, column_weights = coefficients[:, active], w[:, active]
        eta = x @ part
        chance = 1 / (1 + np.exp(-np.clip(eta, -40, 40)))
        gradient = x.T @ (column_weights * (chance - outcome)) + penalty * part
        curvature = column_weights * chance * (1 - chance)
        step = _solve(x, curvature, penalty, gradient, squares)
        step = _shorten(x, outcome, column_weights, penalty, part, eta, step)
        coefficients[:, active] = part - step
        step_sizes = np.abs(step).max(axis=0)
        active = active[step_sizes > limit]
        if not len(active):
            break
    return coefficients.astype(np.float64)


def _solve(x: Array, curvature: Array, penalty: Array, gradient: Array, squares: Array) -> Array:
    """Conjugate gradients for (X' W X + Λ) step = gradient, every column on its own."""
    scale = squares.T @ curvature + penalty
    step = np.zeros_like(gradient)
    residual = gradient.copy()
    size = np.square(residual).sum(axis=0)
    goal = size * 1e-6 + 1e-20
    preconditioned = residual / scale
    direction = preconditioned.copy()
    product = (residual * preconditioned).sum(axis=0)
    for _ in range(min(2 * len(gradient), 150)):
        applied = x.T @ (curvature * (x @ direction)) + penalty * direction
        along = (direction * applied).sum(axis=0)
        rate = np.where(along > 0, product / np.where(along > 0, along, 1), 0)
        step += rate * direction
        residual -= rate * applied
        if (np.square(residual).sum(axis=0) <= goal).all():
            break
        preconditioned = residual / scale
        fresh = (residual * preconditioned).sum(axis=0)
        direction = preconditioned + np.where(product > 0, fresh / np.where(product > 0, product, 1), 0) * direction
        product = fresh
    return step


def _shorten(x: Array, outcome: Array, weights: Array, penalty: Array, part: Array, eta: Array, step: Array) -> Array:
    """Halve the steps of the columns whose loss would rise."""
    eta_step = x @ step
    before = _loss(outcome, weights, penalty, part, eta)
    slack = 1e-6 * np.abs(before)
    for _ in range(12):
        worse = _loss(outcome, weights, penalty, part - step, eta - eta_step) > before + slack
        if not worse.any():
            break
        half = np.where(worse, 0.5, 1.0).astype(step.dtype)
        step, eta_step = step * half, eta_step * half
    return step


def _loss(outcome: Array, weights: Array, penalty: Array, part: Array, eta: Array) -> Array:
    cost = (weights * (np.logaddexp(0, eta) - outcome * eta)).sum(axis=0)
    return np.asarray(cost + (penalty * np.square(part)).sum(axis=0) / 2)
