"""Logistic regressions: one coefficient by its score test (p, interval, what to hold fixed), and many penalised fits.

A Wald interval of few images is too long, a bootstrap of a penalised fit does not cover; the score is a sum over
images, whose test had p < .05 without an effect in 4 to 8 % of 1,000 sets a cell with 60 to 5,000 images,
5.1 % of all (tests/benches, ``captions-salience``).
"""

from collections.abc import Callable
from math import copysign, inf, nan
from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from gslopes.core.records import Array, quotients
from gslopes.stats.clusters import effective_units
from gslopes.stats.intervals import normal_quantile, t_quantile, t_test
from gslopes.stats.rounding import EXACT, STORED, exceeds, highest, settled

FAR = 12.0  # log odds, beyond which an end is infinite


class Coefficient(NamedTuple):
    """A coefficient, ends of its 95 % interval (infinite if no value on that side is rejected), and p of 0.

    All are NaN if the design holds the column or no score varies, and with fewer than one degree of freedom; all but
    the value if the fit reached no maximum.
    """

    value: float
    low: float
    high: float
    p: float


def fit(design: Array, y: Array, offset: Array | float = 0.0) -> Array:
    """(q,) coefficients of one fit.

    design: (n, q), a column of ones for an intercept.  y: (n,) in [0, 1].  offset: (n,) log odds that are given.
    """
    beta = step = np.zeros(design.shape[1])
    loss = np.inf
    for _ in range(200):
        eta = design @ beta + offset
        fresh = float((np.logaddexp(0, eta) - y * eta).sum())
        if exceeds(fresh, loss, EXACT):
            step = step / 2
            beta = beta - step
            continue
        loss = fresh
        p = special.expit(eta)
        bend = np.maximum(p * (1 - p), 1e-12)
        curvature = (design * bend[:, None]).T @ design
        step = np.linalg.solve(curvature, design.T @ (y - p))
        step *= min(1.0, 4 / max(float(abs(step).max()), 1e-300))
        beta = beta + step
        if abs(step).max() < 1e-10:
            break
    return beta


def efficient_scores(
    tested: Array, design: Array, y: Array, offset: Array | float = 0.0
) -> tuple[Array, Array]:
    """(m,) t of each tested column's score at a coefficient of 0, and (n, m) the information of each image.

    The score of an image is its residual times what of the column the design does not explain, with the weights of the
    fit. t is the sum over images, divided by its standard deviation by the fit.

    tested: (n, m).  design: (n, q) with a column of ones.  y: (n,) 0 or 1.  offset: (n,) log odds that are given.

    Source: Boos 1992, doi 10.1080/00031305.1992.10475921 (generalised score test).
    """
    fitted = fit(design, y, offset)
    chance = special.expit(design @ fitted + offset)
    root = np.sqrt(np.maximum(chance * (1 - chance), 1e-10))[:, None]
    basis = np.linalg.qr(design * root)[0]
    rest = tested * root
    rest -= basis @ (basis.T @ rest)
    residual = (y - chance) / root[:, 0]
    information = np.square(rest)
    # fitted chances are too extreme
    variance = information.sum(0) * len(y) / max(len(y) - design.shape[1], 1)
    spread = np.sqrt(variance)
    length, before = (np.linalg.norm(part, axis=0) for part in (rest, tested * root))
    separate = settled(length, before, STORED) > 0  # not a mixture of the design
    return quotients(residual @ rest, np.where(separate, spread, 0)), information


def informative_units(tested: Array, design: Array, y: Array) -> float:
    """How many images the information about a coefficient of 0 is worth; 0 without information."""
    t, information = efficient_scores(tested[:, None], design, y)
    return 0.0 if np.isnan(t[0]) else effective_units(np.sqrt(information[:, 0]))


def score_interval(tested: Array, design: Array, y: Array) -> Coefficient:
    """The maximum likelihood coefficient of one column next to a design, and what its score test does not reject.

    Degrees of freedom: effective images, by their information, less the columns of the design and the tested one.
    Null hypothesis of p: the coefficient is 0.

    tested: (n,).  Others as in ``efficient_scores``.
    """
    columns = design.shape[1]
    t, information = efficient_scores(tested[:, None], design, y)
    dof = effective_units(np.sqrt(information[:, 0])) - columns - 1
    if not dof >= 1 or np.isnan(t[0]):
        return Coefficient(*[nan] * 4)
    fitted = fit(np.column_stack([design, tested]), y)
    value = float(np.clip(fitted[-1], 1 - FAR, FAR - 1))
    limit = float(t_quantile(dof))

    def excess(beta: float, step: float) -> float:
        t = efficient_scores(tested[:, None], design, y, beta * tested)[0][0]
        return -limit if np.isnan(t) else limit + copysign(float(t), t * step)

    step = 2 / float(np.sqrt(information.sum()))
    low, high = (_end(value, side * step, excess) for side in (-1, 1))
    if np.isnan([low, high]).any():
        return Coefficient(value, *[nan] * 3)
    return Coefficient(value, low, high, float(t_test(t[0], dof)))


def _end(value: float, step: float, excess: Callable[[float, float], float]) -> float:
    """The first value on that side, in steps that double, that is rejected; to a thousandth."""
    inner = value
    if not excess(inner, step) > 0:
        return nan  # no maximum was reached
    while abs(inner) < FAR:
        outer = inner + step
        if not excess(outer, step) > 0:
            return float(optimize.brentq(excess, inner, outer, args=(step,), xtol=1e-3))
        inner = outer
        step = 2 * step
    return copysign(inf, step)


def choose_columns(
    design: Array,
    candidates: Array,
    outcome: Array,
    level: float,
    limit: int,
) -> list[int]:
    """Columns to hold fixed, one after the other: the one whose score has the largest |t|, while p < level.

    candidates: (n, m).  outcome: (n,) 0 or 1.  limit: how many at most.

    Source: Kozbur 2020, doi 10.3982/ECTA16273, testing-based forward selection; Belloni, Chernozhukov & Wei 2016,
    doi 10.1080/07350015.2016.1166116, for the outcome and for the tested column (double selection).
    """
    chosen: list[int] = []
    while len(chosen) < min(limit, candidates.shape[1]):
        fixed = np.column_stack([design, candidates[:, chosen]])
        t = np.nan_to_num(abs(efficient_scores(candidates, fixed, outcome)[0]))
        best = highest(t)
        if t[best] <= normal_quantile(1 - level):
            break
        chosen.append(best)
    return chosen


# -- many penalised fits at once --------------------------------------------------------------------------------------


def fit_ridge(
    features: Array,
    y: Array,
    weights: Array,
    ridge: float,
    *,
    tolerance: float = 1e-6,
) -> Array:
    """(r + 1, R) intercepts and coefficients, one column for each column of weights.

    Minimises Σ w (log(1 + exp η) − y η) + λ/2 Σ b², the intercept free, by accelerated gradient steps.  The curvature
    along orthogonal features is at most Σ w x²/4 + λ; along others, times the largest eigenvalue of their correlations.
    A fit is done once √(g' B⁻¹ g), with B that bound, is below the tolerance.  Ours for speed: thousands of fits, such
    as of random splits, cost a few hundred matrix products.

    features: (n, r).  y: (n,) 0 or 1.  weights: (n, R).  ridge: λ.

    Source: Nesterov 1983; O'Donoghue & Candès 2015, doi 10.1007/s10208-013-9150-3, section 3.2 (restarts).
    """
    middle = features.mean(0)
    x = np.column_stack([np.ones(len(features)), features - middle])
    lengths = np.sqrt(np.square(x).sum(0))
    largest = np.linalg.eigvalsh((x / lengths).T @ (x / lengths))[-1]
    penalty = np.r_[0.0, np.full(features.shape[1], ridge)][:, None]
    bound = largest * weights.max() * np.square(lengths)[:, None] / 4 + penalty
    fitted = ahead = np.zeros((x.shape[1], weights.shape[1]))
    age = np.ones(weights.shape[1])
    for _ in range(5000):
        gradient = x.T @ (weights * (special.expit(x @ ahead) - y[:, None])) + penalty * ahead
        step = gradient / bound
        if (gradient * step).sum(0).max() < tolerance**2:
            break
        moved = ahead - step - fitted
        age = np.where((step * moved).sum(0) > 0, 1.0, age)  # too far: begin again
        older = (1 + np.sqrt(1 + 4 * age**2)) / 2
        fitted = ahead - step
        ahead = fitted + (age - 1) / older * moved
        age = older
    ahead[0] -= middle @ ahead[1:]
    return ahead
