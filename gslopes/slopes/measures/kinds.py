"""What of a label's answers is fitted: whether it was returned, or the number that it was returned with.

Tag services answer by presence: a label is returned for some pictures.  Most other models return every label for every
picture, each with a score, or with a number in a unit of its own; then presence never varies and the score is what may.

==========  =======================================================  ===================================
measure     number of a picture                                      unit of the slope
==========  =======================================================  ===================================
presence    1 where the label was returned, 0 elsewhere              percentage points per unit
log-odds    log-odds of the score, within 1e-6 of 0 and 1            log-odds per unit
value       the number                                               the number's own unit per unit
==========  =======================================================  ===================================

The rule, for each classifier and label, over all its sweeps but the placebos:

1. Some number of the label lies outside of [0, 1]: by value.
2. Presence varies on at least ``min_varying`` photos, or the label was returned for fewer than 95 % of the pictures: by
   presence.
3. The score varies on more photos than presence does: by log-odds.  Else by presence.

Where a score is missing, for fewer than 5 % of the pictures, the smallest score that the classifier returned replaces
it.  A photo without its number at some value is left out: no number can stand for it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from gslopes.core.arrays import Array, Flags, Objects
from gslopes.core.errors import TableError
from gslopes.core.records import FloatArray
from gslopes.core.tables import MEASURED
from gslopes.core.text import many
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.options import RARE
from gslopes.stats.contrast import Units
from gslopes.stats.ols import line_weights
from gslopes.stats.outcomes import Outcomes, gathered
from gslopes.stats.rounding import EXACT, STORED, exceeds, settled

Pairs = NDArray[np.int64]
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
    """The unit of a slope by the measure; of numbers the one that the classifier's name or the label says, if any.

    >>> unit_in("m:unit=years", "age", "value"), unit_in("llm:m", "salary (USD a year)", "value")
    ('years per unit', 'USD a year per unit')
    """
    said = re.search(r"[,:]unit=([^,]+)", classifier) or re.search(r" \(([^()]+)\)\Z", label)
    if said and measure == "value":
        return f"{said[1]} per unit"
    return UNITS[measure]


def choose(sweeps: Iterable[Answers], min_varying: int) -> dict[str, Measure]:
    """Label to measure, of those that are not judged by presence.

    sweeps: of one classifier, placebo sweeps aside.

    Raises: TableError for numbers beyond [0, 1] of a label that is missing for 5 % of the pictures or more.
    """
    pictures = 0
    parts = []
    for sweep in sweeps:
        pictures += len(sweep.photos) * len(sweep.values)
        odds, errors = _log_odds(sweep.score)
        facts = {
            "returned": sweep.present.sum(axis=1),
            "beyond": beyond(sweep.score).any(axis=1),
            "varying": (sweep.present != sweep.present[:, :1]).any(axis=1),
            "moving": (_levelled(odds, errors) != odds[:, :1]).any(axis=1),
        }
        size = len(sweep.labels)
        sums = {
            name: np.bincount(sweep.label, fact.astype(np.float64), minlength=size)
            for name, fact in facts.items()
        }
        parts.append(pd.DataFrame(sums, index=sweep.labels))
    if not parts:
        return {}
    counts = pd.concat(parts).groupby(level=0).sum().astype(np.int64)
    least = EVERYWHERE * pictures
    for label in counts.index[(counts["beyond"] > 0) & (counts["returned"] < least)]:
        share = (
            f"it was returned for {int(counts['returned'][label]):,} of {many(pictures, 'picture')}"
        )
        problem = f"The scores of {label!r} go beyond [0, 1], and {share}."
        raise TableError(
            problem, "Divide them by 100 if they are percentages, or give every picture its number."
        )
    by_score = (counts["varying"] < min_varying) & (counts["returned"] >= least)
    by_score &= counts["moving"] > counts["varying"]
    chosen: dict[str, Measure] = {str(label): "log-odds" for label in counts.index[by_score]}
    return chosen | {str(label): "value" for label in counts.index[counts["beyond"] > 0]}


def measured(sweep: Answers, measures: Mapping[str, str]) -> Answers:
    """The sweep with its measures; without the photos that lack a number at some value."""
    own = {label: measures[label] for label in sweep.labels.tolist() if label in measures}
    numbered = np.array([own.get(label) == "value" for label in sweep.labels.tolist()], dtype=bool)
    sweep = replace(sweep, measures=own)
    if not numbered.any():
        return sweep
    complete = numbered[sweep.label] & sweep.present.all(axis=1)
    keep = np.bincount(sweep.photo[complete], minlength=len(sweep.photos)) == numbered.sum()
    dropped = {**sweep.dropped, "missing": sweep.dropped["missing"] + int((~keep).sum())}
    return replace(sweep.only(keep), dropped=dropped)


def beyond(scores: NDArray[np.floating]) -> Flags:
    """Whether numbers lie outside of [0, 1], by more than rounding."""
    return exceeds(np.abs(scores - 0.5), 0.5)


def _log_odds(scores: NDArray[np.floating]) -> tuple[Array, Array]:
    """Log-odds of scores, and by how much rounding may move them: near 1, where scores are stored coarsely, by much."""
    score = np.clip(scores.astype(np.float64), _CLIP, 1 - _CLIP)
    return special.logit(score), np.maximum(_GRAIN, _LAST / (1 - score))


def _levelled(numbers: Array, errors: Array) -> Array:
    """Numbers, (P, K), those of a row that differ from its first by rounding alone made equal to it."""
    first = numbers[:, :1]
    return first + settled(numbers - first, errors + errors[:, :1], 1)


def numbers(sweep: Answers, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
    """(P, K) of the pairs of measured labels, in the unit of each, and (P,) by how much rounding may move them.

    Log-odds count from the smallest score's, as 0.
    """
    score = sweep.score[pairs].astype(np.float64)
    errors = STORED * np.abs(score)
    names = np.array(
        [sweep.measures.get(label, "presence") for label in sweep.labels.tolist()], dtype=object
    )
    odds = (names == "log-odds")[sweep.label[pairs]]
    floor, error = _log_odds(np.asarray(sweep.threshold))
    above, of_above = _log_odds(np.where(sweep.present[pairs], score, sweep.threshold)[odds])
    score[odds], errors[odds] = above - floor, of_above + error
    return _levelled(score, errors).astype(np.float32), errors.max(axis=1, initial=0).astype(
        np.float32
    )


def outcomes(answers: Answers, kind: Kind = "rate") -> Outcomes:
    """The answers as outcomes of one kind of number.

    kind: ``rate``: 1 where the label was returned, 0 elsewhere.  ``measure``: the numbers of the labels that are not
        judged by presence; the others have none.
    """
    photo = answers.photo
    label = answers.label
    rows = answers.present.astype(np.float32)
    errors = None
    if kind == "measure":
        measured_labels = np.array(
            [label in answers.measures for label in answers.labels.tolist()], dtype=bool
        )
        pairs = np.flatnonzero(measured_labels[label])
        photo, label, (rows, errors) = photo[pairs], label[pairs], numbers(answers, pairs)
    codes = (photo, label, rows, len(answers.labels), answers.units, errors)
    return gathered(answers.values, len(answers.photos), *codes)


def unit_slopes(answers: Answers, kind: Kind, labels: Objects | None = None) -> Units:
    """Each unit's slopes, in the unit of the measure.

    labels: those wanted, sorted, all of the answers' among them; the answers' own if None.
    """
    rows = outcomes(answers, kind)
    weights = line_weights(answers.values)
    slopes = SCALE[kind] * (rows.numbers.astype(np.float64) @ weights)
    errors = SCALE[kind] * np.abs(weights).sum() * rows.rounding
    names = answers.labels if labels is None else labels
    row = (
        np.searchsorted(names.astype(str), answers.labels.astype(str))
        if len(answers.labels)
        else np.empty(0, int)
    )
    return Units.of(
        slopes, errors, (row[rows.label], rows.unit), (len(names), len(rows.sizes)), rows.sizes
    )


def ends(answers: Answers, kind: Kind) -> dict[str, Array]:
    """(L,) means over photos at the first and the last value: columns y_first and y_last of core.tables.SLOPES.

    kind: ``rate``: of presence, shares in [0, 1].  ``measure``: of scores in [0, 1], the smallest one that the
        classifier returned where a label has none, or of the numbers.
    """
    absent, level = (0.0, answers.present) if kind == "rate" else (answers.threshold, answers.score)
    level = np.where(answers.present, level, absent)
    photos = max(len(answers.photos), 1)
    missing = len(answers.photos) - answers.active
    weights = np.eye(len(answers.values))[[0, -1]] if answers.ends is None else answers.ends
    sums = [np.bincount(answers.label, level @ weight, len(answers.labels)) for weight in weights]
    first, last = (
        of + absent * missing * weight.sum() for of, weight in zip(sums, weights, strict=True)
    )
    return {"y_first": first / photos, "y_last": last / photos}


def slopes_by_measure(answers: Answers, labels: Objects) -> Units:
    """Each unit's slopes: photo-rate, but for labels that are judged by their number, the slopes of that."""
    rate = unit_slopes(answers, "rate", labels)
    if not answers.measures:
        return rate
    by_number = np.array([float(label in answers.measures) for label in labels.tolist()])
    return rate.times(1 - by_number).minus(unit_slopes(answers, "measure", labels), -1)


def answers_by_measure(answers: Answers, labels: Objects) -> Units:
    """Each photo's answers, K = 1, to the labels, sorted, by each one's measure; presence in percentage points."""
    values = 100.0 * answers.present[:, 0]
    errors = EXACT * values
    by_number = np.array(
        [label in answers.measures for label in answers.labels.tolist()], dtype=bool
    )
    pairs = np.flatnonzero(by_number[answers.label])
    found, errors[pairs] = numbers(answers, pairs)
    values[pairs] = found[:, 0]
    row = np.searchsorted(labels.astype(str), answers.labels.astype(str))
    photos = len(answers.photos)
    return Units.of(
        values, errors, (row[answers.label], answers.photo), (len(labels), photos), np.ones(photos)
    )


def of_rows(frame: pd.DataFrame, measures: Mapping[str, str]) -> pd.DataFrame:
    """A table's rows without those of ``photo-measure`` about labels that are judged by presence.

    What too few photos change to be judged has no interval, but the paper's own.
    """
    if {"note", "ci_low"} <= set(frame) and len(frame):
        rare = frame["note"].fillna("").str.startswith(RARE) & (
            frame.get("estimator", "") != "paper"
        )
        frame = frame.assign(**{name: frame[name].mask(rare) for name in ("ci_low", "ci_high")})
    if "estimator" not in frame or not len(frame):
        return frame
    keep = (frame["estimator"] != MEASURED) | frame["label"].isin(list(measures))
    return frame[keep]
