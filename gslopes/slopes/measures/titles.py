"""The line of slopes over a number that each label has, such as the share of women who have the job that it names.

Estimator: the least squares line through the labels' slopes, from 0 to 1 of the number.  Interval: t over photos,
corrected for skewness; the labels are fixed.  Null hypothesis: the line is flat.

All slopes come from the same photos: what moves all labels by chance, such as light, moves the line as well, and an
interval over labels does not see it.
"""

import math
from collections.abc import Mapping

import numpy as np

from gslopes.core.records import Array, centre_of, doubles
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
    together: photos in a unit, on average; photos of one unit count as alike.
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
    numbered = np.array([shares.get(label, np.nan) for label in answers.labels])
    far = np.nan_to_num(numbered - np.nanmean(numbered))
    return np.asarray(far / float(far @ far))


def _by_number(answers: Answers, weights: Array) -> tuple[float, Array, Array]:
    """The line, how far each photo moves it, and the size of what that was computed from, (n,) both."""
    rows = np.flatnonzero(weights[answers.label])
    n = len(answers.photos)
    photo = answers.photo[rows]
    slopes = numbers(answers, rows)[0] @ line_weights(answers.values)
    parts = weights[answers.label[rows]] * slopes
    by_photo = np.bincount(photo, parts, n)
    size = np.bincount(photo, np.abs(parts), n)
    value = float(by_photo.mean())
    return value, (by_photo - value) / n, (size + abs(value)) / n


def _by_presence(answers: Answers, weights: Array) -> tuple[float, Array, Array]:
    """The same of shares relative to the share at the centre, which varies with the photos as well."""
    rows = np.flatnonzero(weights[answers.label])
    label = answers.label[rows]
    photo = answers.photo[rows]
    n = len(answers.photos)
    slopes = answers.present[rows] @ line_weights(answers.values)
    centre = answers.present[rows, centre_of(answers.values)]
    level = np.maximum(np.bincount(label, centre, len(weights)) / n, 1 / n)
    means = np.bincount(label, slopes, len(weights)) / n / level
    expected = means[label] * centre
    scale = weights[label] / level[label] / n
    moves = doubles(np.bincount(photo, scale * (slopes - expected), n))
    size = np.abs(scale) * (np.abs(slopes) + np.abs(expected))
    return float(weights @ means), moves, doubles(np.bincount(photo, size, n))
