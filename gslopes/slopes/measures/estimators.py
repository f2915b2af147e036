"""The estimators: what a slope is, and its row for each label with test, interval and q.

The photo is the unit: each photo's own slope over its K answers, averaged over photos.

``photo-rate`` is the recommended reading. With x_k = 1 where the label was returned and 0 elsewhere, a photo's slope is
that of the least squares line of x on the K values; a photo that never has the label has slope 0. The n slopes are
independent numbers, one a photo, so the mean, its one-sample t and its interval need no more than that, however the K
answers of one photo hang together. The same mean is the least squares slope of the shares y_k on the values: what the
paper's estimator divides by y_c. Only the uncertainty is another.

========================  ============================================  ================================================
estimator                 slope                                         unit
========================  ============================================  ================================================
``photo-rate``            mean over photos of the slope of presence     percentage points per unit of the attribute
``photo-measure``         the same of the number by which a label     log-odds or its own unit, per unit
                          is judged that is always returned
========================  ============================================  ================================================

Null hypothesis of each p: the mean slope over photos is 0; single photos may move. Interval: t with U - 1 degrees of
freedom, U the number of units (photos, or clusters of them, with the cluster-robust standard error), corrected for the
skewness of the photos' slopes (``stats.intervals.skewed_ends``). influence is how many of them carry it.

``paper`` is the slope of the shares y_k / y_c on the K values, tested with K-2 degrees of freedom as if the K shares
were independent; see ``paper``.

Source: summary-statistic analysis of repeated measures, Matthews et al. 1990, doi 10.1136/bmj.300.6719.230.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from gslopes.core.arrays import Array, Flags, Integers, Objects, centre_of
from gslopes.core.tables import MEASURED, READING
from gslopes.core.text import many
from gslopes.slopes.measures.answers import Answers, columns_of
from gslopes.slopes.measures.kinds import SCALE, Kind, ends, of_rows, outcomes, unit_in
from gslopes.slopes.measures.options import RARE, FitOptions
from gslopes.stats.clusters import effective_units, few
from gslopes.stats.contrast import infer
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.ols import Lines, fit_lines, line_weights
from gslopes.stats.outcomes import Moments, moments, varying
from gslopes.stats.permutation import Permuted, below_floor, permute
from gslopes.stats.rounding import settled

NEVER = "never there at the centre"
UNITS = {
    "paper": "share of y_centre per unit",
    "photo-rate": "percentage points per unit",
    "photo-measure": "",  # by label: slopes.measures.kinds.UNITS
}
KINDS: dict[str, Kind] = {"paper": "rate", "photo-rate": "rate", "photo-measure": "measure"}


def paper(answers: Answers) -> pd.DataFrame:
    """The paper's rows of one classifier and attribute; the columns that it does not speak of are left out.

    y_k is the share of photos with the label at step k, over the photos answered at all K steps; z_k = y_k / y_c with c
    the centre; the slope is the least squares line's, of z on the K values: 0.1 reads 10 % of its frequency
    at the centre more for each unit of the attribute.  The p-value is two-sided, from t with K-2 degrees of
    freedom, for the null hypothesis that the slope is 0; the interval covers 95 %; q is Benjamini and Hochberg's over
    the labels that have a p-value.  A label that no photo has at the centre has no slope: its row holds nulls.

    Source: Joo & Kärkkäinen 2020, section 4.3, doi 10.1145/3422841.3423533.
    """
    counts = answers.counts()
    centre = counts[:, [centre_of(answers.values)]].astype(np.float64)
    relative = np.divide(counts, centre, out=np.full(counts.shape, np.nan), where=centre > 0)
    lines = fit_lines(answers.values, relative)
    fitted = columns_of(lines) | {
        "p_perm": np.nan,
        "q": benjamini_hochberg(lines.p),
        "estimator": "paper",
    }
    return answers.frame(**answers.facts(), **fitted)


def linear(kind: Kind, sums: Moments, values: Array) -> Lines:
    """The mean slope of every label, with test and interval.

    sums: moments of outcomes of that kind.  values: (K,).
    """
    scale = SCALE[kind]
    photos = sums.photos or np.nan
    error = sums.slopes.error * (1 / np.abs(line_weights(values)).sum() + abs(values.mean()))
    middle = settled(sums.first.mean(axis=1) / photos - sums.slopes.mean * values.mean(), error, 1)
    return infer(sums, scale * middle, scale)


def estimate(answers: Answers, options: FitOptions) -> pd.DataFrame:
    """Rows of core.tables.SLOPES for every estimator and label; see ``slopes.measures.analysis.analyse``."""
    kinds = dict.fromkeys(KINDS[name] for name in options.estimators)
    tests = {kind: _test(answers, kind, options) for kind in kinds}
    frames = []
    for name in options.estimators:
        test = tests[KINDS[name]]
        frame = _paper(answers, test) if name == "paper" else _photo(name, answers, test)
        frames.append(
            frame.assign(unit=UNITS[name], varying=test.varying, **ends(answers, KINDS[name]))
        )
    if not len(answers.labels):
        return frames[0]
    frames = [of_rows(frame, answers.measures) for frame in frames]
    slopes = pd.concat([frame.dropna(axis=1, how="all") for frame in frames], ignore_index=True)
    numbers = {str(name) for frame in frames for name in frame.select_dtypes("number")}
    slopes = slopes.assign(
        **dict.fromkeys(sorted(numbers - set(slopes)), np.nan)
    )  # no photo answered throughout
    slopes = _explained(slopes, answers, options)
    if answers.measures and READING in set(
        slopes["estimator"]
    ):  # one family, whatever labels are judged by
        read = slopes["measure"].notna()
        q = benjamini_hochberg(slopes["p_test"].where(read).to_numpy(float))
        slopes["q"] = slopes["q"].mask(read, pd.Series(q, index=slopes.index))
    return slopes


@dataclass(frozen=True, slots=True, eq=False)
class _Test:
    """One kind of number, all labels.

    lines: mean slopes with t.  influence: (L,) effective units.
    varying: (L,) units whose answers vary.  tested: (L,) whether on units enough.
    p: (L,) that is adjusted; source: of it, see ``stats.permutation.below_floor``.  permuted: None if nothing was.
    """

    lines: Lines
    influence: Array
    varying: Integers
    tested: Flags
    p: Array
    source: Objects
    permuted: Permuted | None


def _test(answers: Answers, kind: Kind, options: FitOptions) -> _Test:
    rows = replace(outcomes(answers, kind), orders=answers.orders)
    sums = moments(rows)
    varies = varying(rows)
    lines = linear(kind, sums, answers.values)
    tested = varies >= options.min_varying
    p = np.where(tested, lines.p, np.nan)
    if not options.permutations:
        return _Test(lines, sums.slopes.influence, varies, tested, *below_floor(p, p, 0), None)
    with_paper = kind == "rate" and "paper" in options.estimators
    permuted = permute(rows, tested, options.permutations, options.seed, paper=with_paper)
    trusted = not few(effective_units(rows.sizes))
    adjusted = below_floor(permuted.p, p, options.permutations, trusted=trusted)
    return _Test(lines, sums.slopes.influence, varies, tested, *adjusted, permuted)


def _photo(name: str, answers: Answers, test: _Test) -> pd.DataFrame:
    """Rows of one photo estimator, with p_perm, q and a note; without tests where too few answers vary."""
    lines = test.lines
    judged = test.tested & ~np.isnan(test.lines.slope)
    varies = test.varying > 0  # answers that never vary say nothing about how sure a slope of 0 is
    columns = {
        key: np.where(varies, value, np.nan)
        for key, value in columns_of(lines, "slope", "intercept").items()
    }
    columns["p"] = np.where(judged, columns["p"], np.nan)
    columns["p_test"] = p_test = np.where(judged, test.p, np.nan)
    if test.permuted is not None:
        columns["p_perm"] = np.where(judged, test.permuted.p, np.nan)
    columns |= {
        "p_source": np.where(judged, test.source, np.array(None)),
        "q": benjamini_hochberg(p_test),
    }
    columns["influence"] = np.where(judged & varies, test.influence, np.nan)
    facts = answers.facts() | {
        "slope": lines.slope,
        "intercept": lines.intercept,
        "estimator": name,
    }
    return answers.frame(**facts, **columns, note=np.where(judged, "", RARE))


def _paper(answers: Answers, test: _Test) -> pd.DataFrame:
    frame = paper(answers)
    frame["note"] = np.where(test.tested, np.where(frame["slope"].notna(), "", NEVER), RARE)
    if test.permuted is None:
        return frame
    return frame.assign(p_perm=test.permuted.p_paper)


def _explained(slopes: pd.DataFrame, answers: Answers, options: FitOptions) -> pd.DataFrame:
    """With the column measure, in the row of each label that is to be read, and why labels are not judged."""
    measure = slopes["label"].map(lambda label: answers.measures.get(label, "presence"))
    read = slopes["estimator"] == np.where(measure == "presence", READING, MEASURED)
    by_number = slopes["estimator"] == MEASURED
    said = [
        unit_in(answers.classifier, *pair) for pair in zip(slopes["label"], measure, strict=True)
    ]
    units = pd.Series(said, index=slopes.index, dtype=object)
    sd = slopes["label"].map(_spread(answers)).where(by_number) if answers.measures else np.nan
    slopes = slopes.assign(
        measure=measure.where(read), sd=sd, unit=slopes["unit"].mask(by_number, units)
    )
    counts = slopes[["varying", "active", "n"]].astype(int).to_numpy().tolist()
    cells = zip(measure, slopes["estimator"], counts, strict=True)
    least = options.min_varying
    clusters = None if answers.units is None else len(np.unique(answers.units))
    notes = [
        _lacking(by, name, v, active, n, least, clusters) for by, name, (v, active, n) in cells
    ]
    return slopes.assign(
        note=slopes["note"].mask(slopes["note"] == RARE, pd.Series(notes, index=slopes.index))
    )


def _spread(answers: Answers) -> dict[str, float]:
    """Measured label to the standard deviation of its number at the centre, among photos."""
    rows = outcomes(replace(answers, units=None), "measure")
    middle = rows.numbers[:, centre_of(rows.values)].astype(np.float64)
    spread = {}
    for label, start, stop in zip(
        answers.labels.tolist(), rows.starts[:-1], rows.starts[1:], strict=True
    ):
        if label in answers.measures and rows.photos > 1:
            numbers, errors = np.zeros((2, rows.photos))
            numbers[: stop - start] = middle[
                start:stop
            ]  # the others have the smallest score, which is 0 here
            errors[: stop - start] = rows.rounding[start:stop]
            gaps = settled(numbers - numbers.mean(), errors + errors.mean(), 1)
            spread[label] = float(np.sqrt(np.square(gaps).sum() / (rows.photos - 1)))
    return spread


def _lacking(
    measure: str,
    estimator: str,
    varies: int,
    active: int,
    photos: int,
    least: int,
    clusters: int | None = None,
) -> str:
    """Why a label is not tested, and what it would take.

    varies: units whose answer varies.  active, photos: photos with the label, all.  clusters: how many, if units.
    """
    if not photos:
        return "no photo was answered at every value"
    if measure != "presence" and KINDS[estimator] == "rate":
        return f"on practically every picture: read {MEASURED}, which goes by its {measure}"
    things, units = ("photos", photos) if clusters is None else ("clusters of photos", clusters)
    enough = f"; about {-(-units * least // varies):,} like these would do" if varies else ""
    if active < least:
        of, must = (f"{photos:,}", "") if clusters is None else (many(photos, "photo"), " clusters")
        have = f"{active:,} of {of} have the label; {least:,}{must} must change{enough}"
        return f"too few {things} change their answer ({have})"
    if not varies:
        every = f"all {photos:,} photos" if photos > 1 else "the one photo"
        return f"its answer is the same at every value of {every}"
    return (
        f"too few {things} change their answer ({varies:,} of {units:,} do; {least:,} must{enough})"
    )
