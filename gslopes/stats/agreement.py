"""How well two orders, or two people's answers, agree."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from gslopes.core.arrays import Array
from gslopes.stats.rounding import STORED, exceeds, places, settled


def auc(truth: ArrayLike, scores: ArrayLike) -> float:
    """Area under the ROC curve: the share of (yes, no) pairs in order, ties counted half; NaN without both.

    truth: (n,) bool.  scores: (n,), higher means yes.

    >>> auc([True, False, True], [0.9, 0.4, 0.4])
    0.75
    """
    yes = np.asarray(truth, bool)
    positives, negatives = int(yes.sum()), int((~yes).sum())
    if not positives or not negatives:
        return math.nan
    ranks = rankdata(places(scores))
    return float((ranks[yes].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def kendall(readings: ArrayLike, values: ArrayLike, resolution: float = 0.0) -> Array:
    """Kendall's tau-b of each row with the values, (n,) in [-1, 1]; NaN where all readings of a row are equal.

    Ours, not scipy's: for all rows at once, and with a resolution.

    readings: (n, K).  values: (K,).
    resolution: readings that differ by no more count as equal; a probability near 0 or 1 wavers in its last digits.

    Source: Kendall 1945, The treatment of ties in ranking problems.

    >>> kendall([[0.1, 0.4, 0.9], [0.9, 0.4, 0.1]], [-1, 0, 1]).tolist()
    [1.0, -1.0]
    """
    array, steps = np.asarray(readings, np.float64), np.asarray(values, np.float64)
    first, second = np.triu_indices(len(steps), 1)
    pairs = array[:, second], array[:, first]
    difference = settled(pairs[0] - pairs[1], np.abs(pairs[0]) + np.abs(pairs[1]), STORED)  # (n, pairs)
    up = np.sign(difference) * exceeds(np.abs(difference), resolution)
    along = np.sign(steps[second] - steps[first])
    untied = np.sqrt((up != 0).sum(1) * float((along != 0).sum()))
    return np.where(untied > 0, (up @ along) / np.where(untied > 0, untied, 1), np.nan)


def cohens_kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Cohen's kappa of two people's answers to the same questions; NaN without any, 1 where only one answer occurs.

    Source: Cohen 1960, Educational and Psychological Measurement 20:37.

    >>> cohens_kappa(["harm", "harm", "unsure", "unsure"], ["harm", "unsure", "unsure", "unsure"])
    0.5
    """
    if not len(one):
        return math.nan
    first, second = np.asarray(one), np.asarray(other)
    agree = float(np.mean(first == second))
    chance = sum(float(np.mean(first == name) * np.mean(second == name)) for name in {*one, *other})
    return (agree - chance) / (1 - chance) if chance < 1 else 1.0
