"""Is a slope a finding? It must differ from 0, and from what pictures that change nothing of the attribute do.

An edit also moves light, texture and compression, and so it moves any classifier that sees them.  The placebo sweeps
(``core.placebo``) move nothing else, by as much.  A label is a finding if all of these hold:

    own test   q of its slope is below the level, and its interval without 0
    placebos   its slope goes further than the placebos that count, over the same photos, paired photo by photo, see
               ``placebo_step``
    losses     if refusals or failures depend on the value, the slope keeps its sign in the worst case
               (``slopes.measures.selection``)

The light placebo brightens as the edit does: its sign counts, and it may move a label by as much. The other two are
drawn anew for each photo, in a random order or direction, so their mean slope is 0 by construction. They count if it
is not, and then against either sign.

=========  ==========================================================================================================
decision   meaning
=========  ==========================================================================================================
finding    all of the above
placebo    the own test holds; a placebo moves the label about as far, or it cannot be ruled out
open       the own test holds, and what would settle it is missing: no placebo sweep, or refusals may have made it
none       the own test does not hold
unjudged   too few photos change their answer, or it is never there at the centre, or no test could be made
=========  ==========================================================================================================

Sources: intersection-union tests, Berger & Hsu 1996, doi 10.1214/ss/1032280304; hierarchies of families, Yekutieli
2008, doi 10.1198/016214507000001373. The level of the step and which placebos count are ours, by simulation:
tests/benches/coverage_placebos.py.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
from pandas import DataFrame

from gslopes.core import Record, nudged, placebo, two_digits
from gslopes.core.records import Array, Flags, Interval
from gslopes.report import inline
from gslopes.slopes.measures.answers import Answers, all_labels, columns_of, joined, same_photos
from gslopes.slopes.measures.estimators import contrasted
from gslopes.slopes.measures.kinds import unit_slopes
from gslopes.slopes.measures.options import TEMPLATES, FitOptions
from gslopes.stats import clusters, permutation, rounding
from gslopes.stats.contrast import Contrast, Units, contrast
from gslopes.stats.multiplicity import LEVEL, are_findings, benjamini_hochberg, is_finding

STEP = 0.035  # level of the step against placebos: with LEVEL too many labels that light moves are called findings
MOVED = 0.01  # p of a placebo's own slope, below which it counts for the label


def placebo_differences(
    edit: Answers, fakes: Mapping[str, Answers], options: FitOptions
) -> DataFrame:
    """Rows of core.tables.PLACEBOS of one classifier and attribute.

    edit: answers along the attribute.  fakes: kind of placebo to the answers along it; the photos may be a sample.
    """
    frames = []
    for what, fake in fakes.items():
        pair = same_photos(edit, fake)
        labels = all_labels(edit, fake)
        for estimator in contrasted(options):
            first, second = (unit_slopes(answers, estimator.kind, labels) for answers in pair)
            tested = paired(first, second, options, signed=what in placebo.SIGNED)
            frames.append(
                edit.frame(
                    **columns_of(tested),
                    label=labels,
                    estimator=estimator.name,
                    placebo=what,
                    n=len(pair[0].photos),
                    slope=first.means,
                    placebo_slope=second.means,
                    placebo_p=contrast(second).p,
                    note=np.where(
                        tested.varying > 0, "", "both sweeps say the same of every photo"
                    ),
                )
            )
    return joined(frames)


def paired(first: Units, second: Units, options: FitOptions, *, signed: bool) -> Contrast:
    """The paired difference; if the placebo's sign means nothing, the smaller one, with the larger p of both signs.

    If the placebo goes further than the slope, the two differences disagree about the side, and p is 1.
    """
    tests = {"permutations": options.permutations, "seed": options.seed}
    plain = contrast(first.minus(second), **tests)
    if signed:
        return plain
    turned = contrast(first.minus(second, -1), **tests)
    nearer = rounding.exceeds(np.abs(plain.difference), np.abs(turned.difference))
    short = np.sign(turned.difference) != np.sign(plain.difference)
    columns = {}
    for name in ("difference", "se", "low", "high"):
        columns[name] = np.where(nearer, getattr(turned, name), getattr(plain, name))
    for name in ("p", "p_perm"):
        p = np.maximum(getattr(plain, name), getattr(turned, name))
        columns[name] = np.where(short & ~np.isnan(p), 1.0, p)
    return replace(plain, **columns)


def decide(
    slopes: DataFrame,
    placebos: DataFrame,
    options: FitOptions,
    *,
    lost: str = "",
    units: Array,
) -> DataFrame:
    """The rows of one classifier and attribute with the columns q_placebo, light, decision, reason and detail.

    slopes: as ``estimators.slope_rows`` gives them; the rows of the paper have no decision.
    placebos: as ``placebo_differences`` gives them; empty if there was no placebo sweep.
    lost: which lost answers depend on the value, such as ``refusals``; or empty.  units: (U,) photos in each unit.

    The rows to read are one family, whatever their labels are judged by; so are the others of each estimator.
    """
    trusted = clusters.enough(units)
    names = [estimator.name for estimator in contrasted(options)]
    tested = slopes[slopes["estimator"].isin(names)]
    if "measure" not in tested or tested.empty:
        return slopes
    families = tested.groupby(tested["estimator"].mask(tested["measure"].notna(), ""), sort=False)
    decided = [_decide(rows, placebos, options, lost, trusted) for _, rows in families]
    return slopes.join(pd.concat(decided))


def _decide(
    rows: DataFrame,
    placebos: DataFrame,
    options: FitOptions,
    lost: str,
    trusted: bool,
) -> DataFrame:
    light = np.full(len(rows), nan)
    keys = pd.MultiIndex.from_frame(rows[["estimator", "label"]])
    by_kind = {}
    for kind in placebo.KINDS if len(placebos) else ():
        part = placebos.query("placebo == @kind")
        if not (part["n"] > 1).any():
            continue
        part = part.set_index(["estimator", "label"]).reindex(keys)
        by_kind[kind] = part
        if kind in placebo.SIGNED:
            # the range of the placebo's slope, as the page draws it, leaves out 0; the slope's too
            sure = part["placebo_slope"].abs() > (part["ci_high"] - part["ci_low"]) / 2
            sure &= (rows["ci_low"] * rows["ci_high"] > 0).to_numpy()
            light = (part["placebo_slope"] / part["slope"]).where(sure).to_numpy(float)
    stepped = placebo_step(rows, by_kind, options, trusted)
    q_placebo = stepped["q_placebo"].to_numpy()
    parts = [
        part.assign(p_used=stepped[kind].to_numpy()).to_dict("records")
        for kind, part in by_kind.items()
    ]
    decided = []
    for row, q, *found in zip(rows.to_dict("records"), q_placebo.tolist(), *parts, strict=True):
        of_label = dict(zip(by_kind, found, strict=True))
        decided.append(_decide_label(row, q, of_label, lost))
    frame = DataFrame(decided, columns=["decision", "reason", "detail"], index=rows.index)
    return frame.assign(q_placebo=q_placebo, light=light)


def _decide_label(
    row: Record, q_placebo: float, placebos: Mapping[str, Record], lost: str
) -> tuple[str, str, str]:
    """(decision, code of the reason, the reason with its numbers) of one label."""
    ends = row.get("ci_low", nan), row.get("ci_high", nan)
    decision, reason = rule(bool(row["note"]), row["q"], q_placebo, placebos, ends)
    if reason == "placebo":
        reason = list(placebos)[rounding.highest([part["p_used"] for part in placebos.values()])]
    low, high = (row.get(name, nan) for name in ("worst_low", "worst_high"))
    if decision == "finding" and lost and not (low > 0 if row["slope"] > 0 else high < 0):
        decision, reason = "open", "refusals"
    detail = inline.plain(
        "decided.txt.j2",
        TEMPLATES,
        row=row,
        reason=reason,
        placebos=placebos,
        texts=placebo.TEXTS,
        q_placebo=q_placebo,
        level=LEVEL,
        step=STEP,
        lost=lost,
        worst=(low, high),
        few=clusters.few(row.get("influence", nan)),
        two_digits=two_digits,
        nudged=nudged,
    )
    return decision, reason, detail


def further(
    differences: DataFrame, slopes: Array, options: FitOptions, trusted: bool | Flags
) -> Array:
    """(L,) one-sided p of the null hypothesis that slopes go no further than a placebo's, from the differences of both.

    1 if the slope goes less far, or if no two units can tell.  trusted: whether t may be believed.
    """
    p_perm, p, difference = (
        differences[name].to_numpy(float) for name in ("p_perm", "p", "difference")
    )
    p, _ = permutation.below_floor(p_perm, p, options.permutations, trusted=trusted)
    return np.where(np.isnan(p) | (np.sign(difference) != np.sign(slopes)), 1.0, p / 2)


def placebo_step(
    rows: DataFrame,
    differences: Mapping[str, DataFrame],
    options: FitOptions,
    trusted: bool | Flags,
) -> DataFrame:
    """The column q_placebo, and a column for each kind of placebo: the p of ``further``, 0 if the kind does not count.

    A kind whose sign means nothing counts for a label that it moves by itself (p below ``MOVED``), and for all labels
    if it moves any (q below the level).  q_placebo: the largest p of a label, adjusted over the labels that hold
    their own test and over those that light moves in the same direction, in units in which ``STEP`` is the level.  A
    label that a placebo explains lends nothing to the others: their q_placebo is at least q of their slopes without
    such labels.  NaN if the own test does not hold, or no placebo was asked about.

    rows: (L,) with slope, p_test, q and interval.  differences: by kind, as ``placebo_differences`` gives them, (L,).
    """
    holds = are_findings(rows)
    family = holds
    steps = {}
    for kind, part in differences.items():
        steps[kind] = further(part, rows["slope"].to_numpy(float), options, trusted)
        p = part["placebo_p"].to_numpy(float)
        if kind in placebo.SIGNED:
            along = np.sign(part["placebo_slope"]).to_numpy() == np.sign(rows["slope"]).to_numpy()
            family = family | (along & is_finding(p / 2))
        elif not is_finding(benjamini_hochberg(p)).any():
            steps[kind] = np.where(p < MOVED, steps[kind], 0.0)
    tested = rows["p_test"].to_numpy(float)
    q_placebo = np.full(len(rows), nan)
    if steps:
        largest = np.minimum(np.max(list(steps.values()), 0) * LEVEL / STEP, 1.0)
        largest = np.where(holds, largest, 1.0)
        q_step = benjamini_hochberg(np.where(family & ~np.isnan(tested), largest, nan))
        further_too = holds & is_finding(q_step)
        q_rest = benjamini_hochberg(np.where(holds & ~further_too, 1.0, tested))
        q_placebo = np.where(further_too, np.maximum(q_step, q_rest), q_step)
        q_placebo = np.where(holds, q_placebo, nan)
    return DataFrame(steps, rows.index).assign(q_placebo=q_placebo)


def rule(
    unjudged: bool,
    q: float,
    q_placebo: float,
    kinds: Collection[str],
    interval: Interval = (nan, nan),
) -> tuple[str, str]:
    """(decision, code of the reason) by q of the slope and q of its differences from placebos.

    q, q_placebo: NaN if nothing was tested, which is not the same as no effect.

    kinds: of the placebo sweeps.  interval: of the slope.

    >>> rule(False, 0.01, 0.2, ["same"]), rule(False, 0.01, 0.02, ["same", "light", "random"])
    (('placebo', 'placebo'), ('finding', ''))
    """
    if unjudged:
        return "unjudged", "rare"
    if np.isnan(q):
        return "unjudged", "no-test"
    if not is_finding(q, *interval):
        return "none", "own-test"
    if kinds and not is_finding(q_placebo):
        return "placebo", "placebo"
    if set(placebo.KINDS) <= set(kinds):
        return "finding", ""
    return "open", "no-placebo"
