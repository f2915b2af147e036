"""How well scores put the right photos first."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from gslopes.stats.rounding import places


def auc(truth: ArrayLike, scores: ArrayLike) -> float:
    """Area under the ROC curve: the share of (yes, no) pairs in order, ties counted half; NaN without both.

    truth: (n,) bool.  scores: (n,), higher means yes.

    >>> auc([True, False, True], [0.9, 0.4, 0.4])
    0.75
    """
    yes = np.asarray(truth, bool)
    positives = int(yes.sum())
    pairs = positives * (len(yes) - positives)
    if not pairs:
        return math.nan
    ranks = rankdata(places(scores))[yes]
    return float((ranks.sum() - positives * (positives + 1) / 2) / pairs)
