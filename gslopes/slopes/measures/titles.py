"""The line of slopes over a number that each label has, such as the share of women who have the job that it names.

Estimator: the least squares line through the labels' slopes, from 0 to 1 of the number.  Interval: t over photos,
corrected for skewness; the labels are taken as they are.  Null hypothesis: the line is flat.

All slopes come from the same photos: what moves all labels by chance, such as light, moves the line as well, and an
interval over labels does not see it.
"""

import math
from collections.abc import Mapping

import numpy as np

from gslopes.core.arrays import Array, centre_of
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.kinds import measured, numbers
from gslopes.stats.intervals import Estimate, linearised
from gslopes.stats.ols import line_weights


def line(
    answers: Answers, shares: Mapping[str, float], measure: str, together: float = 1.0
) -> Estimate:
    """The change of the slope from 0 to 1 of a number.

    answers: of one classifier along one attribute.  shares: label to its number; two or more differ.
    measure: by which these labels are judged; slopes of presence are relative to the share at the centre, as in the
        paper.
    together: photos in a unit, on average; those of a unit count as alike.
    """
    if measure != "presence":
        answers = measured(answers, dict.fromkeys(shares, measure))
    if not len(answers.photos):
        return Estimate(*[math.nan] * 5)
    weights = _weights(answers, shares)
    by = _by_presence if measure == "presence" else _by_number
    value, moves, size = by(answers, weights)
    return linearised(value, moves * math.sqrt(together), size)


def _weights(answers: Answers, shares: Mapping[str, float]) -> Array:
    """(L,) by which slopes are multiplied and summed up to the line; 0 for labels without a number."""
    known = np.array([shares.get(label, np.nan) for label in answers.labels])
    far = np.nan_to_num(known - np.nanmean(known))
    return np.asarray(far / float(far @ far))


def _by_number(answers: Answers, weights: Array) -> tuple[float, Array, Array]:
    """The line, how far each photo moves it, and the size of what that was computed from, (n,) both."""
    rows = np.flatnonzero(weights[answers.label])
    n = len(answers.photos)
    found, _ = numbers(answers, rows)
    parts = weights[answers.label[rows]] * (found @ line_weights(answers.values))
    by_photo, size = (np.bincount(answers.photo[rows], each, n) for each in (parts, np.abs(parts)))
    value = float(by_photo.mean())
    return value, (by_photo - value) / n, (size + abs(value)) / n


def _by_presence(answers: Answers, weights: Array) -> tuple[float, Array, Array]:
    """The same of shares relative to those at the centre, which vary with the photos as well."""
    rows = np.flatnonzero(weights[answers.label])
    label = answers.label[rows]
    n = len(answers.photos)
    own = answers.present[rows] @ line_weights(answers.values)
    centre = answers.present[rows, centre_of(answers.values)]
    level = np.bincount(label, centre, len(weights)) / n
    level = np.maximum(level, 1 / n)
    slopes = np.bincount(label, own, len(weights)) / n / level
    expected = slopes[label] * centre
    scale = weights[label] / level[label] / n
    moves = np.bincount(answers.photo[rows], scale * (own - expected), n).astype(np.float64)
    size = np.bincount(
        answers.photo[rows], np.abs(scale) * (np.abs(own) + np.abs(expected)), n
    ).astype(np.float64)
    return float(weights @ slopes), moves, size
