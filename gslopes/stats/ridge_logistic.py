"""Ridge logistic regressions of one outcome under many weights at once: L-BFGS over all of them together.

Ours for speed: thousands of fits, on splits and resamples, cost a few matrix products.

Source: Nocedal & Wright 2006, Numerical Optimization, chapter 7.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # float64, or float32 where there is much of it
BLOCK = 256  # columns that are fitted together, so that their arrays stay in the cache
MEMORY = 8  # steps that tell of the curvature


def fit_ridge(
    features: Array, y: Array, weights: Array, ridge: float, *, steps: int = 1000, tolerance: float = 1e-6
) -> Array:
    """(r + 1, R) intercepts and coefficients, one column for each column of weights.

    Minimises Σ w (log(1 + exp η) − y η) + λ/2 Σ b², the intercept free. The problems of a block take their steps
    together, from 0, so that nothing but matrix products is needed; a step that does not lower the loss is halved. It
    converges soonest where the features are orthogonal. A problem is solved once its Newton decrement δ = √(g' H⁻¹ g),
    with the H that the steps have shown, is below the tolerance: no linear combination a'b is then off by more than
    δ √(a' H⁻¹ a), which is δ times its own standard error (Cauchy and Schwarz, to first order).

    features: (n, r).  y: (n,) 0 or 1.  weights: (n, R).  ridge: λ.
    """
    n, r = features.shape
    kind = np.float32 if n * weights.shape[1] > 200_000 else np.float64
    middle = features.mean(axis=0)
    x = np.column_stack([np.ones(n), features - middle]).astype(kind)
    found = np.zeros((r + 1, weights.shape[1]))
    for first in range(0, weights.shape[1], BLOCK):
        block = slice(first, first + BLOCK)
        w = np.ascontiguousarray(weights[:, block], dtype=kind)
        found[:, block] = _fit_block(x, y.astype(kind)[:, None], w, ridge, steps, tolerance)
    found[0] -= middle @ found[1:]
    return found


def _fit_block(x: Array, outcome: Array, w: Array, ridge: float, steps: int, tolerance: float) -> Array:
    penalty = np.full((x.shape[1], 1), ridge, dtype=x.dtype)
    penalty[0] = 1e-10
    squares = np.square(x).mean(axis=0)[:, None]
    active = np.arange(w.shape[1])
    found = np.zeros((x.shape[1], len(active)), dtype=x.dtype)
    part, eta = found.copy(), np.zeros_like(w)
    chance, loss = _evaluate(outcome, w, penalty, part, eta)
    gradient = x.T @ (w * (chance - outcome))
    history: list[tuple[Array, Array, Array]] = []
    for count in range(steps):
        diagonal = penalty + squares * (w * (chance * (1 - chance))).sum(axis=0)
        step = _direction(gradient, diagonal, history)
        squared = (step * gradient).sum(axis=0)  # of the Newton decrement
        found[:, active] = part
        left = squared > tolerance**2
        if count and not left.any():
            break
        if count and left.mean() < 0.5:
            active, loss, squared = active[left], loss[left], squared[left]
            history = [(s[:, left], t[:, left], rate[left]) for s, t, rate in history]
            part, eta, w, gradient, step = (_columns(one, left) for one in (part, eta, w, gradient, step))
        before, last = gradient, part
        part, eta, chance, loss = _descend(outcome, w, penalty, (part, eta, loss), (step, x @ step), squared)
        gradient = x.T @ (w * (chance - outcome)) + penalty * part
        history = [*history[1 - MEMORY :], _remember(part - last, gradient - before)]
    return found


def _columns(values: Array, chosen: Array) -> Array:
    return np.ascontiguousarray(values[:, chosen])


def _evaluate(outcome: Array, w: Array, penalty: Array, part: Array, eta: Array) -> tuple[Array, Array]:
    """Probabilities, and the loss of every column."""
    small = np.exp(-np.abs(eta))
    large = 1 / (1 + small)
    chance = np.where(eta >= 0, large, small * large)
    cost = (w * (np.maximum(eta, 0) - np.log(large) - outcome * eta)).sum(axis=0)
    return chance, cost + (penalty * np.square(part)).sum(axis=0) / 2


def _descend(
    outcome: Array, w: Array, penalty: Array, here: tuple[Array, Array, Array], step: tuple[Array, Array], slope: Array
) -> tuple[Array, Array, Array, Array]:
    """Take the step, halved in the columns whose loss would not fall by as much as a ten-thousandth of its slope."""
    part, eta, loss = here
    slack = np.abs(loss) * (1e-6 if eta.dtype == np.float32 else 1e-12)
    size = np.ones((1, len(loss)), dtype=eta.dtype)
    while True:
        tried, tried_eta = part - size * step[0], eta - size * step[1]
        chance, fresh = _evaluate(outcome, w, penalty, tried, tried_eta)
        worse = (fresh > loss - 1e-4 * size[0] * slope + slack) & (size[0] > 1e-6)
        if not worse.any():
            return tried, tried_eta, chance, fresh
        size = np.where(worse, size / 2, size).astype(eta.dtype)


def _remember(step: Array, change: Array) -> tuple[Array, Array, Array]:
    """A step, the change of the gradient along it, and one over their product; 0 where it shows no curvature."""
    product = (step * change).sum(axis=0)
    convex = product > 1e-30
    return step, change, np.where(convex, 1 / np.where(convex, product, 1), 0).astype(step.dtype)


def _direction(gradient: Array, diagonal: Array, history: list[tuple[Array, Array, Array]]) -> Array:
    """H⁻¹ gradient, with the H that the remembered steps have shown and the diagonal elsewhere."""
    direction = gradient.copy()
    shares = []
    for step, change, rate in reversed(history):
        shares.append(rate * (step * direction).sum(axis=0))
        direction -= shares[-1] * change
    direction /= diagonal
    for (step, change, rate), share in zip(history, reversed(shares), strict=True):
        direction += (share - rate * (change * direction).sum(axis=0)) * step
    return direction
