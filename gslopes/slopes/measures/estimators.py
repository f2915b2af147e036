"""The estimators: what a slope is, and its row for each label with test, interval and q.

Each is declared once, in estimators.toml; tables, decisions and pages ask ``ESTIMATORS``.

The photo is the unit: each photo's own slope over its K answers, averaged over photos.  With x_k = 1 if the label was
returned and 0 if not, a photo's slope is the least squares slope of x on the K values; a photo that never has the label
has slope 0. The n slopes are independent numbers, one a photo, so the mean, its one-sample t and its interval need no
more than that, however the K answers of one photo hang together. The same mean is the least squares slope of the shares
y_k on the values: what the paper's estimator divides by y_c. Only the uncertainty is another.

Interval: t with U - 1 degrees of freedom, U the number of units (photos, or clusters of them, with the cluster-robust
standard error), corrected for the skewness of the photos' slopes (``stats.intervals.skewed_ends``), inside what a
slope of zeros and ones can be (``kinds.steepest``).  influence is how many of them carry it.

Source: summary-statistic analysis of repeated measures, Matthews et al. 1990, doi 10.1136/bmj.300.6719.230.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import nan

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from gslopes.core import Texts, UnknownName, config, frozen, frozen_identity
from gslopes.core.records import Array, Flags, Integers, Objects, centre_of, doubles, quotients
from gslopes.core.tables import MEASURED, READING
from gslopes.report import inline
from gslopes.slopes.measures.answers import Answers, columns_of
from gslopes.slopes.measures.kinds import SCALE, Kind, ends, outcomes, steepest, unit_in
from gslopes.slopes.measures.options import RARE, TEMPLATES, FitOptions
from gslopes.stats.clusters import enough
from gslopes.stats.contrast import infer
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.ols import Lines, fit_lines, line_weights
from gslopes.stats.outcomes import Moments, moments, varying
from gslopes.stats.permutation import Permuted, below_floor, permute
from gslopes.stats.rounding import places, settled

NEVER = "never there at the centre"


@frozen_identity
class Tests:
    """The tests of all labels by one kind of number.

    lines: mean slopes with t.  influence: (L,) effective units.
    varying: (L,) units whose answers vary.  judged: (L,) whether on units enough.
    p: (L,) that is adjusted; source: of it, see ``stats.permutation.below_floor``.
    permuted: p of permutations, NaN if there was none.
    """

    lines: Lines
    influence: Array
    varying: Integers
    judged: Flags
    p: Array
    source: Objects
    permuted: Permuted


@frozen
class Estimator:
    """One way to make a slope of the answers about a label.

    name: in the column estimator.
    kind: of number that it fits, see ``measures.kinds``; it has no row of a label without such a number.
    unit: of its slope; empty if it depends on the label.
    slope, null: what the slope is, and the null hypothesis of its p, as the documentation has them.
    reason: why it is computed.
    rows: its columns of core.tables.SLOPES, one row a label: slope and, as far as it has them, intercept, se, t, p,
        p_perm, p_test, p_source, ci_low, ci_high, q, influence and note.
    contrasted: whether the slope is a mean over photos of each photo's own, as ``kinds.unit_slopes`` gives it: then it
        is compared with placebos and decided, and the tables of groups, reach and gating have rows of it.
    """

    name: str
    kind: Kind
    unit: str
    slope: str
    null: str
    reason: str
    rows: Callable[[Answers, Tests], DataFrame]
    contrasted: bool = False


def paper(answers: Answers) -> DataFrame:
    """The paper's rows of one classifier and attribute; the columns that it does not speak of are left out.

    y_k is the share of photos with the label at step k, over the photos answered at all K steps; z_k = y_k / y_c with c
    the centre; the slope is the least squares line's, of z on the K values: 0.1 reads 10 % of its frequency
    at the centre more for each unit of the attribute.  The p-value is two-sided, from t with K-2 degrees of
    freedom as if the K shares were independent, for the null hypothesis that the slope is 0; the interval covers 95 %;
    q is Benjamini and Hochberg's over the labels that have a p-value.  A label that no photo has at the centre has no
    slope: its row holds nulls.

    Source: Joo & Kärkkäinen 2020, section 4.3, doi 10.1145/3422841.3423533.
    """
    counts = answers.counts()
    centre = doubles(counts[:, [centre_of(answers.values)]])
    relative = quotients(counts, centre)
    lines = fit_lines(answers.values, relative)
    columns = columns_of(lines) | {"p_perm": nan, "q": benjamini_hochberg(lines.p)}
    return answers.frame(**answers.facts(), **columns, estimator="paper")


def _paper_rows(answers: Answers, tests: Tests) -> DataFrame:
    """``paper`` with p_perm, and a note."""
    frame = paper(answers)
    note = np.where(tests.judged, np.where(frame["slope"].notna(), "", NEVER), RARE)
    return frame.assign(note=note, p_perm=tests.permuted.p_paper)


def _photo_rows(answers: Answers, tests: Tests) -> DataFrame:
    """Mean slopes with tests; without a test if too few answers vary."""
    lines = tests.lines
    judged = tests.judged & ~np.isnan(lines.slope)
    varies = tests.varying > 0  # answers that never vary tell nothing of how sure a slope of 0 is
    columns = {
        name: np.where(varies, column, nan)
        for name, column in columns_of(lines, "slope", "intercept").items()
    }
    tested = {
        "p": columns["p"],
        "p_perm": tests.permuted.p,
        "p_test": tests.p,
        "influence": np.where(varies, tests.influence, nan),
    }
    columns |= {name: np.where(judged, column, nan) for name, column in tested.items()}
    return answers.frame(
        **answers.facts(),
        **columns,
        slope=lines.slope,
        intercept=lines.intercept,
        p_source=np.where(judged, tests.source, np.array(None)),
        q=benjamini_hochberg(columns["p_test"]),
        note=np.where(judged, "", RARE),
    )


_ROWS = {"paper": _paper_rows, READING: _photo_rows, MEASURED: _photo_rows}
ESTIMATORS = {
    name: Estimator(name=name, rows=_ROWS[name], **facts)
    for name, facts in config.read_beside(__file__, "estimators.toml").items()
}
PAPER = ESTIMATORS["paper"]


def chosen(options: FitOptions) -> list[Estimator]:
    """The estimators that the options name, all if they name none.  Raises: UnknownName."""
    for name in options.estimators:
        if name not in ESTIMATORS:
            raise UnknownName("estimator", name, ESTIMATORS)
    return [ESTIMATORS[name] for name in options.estimators or ESTIMATORS]


def contrasted(options: FitOptions) -> list[Estimator]:
    """The chosen ones that are compared with placebos, and between groups."""
    return [estimator for estimator in chosen(options) if estimator.contrasted]


def linear(kind: Kind, sums: Moments, values: Array) -> Lines:
    """The mean slope of every label, with test and interval.

    sums: moments of outcomes of that kind.  values: (K,).
    """
    scale = SCALE[kind]
    photos = sums.photos or nan
    error = sums.slopes.error * (1 / np.abs(line_weights(values)).sum() + abs(values.mean()))
    middle = settled(sums.first.mean(1) / photos - sums.slopes.mean * values.mean(), error, 1)
    return infer(sums, scale * middle, scale, steepest(kind, values))


def slope_rows(answers: Answers, options: FitOptions) -> DataFrame:
    """Rows of core.tables.SLOPES for every estimator and label; see ``slopes.measures.analysis.analyse``."""
    kinds = {estimator.kind for estimator in chosen(options)}
    tests = {kind: _tests(answers, kind, options) for kind in kinds}
    frames = []
    for estimator in chosen(options):
        kind = estimator.kind
        frame = estimator.rows(answers, tests[kind]).assign(
            estimator=estimator.name, unit=estimator.unit, varying=tests[kind].varying
        )
        frames.append(of_rows(frame.assign(**ends(answers, kind)), answers.measures))
    if not len(answers.labels):
        return frames[0]
    slopes = pd.concat([frame.dropna(axis=1, how="all") for frame in frames], ignore_index=True)
    numbers = {str(name) for frame in frames for name in frame.select_dtypes("number")}
    # columns without a number, as of no photo that was answered throughout
    slopes = slopes.assign(**dict.fromkeys(sorted(numbers - set(slopes)), nan))
    slopes = _by_measure(slopes, answers, options)
    if answers.measures and READING in set(slopes["estimator"]):
        # one family, whatever the labels are judged by
        read = slopes["measure"].notna()
        q = benjamini_hochberg(slopes["p_test"].where(read).to_numpy(float))
        slopes["q"] = slopes["q"].mask(read, Series(q, index=slopes.index))
    return slopes


def of_rows(frame: DataFrame, measures: Texts) -> DataFrame:
    """A table's rows without those that fit the number of a label that is judged by presence.

    What too few photos change to be judged has no interval, but the paper's own.
    """
    if {"note", "ci_low"} <= set(frame) and len(frame):
        rare = frame["note"].fillna("").str.startswith(RARE)
        rare &= frame.get("estimator", "") != PAPER.name
        frame = frame.assign(**{name: frame[name].mask(rare) for name in ("ci_low", "ci_high")})
    if "estimator" not in frame or not len(frame):
        return frame
    by_number = [name for name, estimator in ESTIMATORS.items() if estimator.kind == "measure"]
    return frame[~frame["estimator"].isin(by_number) | frame["label"].isin(list(measures))]


def shares_of_two(answers: Answers) -> DataFrame:
    """Rows of core.tables.SLOPES: in how many per cent of its pairs the picture nearer the last value is chosen.

    Of labels that say how far a picture is ahead of the one at the opposite value, see ``ask.classifiers.prompt``. Half
    of each difference between the two, averaged over a photo's pairs and then over photos, is how far the last end is
    ahead: half of that, and 50, is the share. What the order of the two does is on both sides, and falls out: how often
    the first one is chosen is the intercept. Interval: as of ``photo-measure``, within 0 and 100.
    """
    rank = places(answers.values)
    rows = replace(outcomes(answers, "measure"), values=np.sign(2 * rank - rank.max()))
    lines = linear("measure", moments(rows), rows.values)
    frame = answers.frame(**answers.facts(), **columns_of(lines, "se"), estimator="share-of-two")
    shares = ["slope", "intercept", "ci_low", "ci_high"]
    frame[shares] = (50 + frame[shares] / 2).clip(0, 100)
    return frame[frame["label"].str.endswith("(points ahead)")]


def _tests(answers: Answers, kind: Kind, options: FitOptions) -> Tests:
    rows = replace(outcomes(answers, kind), orders=answers.orders)
    sums = moments(rows)
    varies = varying(rows)
    judged = varies >= options.min_varying
    lines = linear(kind, sums, answers.values)
    t_p = np.where(judged, lines.p, nan)
    permuted = Permuted(*np.full((2, len(t_p)), nan))
    if options.permutations:
        with_paper = PAPER in chosen(options) and kind == PAPER.kind
        permuted = permute(rows, judged, options.permutations, options.seed, paper=with_paper)
    trusted = enough(rows.sizes)
    p, source = below_floor(permuted.p, t_p, options.permutations, trusted=trusted)
    return Tests(lines, sums.slopes.influence, varies, judged, p, source, permuted)


def _by_measure(slopes: DataFrame, answers: Answers, options: FitOptions) -> DataFrame:
    """With the column measure, in the row of each label that is to be read, and why labels are not judged."""
    measure = Series(answers.measures_of(slopes["label"]), slopes.index)
    read = slopes["estimator"] == np.where(measure == "presence", READING, MEASURED)
    pairs = zip(slopes["label"], measure, strict=True)
    units = Series([unit_in(answers.classifier, *pair) for pair in pairs], slopes.index, object)
    by_number = slopes["unit"] == ""
    sd = slopes["label"].map(spread(answers)).where(by_number) if answers.measures else nan
    clusters = None if answers.units is None else len(np.unique(answers.units))
    slopes = slopes.assign(
        measure=measure.where(read), sd=sd, unit=slopes["unit"].mask(by_number, units)
    )
    rare = slopes["note"] == RARE
    say = partial(inline.plain, "lacking.txt.j2", TEMPLATES, read=MEASURED, clusters=clusters)
    slopes.loc[rare, "note"] = [
        say(row=row, least=options.min_varying, kind=ESTIMATORS[row["estimator"]].kind)
        for row in slopes.assign(measure=measure)[rare].to_dict("records")
    ]
    return slopes


def spread(answers: Answers) -> dict[str, float]:
    """Measured label to the standard deviation of its number at the centre, among photos."""
    rows = outcomes(answers.single, "measure")
    if rows.photos < 2:
        return {}
    middle = doubles(rows.numbers[:, centre_of(rows.values)])
    rounding = rows.rounding
    deviations = {}
    for label, start, stop in zip(answers.labels, rows.starts[:-1], rows.starts[1:], strict=True):
        if label in answers.measures:
            numbers, errors = np.zeros((2, rows.photos))
            # the others have the smallest score, which is 0
            numbers[: stop - start] = middle[start:stop]
            errors[: stop - start] = rounding[start:stop]
            gaps = settled(numbers - numbers.mean(), errors + errors.mean(), 1)
            deviations[label] = float(np.sqrt(np.square(gaps).sum() / (rows.photos - 1)))
    return deviations
