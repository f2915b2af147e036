"""What drawing does by itself: the change of each label from the unedited photo to the picture at value 0.

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

from dataclasses import replace
from functools import reduce

import numpy as np
from pandas import DataFrame

from gslopes.slopes.measures.answers import Answers, all_labels, same_photos
from gslopes.slopes.measures.kinds import answers_by_measure, slopes_by_measure
from gslopes.slopes.measures.options import RARE, FitOptions
from gslopes.stats import multiplicity, rounding
from gslopes.stats.contrast import contrast


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
