"""Intervals by drawing people again: one draw for all pairs of groups at once, so that they hold together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from gslopes.stats.intervals import percentile
from gslopes.stats.resampling import multinomial_counts

Array = NDArray[np.float64]
SAME = 1e-12  # draws no farther apart than rounding are one


def draw_weights(sizes: Mapping[str, int], count: int = 2000, seed: int = 0) -> dict[str, Array]:
    """How often each person is drawn, by group: name to (count, persons), multinomial within the group."""
    generator = np.random.default_rng([seed, 3])
    return {name: multinomial_counts(size, count, generator) for name, size in sizes.items()}


def resampled(h: Array, rows: Array, columns: Array) -> Array:
    """(B,) P(a over b) on each draw; NaN where a draw has no pair that was asked about.

    h: (m, n), NaN where not asked.  rows: (B, m) weights.  columns: (B, n) weights.
    """
    asked = (~np.isnan(h)).astype(np.float64)
    over = np.einsum("bn,bn->b", rows @ np.nan_to_num(h), columns)
    under = np.einsum("bn,bn->b", rows @ asked, columns)
    return np.divide(over, under, out=np.full(len(over), np.nan), where=under > 0)


def interval(draws: Array, confidence: float = 0.95) -> tuple[float, float]:
    """Ends of the percentile interval; NaN where no draw differs from another: the people do not vary."""
    known = draws[np.isfinite(draws)]
    same = not len(known) or float(np.ptp(known)) < SAME
    return (math.nan, math.nan) if same else percentile(known, confidence)


def simultaneous(
    tables: Sequence[Array], weights: Sequence[tuple[Array, Array]], confidence: float = 0.95
) -> list[tuple[float, float]]:
    """Intervals that hold for all shares at once: by the largest of |logit draw - logit estimate|/se over them.

    tables: (m, n) of each pair of groups, NaN where not asked.  weights: (B, m), (B, n) of each, of one draw of people.
    Every draw has its own standard error: with the estimate's, six intervals of groups of 10 to 35 people held at once
    in 88 of 100 audits. NaN where a share is 0 or 1, or does not vary.
    """
    nothing = math.nan, math.nan
    if not tables:
        return []
    estimates, errors = np.array([_logit(h, *(np.ones((1, n)) for n in h.shape)) for h in tables]).T[0]
    usable = [index for index, error in enumerate(errors) if error > 0]
    if not usable:
        return [nothing] * len(tables)
    largest: Array | None = None
    for index in usable:
        draws, spread = _logit(tables[index], *weights[index])
        away = np.abs(draws - estimates[index]) / np.where(spread > 0, spread, np.nan)
        largest = away if largest is None else np.fmax(largest, away)
    assert largest is not None
    quantile = float(np.nanquantile(largest, confidence)) if not np.isnan(largest).all() else math.nan
    ends = special.expit(estimates + quantile * np.outer((-1, 1), errors))
    return [(float(low), float(high)) if index in usable else nothing for index, (low, high) in enumerate(ends.T)]


def _logit(h: Array, rows: Array, columns: Array) -> tuple[Array, Array]:
    """(B,) logit of P(a over b) and its standard error over people, as ``parity`` has it, on each draw.

    A share of 0 or 1 counts as half a pair less extreme, with no error.
    """
    asked = (~np.isnan(h)).astype(np.float64)
    filled = np.nan_to_num(h)
    parts = []
    pairs = np.einsum("bn,bn->b", rows @ asked, columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.einsum("bn,bn->b", rows @ filled, columns) / pairs
        for won, met, own, other in ((filled, asked, rows, columns), (filled.T, asked.T, columns, rows)):
            persons = len(won)
            influence = (other @ won.T - p[:, None] * (other @ met.T)) * persons / pairs[:, None]
            parts.append((own * np.square(influence)).sum(axis=1) / (persons * (persons - 1)))
        inner = np.clip(p, 0.5 / pairs, 1 - 0.5 / pairs)
        error = np.sqrt(parts[0] + parts[1]) / (inner * (1 - inner))
    return special.logit(inner), np.asarray(np.where((p > 0) & (p < 1), error, np.nan))
