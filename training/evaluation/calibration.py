"""How well a reader or tagger tells yes from no, and whether its probabilities are what they say."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gslopes.stats import agreement
from gslopes.validate import estimates
from gslopes.validate.estimates import Estimate, Floats, Groups


def discrimination(truth: ArrayLike, scores: ArrayLike, people: ArrayLike | None = None) -> Estimate:
    """The area under the ROC curve with its interval over photos, or over people (n,) where several photos show one."""
    yes, score = np.asarray(truth, bool), np.asarray(scores, np.float64)
    clusters = None if people is None else np.asarray(people)
    return estimates.interval(lambda rows: agreement.auc(yes[rows], score[rows]), len(yes), clusters=clusters)


def discrimination_by_group(truth: ArrayLike, scores: ArrayLike, groups: ArrayLike, least: int = 20) -> Groups:
    """The area under the ROC curve in every group, and the gap between the groups of ``least`` photos or more."""
    yes, score = np.asarray(truth, bool), np.asarray(scores, np.float64)
    return estimates.by_group(lambda rows: agreement.auc(yes[rows], score[rows]), groups, least)


def expected_calibration_error(truth: ArrayLike, probability: ArrayLike, bins: int = 15) -> Estimate:
    """Mean distance between what the probabilities say and how often it is so, over bins of equal mass.

    truth: (n,) bool.  probability: (n,) in [0, 1], of yes.

    A finite sample has an error above 0 even where the probabilities are right (about 1 / sqrt(n / bins) at most), and
    a resample a larger one: the interval leans upwards.

    Source: Naeini et al. 2015; bins of equal mass as in Nixon et al. 2019, Measuring calibration in deep learning.
    """
    yes, predicted = np.asarray(truth, np.float64), np.asarray(probability, np.float64)
    return estimates.interval(lambda rows: _error(yes[rows], predicted[rows], bins), len(yes))


def error_by_group(
    truth: ArrayLike, probability: ArrayLike, groups: ArrayLike, bins: int = 15, least: int = 20
) -> Groups:
    """``expected_calibration_error`` in every group, and the gap between the groups of ``least`` photos or more."""
    yes, predicted = np.asarray(truth, np.float64), np.asarray(probability, np.float64)
    return estimates.by_group(lambda rows: _error(yes[rows], predicted[rows], bins), groups, least)


def _error(yes: Floats, predicted: Floats, bins: int) -> float:
    order = np.argsort(predicted, kind="stable")
    ends = np.linspace(0, len(order), min(bins, len(order)) + 1).astype(np.intp)
    sums = np.add.reduceat((predicted - yes)[order], ends[:-1])
    return float(np.abs(sums).sum() / len(order))
