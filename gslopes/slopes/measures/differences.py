"""Differences between groups of photos, and between two runs over the same photos."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import nan

import numpy as np
from pandas import DataFrame, Series

from gslopes.core import Texts, frozen_identity, read_beside
from gslopes.core.records import Array, Flags
from gslopes.slopes.measures.answers import (
    Answers,
    active_photos,
    all_labels,
    columns_of,
    differing_photos,
    joined,
    same_photos,
)
from gslopes.slopes.measures.decision import placebo_step
from gslopes.slopes.measures.estimators import Estimator, contrasted, linear, spread
from gslopes.slopes.measures.kinds import (
    SCALE,
    Kind,
    Measure,
    choose,
    measured,
    outcomes,
    slopes_by_measure,
    steepest,
    unit_in,
    unit_slopes,
)
from gslopes.slopes.measures.options import RARE, FitOptions
from gslopes.stats.clusters import enough, named_codes
from gslopes.stats.contrast import Units, contrast, difference, membership_p
from gslopes.stats.multiplicity import are_findings, benjamini_hochberg, is_finding
from gslopes.stats.ols import Lines
from gslopes.stats.outcomes import Moments, moments, varying
from gslopes.stats.permutation import below_floor

Columns = dict[str, Array]
COLUMNS = read_beside(__file__, "differences.toml")["columns"]
BY_LIGHT = "the light placebo may make as large a difference"


@frozen_identity
class _Group:
    """A group's photos: their mean slopes, and whether each label is too rare to judge in it, (L,).

    most: how steep a photo's slope can be.
    """

    sums: Moments
    lines: Lines
    rare: Flags
    most: float


def group_slopes(
    answers: Answers,
    column: str,
    groups: Sequence[str | None],
    options: FitOptions,
    light: Answers | None,
) -> tuple[DataFrame, DataFrame]:
    """Slopes of each group of photos, and differences between every two groups.

    Null hypotheses: the group's mean slope is 0 (one-sample t); two groups have the same mean slope (p_perm permutes
    membership, see ``membership_test``; p is Welch's t, for groups of different spread, and can reject too often
    if one group is small).  Intervals are of the same t.  A label whose answers vary on fewer than ``min_varying``
    units of a group is too rare to judge in it, and has no interval if they vary on none; a difference is too rare
    to judge from a group of fewer than ``min_varying`` units, or of a label that is rare in both.  If all slopes of
    one group are equal, its spread is not taken for 0: both groups then share one (Student's t).  q is over the labels
    of one group, or of one pair of groups: of p_perm if there is one, or p below its floor.

    answers: of one classifier and attribute.  column: the name under which the groups go.
    groups: (n,) each photo's group; photos with None or an empty text are in none.
    light: answers along the light placebo.  It may move one group further than the other, so a difference goes further
    than the light's, see ``decision.placebo_step``.  The other placebos are drawn anew for each photo, of whatever
    group.

    Returns frames with the columns of core.tables.GROUPS and DIFFERENCES.
    """
    texts = ["" if value is None or value != value else str(value) for value in groups]
    names = np.array(texts, object)
    rows = []
    pairs = []
    for estimator in contrasted(options):
        head = {"column": column, "estimator": estimator.name}
        sides = {}
        for name in sorted({*texts} - {""}):
            part = answers.only(names == name)
            sides[name], columns = _group(part, estimator, options)
            rows.append(part.frame(**part.facts(), **columns, **head, group=name))
        for group, other in combinations(sides, 2):
            both = (names == group) | (names == other)
            first = names[both] == group
            p_perm = membership_test(answers.only(both), estimator.kind, first, options)
            columns = _apart(sides[group], sides[other], p_perm, estimator, options)
            if light is not None:
                members = set(answers.photos[names == group]), set(answers.photos[names == other])
                columns |= _beyond_light(answers, light, members, estimator.kind, columns, options)
            pairs.append(answers.frame(**columns, **head, group=group, other=other))
    return joined(rows), joined(pairs)


def _group(answers: Answers, estimator: Estimator, options: FitOptions) -> tuple[_Group, Columns]:
    """A group, and the columns of its rows."""
    numbers = outcomes(answers, estimator.kind)
    sums = moments(numbers)
    varies = varying(numbers)
    lines = linear(estimator.kind, sums, answers.values)
    rare = np.asarray(varies < options.min_varying, bool)
    columns = {
        name: np.where(varies > 0, value, nan)
        for name, value in columns_of(lines, "slope", "intercept", "t", "p").items()
    }
    p = np.where(rare, nan, lines.p)
    columns |= {"slope": lines.slope, "varying": varies, "p": p, "q": benjamini_hochberg(p)}
    group = _Group(sums, lines, rare, steepest(estimator.kind, answers.values))
    return group, columns | {"note": np.where(rare, RARE, "")}


def _apart(
    first: _Group,
    second: _Group,
    p_perm: Array,
    estimator: Estimator,
    options: FitOptions,
) -> Columns:
    """The columns of the difference of two groups.  p_perm: of ``membership_test``."""
    sums, other_sums = first.sums, second.sums
    scale = SCALE[estimator.kind]
    welch, _ = difference(
        (first.lines.slope, first.lines.se, sums.units),
        (second.lines.slope, second.lines.se, other_sums.units),
        skews=(sums.slopes.skew, other_sums.slopes.skew),
        errors=scale * sums.slopes.error + scale * other_sums.slopes.error,
        most=first.most + second.most,
    )
    # a label may be common in one group and absent in the other, if that has photos enough: that is a finding
    rare = (first.rare & second.rare) | (min(sums.units, other_sums.units) < options.min_varying)
    p = tested = np.where(rare, nan, welch.p)
    columns = columns_of(welch, "p_perm", "varying") | {"p": p}
    if not np.isnan(p_perm).all():
        columns["p_perm"] = p_perm = np.where(np.isnan(p), nan, p_perm)
        tested, _ = below_floor(p_perm, p, options.permutations)
        tested = np.where(np.isnan(tested), p, tested)
    note = np.where(rare, RARE, "")
    return columns | {"p_test": tested, "q": benjamini_hochberg(tested), "note": note}


def _beyond_light(
    answers: Answers,
    light: Answers,
    members: tuple[set[str], set[str]],
    kind: Kind,
    columns: Mapping[str, Array],
    options: FitOptions,
) -> Columns:
    """q_placebo of the difference of two groups, and the note if light may explain it; by Welch's t.

    members: photos of both groups.  columns: of the difference.
    """
    labels = all_labels(answers, light)
    sides = []
    for photos in members:
        part = answers.among(photos)
        edit, fake = (unit_slopes(sweep, kind, labels) for sweep in same_photos(part, light))
        sides.append((contrast(edit.minus(fake)), contrast(fake), len(edit.sizes)))
    (first, first_light, n), (second, second_light, m) = sides
    gaps = []
    for one, other in ((first, second), (first_light, second_light)):
        skews = one.skew, other.skew
        means = (one.difference, one.se, n), (other.difference, other.se, m)
        gaps.append(difference(*means, skews, one.error + other.error)[0])
    chosen = np.isin(labels, answers.labels)
    further, of_light = gaps
    step = DataFrame({"p": further.p, "difference": further.difference, "p_perm": nan})
    step = step.assign(placebo_slope=of_light.difference, placebo_p=of_light.p)[chosen]
    rows = DataFrame(columns).assign(slope=columns["difference"])
    without = replace(options, permutations=0)
    q_placebo = placebo_step(rows, {"light": step}, without, True)["q_placebo"].to_numpy()
    explained = are_findings(rows) & ~is_finding(q_placebo)
    note = np.where(explained, BY_LIGHT, columns["note"])
    return {"q_placebo": q_placebo, "note": note}


def membership_test(answers: Answers, kind: Kind, first: Flags, options: FitOptions) -> Array:
    """(L,) two-sided p, null hypothesis: both groups have the same mean slope; NaN if nothing can be permuted.

    Units are photos, or clusters that lie in one group.  If most photos lie in clusters that both groups
    share (one search, several people), membership is permuted inside the clusters.

    answers: of the photos of both groups.  first: (n,) which of them are in the first.

    Sources: Janssen 1997, doi 10.1016/S0167-7152(97)00043-6; Chung & Romano 2013, doi 10.1214/13-AOS1090.
    """
    untested = np.full(len(answers.labels), nan)
    if not options.permutations or first.all() or not first.any():
        return untested
    m = options.permutations
    seed = options.seed
    if answers.units is None:
        return membership_p(unit_slopes(answers, kind), first, m, seed)
    codes = answers.codes
    sizes = answers.sizes
    members = np.bincount(codes, first)
    mixed = (members > 0) & (members < sizes)
    if not mixed.any():
        return membership_p(unit_slopes(answers, kind), members > 0, m, seed)
    if sizes[mixed].sum() < 0.5 * len(first):
        return untested
    return membership_p(unit_slopes(answers.single, kind), first, m, seed, within=codes)


def paired_differences(
    one: Answers,
    other: Answers,
    *,
    min_varying: int = 10,
    permutations: int = 10_000,
    cluster: Texts | None = None,
) -> DataFrame:
    """The slopes of both by each label's measure, and their difference: second minus first.

    A label that either run measures by its number, see ``slopes.measures.kinds``, is measured by it in both; the others
    are photo-rate slopes, percentage points per unit.  No number is made up for a missing one: a photo that lacks it in
    either run is left out, and a label that one run never gave with its number has no difference.

    Each photo that both answered at all values has a slope in either; the difference is the mean over photos of the
    second minus the first.  Interval and p: one-sample t over units with U - 1 degrees of freedom, null hypothesis: the
    mean difference is 0.  p_perm: changes of signs of the units' differences, see ``stats.contrast``.  p_test:
    p_perm, or t's p below its floor; q: p_test adjusted over the labels.

    one, other: a classifier's answers in the first and the second run, for one attribute; the K may differ.
    min_varying: labels whose answers vary on fewer units, in both runs together, are not judged, and have no interval.
    permutations: 0 for none; q is then of p.
    cluster: photo to a text; photos that share one (one person) are one unit.  A photo without a text is a unit.

    Returns a row a label of either, with the columns ``COLUMNS``; classifier and attribute are the second run's,
    first_classifier is the classifier of ``one``.  differing: photos whose answers to the label differ at some value;
    NaN if the values do.  share: of all answers of both runs, the share with the label.
    sd: of a label's number at the first run's centre, its standard deviation among photos.
    """
    first, second = same_photos(one, other)
    labels = all_labels(one, other)
    measures = common_measures(first, second, min_varying)
    first, second = same_photos(measured(first, measures), measured(second, measures))
    if cluster is not None:
        codes = named_codes([cluster.get(photo, "") for photo in first.photos], first.photos)
        first, second = replace(first, units=codes), replace(second, units=codes)
    old, new = slopes_by_measure(first, labels), slopes_by_measure(second, labels)
    by = np.array([measures.get(label, "presence") for label in labels], object)
    common = np.isin(labels, first.labels) & np.isin(labels, second.labels)
    one_sided = (by == "value") & ~common
    shares = [
        Series(run.counts().mean(1), run.labels).reindex(labels, fill_value=0)
        for run in (first, second)
    ]
    return other.frame(
        **_paired(old, new, one_sided, min_varying, permutations),
        label=labels,
        first_classifier=one.classifier,
        n=len(first.photos),
        units=len(old.sizes),
        active=active_photos(first, second, labels),
        differing=differing_photos(first, second, labels),
        share=(shares[0] + shares[1]).to_numpy(float) / max(2 * len(first.photos), 1),
        slope=np.where(one_sided, nan, old.means),
        other_slope=np.where(one_sided, nan, new.means),
        measure=by,
        unit=[unit_in(other.classifier, *pair) for pair in zip(labels, by, strict=True)],
        sd=Series(spread(first), dtype=float).reindex(labels).to_numpy(),
    )[COLUMNS]


def _paired(
    old: Units,
    new: Units,
    one_sided: Flags,
    min_varying: int,
    permutations: int,
) -> Columns:
    """The columns of the difference, second minus first.  one_sided: (L,) labels that one run never gave."""
    result = contrast(new.minus(old), permutations=permutations)
    either = (abs(old.sums) + abs(new.sums)).tocsr()
    either.eliminate_zeros()
    varies = np.diff(either.indptr)
    rare = (varies < min_varying) | (len(old.sizes) < 2) | one_sided
    same = (result.varying == 0) & ~rare  # no answer changed: nothing speaks against equal slopes
    p, p_perm = (
        np.where(rare, nan, np.where(same, 1.0, value)) for value in (result.p, result.p_perm)
    )
    tested, _ = below_floor(p_perm, p, permutations, trusted=enough(old.sizes))
    return {
        "varying": varies,
        "difference": np.where(one_sided, nan, result.difference),
        "se": np.where(one_sided, nan, np.where(same, 0.0, result.se)),
        "ci_low": np.where(rare, nan, result.low),
        "ci_high": np.where(rare, nan, result.high),
        "p": p,
        "p_perm": p_perm if permutations else np.full(len(p), nan),
        "p_test": tested,
        "q": benjamini_hochberg(tested),
        "note": np.select([one_sided, rare], ["one run never gave its number", RARE], ""),
    }


def common_measures(one: Answers, other: Answers, min_varying: int) -> dict[str, Measure]:
    """Label to measure of two runs together, without the labels by presence; a number in either is one in both."""
    first, second = (choose([answers], min_varying) for answers in (one, other))
    pairs = [*second.items(), *first.items()]
    return dict(pairs) | {label: by for label, by in pairs if by == "value"}
