"""How well a reader or tagger tells yes from no, and whether its probabilities are what they say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logsumexp
from scipy.stats import rankdata

from gslopes.validate import estimates
from gslopes.validate.estimates import Estimate, Floats, Groups


def area(truth: ArrayLike, scores: ArrayLike) -> float:
    """Area under the ROC curve: the share of (yes, no) pairs in order, ties counted half; NaN without both.

    truth: (n,) bool.  scores: (n,), higher means yes.

    >>> area([True, False, True], [0.9, 0.4, 0.4])
    0.75
    """
    yes = np.asarray(truth, bool)
    there, not_there = int(yes.sum()), int((~yes).sum())
    if not there or not not_there:
        return float("nan")
    ranks = rankdata(np.asarray(scores, np.float64))
    return float((ranks[yes].sum() - there * (there + 1) / 2) / (there * not_there))


def auc(truth: ArrayLike, scores: ArrayLike, people: ArrayLike | None = None) -> Estimate:
    """``area`` with its interval over photos, or over people (n,) where several photos show one."""
    yes, score = np.asarray(truth, bool), np.asarray(scores, np.float64)
    clusters = None if people is None else np.asarray(people)
    return estimates.interval(lambda rows: area(yes[rows], score[rows]), len(yes), clusters=clusters)


def auc_by_group(truth: ArrayLike, scores: ArrayLike, groups: ArrayLike, least: int = 20) -> Groups:
    """``area`` in every group, and the gap between the groups of ``least`` photos or more."""
    yes, score = np.asarray(truth, bool), np.asarray(scores, np.float64)
    return estimates.by_group(lambda rows: area(yes[rows], score[rows]), groups, least)


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


def temperature(logits: ArrayLike, truth: ArrayLike) -> float:
    """The T by which logits are divided so that their probabilities fit best: above 1 means they were too sure.

    logits: (n,) of yes, with truth (n,) bool; or (n, classes), with truth (n,) the index of the class.

    Source: Guo et al. 2017, On calibration of modern neural networks, eq. 9.
    """
    z, y = np.asarray(logits, np.float64), np.asarray(truth)
    if z.ndim == 1:
        signed = np.where(y.astype(bool), z, -z)
        return _best(lambda t: float(np.logaddexp(0, -signed / t).mean()))
    of_truth = z[np.arange(len(z)), y.astype(np.intp)]
    return _best(lambda t: float((logsumexp(z / t, axis=1) - of_truth / t).mean()))


def platt(logits: ArrayLike, truth: ArrayLike) -> tuple[float, float]:
    """(scale, shift) with which ``sigmoid(scale * logit + shift)`` fits best: for labels of another frequency.

    logits: (n,).  truth: (n,) bool.  The targets are drawn in a little, so that separable data have a finite fit.

    Source: Platt 1999, Probabilistic outputs for support vector machines, §2.2.
    """
    z, yes = np.asarray(logits, np.float64), np.asarray(truth, bool)
    there, not_there = int(yes.sum()), int((~yes).sum())
    target = np.where(yes, (there + 1) / (there + 2), 1 / (not_there + 2))

    def loss(w: Floats) -> tuple[float, Floats]:
        line = w[0] * z + w[1]
        off = expit(line) - target
        return float((np.logaddexp(0, line) - target * line).mean()), np.array([(off * z).mean(), off.mean()])

    scale, shift = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS").x
    return float(scale), float(shift)


def _best(loss: Callable[[float], float]) -> float:
    found = minimize_scalar(lambda log_t: loss(float(np.exp(log_t))), bounds=(-4, 4), method="bounded")
    return float(np.exp(found.x))


def _error(yes: Floats, predicted: Floats, bins: int) -> float:
    order = np.argsort(predicted, kind="stable")
    ends = np.linspace(0, len(order), min(bins, len(order)) + 1).astype(np.intp)
    sums = np.add.reduceat((predicted - yes)[order], ends[:-1])
    return float(np.abs(sums).sum() / len(order))
