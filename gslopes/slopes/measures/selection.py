"""Sweeps that do not count: refused ones, and those that a gate dropped. What do the slopes of the others hide?

A photo refused at one value drops out of every slope, and so does one for which asking failed: losses that depend
on the value and on what is in the photo bias what is left.  Two things are reported:

    slopes of loss     photo-rate of "refused", and of "failed": findings about the classifier by themselves
    worst case         the slope over all photos asked, if every lost answer were as far against it as it can be

The slope itself is over the photos answered at every value.  Each photo has a lowest and a highest slope that its lost
answers allow; the worst case is the interval of their means: it holds the slope of all photos, whatever was lost and
whatever the loss depends on, in 95 of 100 samples.

An editor that others made may refuse as well.  Its losses are told as those of a classifier, and a photo without all
its pictures is lost to every classifier: the worst case is of it too.

A gate keeps the sweeps in which a reader saw the attribute move.  Where reader and classifier err alike, on the same
pictures, keeping those selects answers that moved, and a classifier without any association gets a slope.  The ungated
estimate is free of it: over all sweeps; of those dropped a random sample is asked about, and counts for the others.
Both are weighted means of the photos' slopes (Hajek) with t over units, see ``stats.contrast``.

Sources: Manski 1990, American Economic Review 80, 319-323; Horowitz & Manski 2000, doi 10.1080/01621459.2000.10473902,
and Imbens & Manski 2004, doi 10.1111/j.1468-0262.2004.00555.x (intervals of bounds); Cochran 1950,
doi 10.1093/biomet/37.3-4.256 (do shares differ between related samples?); Hajek 1971 in
Foundations of Statistical Inference.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from math import nan
from typing import Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse, special

from gslopes.core import TableError, frozen_identity
from gslopes.core.records import Array, Flags, Int8Array, Integers, Objects, doubles
from gslopes.slopes.measures import estimators, kinds
from gslopes.slopes.measures.answers import Answers, encode, isin, joined, of_pair, ranks
from gslopes.slopes.measures.options import LEAST_KEPT, FitOptions
from gslopes.stats import clusters, ols, rounding
from gslopes.stats.contrast import Units, contrast
from gslopes.stats.intervals import Estimate

STATUS = ("answered", "refused", "failed")
# Prefix of columns, status, noun.
LOSSES = (("refusal", "refused", "refusals"), ("failed", "failed", "failures"))


@frozen_identity
class Asked:
    """What became of every picture asked about: status is (n, K), 0 not asked, 1 answered, 2 refused, 3 failed.

    photos: (n,) ids, sorted.  values: (K,).
    """

    photos: Objects
    values: Array
    status: Int8Array

    @property
    def lost(self) -> Flags:
        """(n, K) asked about without an answer."""
        return self.status > 1

    @property
    def complete(self) -> Flags:
        """(n,) answered at all values."""
        return (self.status == 1).all(1)

    def beside(self, wished: Self) -> Self:
        """With the photos that an editor did not give at all values, about which nobody could be asked."""
        lost = ~wished.complete & ~isin(wished.photos, self.photos)
        unasked = np.where(wished.lost, wished.status, 0)[lost]
        photos = np.append(self.photos, wished.photos[lost])
        return replace(self, photos=photos, status=np.vstack([self.status, unasked]))


def check_status(asked: pa.Table) -> None:
    """Raises: TableError for a status other than answered, refused or failed."""
    unknown = sorted({*pc.unique(asked.column("status")).to_pylist()} - {*STATUS})
    if unknown:
        raise TableError(
            f"The asked table has the status {', '.join(map(repr, unknown))}.",
            f"Write {', '.join(STATUS[:-1])} or {STATUS[-1]}.",
        )


def asked_about(
    asked: pa.Table,
    classifier: str,
    attribute: str,
    values: Array,
    photos: Collection[str] | None = None,
) -> Asked:
    """One classifier's questions along one attribute; with ``photos``, only about those photos."""
    rows = _rows_of(asked, classifier, attribute)
    photo, names = encode(rows.column("photo"))
    text, texts = encode(rows.column("status"))
    codes = np.array([STATUS.index(status) + 1 for status in texts], np.int8)[text]
    known = np.bincount(photo, minlength=len(names)) > 0
    if photos is not None:
        known &= isin(names, photos)
    ids, places = ranks(names, known)
    counted = known[photo]
    table = np.zeros((len(ids), len(values)), np.int8)
    step = rows.column("step").to_numpy()[counted]
    table[places[photo[counted]], step] = codes[counted]
    return Asked(ids, values, table)


def loss_trend(asked: Asked, status: str, units: Callable[[Objects], Integers | None]) -> Estimate:
    """photo-rate of "refused" or "failed" over the photos asked about at all values, in points, with its t interval.

    p: of the null hypothesis that losses do not depend on the value: twice the smaller one of t's and of Cochran's
        test, which also sees losses at both ends; NaN for a single unit.

    units: gives the codes of photos' clusters, or None if each photo is a unit.
    """
    complete = (asked.status > 0).all(1)
    lost = doubles(asked.status[complete] == STATUS.index(status) + 1)
    codes = clusters.codes_of(units(asked.photos[complete]), len(lost))
    most = kinds.steepest("rate", asked.values)
    mean = clusters.clustered_mean(100 * ols.line_slopes(lost, asked.values), codes, (-most, most))
    sums = np.stack([np.bincount(codes, column) for column in lost.T])
    if sums.shape[1] < 2:
        return mean._replace(p=nan)
    p = 1.0
    gaps = sums - sums.mean(0)
    if gaps.any():
        freedom = len(gaps) - 1
        statistic = np.square(gaps.sum(1)).sum() / np.square(gaps).sum()
        p = min(1.0, 2 * np.fmin(mean.p, special.chdtrc(freedom, freedom * statistic)))
    return mean._replace(p=float(p))


def bounds(observed: Units, asked: Asked, codes: Integers) -> tuple[Array, Array]:
    """The lower end of the interval of the lowest slope that the lost answers allow, the upper one of the highest.

    observed: see ``observed_slopes``.  codes: (n,) of the photos' clusters.  Returns (L,) each, in percentage points
    per unit; NaN if there is no interval.
    """
    weights = 100 * ols.line_weights(asked.values)
    most = kinds.steepest("rate", asked.values)
    ends = []
    for side in (np.minimum, np.maximum):
        lost = (asked.status != 1) @ side(weights, 0)
        alike = sparse.csr_array(sparse.kron(np.ones((observed.sums.shape[0], 1)), lost[None]))
        worst = observed.minus(Units(alike, observed.sizes), -1)
        ends.append(contrast(replace(worst, most=most).joined(codes)))
    low, high = ends[0].low, ends[1].high
    # photos that are all alike bound nothing but the other end
    return (
        np.where(np.isfinite(low) | np.isnan(high), low, -most),
        np.where(np.isfinite(high) | np.isnan(low), high, most),
    )


def observed_slopes(
    scores: pa.Table,
    classifier: str,
    attribute: str,
    labels: Objects,
    asked: Asked,
) -> Units:
    """Each photo's slope of the presence of each label, in points, as if what was not answered lacked it."""
    rows = _rows_of(scores, classifier, attribute)
    pairs = rows.select(["photo", "label", "step"]).unify_dictionaries()
    pairs = pairs.group_by(pairs.column_names).aggregate([])
    photo, label = (
        pd.Index(names).get_indexer(pd.Index(known))[codes]
        for names, (codes, known) in (
            (asked.photos, encode(pairs.column("photo"))),
            (labels, encode(pairs.column("label"))),
        )
    )
    step = pairs.column("step").to_numpy().astype(np.int64)
    counted = (photo >= 0) & (label >= 0)
    counted[counted] &= asked.status[photo[counted], step[counted]] == 1
    numbers = 100 * ols.line_weights(asked.values)[step[counted]]
    cells = (label[counted], photo[counted])
    n = len(asked.photos)
    return Units.of(numbers, rounding.EXACT * np.abs(numbers), cells, (len(labels), n), np.ones(n))


def _rows_of(table: pa.Table, classifier: str, attribute: str) -> pa.Table:
    return table.filter(of_pair(classifier, attribute))


def gating_rows(answers: Answers, verdicts: pd.Series, options: FitOptions) -> pd.DataFrame:
    """Rows of core.tables.GATING of one classifier and attribute.

    answers: over all photos asked about, dropped sweeps among them; each of these counts for several.
    verdicts: photo to whether the gate kept its sweep, asked about or not.
    """
    passed = verdicts.reindex(answers.photos).eq(True).to_numpy(bool)
    sampled = int((~passed).sum())
    dropped = int((~verdicts).sum())
    share = (len(verdicts) - dropped) / max(len(verdicts), 1)
    complete = sampled > 0 or dropped == 0
    note = ""
    if share < LEAST_KEPT:
        advice = ", and no dropped one was asked about"
        if complete:
            advice = "; read the ungated slope too"
        note = f"the gate kept {share:.0%} of the sweeps{advice}"
    units = answers.codes
    ungated = np.where(passed, 1.0, dropped / max(sampled, 1))
    weightings = {"gated": doubles(passed), "ungated": ungated}
    frames = []
    for estimator in estimators.contrasted(options):
        slopes = kinds.unit_slopes(answers.single, estimator.kind)
        columns: dict[str, Array] = {}
        for name, weights in weightings.items():
            counted = np.flatnonzero(weights)
            codes = clusters.codes_of(units[counted], len(counted))
            mean = contrast(slopes.joined(codes, weights[counted], counted))
            rare = mean.varying < options.min_varying
            low, high = (np.where(rare, nan, end) for end in (mean.low, mean.high))
            ends = {name: mean.difference, f"{name}_low": low, f"{name}_high": high}
            if len(counted) < 2 or not (name == "gated" or complete):
                ends = dict.fromkeys(ends, np.full(len(low), nan))
            columns |= ends
        frames.append(
            answers.frame(
                **columns,
                estimator=estimator.name,
                n=int(passed.sum()),
                dropped=dropped,
                sampled=sampled,
                kept=share,
                note=note,
            )
        )
    return joined(frames)
