"""Which number of a label's answers is fitted: whether it was returned, or the number that it was returned with.

Tag services answer by presence: a label is returned for some pictures.  Most other models return every label for every
picture, each with a score, or with a number in another unit; then presence never varies and the score is what may.

==========  =======================================================  ===================================
measure     number of a picture                                      unit of the slope
==========  =======================================================  ===================================
presence    1 if the label was returned, 0 if not                    percentage points per unit
log-odds    log-odds of the score, within 1e-6 of 0 and 1            log-odds per unit
value       the number                                               the number's own unit per unit
==========  =======================================================  ===================================

The rule, for each classifier and label, over all its sweeps but the placebos:

1. Some number of the label lies outside of [0, 1]: by value.
2. Presence varies on at least ``min_varying`` photos, or the label was returned for fewer than 95 % of the pictures: by
   presence.
3. The score varies on more photos than presence does: by log-odds.  Else by presence.

If a score is missing, for fewer than 5 % of the pictures, the smallest score that the classifier returned replaces
it.  A photo that lacks its number at some value is left out: nothing can replace it.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import special

from gslopes.core import TableError, Texts, many
from gslopes.core.records import (
    Array,
    Flags,
    FloatArray,
    Integers,
    Numbers,
    Objects,
    doubles,
    floats,
)
from gslopes.slopes.measures.answers import Answers
from gslopes.stats.contrast import Units
from gslopes.stats.ols import line_weights
from gslopes.stats.outcomes import Outcomes, gathered
from gslopes.stats.rounding import EXACT, STORED, exceeds, settled

Measure = Literal["presence", "log-odds", "value"]
Kind = Literal["rate", "measure"]
SCALE: dict[str, float] = {"rate": 100.0, "measure": 1.0}
UNITS: dict[str, str] = {
    "presence": "percentage points per unit",
    "log-odds": "log-odds per unit",
    "value": "of its number per unit",
}
EVERYWHERE = 0.95  # share of the pictures
_CLIP = 1e-6
_GRAIN = (
    2.0**-17
)  # log-odds that differ by less are the same answer: batches of another size round otherwise
_LAST = 2.0**-23  # of a score near 1, twice what its last bit is worth


def unit_in(classifier: str, label: str, measure: str) -> str:
    """The unit of a slope by the measure; of numbers the one in the classifier's name or in the label, if any.

    >>> unit_in("m:unit=years", "age", "value"), unit_in("llm:m", "salary (USD a year)", "value")
    ('years per unit', 'USD a year per unit')
    """
    unit = re.search(r"[,:]unit=([^,]+)", classifier) or re.search(r" \(([^()]+)\)\Z", label)
    if unit and measure == "value":
        return f"{unit[1]} per unit"
    return UNITS[measure]


def choose(sweeps: Iterable[Answers], min_varying: int) -> dict[str, Measure]:
    """Label to measure, of the labels that are not judged by presence.

    sweeps: of one classifier, placebo sweeps aside.

    Raises: TableError for numbers beyond [0, 1] of a label that is missing for 5 % of the pictures or more.
    """
    pictures = 0
    parts = []
    for sweep in sweeps:
        pictures += len(sweep.photos) * len(sweep.values)
        odds, errors = _log_odds(sweep.score)
        facts = {
            "returned": sweep.present.sum(1),
            "beyond": beyond(sweep.score).any(1),
            "varying": (sweep.present != sweep.present[:, :1]).any(1),
            "moving": (_levelled(odds, errors) != odds[:, :1]).any(1),
        }
        sums = pd.DataFrame(facts, dtype=int).groupby(sweep.label).sum()
        parts.append(sums.rename(index=sweep.labels.item))
    if not parts:
        return {}
    counts = pd.concat(parts).groupby(level=0).sum()
    numbered = counts["beyond"] > 0
    everywhere = counts["returned"] >= EVERYWHERE * pictures
    for label, returned in counts["returned"][numbered & ~everywhere].items():
        raise TableError(
            f"The scores of {label!r} go beyond [0, 1], and it was returned for {returned:,} of "
            f"{many(pictures, 'picture')}.",
            "Divide them by 100 if they are percentages, or give every picture its number.",
        )
    by_score = (counts["varying"] < min_varying) & everywhere
    by_score &= counts["moving"] > counts["varying"]
    return dict.fromkeys(counts.index[by_score], "log-odds") | dict.fromkeys(
        counts.index[numbered], "value"
    )


def measured(sweep: Answers, measures: Texts) -> Answers:
    """The sweep with its measures; without the photos that lack a number at some value."""
    sweep = replace(
        sweep, measures={label: measures[label] for label in sweep.labels if label in measures}
    )
    numbered = sweep.measures_of(sweep.labels) == "value"
    if not numbered.any():
        return sweep
    complete = numbered[sweep.label] & sweep.present.all(1)
    keep = np.bincount(sweep.photo[complete], minlength=len(sweep.photos)) == numbered.sum()
    return sweep.only(keep)


def beyond(scores: Numbers) -> Flags:
    """Whether numbers lie outside of [0, 1], by more than rounding."""
    return exceeds(np.abs(scores - 0.5), 0.5)


def _log_odds(scores: Numbers) -> tuple[Array, Array]:
    """Log-odds of scores, and by how much rounding may move them: much near 1, since scores are stored coarsely."""
    score = np.clip(doubles(scores), _CLIP, 1 - _CLIP)
    return special.logit(score), np.maximum(_GRAIN, _LAST / (1 - score))


def _levelled(numbers: Array, errors: Array) -> Array:
    """Numbers, (P, K), made equal to the first one of their row if they differ from it only by rounding."""
    first = numbers[:, :1]
    return first + settled(numbers - first, errors + errors[:, :1], 1)


def numbers(sweep: Answers, pairs: Integers) -> tuple[FloatArray, FloatArray]:
    """(P, K) of the pairs of measured labels, in the unit of each, and (P,) by how much rounding may move them.

    Log-odds count from the smallest score's, as 0.
    """
    score = doubles(sweep.score[pairs])
    errors = STORED * np.abs(score)
    odds = (sweep.measures_of(sweep.labels) == "log-odds")[sweep.label[pairs]]
    floor, floor_error = _log_odds(np.asarray(sweep.threshold))
    above, error = _log_odds(np.where(sweep.present[pairs], score, sweep.threshold)[odds])
    score[odds] = above - floor
    errors[odds] = error + floor_error
    levelled = floats(_levelled(score, errors))
    return levelled, floats(errors.max(1, initial=0))


def outcomes(answers: Answers, kind: Kind = "rate") -> Outcomes:
    """The answers as outcomes of one kind of number.

    kind: ``rate``: 1 if the label was returned, 0 if not.  ``measure``: the numbers of the labels that are not
        judged by presence; the others have none.
    """
    pairs: Any = slice(None)
    rows = floats(answers.present)
    errors = None
    if kind == "measure":
        pairs = np.flatnonzero(answers.by_number(answers.labels)[answers.label])
        rows, errors = numbers(answers, pairs)
    return gathered(
        answers.values,
        len(answers.photos),
        answers.photo[pairs],
        answers.label[pairs],
        rows,
        len(answers.labels),
        cluster=answers.units,
        errors=errors,
    )


def steepest(kind: Kind, values: Array) -> float:
    """How steep a photo's slope can be: that of zeros, then ones, over the values, (K,); infinite of other numbers.

    >>> steepest("rate", np.array([-1.0, 0.0, 1.0])), steepest("measure", np.array([0.0, 1.0]))
    (50.0, inf)
    """
    if kind == "measure":
        return np.inf
    return SCALE[kind] * float(np.abs(line_weights(values)).sum()) / 2


def unit_slopes(answers: Answers, kind: Kind, labels: Objects | None = None) -> Units:
    """Each unit's slopes, in the unit of the measure.

    labels: which ones, sorted, all of the answers' among them; the answers' own if None.
    """
    rows = outcomes(answers, kind)
    weights = line_weights(answers.values)
    slopes = SCALE[kind] * (doubles(rows.numbers) @ weights)
    errors = SCALE[kind] * np.abs(weights).sum() * rows.rounding
    names = answers.labels if labels is None else labels
    cells = answers.places_in(names)[rows.label], rows.unit
    most: Array | float = steepest(kind, answers.values)
    if kind == "measure":  # the others have none
        most = np.where(answers.by_number(names), np.inf, 0)
    return Units.of(slopes, errors, cells, (len(names), len(rows.sizes)), rows.sizes, most)


def ends(answers: Answers, kind: Kind) -> dict[str, Array]:
    """(L,) means over photos at the first and the last value: columns y_first and y_last of core.tables.SLOPES.

    kind: ``rate``: of presence, shares in [0, 1].  ``measure``: of scores in [0, 1], of a label without one the
        smallest that the classifier returned, or of the numbers.
    """
    absent = 0.0 if kind == "rate" else answers.threshold
    level = np.where(answers.present, 1.0 if kind == "rate" else answers.score, absent)
    photos = max(len(answers.photos), 1)
    missing = len(answers.photos) - answers.active
    weights = np.eye(len(answers.values))[[0, -1]] if answers.ends is None else answers.ends
    columns = {}
    for name, weight in zip(("y_first", "y_last"), weights, strict=True):
        sums = np.bincount(answers.label, level @ weight, len(answers.labels))
        columns[name] = (sums + absent * missing * weight.sum()) / photos
    return columns


def slopes_by_measure(answers: Answers, labels: Objects) -> Units:
    """Each unit's slopes: photo-rate, and of labels that are judged by their number the slopes of that."""
    rate = unit_slopes(answers, "rate", labels)
    if not answers.measures:
        return rate
    by_number = doubles(answers.by_number(labels))
    return rate.times(1 - by_number).minus(unit_slopes(answers, "measure", labels), -1)


def answers_by_measure(answers: Answers, labels: Objects) -> Units:
    """Each photo's answers, K = 1, to the labels, sorted, by each one's measure; presence in percentage points."""
    values = 100.0 * answers.present[:, 0]
    errors = EXACT * values
    pairs = np.flatnonzero(answers.by_number(answers.labels)[answers.label])
    by_number, errors[pairs] = numbers(answers, pairs)
    values[pairs] = by_number[:, 0]
    photos = len(answers.photos)
    cells = answers.places_in(labels)[answers.label], answers.photo
    most = np.where(answers.by_number(labels), np.inf, 100)
    return Units.of(values, errors, cells, (len(labels), photos), np.ones(photos), most)
