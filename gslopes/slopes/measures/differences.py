"""Differences between groups of photos, and between two runs over the same photos."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from gslopes.core.arrays import Array, Flags
from gslopes.slopes.measures.answers import (
    Answers,
    active_photos,
    all_labels,
    columns_of,
    differing_photos,
    joined,
    same_photos,
)
from gslopes.slopes.measures.estimators import KINDS, linear
from gslopes.slopes.measures.kinds import (
    SCALE,
    Kind,
    choose,
    measured,
    outcomes,
    slopes_by_measure,
    unit_in,
    unit_slopes,
)
from gslopes.slopes.measures.options import RARE, FitOptions
from gslopes.stats.clusters import effective_units, few, named_codes
from gslopes.stats.contrast import contrast, difference, membership_p
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.outcomes import moments, varying
from gslopes.stats.permutation import below_floor

COLUMNS = (
    *(
        "classifier",
        "first_classifier",
        "attribute",
        "label",
        "n",
        "units",
        "active",
        "differing",
        "share",
        "varying",
    ),
    *(
        "slope",
        "other_slope",
        "difference",
        "se",
        "p",
        "p_perm",
        "p_test",
        "ci_low",
        "ci_high",
        "q",
        "note",
    ),
    *("measure", "unit"),
)


def group_slopes(
    answers: Answers, column: str, groups: Sequence[str | None], options: FitOptions
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Slopes of each group of photos, and differences between every two groups.

    Null hypotheses: the group's mean slope is 0 (one-sample t); two groups have the same mean slope (p_perm permutes
    membership, see ``membership_test``; p is Welch's t, for groups of different spread, and can reject too often
    where one group is small).  Intervals are of the same t.  A label whose answers vary on fewer than ``min_varying``
    units of a group is too rare to judge there, and has no interval where they vary on none; a difference is too rare
    to judge from a group of fewer than ``min_varying`` units, or of a label that is rare in both.  Where all slopes of
    one group are equal, its spread is not taken for 0: both groups then share one (Student's t).  q is over the labels
    of one group, or of one pair of groups: of p_perm where there is one, or p below its floor.

    answers: of one classifier and attribute.  column: the name under which the groups go.
    groups: (n,) each photo's group; photos with None or an empty text are in none.

    Returns frames with the columns of core.tables.GROUPS and DIFFERENCES.
    """
    names = np.array(
        ["" if value is None or value != value else str(value) for value in groups], dtype=object
    )
    present = [name for name in sorted(set(names)) if name]
    rows = []
    pairs = []
    for estimator in options.of_photos:
        kind = KINDS[estimator]
        sides = {}
        skews = {}
        errors = {}
        rarely = {}
        few = {}
        head = {"column": column, "estimator": estimator}
        for name in present:
            part = answers.only(names == name)
            numbers = outcomes(part, kind)
            sums = moments(numbers)
            varies = varying(numbers)
            lines = linear(kind, sums, part.values)
            sides[name], skews[name] = (lines.slope, lines.se, sums.units), sums.slopes.skew
            errors[name] = SCALE[kind] * sums.slopes.error
            rare = rarely[name] = np.asarray(varies < options.min_varying, dtype=bool)
            few[name] = sums.units < options.min_varying
            p = np.where(rare, np.nan, lines.p)
            spread = columns_of(lines, "slope", "intercept", "t", "p")
            columns = {key: np.where(varies > 0, value, np.nan) for key, value in spread.items()}
            columns |= {"varying": varies, "slope": lines.slope, "p": p, "q": benjamini_hochberg(p)}
            rows.append(
                part.frame(
                    **part.facts(), **columns, **head, group=name, note=np.where(rare, RARE, "")
                )
            )
        for group, other in combinations(present, 2):
            keep = (names == group) | (names == other)
            first = names[keep] == group
            p_perm = membership_test(answers.only(keep), kind, first, options)
            skewed = (skews[group], skews[other])
            error = errors[group] + errors[other]
            welch, _ = difference(sides[group], sides[other], skewed, error)
            # a label may be common in one group and absent in the other, if that has photos enough: that is a finding
            rare = (rarely[group] & rarely[other]) | few[group] | few[other]
            p = tested = np.where(rare, np.nan, welch.p)
            columns = columns_of(welch, "p", "p_perm", "varying") | {"p": p}
            if not np.isnan(p_perm).all():
                columns["p_perm"] = p_perm = np.where(np.isnan(p), np.nan, p_perm)
                tested, _ = below_floor(p_perm, p, options.permutations)
                tested = np.where(np.isnan(tested), p, tested)
            columns |= {
                "p_test": tested,
                "q": benjamini_hochberg(tested),
                "note": np.where(rare, RARE, ""),
            }
            pairs.append(answers.frame(**columns, **head, group=group, other=other))
    return joined(rows), joined(pairs)


def membership_test(answers: Answers, kind: Kind, first: Flags, options: FitOptions) -> Array:
    """(L,) two-sided p, null hypothesis: both groups have the same mean slope; NaN if nothing can be permuted.

    Units are photos, or clusters that lie in one group as a whole.  Where most photos lie in clusters that both groups
    share (one search, several people), membership is permuted inside the clusters.

    answers: of the photos of both groups.  first: (n,) which of them are in the first.

    Sources: Janssen 1997, doi 10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi 10.1214/13-AOS1090.
    """
    m = options.permutations
    seed = options.seed
    if not m or first.all() or not first.any():
        return np.full(len(answers.labels), np.nan)
    codes = None
    if answers.units is not None:
        codes = np.unique(answers.units, return_inverse=True)[1]
        sizes = np.bincount(codes)
        members = np.bincount(codes, first)
        mixed = (members > 0) & (members < sizes)
        if not mixed.any():
            return membership_p(unit_slopes(answers, kind), members > 0, m, seed)
        if sizes[mixed].sum() < 0.5 * len(first):
            return np.full(len(answers.labels), np.nan)
    return membership_p(unit_slopes(replace(answers, units=None), kind), first, m, seed, codes)


def paired_differences(
    one: Answers,
    other: Answers,
    *,
    min_varying: int = 10,
    permutations: int = 10_000,
    cluster: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The slopes of both by each label's measure, and their difference: second minus first.

    A label that either run measures by its number, see ``slopes.measures.kinds``, is measured by it in both; the others
    are photo-rate slopes, percentage points per unit.  No number stands for a missing one: a photo that lacks it in
    either run is left out, and a label that one run never gave with its number has no difference.

    Each photo that both answered at all values has a slope in either; the difference is the mean over photos of the
    second minus the first.  Interval and p: one-sample t over units with U - 1 degrees of freedom, null hypothesis: the
    mean difference is 0.  p_perm: changes of signs of the units' differences, see ``stats.contrast``.  p_test:
    p_perm, or t's p below its floor; q: p_test adjusted over the labels.

    one, other: a classifier's answers in the first and the second run, for one attribute; the K may differ.
    min_varying: labels whose answers vary on fewer units, in both runs together, are not judged, and have no interval.
    permutations: 0 for none; q is then of p.
    cluster: photo to a text; photos that share one (one person) are one unit.  A photo without a text is its own.

    Returns a row a label of either, with the columns ``COLUMNS``; classifier and attribute are those of ``other``,
    first_classifier is the classifier of ``one``.  differing: photos whose answers to the label differ at some value;
    NaN if the values do.  share: of all answers of both runs, those with the label.
    """
    first, second = same_photos(one, other)
    labels = all_labels(one, other)
    measures = common_measures(first, second, min_varying)
    first, second = same_photos(measured(first, measures), measured(second, measures))
    codes = (
        None
        if cluster is None
        else named_codes([cluster.get(photo, "") for photo in first.photos], first.photos)
    )
    old, new = (
        slopes_by_measure(replace(answers, units=codes), labels) for answers in (first, second)
    )
    result = contrast(new.minus(old), permutations=permutations)
    either = (abs(old.sums) + abs(new.sums)).tocsr()
    either.eliminate_zeros()
    varies = np.diff(either.indptr)
    common = {*first.labels.tolist()} & {*second.labels.tolist()}
    one_sided = np.array(
        [measures.get(label) == "value" and label not in common for label in labels.tolist()], bool
    )
    rare = (varies < min_varying) | (len(old.sizes) < 2) | one_sided
    same = (
        result.varying == 0
    ) & ~rare  # not one answer changed: nothing speaks against equal slopes
    p, p_perm = (
        np.where(rare, np.nan, np.where(same, 1.0, value)) for value in (result.p, result.p_perm)
    )
    tested, _ = below_floor(p_perm, p, permutations, trusted=not few(effective_units(old.sizes)))
    given = [
        pd.Series(run.counts().mean(axis=1), run.labels).reindex(labels, fill_value=0)
        for run in (first, second)
    ]
    by = [measures.get(label, "presence") for label in labels.tolist()]
    columns = {
        **columns_of(result),
        "label": labels,
        "first_classifier": one.classifier,
        "n": len(first.photos),
        "units": len(old.sizes),
        "active": active_photos(first, second, labels),
        "differing": differing_photos(first, second, labels),
        "share": (given[0] + given[1]).to_numpy(float) / max(2 * len(first.photos), 1),
        "varying": varies,
        "slope": old.means,
        "other_slope": new.means,
        "se": np.where(same, 0.0, result.se),
        "p": p,
        "p_perm": p_perm if permutations else np.nan,
        "p_test": tested,
        "q": benjamini_hochberg(tested),
        "measure": by,
        "unit": [
            unit_in(other.classifier, *pair) for pair in zip(labels.tolist(), by, strict=True)
        ],
        "note": np.where(one_sided, "one run never gave its number", np.where(rare, RARE, "")),
    }
    frame = other.frame(**columns)[list(COLUMNS)]
    frame.loc[one_sided, ["slope", "other_slope", "difference", "se"]] = np.nan
    frame.loc[rare, ["ci_low", "ci_high"]] = np.nan
    return frame


def common_measures(one: Answers, other: Answers, min_varying: int) -> dict[str, str]:
    """Label to measure of two runs together, those by presence left out; a number in either is one in both."""
    each = [choose([answers], min_varying) for answers in (one, other)]
    return {
        **each[1],
        **each[0],
        **{label: by for run in each for label, by in run.items() if by == "value"},
    }
