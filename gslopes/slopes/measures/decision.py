"""Is a slope a finding? It must differ from 0, and from what pictures that change nothing of the attribute do.

An edit also moves light, texture and compression, and so it moves any classifier that sees them.  The placebo sweeps
(``core.placebo``) move nothing else, by as much.  A label is a finding if all of these hold:

    own test   q of its slope is below the level, and its interval without 0
    placebos   its slope goes further than every placebo sweep's over the same photos, paired photo by photo: the
               largest p of all differences (an intersection-union test), adjusted over the labels that hold the own
               test, is below the level too, and each difference has the sign of the slope (a hierarchy: if no label
               moves, none gets this far but by the own test's error)
    losses     if refusals or failures depend on the value, the slope keeps its sign in the worst case
               (``slopes.measures.selection``)

The light placebo brightens as the edit does, so its sign counts; the sign of the other two means nothing, and the
difference must hold against either sign.

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
2008, doi 10.1198/016214507000001373.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from gslopes.core import placebo
from gslopes.core.arrays import Array, Flags
from gslopes.core.tables import Record
from gslopes.core.text import nudged, two_digits
from gslopes.slopes.measures.answers import Answers, all_labels, columns_of, joined, same_photos
from gslopes.slopes.measures.estimators import contrasted
from gslopes.slopes.measures.kinds import unit_slopes
from gslopes.slopes.measures.options import FitOptions
from gslopes.stats.clusters import effective_units, few
from gslopes.stats.contrast import Contrast, Units, contrast
from gslopes.stats.multiplicity import LEVEL, are_findings, benjamini_hochberg, is_finding
from gslopes.stats.permutation import below_floor
from gslopes.stats.rounding import exceeds, highest

CARRIED = "its interval rests on few photos: about as many as {:.0f} that count alike"
NO_SPREAD = (
    "all photos have this slope, which says nothing about how far others may lie: no interval"
)


def placebo_differences(
    edit: Answers, fakes: Mapping[str, Answers], options: FitOptions
) -> pd.DataFrame:
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
    nearer = exceeds(np.abs(plain.difference), np.abs(turned.difference))
    short = np.sign(turned.difference) != np.sign(plain.difference)
    columns = {}
    for name in ("difference", "se", "low", "high"):
        columns[name] = np.where(nearer, getattr(turned, name), getattr(plain, name))
    for name in ("p", "p_perm"):
        p = np.maximum(getattr(plain, name), getattr(turned, name))
        columns[name] = np.where(short & ~np.isnan(p), 1.0, p)
    return replace(plain, **columns)


def decide(
    slopes: pd.DataFrame,
    placebos: pd.DataFrame,
    options: FitOptions,
    *,
    lost: str = "",
    units: Array,
) -> pd.DataFrame:
    """The rows of one classifier and attribute with the columns q_placebo, light, decision, reason and detail.

    slopes: as ``estimators.slope_rows`` gives them; the rows of the paper have no decision.
    placebos: as ``placebo_differences`` gives them; empty if there was no placebo sweep.
    lost: which lost answers depend on the value, such as ``refusals``; or empty.  units: (U,) photos in each unit.

    The rows to read are one family, whatever their labels are judged by; so are the others of each estimator.
    """
    trusted = not few(effective_units(units))
    names = [estimator.name for estimator in contrasted(options)]
    tested = slopes[slopes["estimator"].isin(names)]
    if "measure" not in tested or tested.empty:
        return slopes
    families = tested.groupby(tested["estimator"].mask(tested["measure"].notna(), ""), sort=False)
    decided = [_decide(rows, placebos, options, lost, trusted) for _, rows in families]
    return slopes.join(pd.concat(decided))


def _decide(
    rows: pd.DataFrame, placebos: pd.DataFrame, options: FitOptions, lost: str, trusted: bool
) -> pd.DataFrame:
    light = np.full(len(rows), np.nan)
    keys = pd.MultiIndex.from_frame(rows[["estimator", "label"]])
    by_kind = {}
    for kind in placebo.KINDS if len(placebos) else ():
        part = placebos[placebos["placebo"] == kind]
        if not (part["n"] > 1).any():
            continue
        part = part.set_index(["estimator", "label"]).reindex(keys)
        p = further(part, rows["slope"].to_numpy(float), options, trusted)
        by_kind[kind] = part.assign(p_used=p)
        if kind in placebo.SIGNED:
            # the range of the placebo's slope, as the page draws it, leaves out 0; the slope's too
            sure = part["placebo_slope"].abs() > (part["ci_high"] - part["ci_low"]) / 2
            sure &= (rows["ci_low"] * rows["ci_high"] > 0).to_numpy()
            light = (part["placebo_slope"] / part["slope"]).where(sure).to_numpy(float)
    largest = np.full(len(rows), np.nan)
    if by_kind:
        largest = np.max([part["p_used"] for part in by_kind.values()], axis=0)
    q_placebo = placebo_q(are_findings(rows), largest)
    decided = []
    for index, row in enumerate(rows.to_dict("records")):
        of_label = {kind: part.iloc[index] for kind, part in by_kind.items()}
        decided.append(_decide_label(row, float(q_placebo[index]), of_label, lost))
    frame = pd.DataFrame(decided, columns=["decision", "reason", "detail"], index=rows.index)
    return frame.assign(q_placebo=q_placebo, light=light)


def _decide_label(
    row: Record, q_placebo: float, placebos: Mapping[str, pd.Series], lost: str
) -> tuple[str, str, str]:
    """(decision, code of the reason, the reason with its numbers) of one label."""
    ends = row.get("ci_low", np.nan), row.get("ci_high", np.nan)
    decision, reason = rule(bool(row["note"]), row["q"], q_placebo, placebos, ends)
    detail = NO_SPREAD if row["se"] == 0 else ""
    if reason == "rare":
        detail = str(row["note"])
    elif reason == "no-test":
        detail = detail or "no test could be made"
    elif reason == "own-test":
        detail = f"q {nudged(row['q']):.2g} is not below {LEVEL:g}"
        if is_finding(row["q"]):
            detail = f"q {nudged(row['q']):.2g}, but its interval holds 0"
    elif reason == "placebo":
        reason = list(placebos)[highest([part["p_used"] for part in placebos.values()])]
        detail = _against(placebos[reason], row.get("measure") == "log-odds", placebo.TEXTS[reason])
    elif reason == "no-placebo":
        lacking = [placebo.TEXTS[kind] for kind in placebo.KINDS if kind not in placebos]
        which = f" of {' or of '.join(lacking)}" if len(lacking) < len(placebo.KINDS) else ""
        detail = f"no placebo sweep{which} was run"
    low, high = (row.get(name, np.nan) for name in ("worst_low", "worst_high"))
    if decision == "finding" and lost and not (low > 0 if row["slope"] > 0 else high < 0):
        bound = "nothing bounds the rest"
        if low <= high:
            bound = f"of all photos, the slope lies in [{two_digits(low)}, {two_digits(high)}]"
        return "open", "refusals", f"{lost} depend on the value; {bound}"
    if detail != str(row["note"]) and few(row.get("influence", np.nan)):
        detail = "; ".join(filter(None, (detail, CARRIED.format(row["influence"]))))
    return decision, reason, detail


def _against(worst: pd.Series, odds: bool, sweep: str) -> str:
    """The numbers of the placebo that is not ruled out."""
    slope, difference, low, high = (
        two_digits(worst[name]) for name in ("placebo_slope", "difference", "ci_low", "ci_high")
    )
    p = f"p {nudged(worst['p_used']):.2g}{', in log-odds' * odds}"
    return f"{sweep}: {slope}; paired difference {difference} [{low}, {high}], {p}"


def further(
    differences: pd.DataFrame, slopes: Array, options: FitOptions, trusted: bool | Flags
) -> Array:
    """(L,) p of the null hypothesis that slopes go no further than a placebo's, from the differences of both.

    1 if the slope goes less far, or if no two units can tell.  trusted: whether t may be believed.
    """
    p_perm, p, difference = (
        differences[name].to_numpy(float) for name in ("p_perm", "p", "difference")
    )
    p, _ = below_floor(p_perm, p, options.permutations, trusted=trusted)
    return np.where(np.isnan(p) | (np.sign(difference) != np.sign(slopes)), 1.0, p)


def placebo_q(tested: Flags, p: Array) -> Array:
    """(L,) the largest p of the differences from placebos, adjusted over the labels that hold the own test; else NaN.

    tested: whether they do.  p: two-sided, 1 if the slope goes less far.

    >>> placebo_q(np.array([True, False, True]), np.array([0.02, 0.001, 0.03])).tolist()
    [0.03, nan, 0.03]
    """
    return benjamini_hochberg(np.where(tested, p, np.nan))


def rule(
    unjudged: bool,
    q: float,
    q_placebo: float,
    kinds: Collection[str],
    interval: tuple[float, float] = (np.nan, np.nan),
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
        return ("finding", "")
    return ("open", "no-placebo")
