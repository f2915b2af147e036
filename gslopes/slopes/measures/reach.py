"""Slopes per unit of what is seen: how far did the edit move an independent reader, and the label for each such unit?

Editors differ in how far one unit of the attribute goes, and one editor goes further on some faces than on others, so
raw slopes of two editors, or of two groups of people, do not compare.  Here the mean slope of a label is divided by the
*reach*, the mean slope of an independent reader's log-odds over the same photos: points per unit of log-odds.

The interval is Fieller's, from the covariance of both means over units.  Where the interval of the reach contains 0 the
edit may not have moved the reader at all; then the ratio does not exist.  The delta method is too narrow there, and
regression of the label on the readings estimates something else (the readings err).

Where one group's reach is below half of another's, raw slopes would compare how far the edit goes: then nothing but the
difference of the ratios is given.  Its interval joins Fieller's of both groups (MOVER).

What the ratio cannot mend: what else the edit moves, and a reader that errs as the classifier does.

Sources: Fieller 1954, Journal of the Royal Statistical Society B 16, 175-185; Zou & Donner 2008,
doi 10.1002/sim.3095.
"""

from collections.abc import Sequence
from math import nan

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas import DataFrame
from scipy import special

from gslopes.core.records import Array, doubles, quotients
from gslopes.slopes.measures import estimators, kinds
from gslopes.slopes.measures.answers import Answers, joined
from gslopes.slopes.measures.options import FitOptions
from gslopes.stats import intervals, ols
from gslopes.stats.contrast import Units
from gslopes.stats.rounding import STORED, exceeds, settled

UNREACHED = "the interval of the reach contains 0: the edit may not move the reader here"
HALF = 0.5
UNEVEN = "one group's reach is below half of the other's: compared per unit of reach alone"
_CLIP = 1e-4  # of a reader's probabilities: what lies beyond is not to be believed


def photo_reach(scores: Array, values: Sequence[float]) -> Array:
    """(n,) slope of each photo's log-odds along the sweep; NaN if a value was not read.

    scores: (n, K) the reader's probabilities.  values: (K,).

    >>> photo_reach(np.array([[0.5, 0.5, 0.5], [0.2, 0.5, 0.8]]), [-1, 0, 1]).round(3).tolist()
    [0.0, 1.386]
    """
    return ols.line_slopes(log_odds(scores), values)


def log_odds(scores: ArrayLike) -> Array:
    """Log-odds of a reader's probabilities, of which it is not believed what lies within 1e-4 of 0 and 1."""
    return doubles(special.logit(np.clip(doubles(scores), _CLIP, 1 - _CLIP)))


def ratios(units: Units, reach: Array, least: int = 1) -> dict[str, Array]:
    """Ratios of every label's mean slope to the mean reach: slope, reach and ratio with its ends, (L,) each.

    units: sums of slopes over the photos of each unit.  reach: (U,) sums of the photos' reaches.
    least: of fewer units there is neither a ratio nor an interval, of fewer with a slope other than 0 no interval of
    it.  The ratio and its ends are NaN if the interval of the reach contains 0.
    """
    sizes = units.sizes
    count = len(sizes)
    n = max(float(sizes.sum()), 1.0)
    spread = units.spread()
    slope = spread.mean
    mean = float(settled(reach.sum(), np.abs(reach).sum(), STORED)) / n
    gaps = settled(reach - mean * sizes, np.abs(reach) + abs(mean) * sizes, STORED)
    factor = count / max(count - 1, 1) / n**2
    variance = float(np.square(gaps).sum()) * factor
    shared = (units.sums @ gaps - slope * float(sizes @ gaps)) * factor
    limit = float(intervals.t_quantile(max(count - 1, 1)))
    half = limit * np.sqrt(variance if count >= least else nan)
    low, high = intervals.fieller(slope, mean, spread.squares * factor, variance, shared, limit)
    reached = mean**2 > half**2 and count > 2
    vary = reached & (np.diff(units.sums.indptr) >= least)
    columns = {
        "slope": slope,
        "reach": mean,
        "reach_low": mean - half,
        "reach_high": mean + half,
        "ratio": slope / (mean if reached else nan),
        "ratio_low": np.where(vary, low, nan),
        "ratio_high": np.where(vary, high, nan),
    }
    return {name: np.broadcast_to(value, slope.shape) for name, value in columns.items()}


def reach_rows(
    answers: Answers,
    reach: pd.Series,
    options: FitOptions,
    groups: Sequence[tuple[str, Sequence[str]]],
) -> DataFrame:
    """Rows of core.tables.REACH of one classifier and attribute, without the column reading.

    reach: by photo, as ``photo_reach`` gives it.
    groups: names of columns with (n,) each photo's group there; photos with an empty text are in none.
    """
    reaches = reach.reindex(answers.photos).to_numpy(float)
    read = np.isfinite(reaches)
    parts = [("", "", read)]
    for column, texts in groups:
        names = np.array(texts, object)
        parts += [(column, name, read & (names == name)) for name in sorted(set(texts)) if name]
    frames = []
    for column, group, keep in parts:
        part = answers.only(keep)
        unit_reach = doubles(np.bincount(part.codes, reaches[keep]))
        unreached = (
            "too few units were read"
            if len(unit_reach) < max(options.min_varying, 3)
            else UNREACHED
        )
        for estimator in estimators.contrasted(options):
            slopes = kinds.unit_slopes(part, estimator.kind)
            columns = ratios(slopes, unit_reach, options.min_varying)
            frames.append(
                answers.frame(
                    **columns,
                    estimator=estimator.name,
                    column=column,
                    group=group,
                    n=int(keep.sum()),
                    note=np.where(np.isnan(columns["ratio"]), unreached, ""),
                )
            )
    return joined(frames)


def per_reach(differences: DataFrame, reached: DataFrame | None) -> DataFrame:
    """Rows of core.tables.DIFFERENCES, also per unit of reach; without a test if raw slopes do not compare.

    reached: of ``reach_rows`` with the same groups, of the reading of the edited attribute; None if nothing was read.
    """
    if reached is None or differences.empty:
        return differences
    keys = ["estimator", "column", "group", "label"]
    by_key = reached.set_index(keys)[["reach", "ratio", "ratio_low", "ratio_high"]]
    one, other = (
        by_key.reindex(
            pd.MultiIndex.from_frame(differences[["estimator", "column", side, "label"]])
        ).to_numpy(float)
        for side in ("group", "other")
    )
    reach, ratio, low, high = one.T
    other_reach, other_ratio, other_low, other_high = other.T
    share = quotients(np.minimum(reach, other_reach), np.maximum(reach, other_reach))
    gap = ratio - other_ratio
    uneven = exceeds(HALF, share) & (differences["note"] == "")
    tested = [name for name in ("p", "p_perm", "p_test", "q", "note") if name in differences]
    return differences.assign(
        reach_share=share,
        per_reach=gap,
        per_reach_low=gap - np.hypot(ratio - low, other_high - other_ratio),
        per_reach_high=gap + np.hypot(high - ratio, other_ratio - other_low),
        **{
            name: differences[name].mask(uneven, UNEVEN if name == "note" else nan)
            for name in tested
        },
    )
