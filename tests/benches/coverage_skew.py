"""Cells of the coverage bench: means of skewed numbers, by t and by t corrected for skewness.

A unit's number is a photo's own slope. Designs of the first cell chose the correction among ten; designs of the second
were drawn once, afterwards. All data sets count: if those that look odd are left out, the others hold less often.

Two alternatives with longer tails were tried once, on 1,000 sets a design, and not kept. Coverage in per cent at 8, 12,
20 and 60 units, by t corrected for skewness, by bootstrap t (999 resamples), by empirical likelihood (F):

=======================  =====================  =====================  =====================
design                   corrected t            bootstrap t            empirical likelihood
=======================  =====================  =====================  =====================
lognormal 1.5            82, 84, 85, 92         85, 86, 86, 92         73, 78, 79, 89
3 % of units 20 higher   79, 70, 63, 83         77, 67, 62, 83         70, 64, 59, 82
normal                   95, 96, 95, 95         93, 96, 95, 95         91, 95, 94, 95
t5                       95, 95, 96, 95         94, 94, 94, 94         92, 93, 95, 95
exponential              94, 94, 96, 96         94, 94, 95, 95         89, 92, 93, 95
slopes of presence       86, 91, 94, 97         86, 91, 94, 96         83, 89, 92, 95
=======================  =====================  =====================  =====================

Bootstrap t gains 1 to 4 points on the first design, for intervals that are 15 to 25 % longer, and loses on the others;
of slopes of presence it has no end at 8 and 12 units, since a resample may be all alike. No formula finds an outlier
that the sample lacks: the page says below 60 units what an interval assumes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from coverage_cases import PERMUTATIONS, VALUES, Count, counted, sparse_units
from scipy import stats

from gslopes.slopes.measures.estimators import linear
from gslopes.stats.clusters import FEW
from gslopes.stats.contrast import contrast
from gslopes.stats.intervals import t_quantile
from gslopes.stats.outcomes import moments
from gslopes.stats.permutation import permute
from tests.stats.dense import dense

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def one_large(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Normal, but one of each data set with ten times the spread."""
    return rng.standard_normal(shape) * np.where(np.arange(shape[1]) == 0, 10, 1)


def present(rate: float, top: int) -> Draw:
    """Slopes of presence: 0 for most photos, else one of few, down to -2 and up to ``top``."""
    return lambda rng, shape: np.where(
        rng.random(shape) < rate, rng.integers(-2, top + 1, shape), 0.0
    )


# name to how numbers are drawn, and their mean
DESIGNS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, shape: rng.standard_normal(shape), 0.0),
    "uniform": (lambda rng, shape: rng.random(shape), 0.5),
    "t3": (lambda rng, shape: rng.standard_t(3, shape), 0.0),
    "Laplace": (lambda rng, shape: rng.laplace(size=shape), 0.0),
    "exponential": (lambda rng, shape: rng.exponential(size=shape), 1.0),
    "lognormal 0.5": (lambda rng, shape: rng.lognormal(0, 0.5, shape), float(np.exp(0.125))),
    "lognormal 1": (lambda rng, shape: rng.lognormal(0, 1, shape), float(np.exp(0.5))),
    "lognormal 1.5": (lambda rng, shape: rng.lognormal(0, 1.5, shape), float(np.exp(1.125))),
    "beta 0.5, 5": (lambda rng, shape: rng.beta(0.5, 5, shape), 0.5 / 5.5),
    "one unit of ten times the spread": (one_large, 0.0),
    "5 % of units ten higher": (
        lambda r, shape: r.standard_normal(shape) + 10 * (r.random(shape) < 0.05),
        0.5,
    ),
    "presence, 30 % symmetric": (present(0.3, 2), 0.0),
    "presence, 20 % up": (present(0.2, 6), 0.4),
}
UNSEEN: dict[str, tuple[Draw, float]] = {
    "chi2, 1": (lambda rng, shape: rng.chisquare(1, shape), 1.0),
    "Weibull 0.7": (
        lambda rng, shape: rng.weibull(0.7, shape),
        float(stats.weibull_min(0.7).mean()),
    ),
    "Gumbel, to the left": (lambda rng, shape: -rng.gumbel(size=shape), -float(np.euler_gamma)),
    "t2.5": (lambda rng, shape: rng.standard_t(2.5, shape), 0.0),
    "Poisson 0.5": (lambda rng, shape: rng.poisson(0.5, shape).astype(float), 0.5),
    "two humps, a tenth three higher": (
        lambda r, s: r.standard_normal(s) + 3 * (r.random(s) < 0.1),
        0.3,
    ),
    "logistic": (lambda rng, shape: rng.logistic(size=shape), 0.0),
}


def _held(
    designs: dict[str, tuple[Draw, float]], rng: np.random.Generator, sets: int
) -> Iterator[Count]:
    for name, (draw, mean) in designs.items():
        for units in (12, 20, 60, 300):
            numbers = draw(rng, (sets, units))
            if name.startswith("presence"):
                numbers = numbers[(numbers != 0).sum(axis=1) >= 10]
            result = contrast(sparse_units(numbers))
            half = t_quantile(units - 1) * result.se
            within = np.abs(result.difference - mean)
            yield counted(f"covered, {name}, {units} units", "t, as it was", within <= half)
            yield counted(
                f"covered, {name}, {units} units",
                "corrected",
                (result.low <= mean) & (mean <= result.high),
            )
            for level in (0.05, 0.001):
                p = contrast(sparse_units(numbers - mean)).p
                t = 2 * stats.t.sf(within / result.se, units - 1)
                yield counted(f"p < {level:g}, {name}, {units} units", "t, as it was", t < level)
                yield counted(f"p < {level:g}, {name}, {units} units", "corrected", p < level)


def skewed(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """12, 20, 60 and 300 units; presence where it varies on 10 at least."""
    return _held(DESIGNS, rng, sets)


def skewed_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """The same, of designs that chose nothing."""
    return _held(UNSEEN, rng, sets)


def skewed_answers(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Numbers at 7 values, slopes by photo skewed, around a mean that differs from 0 or not: does p say the same?"""
    for name in ("normal", "t3", "exponential", "lognormal 1", "beta 0.5, 5"):
        draw, mean = DESIGNS[name]
        for shift in (0.0, 0.4):
            for units in (12, 20, 60):
                slopes = draw(rng, (sets, units)) - mean
                slopes = slopes / slopes.std() + shift
                numbers = (
                    slopes[..., None] * VALUES + 0.7 * rng.standard_normal((sets, units, 7))
                ).astype(np.float32)
                profile = dense(numbers, VALUES)
                sums = moments(profile)
                lines = linear("measure", sums, VALUES)
                half = t_quantile(units - 1) * lines.se
                p = permute(profile, np.ones(sets, bool), PERMUTATIONS, 1).p < 0.05
                what = f"{name}, mean slope {shift:g}, {units} photos"
                for method, zero in (
                    ("t, as it was", np.abs(lines.slope) <= half),
                    ("corrected", (lines.low <= 0) & (lines.high >= 0)),
                ):
                    yield counted(f"p_perm < 0.05 and 0 inside, {what}", method, p & zero)
                    yield counted(f"p_perm >= 0.05 and 0 outside, {what}", method, ~p & ~zero)
                yield counted(f"p_perm < 0.05, {what}", "permutation", p)
                yield counted(
                    f"influence below {FEW:g}, {what}", "warned", sums.slopes.influence < FEW
                )


CASES = {"skewed": skewed, "skewed-unseen": skewed_unseen, "skewed-answers": skewed_answers}
