"""Does a language model know that it cannot know? Shares of pictures for which it answers what no picture shows.

A picture is answered if less than half of the replies about it abstain: refuse, hold no answer, or say that they cannot
tell. Intervals: Wilson's, over units (photos, clusters), whose pictures are alike, see ``stats.shares``. Whether
abstentions move with the attribute is a slope as of any label, see ``core.records.ABSTAINS``.
"""

from collections.abc import Iterator

import numpy as np
from pandas import DataFrame, Series

from gslopes.core import placebo, tables
from gslopes.core.records import doubles
from gslopes.slopes.measures.analysis import Fit, checked
from gslopes.stats.shares import share_interval

HALF = 0.5
ALL = "all photos"  # the group of the column ""
_COLUMNS = ["column", "group", "step", "value", "photos", "share", "ci_low", "ci_high"]


def soundness_rows(fit: Fit) -> DataFrame:
    """Rows of core.tables.SOUNDNESS.  fit: of the label ``core.records.ABSTAINS`` alone, whatever its share."""
    frames = []
    for classifier, attribute in fit.sweeps:
        if not placebo.is_placebo(attribute) and placebo.CROSS not in attribute:
            rows = DataFrame(_rows(fit, classifier, attribute), columns=_COLUMNS)
            frames.append(rows.assign(classifier=classifier, attribute=attribute))
    return checked(tables.SOUNDNESS, frames)


def _rows(fit: Fit, classifier: str, attribute: str) -> Iterator[tuple[object, ...]]:
    """Of all photos and of each group: the pictures of all values, then of each."""
    sweep = fit.sweep(classifier, attribute)
    pictures = sweep.score < HALF  # (n, K)
    for column, groups in {"": Series(ALL, sweep.photos), **fit.groups}.items():
        named = groups.reindex(sweep.photos).fillna("")
        for group in filter(None, sorted({*named})):
            answered = pictures[named == group]
            units = sweep.codes[named == group]
            for step, value in [(-1, None), *enumerate(sweep.values)]:
                chosen = answered if step < 0 else answered[:, [step]]
                asked = doubles(np.bincount(units)) * chosen.shape[1]
                hits = doubles(np.bincount(units, chosen.sum(1)))
                ends = share_interval(hits, asked)
                yield column, group, step, value, len(units), chosen.mean(), *ends
