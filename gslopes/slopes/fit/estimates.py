"""All estimators of one classifier and attribute, with intervals, permutations and q: rows of the slopes table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core.tables import MEASURED, READING
from gslopes.core.text import many
from gslopes.slopes.fit.answers import Answers, columns_of
from gslopes.slopes.fit.estimators import KINDS, UNITS, linear, paper, replicates
from gslopes.slopes.fit.measures import UNITS as MEASURE_UNITS
from gslopes.slopes.fit.measures import of_rows, outcomes
from gslopes.slopes.fit.options import RARE, FitOptions
from gslopes.stats.clusters import FEW, effective_units
from gslopes.stats.contrast import acceleration, infer
from gslopes.stats.logistic import fit_logits
from gslopes.stats.multiplicity import adjust
from gslopes.stats.outcomes import Moments, Outcomes, moments, varying
from gslopes.stats.permutation import Permuted, below_floor, permute
from gslopes.stats.resampling import Intervals, bca_intervals, joined

Array = NDArray[np.float64]
NEVER = "never active at the centre"
RESAMPLED = 1 << 22  # labels times resamples in memory at once: 16 MiB an estimator, however many labels there are


def estimate(answers: Answers, options: FitOptions, units: NDArray[np.int64] | None = None) -> pd.DataFrame:
    """Rows of core.tables.SLOPES for every estimator and label; see ``slopes.fit.analysis.analyse``.

    units: (n,) codes of clusters, or None where each photo is its own unit.
    """
    by_kind: dict[str, Outcomes] = {}
    for kind in dict.fromkeys(KINDS[name] for name in options.estimators):
        by_kind[kind] = outcomes(answers, kind, units)
    sums = {kind: moments(rows) for kind, rows in by_kind.items()}
    tests = {kind: _test(rows, sums[kind], options, kind) for kind, rows in by_kind.items()}
    resampled = _intervals(by_kind, sums, tests, options)
    frames = []
    for name in options.estimators:
        test = tests[KINDS[name]]
        is_paper = name == "paper"
        frame = _paper(answers, test, options) if is_paper else _photo(name, answers, sums[KINDS[name]], test, options)
        ends = resampled.get("photo-z" if is_paper else name)
        if ends is not None:
            pairs = {"boot_low": ends.low, "boot_high": ends.high, "bca_low": ends.bca_low, "bca_high": ends.bca_high}
            keep = test.tested | is_paper
            frame = frame.assign(**{key: np.where(keep, value, np.nan) for key, value in pairs.items()})
        frames.append(frame.assign(unit=UNITS[name], varying=test.varying))
    if not len(answers.labels):
        return frames[0]
    frames = [of_rows(frame, answers.measures) for frame in frames]
    slopes = pd.concat([frame.dropna(axis=1, how="all") for frame in frames], ignore_index=True)
    numbers = {str(name) for frame in frames for name in frame.select_dtypes("number")}
    slopes = slopes.assign(**dict.fromkeys(sorted(numbers - set(slopes)), np.nan))  # no photo answered throughout
    return _one_family(_explained(slopes, answers, options), answers, options)


def _explained(slopes: pd.DataFrame, answers: Answers, options: FitOptions) -> pd.DataFrame:
    """With the column measure, in the row of each label that is to be read, and why labels are not judged."""
    measure = slopes["label"].map(lambda label: answers.measures.get(label, "presence"))
    read = slopes["estimator"] == np.where(measure == "presence", READING, MEASURED)
    by_number = slopes["estimator"] == MEASURED
    own = re.search(r"[,:]unit=([^,]+)", answers.classifier)  # of numbers, in the classifier's name
    units = measure.map(MEASURE_UNITS | ({"value": f"{own[1]} per unit"} if own else {}))
    sd = slopes["label"].map(_spread(answers)).where(by_number) if answers.measures else np.nan
    slopes = slopes.assign(measure=measure.where(read), sd=sd, unit=slopes["unit"].mask(by_number, units))
    if "note" in slopes:
        counts = slopes[["varying", "active", "n"]].astype(int).to_numpy().tolist()
        cells = zip(measure, slopes["estimator"], counts, strict=True)
        notes = [
            _lacking(by, name, varying, active, n, options.min_varying) for by, name, (varying, active, n) in cells
        ]
        slopes["note"] = slopes["note"].mask(slopes["note"] == RARE, pd.Series(notes, index=slopes.index))
    return slopes


def _spread(answers: Answers) -> dict[str, float]:
    """Measured label to the standard deviation of its number at the centre, among photos."""
    rows = outcomes(answers, "measure")
    middle = rows.numbers[:, len(rows.values) // 2].astype(np.float64)
    spread = {}
    for label, start, stop in zip(answers.labels.tolist(), rows.starts[:-1], rows.starts[1:], strict=True):
        if label in answers.measures and rows.photos > 1:
            numbers = np.zeros(rows.photos)
            numbers[: stop - start] = middle[start:stop]  # the others have the smallest score, which is 0 here
            spread[label] = float(numbers.std(ddof=1))
    return spread


def _lacking(measure: str, estimator: str, varying: int, active: int, photos: int, least: int) -> str:
    """Why a label is not tested, and what it would take.

    varying, active, photos: photos whose answer varies, with the label, all.
    """
    if not photos:
        return "no photo was answered at every value"
    if measure != "presence" and KINDS[estimator] == "rate":
        return f"on practically every picture: read {MEASURED}, which goes by its {measure}"
    enough = f", about {-(-photos * least // varying):,} photos like these would do" if varying else ""
    if active < least:
        return f"{RARE}: on {active:,} of {many(photos, 'photo')}; its answer must vary on {least:,}{enough}"
    if not varying:
        every = f"all {photos:,} photos" if photos > 1 else "the one photo"
        return f"its answer is the same at every value of {every}"
    return f"its answer varies on {varying:,} of {many(photos, 'photo')}; {least:,} are needed{enough}"


def _one_family(slopes: pd.DataFrame, answers: Answers, options: FitOptions) -> pd.DataFrame:
    """With q of the rows that are to be read over all of them, where labels are judged by different measures."""
    read = slopes["measure"].notna()
    if not answers.measures or "p_test" not in slopes or READING not in set(slopes["estimator"]):
        return slopes
    q = adjust(slopes["p_test"].where(read).to_numpy(float), options.correction)
    return slopes.assign(q=slopes["q"].mask(read, pd.Series(q, index=slopes.index)))


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


def _test(rows: Outcomes, sums: Moments, options: FitOptions, kind: str) -> _Test:
    varies = varying(rows)
    tested = varies >= options.min_varying
    mean = "photo-rate" if kind == "rate" else "photo-score"  # a test does not depend on the unit
    p = np.where(tested, infer(linear(mean, sums, rows.values), sums).p, np.nan)
    if not options.permutations:
        return _Test(varies, tested, *below_floor(p, p, 0), None)
    with_paper = kind == "rate" and "paper" in options.estimators
    count, bundles = options.permutations, options.bundles
    permuted = permute(rows, tested, count, options.seed, bundles=bundles, paper=with_paper)
    trusted = effective_units(rows.sizes) >= FEW
    return _Test(varies, tested, *below_floor(permuted.p, p, count, trusted=trusted), permuted)


def _photo(name: str, answers: Answers, sums: Moments, test: _Test, options: FitOptions) -> pd.DataFrame:
    """Rows of one photo estimator, with p_perm, q and a note; without tests where the label is too rare."""
    lines = infer(linear(name, sums, answers.values), sums)
    known = test.varying > 0  # answers that never vary say nothing about how sure a slope of 0 is
    spread = {key: np.where(known, value, np.nan) for key, value in columns_of(lines, "slope", "intercept").items()}
    frame = answers.frame(**answers.facts(), slope=lines.slope, intercept=lines.intercept, **spread, estimator=name)
    judged = test.tested & ~np.isnan(lines.slope)
    source = np.where(judged, test.source, np.array(None))
    note = np.where(test.tested, np.where(judged, "", NEVER), RARE)
    p, p_test = (np.where(judged, value, np.nan) for value in (frame["p"], test.p))
    if test.permuted is None:
        return frame.assign(p=p, p_test=p, p_source=source, q=adjust(p, options.correction), note=note)
    p_perm = np.where(judged, test.permuted.p, np.nan)
    tests = {"p_perm": p_perm, "p_test": p_test, "p_source": source, "q": adjust(p_test, options.correction)}
    return frame.assign(p=p, **tests, note=note, agreement=_agreement(p, p_perm, options.alpha))


def _paper(answers: Answers, test: _Test, options: FitOptions) -> pd.DataFrame:
    frame = paper(answers)
    frame["note"] = np.where(test.tested, np.where(frame["slope"].notna(), "", NEVER), RARE)
    if test.permuted is None:
        return frame
    agreement = _agreement(frame["p"].to_numpy(), test.permuted.p_paper, options.alpha)
    return frame.assign(p_perm=test.permuted.p_paper, agreement=agreement)


def _agreement(p: Array, p_perm: Array, alpha: float) -> NDArray[np.object_]:
    """Which of the two p-values lie below alpha; None where one of them is missing."""
    names = np.array(["neither", "p only", "p_perm only", "both"], dtype=object)
    with np.errstate(invalid="ignore"):
        found = names[(p < alpha).astype(int) + 2 * (p_perm < alpha)]
    found[np.isnan(p) | np.isnan(p_perm)] = None
    return found


def _intervals(
    by_kind: Mapping[str, Outcomes], sums: Mapping[str, Moments], tests: Mapping[str, _Test], options: FitOptions
) -> dict[str, Intervals]:
    """Name of an estimator to its intervals, NaN for labels that it does not judge; a block of labels at a time."""
    first = next(iter(by_kind.values()))
    if not options.bootstrap or not len(first.sizes):
        return {}
    names = list(dict.fromkeys("photo-z" if name == "paper" else name for name in options.estimators))
    points = {name: linear(name, sums[KINDS[name]], first.values) for name in names}
    skews = {name: acceleration(point, by_kind[KINDS[name]]) for name, point in points.items()}
    wanted = {name: tests[KINDS[name]].tested for name in names}
    if "paper" in options.estimators:  # its rows stay as the paper has them
        wanted["photo-z"] = np.ones(first.labels, dtype=bool)
    start = fit_logits(sums["rate"].first, sums["rate"].photos, first.values) if "photo-logodds" in names else None
    found: dict[str, list[Intervals]] = {name: [] for name in names}
    each = max(1, RESAMPLED // options.bootstrap)
    for begin in range(0, max(first.labels, 1), each):
        rows = slice(begin, min(begin + each, first.labels))
        resampled = replicates(
            {kind: part.part(rows.start, rows.stop) for kind, part in by_kind.items()},
            *(names, options.bootstrap, options.seed),
            start=None if start is None else start[rows],
            wanted={name: chosen[rows] for name, chosen in wanted.items()},
        )
        for name in names:
            slope, skew = points[name].slope[rows], skews[name][rows]
            found[name].append(bca_intervals(resampled.pop(name), slope, skew, confidence=options.confidence))
    return {name: joined(blocks) for name, blocks in found.items()}
