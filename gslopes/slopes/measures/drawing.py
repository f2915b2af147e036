"""What drawing alone does: the change of each label from the photo as it was to the picture at value 0.

Where edits are pasted, a decoder draws the face again at every value. What is lost in all of them alike, such as noses
and beards, moves no slope.  Per label, by the measure that its slope has, and paired photo by photo:

    drawing     mean answer at value 0 minus the mean answer about the photo as it was
    sweep       slope times the range of the values: the change from one end to the other

Value 0 is not a face's own value, so the change averages over faces of both genders, and over faces of one it holds
their way to the middle as well.

Interval: t over units, as a slope's.  p: of the null hypothesis that the drawing moves the label no further than the
whole sweep does, by t over the units' differences; 1 where it goes less far.  q: adjusted over the labels.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from gslopes.slopes.measures.answers import Answers, all_labels, same_photos
from gslopes.slopes.measures.kinds import answers_by_measure, slopes_by_measure
from gslopes.slopes.measures.options import RARE, FitOptions
from gslopes.stats.clusters import codes_of
from gslopes.stats.contrast import contrast
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.rounding import STORED, settled


def drawing_rows(sweep: Answers, unedited: Answers, options: FitOptions) -> pd.DataFrame:
    """Rows of core.tables.DRAWING of one classifier and attribute; none without a value 0.

    sweep: answers along the attribute.  unedited: the same classifier's about the photos as they were, K = 1, with the
        measures of the sweep.  Both are cut to the photos that both have.
    """
    sweep, unedited = same_photos(sweep, unedited)
    middle = np.flatnonzero(settled(sweep.values, np.ptp(sweep.values), STORED) == 0)
    n = len(sweep.photos)
    labels = all_labels(sweep, unedited)
    floor = min(sweep.threshold, unedited.threshold)
    if not (len(middle) and len(labels) and n):
        return pd.DataFrame()
    neutral = replace(
        sweep, present=sweep.present[:, middle], score=sweep.score[:, middle], threshold=floor
    )
    before, after = (
        answers_by_measure(one, labels) for one in (replace(unedited, threshold=floor), neutral)
    )
    moved = after.minus(before)
    along = slopes_by_measure(replace(sweep, units=None), labels)
    along = along.times(np.full(len(labels), np.ptp(sweep.values)))
    units = codes_of(sweep.units, n)
    drawn, swept = (contrast(each.joined(units)) for each in (moved, along))
    sides = [
        each.times(np.sign(mean.difference)) for each, mean in ((moved, drawn), (along, swept))
    ]
    further = contrast(sides[0].minus(sides[1]).joined(units))
    rare = drawn.varying < options.min_varying
    p = np.where(rare, np.nan, np.where(further.difference > 0, further.p, 1.0))
    return sweep.frame(
        label=labels,
        n=n,
        measure=sweep.measures_of(labels),
        photo=before.means,
        drawing=drawn.difference,
        ci_low=drawn.low,
        ci_high=drawn.high,
        sweep=swept.difference,
        q=benjamini_hochberg(p),
        note=np.where(rare, RARE, ""),
    )
