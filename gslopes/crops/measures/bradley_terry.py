"""Bradley-Terry strengths: do the shares of all pairs follow from one number a group?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """strength: (g,), sum 1, which is also the predicted share of each when all stand in one picture.

    chi2: departure of the counts from the prediction, of draws only.  df: (g-1)(g-2)/2.  p_value: of it; NaN without.
    """

    strength: Array
    chi2: float
    df: int
    p_value: float


def bradley_terry(wins: Array, *, rounds: int = 10_000, tolerance: float = 1e-12) -> Strengths:
    """Maximum likelihood by Hunter's MM steps.

    wins: (g, g), how often the row's was favoured over the column's; the diagonal does not count.

    Source: Bradley & Terry 1952, doi 10.1093/biomet/39.3-4.324; Hunter 2004, doi 10.1214/aos/1079120141.

    >>> bradley_terry(np.array([[0.0, 3.0], [1.0, 0.0]])).strength.round(4).tolist()
    [0.75, 0.25]
    """
    wins = np.where(np.eye(len(wins), dtype=bool), 0.0, wins)
    games = wins + wins.T
    strength = np.full(len(wins), 1 / len(wins))
    won = wins.sum(axis=1)
    for _ in range(rounds):
        below = (games / (strength[:, None] + strength[None, :] + 1e-300)).sum(axis=1)
        fresh = np.divide(won, below, out=np.zeros_like(won), where=below > 0)
        fresh /= fresh.sum() if fresh.sum() > 0 else 1.0
        change = float(np.abs(fresh - strength).max())
        strength = fresh
        if change < tolerance:
            break
    expected = games * strength[:, None] / (strength[:, None] + strength[None, :] + 1e-300)
    cells = games > 0
    chi2 = float((np.square(wins - expected)[cells] / np.maximum(expected[cells], 1e-300)).sum())
    size = len(wins)
    df = (size - 1) * (size - 2) // 2
    return Strengths(strength, chi2, df, float(stats.chi2.sf(chi2, df)) if df else float("nan"))
