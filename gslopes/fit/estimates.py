"""All estimators of one classifier and attribute, with intervals, permutations and q: rows of the slopes table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.fit import bootstrap
from gslopes.fit.answers import Answers
from gslopes.fit.options import FitOptions
from gslopes.fit.paired import FEW, below_floor, effective_units
from gslopes.fit.permutation import Permuted, permute
from gslopes.fit.photo import KINDS, UNITS, acceleration, infer, linear
from gslopes.fit.profiles import Moments, Profiles, moments, profiles, varying
from gslopes.fit.rates import rates
from gslopes.fit.slopes import paper
from gslopes.stats.logistic import fit_logits
from gslopes.stats.multiplicity import adjust

Array = NDArray[np.float64]
RARE = "too rare to judge"
NEVER = "never active at the centre"
RESAMPLED = 1 << 22  # labels times resamples in memory at once: 16 MiB an estimator, however many labels there are


def estimate(answers: Answers, options: FitOptions, units: NDArray[np.int64] | None = None) -> pd.DataFrame:
    """Rows of core.tables.SLOPES for every estimator and label; see ``fit.findings.analyse``.

    units: (n,) codes of clusters, or None where each photo is its own unit.
    """
    counted = rates(answers)
    kinds = dict.fromkeys(KINDS[name] for name in options.estimators)
    by_kind: dict[str, Profiles] = {kind: profiles(answers, kind, units) for kind in kinds}
    sums: dict[str, Moments] = {kind: moments(profile) for kind, profile in by_kind.items()}
    tests = {kind: _test(profile, sums[kind], options, kind) for kind, profile in by_kind.items()}
    resampled = _intervals(by_kind, sums, tests, options)
    frames = []
    for name in options.estimators:
        test = tests[KINDS[name]]
        if name == "paper":
            frame = _judged_paper(paper(counted), test, options)
        else:
            frame = _judged(_photo(name, answers, counted.active, sums[KINDS[name]], test), test, options)
        ends = resampled.get("photo-z" if name == "paper" else name)
        if ends is not None:
            keep = np.ones(len(test.tested), dtype=bool) if name == "paper" else test.tested
            pairs = {"boot_low": ends.low, "boot_high": ends.high, "bca_low": ends.bca_low, "bca_high": ends.bca_high}
            frame = frame.assign(**{key: np.where(keep, value, np.nan) for key, value in pairs.items()})
        frames.append(frame.assign(unit=UNITS[name], varying=test.varying))
    return pd.concat([frame.dropna(axis=1, how="all") for frame in frames], ignore_index=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Test:
    """One kind of number, all labels: which are tested, by what p.

    varying: (L,) units whose answers vary.  tested: (L,).  p: of the mean slope, t or where that is better
    permutations; source: which.  permuted: None if there were none.
    """

    varying: NDArray[np.int64]
    tested: NDArray[np.bool_]
    p: Array
    source: NDArray[np.object_]
    permuted: Permuted | None


def _test(profile: Profiles, sums: Moments, options: FitOptions, kind: str) -> _Test:
    varies = varying(profile)
    tested = varies >= options.min_varying
    mean = "photo-rate" if kind == "rate" else "photo-score"
    p = np.where(tested, infer(linear(mean, sums, profile.values), sums).p, np.nan)
    if not options.permutations:
        return _Test(varies, tested, *below_floor(p, p, 0), None)
    with_paper = kind == "rate" and "paper" in options.estimators
    count, bundles = options.permutations, options.bundles
    permuted = permute(profile, tested, count, options.seed, bundles=bundles, paper=with_paper)
    trusted = effective_units(profile.sizes) >= FEW
    return _Test(varies, tested, *below_floor(permuted.p, p, count, trusted=trusted), permuted)


def _photo(name: str, answers: Answers, active: NDArray[np.int64], sums: Moments, test: _Test) -> pd.DataFrame:
    lines = infer(linear(name, sums, answers.values), sums)
    centre = answers.label[answers.present[:, len(answers.values) // 2]]
    counts = np.bincount(centre, minlength=len(answers.labels))
    known = test.varying > 0  # answers that never vary say nothing about how sure a slope of 0 is
    spread = {"se": lines.se, "t": lines.t, "p": lines.p, "ci_low": lines.low, "ci_high": lines.high}
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
            **{key: np.where(known, value, np.nan) for key, value in spread.items()},
            "estimator": name,
        }
    )


def _judged(frame: pd.DataFrame, test: _Test, options: FitOptions) -> pd.DataFrame:
    """With p_perm, p_max, q and a note; without tests where the label is too rare."""
    judged = test.tested & frame["slope"].notna().to_numpy()
    p = np.where(judged, frame["p"], np.nan)
    note = np.where(test.tested, np.where(judged, "", NEVER), RARE)
    if test.permuted is None:
        q = adjust(p, _without_max(options))
        return frame.assign(p=p, p_test=p, p_source=_where(judged, test.source), q=q, note=note)
    p_perm, p_max = (np.where(judged, value, np.nan) for value in (test.permuted.p, test.permuted.p_max))
    p_test = np.where(judged, test.p, np.nan)
    q = p_max if options.correction == "max-t" else adjust(p_test, options.correction)
    found = {"p_perm": p_perm, "p_max": p_max, "p_test": p_test, "p_source": _where(judged, test.source)}
    return frame.assign(p=p, **found, q=q, note=note, agreement=_agreement(p, p_perm, options.alpha))


def _where(judged: NDArray[np.bool_], source: NDArray[np.object_]) -> NDArray[np.object_]:
    named = source.copy()
    named[~judged] = None
    return named


def _judged_paper(frame: pd.DataFrame, test: _Test, options: FitOptions) -> pd.DataFrame:
    note = np.where(test.tested, np.where(frame["slope"].notna(), "", NEVER), RARE)
    if test.permuted is None:
        return frame.assign(note=note)
    agreement = _agreement(frame["p"].to_numpy(), test.permuted.p_paper, options.alpha)
    return frame.assign(p_perm=test.permuted.p_paper, note=note, agreement=agreement)


def _agreement(p: Array, p_perm: Array, alpha: float) -> NDArray[np.object_]:
    """Which of the two p-values lie below alpha; None where one of them is missing."""
    names = np.array(["neither", "p only", "p_perm only", "both"], dtype=object)
    with np.errstate(invalid="ignore"):
        found = names[(p < alpha).astype(int) + 2 * (p_perm < alpha)]
    found[np.isnan(p) | np.isnan(p_perm)] = None
    return found


def _intervals(
    by_kind: Mapping[str, Profiles], sums: Mapping[str, Moments], tests: Mapping[str, _Test], options: FitOptions
) -> dict[str, bootstrap.Intervals]:
    """Name of an estimator to its intervals, NaN for labels that it does not judge; a block of labels at a time."""
    first = next(iter(by_kind.values()))
    if not options.bootstrap or not len(first.sizes):
        return {}
    names = list(dict.fromkeys("photo-z" if name == "paper" else name for name in options.estimators))
    points = {name: linear(name, sums[KINDS[name]], first.values) for name in names}
    skews = {name: acceleration(point, by_kind[KINDS[name]]) for name, point in points.items()}
    everyone = np.ones(first.labels, dtype=bool)
    all_of = {"photo-z"} if "paper" in options.estimators else set()  # rows of the paper stay as the paper has them
    wanted = {name: everyone if name in all_of else tests[KINDS[name]].tested for name in names}
    start = fit_logits(sums["rate"].first, sums["rate"].photos, first.values) if "photo-logodds" in names else None
    found: dict[str, list[bootstrap.Intervals]] = {name: [] for name in names}
    each = max(1, RESAMPLED // options.bootstrap)
    for begin in range(0, max(first.labels, 1), each):
        rows = slice(begin, min(begin + each, first.labels))
        resampled = bootstrap.replicates(
            {kind: profile.part(rows.start, rows.stop) for kind, profile in by_kind.items()},
            names,
            options.bootstrap,
            options.seed,
            start=None if start is None else start[rows],
            wanted={name: chosen[rows] for name, chosen in wanted.items()},
        )
        for name in names:
            slope, skew = points[name].slope[rows], skews[name][rows]
            found[name].append(bootstrap.intervals(resampled.pop(name), slope, skew, confidence=options.confidence))
    return {name: bootstrap.joined(blocks) for name, blocks in found.items()}


def _without_max(options: FitOptions) -> str:
    return "holm" if options.correction == "max-t" else options.correction
