"""All estimators of one classifier and attribute, with intervals, permutations and q: rows of the slopes table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.fit import bootstrap
from gslopes.fit.answers import Answers
from gslopes.fit.logodds import fit_logits
from gslopes.fit.multiplicity import adjust
from gslopes.fit.options import FitOptions
from gslopes.fit.permutation import Permuted, permute
from gslopes.fit.photo import KINDS, UNITS, acceleration, infer, linear
from gslopes.fit.profiles import Moments, Profiles, moments, profiles
from gslopes.fit.rates import rates
from gslopes.fit.slopes import paper

Array = NDArray[np.float64]
RARE = "too rare to judge"
NEVER = "never active at the centre"


def estimate(answers: Answers, options: FitOptions, units: NDArray[np.int64] | None = None) -> pd.DataFrame:
    """Rows of core.tables.SLOPES for every estimator and label; see ``fit.findings.analyse``.

    units: (n,) codes of clusters, or None where each photo is its own unit.
    """
    counted = rates(answers)
    kinds = dict.fromkeys(KINDS[name] for name in options.estimators)
    by_kind: dict[str, Profiles] = {kind: profiles(answers, kind, units) for kind in kinds}
    sums: dict[str, Moments] = {kind: moments(profile) for kind, profile in by_kind.items()}
    tested = counted.active >= options.min_active
    permuted = {kind: _permuted(profile, tested, options, kind) for kind, profile in by_kind.items()}
    resampled = _intervals(by_kind, sums, options)
    frames = []
    for name in options.estimators:
        kind = KINDS[name]
        if name == "paper":
            frame = paper(counted)
            frame = _judged_paper(frame, permuted[kind], tested, options)
        else:
            frame = _photo(name, answers, counted.active, sums[kind])
            frame = _judged(frame, permuted[kind], tested, options)
        ends = resampled.get("photo-z" if name == "paper" else name)
        if ends is not None:
            keep = np.ones(len(tested), dtype=bool) if name == "paper" else tested
            pairs = {"boot_low": ends.low, "boot_high": ends.high, "bca_low": ends.bca_low, "bca_high": ends.bca_high}
            frame = frame.assign(**{key: np.where(keep, value, np.nan) for key, value in pairs.items()})
        frames.append(frame.assign(unit=UNITS[name]))
    return pd.concat([frame.dropna(axis=1, how="all") for frame in frames], ignore_index=True)


def _photo(name: str, answers: Answers, active: NDArray[np.int64], sums: Moments) -> pd.DataFrame:
    lines = infer(linear(name, sums, answers.values), sums)
    centre = answers.label[answers.present[:, len(answers.values) // 2]]
    counts = np.bincount(centre, minlength=len(answers.labels))
    return pd.DataFrame(
        {
            "classifier": answers.classifier,
            "attribute": answers.attribute,
            "label": answers.labels,
            "n": len(answers.photos),
            "active": active,
            "y_centre": counts / max(len(answers.photos), 1),
            "slope": lines.slope,
            "intercept": lines.intercept,
            "se": lines.se,
            "t": lines.t,
            "p": lines.p,
            "ci_low": lines.low,
            "ci_high": lines.high,
            "estimator": name,
        }
    )


def _judged(
    frame: pd.DataFrame, permuted: Permuted | None, tested: NDArray[np.bool_], options: FitOptions
) -> pd.DataFrame:
    """With p_perm, p_max, q and a note; without tests where the label is too rare."""
    judged = tested & frame["slope"].notna().to_numpy()
    p = np.where(judged, frame["p"], np.nan)
    note = np.where(tested, np.where(judged, "", NEVER), RARE)
    if permuted is None:
        return frame.assign(p=p, q=adjust(p, _without_max(options)), note=note)
    p_perm, p_max = np.where(judged, permuted.p, np.nan), np.where(judged, permuted.p_max, np.nan)
    q = p_max if options.correction == "max-t" else adjust(p_perm, options.correction)
    agreement = _agreement(p, p_perm, options.alpha)
    return frame.assign(p=p, p_perm=p_perm, p_max=p_max, q=q, note=note, agreement=agreement)


def _judged_paper(
    frame: pd.DataFrame, permuted: Permuted | None, tested: NDArray[np.bool_], options: FitOptions
) -> pd.DataFrame:
    note = np.where(tested, np.where(frame["slope"].notna(), "", NEVER), RARE)
    if permuted is None:
        return frame.assign(note=note)
    agreement = _agreement(frame["p"].to_numpy(), permuted.p_paper, options.alpha)
    return frame.assign(p_perm=permuted.p_paper, note=note, agreement=agreement)


def _agreement(p: Array, p_perm: Array, alpha: float) -> NDArray[np.object_]:
    """Which of the two p-values lie below alpha; None where one of them is missing."""
    names = np.array(["neither", "p only", "p_perm only", "both"], dtype=object)
    with np.errstate(invalid="ignore"):
        found = names[(p < alpha).astype(int) + 2 * (p_perm < alpha)]
    found[np.isnan(p) | np.isnan(p_perm)] = None
    return found


def _permuted(profile: Profiles, tested: NDArray[np.bool_], options: FitOptions, kind: str) -> Permuted | None:
    if not options.permutations:
        return None
    with_paper = kind == "rate" and "paper" in options.estimators
    return permute(profile, tested, options.permutations, options.seed, bundles=options.bundles, paper=with_paper)


def _intervals(
    by_kind: Mapping[str, Profiles], sums: Mapping[str, Moments], options: FitOptions
) -> dict[str, bootstrap.Intervals]:
    if not options.bootstrap or not len(next(iter(by_kind.values())).sizes):
        return {}
    names = list(dict.fromkeys("photo-z" if name == "paper" else name for name in options.estimators))
    values = next(iter(by_kind.values())).values
    start = fit_logits(sums["rate"].first, sums["rate"].photos, values) if "photo-logodds" in names else None
    resampled = bootstrap.replicates(by_kind, names, options.bootstrap, options.seed, start=start)
    result = {}
    for name in names:
        point = linear(name, sums[KINDS[name]], values)
        skew = acceleration(point, by_kind[KINDS[name]])
        result[name] = bootstrap.intervals(resampled.pop(name), point.slope, skew, confidence=options.confidence)
    return result


def _without_max(options: FitOptions) -> str:
    return "holm" if options.correction == "max-t" else options.correction
