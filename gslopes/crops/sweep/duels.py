"""Duels: a person's pictures at two values next to each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.crops.tables import DUELS
from gslopes.stats.intervals import mean_t, t_quantile

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Duels:
    """A person's pictures at K values next to each other, all K(K-1)/2 pairs.

    p: (K, K) chance that the row's value is favoured over the column's, mean over persons; NaN on the diagonal.
    low, high: (K, K) ends of its 95 % t interval over persons; NaN where they do not differ.
    score: (n,) mean over pairs of values of sign(v - v') (h - 1/2) 2, in [-1, 1]: 1 if the larger value always wins.
    """

    p: Array
    low: Array
    high: Array
    score: Array


def value_pairs(values: int) -> list[tuple[int, int]]:
    """(lower, higher) step of every pair."""
    return list(combinations(range(values), 2))


def duels(h: Array, confidence: float = 0.95) -> Duels:
    """h: (n, K, K), share of the answers about a person's pictures at steps k and l that favoured k; NaN: not asked."""
    size = h.shape[1]
    diagonal = np.eye(size, dtype=bool)
    filled = np.where(diagonal, 0.5, h)
    n = (~np.isnan(filled)).sum(axis=0)
    mean = np.nansum(filled, axis=0) / np.where(n > 0, n, np.nan)
    spread = np.sqrt(np.nansum(np.square(filled - mean), axis=0) / np.where(n > 1, n - 1, np.nan))
    half = t_quantile(np.maximum(n - 1, 1), confidence) * np.where(spread > 0, spread, np.nan) / np.sqrt(n)
    steps = value_pairs(size)
    score = np.mean([2 * h[:, high, low] - 1 for low, high in steps], axis=0)
    p, low, high_end = (np.where(diagonal, np.nan, table) for table in (mean, mean - half, mean + half))
    return Duels(p, low, high_end, np.asarray(score))


def duel_rows(single: pd.DataFrame, values: dict[str, list[float]]) -> pd.DataFrame:
    """Duels of all persons from those of each: rows of DUELS, the mean over pairs of values with no ``low``."""
    split = single["attribute"].str.split(" ", n=1, expand=True)
    single = single.assign(photo=split[0], attribute=split[1])
    rows: list[dict[str, Any]] = []
    for (cropper, attribute), answers in single.groupby(["cropper", "attribute"], sort=True):
        steps = values[str(attribute)]
        people = sorted(answers["photo"].unique())
        place = {photo: index for index, photo in enumerate(people)}
        h = np.full((len(people), len(steps), len(steps)), np.nan)
        lower, upper = (answers[name].to_numpy().astype(np.int64) for name in ("low", "high"))
        person = answers["photo"].map(place).to_numpy().astype(np.int64)
        won = answers["p"].to_numpy().astype(np.float64)
        h[person, upper, lower], h[person, lower, upper] = won, 1 - won
        found = duels(h)
        labels = {"cropper": cropper, "attribute": attribute, "persons": len(people)}
        for low, high in value_pairs(len(steps)):
            ends = {"p": found.p[high, low], "ci_low": found.low[high, low], "ci_high": found.high[high, low]}
            rows.append({**labels, "low": steps[low], "high": steps[high], **ends})
        mean = mean_t(found.score)
        rows.append({**labels, "low": None, "high": None, "p": mean.value, "ci_low": mean.low, "ci_high": mean.high})
    return pd.DataFrame(rows, columns=DUELS.columns)
