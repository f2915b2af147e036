"""A slope is not a gap between people: the difference that is observed between real groups, next to the slope.

The classifier answers about every unedited photo.  Per label, by the measure that its slope has:

    observed    mean answer about one group's photos minus the other's
    distance    the same difference of the independent reader's log-odds: how far apart it sees the groups

A classifier can be trained until its slope is 0 while the observed difference stays: it then reads something else of
which the groups have more.  The observed difference has causes outside of the face: clothes, ages, places.

Interval of observed: Newcombe's of two shares over clusters by their design effects, or Welch's t of two means; p is
Welch's t, null hypothesis: both groups have the same mean.  If all answers of one group are equal, its spread is not
taken for 0: both groups then share one (Student's t); if all of each group are, p is Pearson's, with Rao and Scott's
correction over clusters.

## Drawing

What drawing does by itself: the change of each label from the unedited photo to the picture at value 0.

If edits are pasted, a decoder draws the face again at every value. What is lost in all of them alike, such as noses
and beards, moves no slope.  Per label, by the measure that its slope has, and paired photo by photo:

    drawing     mean answer at value 0 minus the mean answer about the unedited photo; if others made the editor, mean
                answer about the photo as it drew it with no change, over the same placebo's steps, minus that
    sweep       slope times the range of the values: the change from one end to the other

Value 0 is not a face's value, so the change averages over faces of both genders, and over faces of one it holds
their way to the middle as well.

Interval: t over units, as a slope's.  p: of the null hypothesis that the drawing does not move the label, or no further
than the sweep does from end to end: the larger one of the drawing's p and of the units' differences, of which one side
counts; 1 if it goes less far.  q: adjusted over the labels.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from math import nan

import numpy as np
from pandas import DataFrame, Series
from scipy import sparse

from gslopes.core import Record, Row, Texts
from gslopes.core.records import Flags, Integers, doubles
from gslopes.slopes.measures.answers import Answers, all_labels, joined, same_photos
from gslopes.slopes.measures.kinds import answers_by_measure, slopes_by_measure
from gslopes.slopes.measures.options import RARE, FitOptions
from gslopes.stats import multiplicity, rounding, shares
from gslopes.stats.contrast import Contrast, Units, contrast, difference

TOO_FEW = "too few photos with it, or without it"
ALIKE = "no test: the answers of each group are all the same, or of one unit"


def observed_rows(
    sweep: Answers,
    unedited: Answers,
    groups: Series,
    odds: Series | None,
    decisions: Texts,
    options: FitOptions,
) -> DataFrame:
    """Rows of core.tables.OBSERVED of one classifier and attribute, without the column ``column``.

    sweep: answers along the attribute.  unedited: the same classifier's about the photos before any edit, K = 1, with
        the measures of the sweep.  Both are cut to the photos that both have.
    groups: photo to its group; empty for none.
    odds: photo to the reader's log-odds in the unedited photo; None if nothing was read.  There is no
        distance of a group of which fewer units were read than can be judged.
    decisions: label to the decision about its slope.

    Of each pair the group that the reader sees nearer the attribute's positive end comes first.
    """
    sweep, unedited = same_photos(sweep, unedited)
    photos = sweep.photos
    labels = all_labels(sweep, unedited)
    names = groups.reindex(photos).fillna("").to_numpy(dtype=object)
    units = sweep.codes
    read = np.full(len(photos), nan)
    if odds is not None:
        read = odds.reindex(photos).to_numpy(np.float64)
    readable = np.isfinite(read)
    seen = Series(units).where(readable).groupby(names).nunique()
    readable &= np.isin(names, seen.index[seen >= options.min_varying])
    readings = Units(sparse.csr_array(np.nan_to_num(read)[None, :]), np.ones(len(photos)))
    answers = answers_by_measure(unedited, labels)
    slopes = slopes_by_measure(sweep.single, labels)
    frames = []
    for pair in combinations(sorted({*names} - {""}), 2) if len(labels) else ():
        apart = [(names == name) & readable for name in pair]
        distance = _welch(readings, apart, units)
        if distance.low[0] + distance.high[0] < 0:  # never without an interval
            pair = pair[::-1]
            distance = _welch(readings, apart[::-1], units)
        sides = [names == name for name in pair]
        both = sides[0] | sides[1]
        frame = sweep.frame(
            **_compared(answers, sweep.by_number(labels), sides, units, options),
            label=labels,
            group=pair[0],
            other=pair[1],
            measure=sweep.measures_of(labels),
            slope=slopes.sums[:, both].sum(1) / both.sum(),
            distance=distance.difference[0] if np.isfinite(distance.low[0]) else nan,
            distance_low=distance.low[0],
            distance_high=distance.high[0],
        )
        agreement = [_agreement(row, decisions) for row in frame.to_dict("records")]
        frames.append(frame.assign(agreement=agreement))
    return joined(frames)


def _compared(
    answers: Units,
    by_number: Flags,
    sides: Sequence[Flags],
    units: Integers,
    options: FitOptions,
) -> Row:
    """The columns of the observed difference, of one group's photos minus the other's.

    by_number: (L,) labels that are judged by their number.  sides: (n,) photos of each group.  units: (n,) codes.
    """
    first, second = sides
    n = int(first.sum())
    n_other = int(second.sum())
    both = first | second
    gap = _welch(answers, sides, units)
    low = gap.low.copy()
    high = gap.high.copy()
    for row in np.flatnonzero(~by_number & np.isfinite(gap.se)):
        low[row], high[row] = _shares_apart(answers.sums[[row]].toarray().ravel() > 0, sides, units)
    having = np.asarray((answers.sums[:, both] > 0).sum(1)).ravel()
    fewest = np.where(by_number, n, np.minimum(having, n + n_other - having))
    smaller = min(len(np.unique(units[side])) for side in sides)
    rare = np.minimum(fewest, smaller) < options.min_varying
    if smaller < options.min_varying:
        low = high = np.full(len(rare), nan)
    p = np.where(rare | ~(gap.se > 0), nan, gap.p)
    # all of one group, none of the other
    for row in np.flatnonzero(~by_number & ~rare & (gap.se == 0)):
        present = answers.sums[[row]].toarray().ravel()[both] > 0
        p[row] = shares.independence_p(present, first[both].astype(np.int64), units[both])
    return {
        "n": n,
        "n_other": n_other,
        "mean": answers.sums[:, first].sum(1) / n,
        "mean_other": answers.sums[:, second].sum(1) / n_other,
        "observed": gap.difference,
        "ci_low": low,
        "ci_high": high,
        "p": p,
        "q": multiplicity.benjamini_hochberg(p),
        "note": np.select([rare, np.isnan(p)], [TOO_FEW, ALIKE], ""),
    }


def _welch(values: Units, sides: Sequence[Flags], units: Integers) -> Contrast:
    """Mean of the first side's photos minus the second's, by Welch's t over units.  values: of photos.  sides: (n,)."""
    means = []
    groups = []
    for side in sides:
        codes = np.unique(units[side], return_inverse=True)[1]
        numbers = values.joined(codes, chosen=np.flatnonzero(side))
        mean = contrast(numbers)
        size = len(numbers.sizes)
        average = mean.difference if size else np.full(len(mean.se), nan)
        se = np.where((mean.varying > 0) | (size < 2), mean.se, 0.0)
        means.append(mean)
        groups.append((average, se, size))
    first, second = means
    skews = first.skew, second.skew
    return difference(groups[0], groups[1], skews, first.error + second.error)[0]


def _shares_apart(present: Flags, sides: Sequence[Flags], units: Integers) -> tuple[float, float]:
    """The interval of a difference of two shares, in points, photos of a unit alike.  present: (n,) with the label."""
    first, second = (
        (doubles(np.bincount(units, present & side)), doubles(np.bincount(units, side)))
        for side in sides
    )
    low, high = shares.difference_interval(first, second)
    return 100 * low, 100 * high


def _agreement(row: Record, decisions: Texts) -> str:
    """Whether slope and observed difference agree; empty if that cannot be judged."""
    if row["note"] or not (row["distance_low"] > 0 or row["distance_high"] < 0):
        return ""
    observed = bool(multiplicity.are_findings(row))
    moved = decisions.get(row["label"]) == "finding"
    if observed and moved:
        return (
            "same sign"
            if row["slope"] * row["distance"] * row["observed"] > 0
            else "opposite signs"
        )
    if observed:
        return "observed only"
    return "edit only" if moved else "neither"


# -- drawing ----------------------------------------------------------------------------------------------------------


def drawing_rows(
    sweep: Answers, unedited: Answers, options: FitOptions, same: Answers | None = None
) -> DataFrame:
    """Rows of core.tables.DRAWING of one classifier and attribute; none without a value 0, or ``same``.

    sweep: answers along the attribute.  unedited: the same classifier's about the photos before any edit, K = 1, with
        the measures of the sweep.  same: about pictures that were drawn with no change, K of them, in place of the one
        at value 0.  All are cut to the photos that all have.
    """
    extent = np.ptp(sweep.values)
    steps = np.flatnonzero(rounding.settled(sweep.values, extent, rounding.STORED) == 0)[:1]
    if same is not None:
        sweep, same = same_photos(sweep, same)
        steps = np.arange(len(same.values))
    sweep, unedited = same_photos(sweep, unedited)
    neutral, _ = same_photos(sweep if same is None else same, unedited)
    labels = np.union1d(all_labels(sweep, unedited), neutral.labels)
    if not (len(steps) and len(labels) and len(sweep.photos)):
        return DataFrame()
    floor = min(sweep.threshold, unedited.threshold, neutral.threshold)
    before = answers_by_measure(replace(unedited, threshold=floor), labels)
    moves = [
        answers_by_measure(replace(neutral.at_step(step), threshold=floor), labels).minus(before)
        for step in steps
    ]
    ones = np.ones(len(labels))
    moved = reduce(lambda total, one: total.minus(one.times(-ones)), moves)
    if len(steps) > 1:
        moved = moved.times(ones / len(steps))
    moved = replace(moved, most=before.most)  # no share is below 0
    along = slopes_by_measure(sweep.single, labels)
    along = along.times(np.full(len(labels), extent))
    units = sweep.codes
    drawn, swept = contrast(moved.joined(units)), contrast(along.joined(units))
    longer = moved.times(np.sign(drawn.difference)).minus(along.times(np.sign(swept.difference)))
    further = contrast(longer.joined(units))
    rare = drawn.varying < options.min_varying
    one_sided = np.where(further.difference > 0, further.p / 2, 1.0)
    p = np.where(rare, np.nan, np.fmax(drawn.p, one_sided))
    return sweep.frame(
        label=labels,
        n=len(sweep.photos),
        measure=sweep.measures_of(labels),
        photo=before.means,
        drawing=drawn.difference,
        ci_low=drawn.low,
        ci_high=drawn.high,
        sweep=swept.difference,
        q=multiplicity.benjamini_hochberg(p),
        note=np.where(rare, RARE, ""),
    )
