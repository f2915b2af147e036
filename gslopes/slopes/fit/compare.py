"""Two runs over the same photos: by how much did each label's slope change?  Paired photo by photo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from gslopes.slopes.fit.answers import Answers, active_photos, all_labels, columns_of, same_photos
from gslopes.slopes.fit.measures import choose
from gslopes.slopes.fit.options import RARE
from gslopes.slopes.fit.paired import Units, paired_test, unit_slopes
from gslopes.stats.clusters import FEW, effective_units, named_codes
from gslopes.stats.multiplicity import adjust
from gslopes.stats.permutation import below_floor

COLUMNS = (
    *("classifier", "first_classifier", "attribute", "label", "n", "units", "active", "varying", "slope"),
    *("other_slope", "difference", "se", "p", "p_perm", "p_test", "ci_low", "ci_high", "q", "note", "measure"),
)


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
    """The slopes of both by each label's measure, and their difference: second minus first.

    A label that either run measures by its number, see ``slopes.fit.measures``, is measured by it in both; the others
    are photo-rate slopes, percentage points per unit.

    Each photo that both answered at all values has a slope in either; the difference is the mean over photos of the
    second minus the first.  Interval and p: one-sample t over units with U - 1 degrees of freedom, null hypothesis: the
    mean difference is 0.  p_perm: changes of signs of the units' differences, see ``slopes.fit.paired``.  p_test:
    p_perm, or t's p below its floor; q: p_test adjusted over the labels.

    one, other: a classifier's answers in the first and the second run, for one attribute; the K may differ.
    min_varying: labels whose answers vary on fewer units, in both runs together, are not judged.
    correction: ``bh``, ``by`` or ``holm``.  permutations: 0 for none; q is then of p.
    cluster: photo to a text; photos that share one (one person) are one unit.  A photo without a text is its own.

    Returns a row a label of either, with the columns ``COLUMNS``; classifier and attribute are those of ``other``,
    first_classifier is that of ``one``.
    """
    first, second = same_photos(one, other)
    labels = all_labels(one, other)
    codes = None if cluster is None else named_codes([cluster.get(photo, "") for photo in first.photos], first.photos)
    measures = common_measures(first, second, min_varying)
    old, new = (_slopes(replace(answers, measures=measures), codes, labels) for answers in (first, second))
    found = paired_test(new, old, permutations=permutations, seed=seed, confidence=confidence)
    either = (abs(old.sums) + abs(new.sums)).tocsr()
    either.eliminate_zeros()
    varying = np.diff(either.indptr)
    rare = (varying < min_varying) | (len(old.sizes) < 2)
    same = (found.varying == 0) & ~rare  # not one answer changed: nothing speaks against equal slopes
    p, p_perm = (np.where(rare, np.nan, np.where(same, 1.0, value)) for value in (found.p, found.p_perm))
    trusted = effective_units(old.sizes) >= FEW
    tested, _ = below_floor(p_perm, p, permutations, trusted=trusted)
    frame: dict[str, Any] = columns_of(found, "p", "p_perm", "varying") | {"se": np.where(same, 0.0, found.se)}
    frame |= {"attribute": other.attribute}
    frame |= {"classifier": other.classifier, "first_classifier": one.classifier}
    frame |= {"label": labels, "n": len(first.photos), "units": len(old.sizes)}
    frame |= {"active": active_photos(first, second, labels), "varying": varying, "slope": old.means}
    frame |= {"other_slope": new.means, "p": p, "p_perm": p_perm if permutations else np.full(len(labels), np.nan)}
    frame["p_test"] = tested
    frame |= {"measure": [measures.get(label, "presence") for label in labels.tolist()]}
    frame |= {"q": adjust(tested, correction), "note": np.where(rare, RARE, ""), "difference": found.difference}
    return pd.DataFrame(frame, columns=list(COLUMNS))


def common_measures(one: Answers, other: Answers, min_varying: int) -> dict[str, str]:
    """Label to measure of two runs together, those by presence left out; a number in either is one in both."""
    each = [choose([answers], min_varying) for answers in (one, other)]
    found: dict[str, str] = {**each[1], **each[0]}
    return {label: "value" if "value" in (each[0].get(label), each[1].get(label)) else found[label] for label in found}


def _slopes(answers: Answers, codes: NDArray[np.int64] | None, labels: NDArray[np.object_]) -> Units:
    """Each unit's slopes: photo-rate, but of the labels with a measure, whose rows are of that."""
    rate = unit_slopes(answers, "rate", codes, labels)
    if not answers.measures:
        return rate
    number = unit_slopes(answers, "measure", codes, labels)
    by_number = np.array([label in answers.measures for label in labels.tolist()])[:, None]
    sums = rate.sums.multiply(~by_number) + number.sums.multiply(by_number)
    return Units(labels, sparse.csr_array(sums), rate.sizes)
