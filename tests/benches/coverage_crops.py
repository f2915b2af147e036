"""Cells of the coverage bench about crops: do the intervals of all pairs of groups hold at once?

Every person has a score; of two people the higher one is favoured. ``as it was`` divides every draw's departure by the
estimate's own standard error, on the scale of shares; ``simultaneous`` is what the audit shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
from scipy import special

from gslopes.crops.measurer import compared
from gslopes.crops.parity import draw_weights, parity, resampled, simultaneous

DRAWS = 1000
Count = tuple[str, str, int, int]
Groups = Mapping[str, tuple[int, float, float]]  # name to persons, mean and spread of their scores

FIRST_DESIGN = {
    "10 to 35": {"a": (10, 0.0, 1.0), "b": (18, 0.25, 1.0), "c": (26, 0.5, 1.0), "d": (35, 0.75, 1.0)},
    "15 to 30": {"a": (15, 0.0, 1.0), "b": (20, 0.25, 1.0), "c": (25, 0.5, 1.0), "d": (30, 0.75, 1.0)},
    "60 to 120": {"a": (60, 0.0, 1.0), "b": (80, 0.25, 1.0), "c": (100, 0.5, 1.0), "d": (120, 0.75, 1.0)},
}
SECOND_DESIGN = {
    "12, 18, 40, unequal spread": {"a": (12, 0.0, 1.0), "b": (40, 0.7, 0.4), "c": (18, 1.1, 2.0)},
    "16 to 28, shares to 0.9": {"a": (16, 0.0, 1.0), "b": (20, 0.6, 1.0), "c": (24, 1.2, 1.0), "d": (28, 1.8, 1.0)},
    "5 groups of 20, half of the pairs": {name: (20, 0.2 * index, 1.0) for index, name in enumerate("abcde")},
}


def as_it_was(tables: list[np.ndarray], weights: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[float, float]]:
    found = [parity(h) for h in tables]
    draws = [resampled(h, *pair) for h, pair in zip(tables, weights, strict=True)]
    away = [np.abs(draw - one.p) / one.se for draw, one in zip(draws, found, strict=True)]
    quantile = float(np.quantile(np.nanmax(away, axis=0), 0.95))
    return [(one.p - quantile * one.se, one.p + quantile * one.se) for one in found]


def at_once(rng: np.random.Generator, sets: int, designs: Mapping[str, Groups]) -> Iterator[Count]:
    """Of the audits in which every share lies between 0 and 1."""
    for title, groups in designs.items():
        pairs = list(combinations(groups, 2))
        truth = [special.ndtr((groups[a][1] - groups[b][1]) / np.hypot(groups[a][2], groups[b][2])) for a, b in pairs]
        held = {"as it was": 0, "simultaneous": 0}
        judged = 0
        for _ in range(sets):
            scores = {name: rng.normal(mean, spread, size) for name, (size, mean, spread) in groups.items()}
            drawn = draw_weights(
                {name: len(values) for name, values in scores.items()}, DRAWS, int(rng.integers(1 << 30))
            )
            tables = [compared(scores[a], scores[b]) for a, b in pairs]
            if "half" in title:
                tables = [np.where(rng.random(h.shape) < 0.5, h, np.nan) for h in tables]
            if any(np.nanmean(h) in (0, 1) for h in tables):
                continue
            judged += 1
            weights = [(drawn[a], drawn[b]) for a, b in pairs]
            for name, ends in (
                ("as it was", as_it_was(tables, weights)),
                ("simultaneous", simultaneous(tables, weights)),
            ):
                held[name] += all(low <= share <= high for share, (low, high) in zip(truth, ends, strict=True))
        for name, count in held.items():
            yield f"all pairs hold at once, {title}", name, count, judged


def crops_at_once(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Four groups, scores of spread 1, means 0.25 apart."""
    yield from at_once(rng, sets, FIRST_DESIGN)


def crops_at_once_unseen(rng: np.random.Generator, sets: int) -> Iterator[Count]:
    """Designs that no choice was made on."""
    yield from at_once(rng, sets, SECOND_DESIGN)


CASES = {"crops-at-once": crops_at_once, "crops-at-once-unseen": crops_at_once_unseen}
