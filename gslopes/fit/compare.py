"""Two runs over the same photos: by how much did each label's slope change?  Paired photo by photo."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.fit.answers import Answers
from gslopes.fit.groups import same_photos
from gslopes.fit.paired import FEW, below_floor, effective_units, paired_test, unit_slopes
from gslopes.stats.multiplicity import adjust

Array = NDArray[np.float64]
COLUMNS = (
    *(
        "classifier",
        "first_classifier",
        "attribute",
        "label",
        "n",
        "units",
        "active",
        "varying",
        "slope",
        "other_slope",
    ),
    *("difference", "se", "p", "p_perm", "ci_low", "ci_high", "q", "note"),
)
RARE = "too rare to judge"


def paired_differences(
    one: Answers,
    other: Answers,
    *,
    min_varying: int = 10,
    correction: str = "bh",
    confidence: float = 0.95,
    permutations: int = 10_000,
    seed: int = 0,
    cluster: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The photo-rate slopes of both, and their difference: second minus first, percentage points per unit.

    Each photo that both answered at all values has a slope in either; the difference is the mean over photos of the
    second minus the first.  Interval and p: one-sample t over units with U - 1 degrees of freedom, null hypothesis: the
    mean difference is 0.  p_perm: changes of signs of the units' differences, see ``fit.paired``.  q: p_perm, or t's p
    below its floor, adjusted over the labels.

    one, other: a classifier's answers in the first and the second run, for one attribute; the K may differ.
    min_varying: labels whose answers vary on fewer units, in both runs together, are not judged.
    correction: ``bh``, ``by`` or ``holm``.  permutations: 0 for none; q is then of p.
    cluster: photo to a text; photos that share one (one person) are one unit.  A photo without a text is its own.

    Returns a row a label of either, with the columns ``COLUMNS``; classifier and attribute are those of ``other``,
    first_classifier is that of ``one``.
    """
    first, second = same_photos(one, other)
    labels = np.array(sorted({*one.labels.tolist(), *other.labels.tolist()}), dtype=object)
    codes = _codes(first.photos, cluster)
    old, new = (unit_slopes(answers, "rate", codes, labels) for answers in (first, second))
    found = paired_test(new, old, permutations=permutations, seed=seed, confidence=confidence)
    either = (abs(old.sums) + abs(new.sums)).tocsr()
    either.eliminate_zeros()
    varying = np.diff(either.indptr)
    rare = (varying < min_varying) | (len(old.sizes) < 2)
    same = (found.varying == 0) & ~rare  # not one answer changed: nothing speaks against equal slopes
    p, p_perm = (np.where(rare, np.nan, np.where(same, 1.0, value)) for value in (found.p, found.p_perm))
    trusted = effective_units(old.sizes) >= FEW
    tested, _ = below_floor(p_perm, p, permutations, trusted=trusted)
    frame = {
        "classifier": other.classifier,
        "first_classifier": one.classifier,
        "attribute": other.attribute,
        "label": labels,
        "n": len(first.photos),
        "units": len(old.sizes),
        "active": _active(first, second, labels),
        "varying": varying,
        "slope": old.means,
        "other_slope": new.means,
        "difference": found.difference,
        "se": np.where(same, 0.0, found.se),
        "p": p,
        "p_perm": p_perm if permutations else np.full(len(labels), np.nan),
        "ci_low": np.where(same, 0.0, found.low),
        "ci_high": np.where(same, 0.0, found.high),
        "q": adjust(tested, correction),
        "note": np.where(rare, RARE, ""),
    }
    return pd.DataFrame(frame, columns=list(COLUMNS))


def _codes(photos: NDArray[np.object_], cluster: Mapping[str, str] | None) -> NDArray[np.int64] | None:
    if cluster is None:
        return None
    names = np.array([cluster.get(photo) or f"\0{photo}" for photo in photos], dtype=object)
    return np.asarray(pd.factorize(names)[0], dtype=np.int64)


def _active(one: Answers, other: Answers, labels: NDArray[np.object_]) -> NDArray[np.int64]:
    """(L,) photos with the label at one value of either run at least."""
    index, many = pd.Index(labels), max(len(one.photos), 1)
    keys = [index.get_indexer(pd.Index(run.labels))[run.label] * many + run.photo for run in (one, other)]
    return np.bincount(np.unique(np.concatenate(keys)).astype(np.int64) // many, minlength=len(labels))
