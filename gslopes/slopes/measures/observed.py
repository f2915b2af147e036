"""A slope is not a gap between people: the difference that is observed between real groups, next to the slope.

The classifier answers about every photo as it was, unedited.  Per label, by the measure that its slope has:

    observed    mean answer about one group's photos minus the other's
    distance    the same difference of the independent reader's log-odds: how far apart it sees the groups

A classifier can be trained until its slope is 0 while the observed difference stays: it then reads something else of
which the groups have more.  The observed difference has causes that are no part of the face: clothes, ages, places.

Interval of observed: Newcombe's of two shares over clusters by their design effects, or Welch's t of two means; p is
Welch's t, null hypothesis: both groups have the same mean.  Where all answers of one group are equal, its spread is not
taken for 0: both groups then share one (Student's t); where those of both are, p is Pearson's, with Rao and Scott's
correction over clusters.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from gslopes.core.arrays import Flags, Integers
from gslopes.slopes.measures.answers import Answers, all_labels, joined, same_photos
from gslopes.slopes.measures.kinds import answers_by_measure, slopes_by_measure
from gslopes.slopes.measures.options import FitOptions
from gslopes.stats.clusters import codes_of
from gslopes.stats.contrast import Contrast, Units, contrast, difference
from gslopes.stats.multiplicity import are_findings, benjamini_hochberg
from gslopes.stats.shares import difference_interval, independence_p

ALIKE = "no test: the answers of each group are all the same, or of one unit"
SAME = "same sign"
OPPOSITE = "opposite signs"
OBSERVED = "observed only"
EDIT = "edit only"
NEITHER = "neither"


def observed_rows(
    sweep: Answers,
    unedited: Answers,
    groups: pd.Series,
    odds: pd.Series | None,
    found: Mapping[str, str],
    options: FitOptions,
) -> pd.DataFrame:
    """Rows of core.tables.OBSERVED of one classifier and attribute, without the column ``column``.

    sweep: answers along the attribute.  unedited: the same classifier's about the photos as they were, K = 1, with the
        measures of the sweep.  Both are cut to the photos that both have.
    groups: photo to its group; empty for none.
    odds: photo to the reader's log-odds in the unedited photo; None if nothing was read.  A distance that would have
        no interval, as of one photo, is left out.
    found: label to the decision about its slope.

    Of each pair the group that the reader sees nearer the attribute's positive end comes first.
    """
    sweep, unedited = same_photos(sweep, unedited)
    photos = sweep.photos
    labels = all_labels(sweep, unedited)
    names = groups.reindex(photos).fillna("").to_numpy(dtype=object)
    units = codes_of(sweep.units, len(photos))
    measure = np.array(sweep.measures_of(labels), dtype=object)
    numbers = answers_by_measure(unedited, labels)
    slopes = slopes_by_measure(replace(sweep, units=None), labels)
    read = (
        np.full(len(photos), np.nan) if odds is None else odds.reindex(photos).to_numpy(np.float64)
    )
    readable = np.isfinite(read)
    seen = Units(sparse.csr_array(np.nan_to_num(read)[None, :]), np.ones(len(photos)))
    frames = []
    for pair in (
        combinations([name for name in sorted(set(names)) if name], 2) if len(labels) else ()
    ):
        group, other = (names == name for name in pair)
        distance = _welch(seen, group & readable, other & readable, units)
        if distance.low[0] + distance.high[0] < 0:  # never where it has no interval
            pair, group, other = pair[::-1], other, group
            distance = _welch(seen, group & readable, other & readable, units)
        answers = numbers.sums
        gap = _welch(numbers, group, other, units)
        both = group | other
        low = gap.low.copy()
        high = gap.high.copy()
        for row in np.flatnonzero((measure == "presence") & np.isfinite(gap.se)):
            low[row], high[row] = _shares_apart(
                answers[[row]].toarray().ravel() > 0, group, other, units
            )
        n = int(group.sum())
        n_other = int(other.sum())
        having = np.asarray((answers[:, both] > 0).sum(axis=1)).ravel()
        fewest = np.where(measure == "presence", np.minimum(having, n + n_other - having), n)
        rare = np.minimum(fewest, min(n, n_other)) < options.min_varying
        p = np.where(rare | ~(gap.se > 0), np.nan, gap.p)
        one_sided = (
            (measure == "presence") & ~rare & (gap.se == 0)
        )  # all of one group, none of the other
        for row in np.flatnonzero(one_sided):
            given = answers[[row]].toarray().ravel()[both] > 0
            p[row] = independence_p(given, group[both].astype(np.int64), units[both])
        frame = sweep.frame(
            label=labels,
            group=pair[0],
            other=pair[1],
            measure=measure,
            n=n,
            n_other=n_other,
            mean=answers[:, group].sum(axis=1) / n,
            mean_other=answers[:, other].sum(axis=1) / n_other,
            observed=gap.difference,
            ci_low=low,
            ci_high=high,
            p=p,
            q=benjamini_hochberg(p),
            slope=slopes.sums[:, both].sum(axis=1) / (n + n_other),
            distance=distance.difference[0] if np.isfinite(distance.low[0]) else np.nan,
            distance_low=distance.low[0],
            distance_high=distance.high[0],
            note=np.where(
                rare, "too few photos with it, or without it", np.where(np.isnan(p), ALIKE, "")
            ),
        )
        frames.append(
            frame.assign(agreement=[_agreement(row, found) for row in frame.to_dict("records")])
        )
    return joined(frames)


def _welch(values: Units, one: Flags, other: Flags, units: Integers) -> Contrast:
    """Mean of one group's photos minus the other's, by Welch's t over units.  values: of photos.  one, other: (n,)."""
    sides = []
    skews = []
    errors = np.zeros(values.sums.shape[0])
    for side in (one, other):
        numbers = values.joined(
            np.unique(units[side], return_inverse=True)[1], chosen=np.flatnonzero(side)
        )
        mean = contrast(numbers)
        size = len(numbers.sizes)
        still = np.where(mean.varying > 0, mean.se, 0.0)
        sides.append(
            (
                mean.difference if size else np.nan * mean.se,
                still if size > 1 else np.nan * still,
                size,
            )
        )
        skews.append(mean.skew)
        errors = errors + mean.error
    return difference(sides[0], sides[1], (skews[0], skews[1]), errors)[0]


def _shares_apart(given: Flags, one: Flags, other: Flags, units: Integers) -> tuple[float, float]:
    """The interval of a difference of two shares, in points, photos of a unit alike.  given: (n,) with the label."""
    width = int(units.max()) + 1
    first, second = (
        (
            np.bincount(units, given & side, width).astype(float),
            np.bincount(units, side, width).astype(float),
        )
        for side in (one, other)
    )
    low, high = difference_interval(first, second)
    return 100 * low, 100 * high


def _agreement(row: Mapping[Any, Any], found: Mapping[str, str]) -> str:
    """Whether slope and observed difference say the same; empty where that cannot be said."""
    if row["note"] or not (row["distance_low"] > 0 or row["distance_high"] < 0):
        return ""
    seen = bool(are_findings(row))
    moved = found.get(row["label"]) == "finding"
    if seen and moved:
        if row["slope"] * row["distance"] * row["observed"] > 0:
            return SAME
        return OPPOSITE
    if seen:
        return OBSERVED
    if moved:
        return EDIT
    return NEITHER
