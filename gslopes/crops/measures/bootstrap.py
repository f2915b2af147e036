"""Intervals by drawing people again: one draw for all pairs of groups at once, so that they hold together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gslopes.stats.resampling import multinomial_counts

Array = NDArray[np.float64]


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


def simultaneous(
    estimates: Sequence[float], errors: Sequence[float], draws: Sequence[Array], confidence: float = 0.95
) -> list[tuple[float, float]]:
    """Intervals that hold for all estimates at once: by the largest |draw - estimate|/se over them.

    estimates, errors: one number a pair of groups.  draws: (B,) each, of one draw of people.
    """
    usable = [index for index, error in enumerate(errors) if error > 0]
    if not usable:
        return [(float("nan"), float("nan"))] * len(estimates)
    away = np.array([np.abs(draws[index] - estimates[index]) / errors[index] for index in usable])
    away = away[:, ~np.isnan(away).all(axis=0)]  # a draw of people may have no pair that was asked about
    if not away.shape[1]:
        return [(float("nan"), float("nan"))] * len(estimates)
    quantile = float(np.quantile(np.nanmax(away, axis=0), confidence))
    return [
        (max(0.0, p - quantile * error), min(1.0, p + quantile * error)) if error > 0 else (float("nan"), float("nan"))
        for p, error in zip(estimates, errors, strict=True)
    ]
