"""Two runs over the same photos: by how much did each label's slope change?  Paired photo by photo."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from gslopes.fit.answers import Answers
from gslopes.fit.multiplicity import adjust
from gslopes.fit.profiles import line_weights

Array = NDArray[np.float64]
COLUMNS = (
    *("classifier", "attribute", "label", "n", "active", "slope", "other_slope"),
    *("difference", "se", "p", "ci_low", "ci_high", "q", "note"),
)
RARE = "too rare to judge"


def paired_differences(
    one: Answers, other: Answers, *, min_active: int = 10, correction: str = "bh", confidence: float = 0.95
) -> pd.DataFrame:
    """The photo-rate slopes of both, and their difference: second minus first, percentage points per unit.

    Each photo that both answered at all values has a slope in either; the difference is the mean over photos of the
    second minus the first.  Interval and p: one-sample t of those differences with n - 1 degrees of freedom, null
    hypothesis: the mean difference is 0.  q: p adjusted over the labels.

    one, other: a classifier's answers in the first and the second run, for one attribute; the K may differ.
    min_active: labels on fewer photos, in both runs together, are not judged.  correction: ``bh``, ``by`` or ``holm``.

    Returns a row a label of either, with the columns ``COLUMNS``; classifier and attribute are those of ``other``.
    """
    photos = np.array(sorted(set(one.photos.tolist()) & set(other.photos.tolist())), dtype=object)
    labels = np.array(sorted({*one.labels.tolist(), *other.labels.tolist()}), dtype=object)
    cells, slopes = zip(*(_slopes(answers, photos, labels) for answers in (one, other)), strict=True)
    places, row = np.unique(np.concatenate(cells), return_inverse=True)
    both = np.zeros((2, len(places)))
    first = len(cells[0])
    both[0, row[:first]], both[1, row[first:]] = slopes
    label = places // max(len(photos), 1)
    many, n = len(labels), len(photos)
    means = np.stack([np.bincount(label, numbers, many) for numbers in both]) / max(n, 1)
    change = both[1] - both[0]
    difference = means[1] - means[0]
    squares = np.bincount(label, np.square(change), many) - n * np.square(difference)
    active = np.bincount(label, minlength=many)
    rare = (active < min_active) | (n < 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        se = np.sqrt(np.maximum(squares, 0) / max(n - 1, 1) / max(n, 1))
        t = np.where(se > 0, difference / se, np.where(np.abs(difference) > 1e-12, np.inf, 0.0))
        p = np.where(rare, np.nan, 2 * special.stdtr(max(n - 1, 1), -np.abs(t)))
    half = special.stdtrit(max(n - 1, 1), 0.5 + confidence / 2) * se
    frame = {
        "classifier": other.classifier,
        "attribute": other.attribute,
        "label": labels,
        "n": n,
        "active": active,
        "slope": means[0],
        "other_slope": means[1],
        "difference": difference,
        "se": se,
        "p": p,
        "ci_low": difference - half,
        "ci_high": difference + half,
        "q": adjust(p, correction),
        "note": np.where(rare, RARE, ""),
    }
    return pd.DataFrame(frame, columns=list(COLUMNS))


def _slopes(
    answers: Answers, photos: NDArray[np.object_], labels: NDArray[np.object_]
) -> tuple[NDArray[np.int64], Array]:
    """(cell of label and photo, the photo's own slope in percentage points) for the pairs that occur."""
    if not len(answers.photos) or not len(photos):
        return np.empty(0, np.int64), np.empty(0)
    place = pd.Index(photos).get_indexer(pd.Index(answers.photos))[answers.photo]
    name = pd.Index(labels).get_indexer(pd.Index(answers.labels))[answers.label]
    inside = place >= 0
    slopes = 100.0 * (answers.present[inside] @ line_weights(answers.values))
    return (name[inside] * len(photos) + place[inside]).astype(np.int64), np.asarray(slopes, dtype=np.float64)
