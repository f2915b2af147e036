"""Cells of the coverage bench: means of bounded numbers near a bound, by ends that are cut there, or bent.

Of five ways to keep an interval inside its bounds (cut, and four bends) the one was chosen on the designs of the first
cell. Those of the second were drawn afterwards; one of them, a share of 98 % with 20 units, was the reason to drop a
hyperbola, so it helped to choose. Data sets whose units are all alike have no interval and do not
count. Rejected: hyperbolas from half or three quarters of the way, Wilson's with the effective number of units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from coverage_cases import VALUES, Count, counted, sparse_units

from gslopes.slopes.measures.kinds import steepest
from gslopes.stats.contrast import Units, contrast

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
WEIGHTS = VALUES / float(VALUES @ VALUES)
MOST = steepest("rate", VALUES) / 100


def shares(rate: float) -> tuple[Draw, float]:
    """1 or -1."""
    return lambda rng, shape: 2.0 * (rng.random(shape) < rate) - 1, 2 * rate - 1


def pairs(up: float, down: float) -> tuple[Draw, float]:
    """A label that comes with the edit, goes with it, or stays."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        at = rng.random(shape)
        return np.where(at < up, 1.0, np.where(at < up + down, -1.0, 0.0))

    return draw, up - down


def steps(spread: float, noise: float) -> tuple[Draw, float]:
    """A photo's slope over 7 values, as a share of the steepest: it gets the label around a value of its own."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        place = rng.normal(0, spread, shape)[..., None]
        return (VALUES + rng.normal(0, noise, (*shape, 7)) > place) @ WEIGHTS / MOST

    return draw, float(draw(np.random.default_rng(9), (4000, 500)).mean())


def betas(a: float, b: float) -> tuple[Draw, float]:
    """Numbers from -1 to 1."""
    return lambda rng, shape: 2 * rng.beta(a, b, shape) - 1, 2 * a / (a + b) - 1


def _held(
    designs: dict[str, tuple[Draw, float]], rng: np.random.Generator, sets: int
) -> Iterator[Count]:
    for name, (draw, mean) in designs.items():
        for units in (8, 12, 20, 60):
            plain = sparse_units(draw(rng, (sets, units)))
            free, result = contrast(plain), contrast(Units(plain.sums, plain.sizes, None, 1.0))
            judged = np.isfinite(result.low)
            what = f"{name}, {units} units"
            beyond = (free.low < -1) | (free.high > 1)
            yield counted(f"an end beyond the bound, {what}", "as it was", beyond, judged)
            inside = (result.low >= -1) & (result.high <= 1)
            yield counted(f"both ends inside, {what}", "bent", inside, judged)
            for method, one in (("cut", free), ("bent", result)):
                covered = (one.low <= mean) & (mean <= one.high)
                yield counted(f"covered, {what}", method, covered, judged)


def bounded(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Shares, paired changes and steep slopes near a bound: these chose the bend."""
    designs = {
        "share 80 %": shares(0.8),
        "share 95 %": shares(0.95),
        "pairs, 70 % up, 5 % down": pairs(0.7, 0.05),
        "steps, spread 0.7": steps(0.7, 0.2),
        "beta 4, 0.5": betas(4, 0.5),
    }
    return _held(designs, rng, sets)


def bounded_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """The same, of designs that chose nothing."""
    designs = {
        "share 90 %": shares(0.9),
        "share 98 %": shares(0.98),
        "pairs, 85 % up": pairs(0.85, 0),
        "pairs, 90 % up, 5 % down": pairs(0.9, 0.05),
        "steps, spread 0.3": steps(0.3, 0.3),
        "steps, spread 1.2": steps(1.2, 0.1),
        "beta 2, 0.2": betas(2, 0.2),
        "beta 8, 0.5": betas(8, 0.5),
    }
    return _held(designs, rng, sets)


CASES = {"bounded": bounded, "bounded-unseen": bounded_unseen}
