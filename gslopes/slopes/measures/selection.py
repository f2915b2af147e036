"""Sweeps that do not count: refused ones, and those that a gate dropped. What do the slopes of the others hide?

A photo refused at one value drops out of every slope, and so does one for which asking failed: losses that depend
on the value and on what is in the photo bias what is left.  Two things are reported:

    slopes of loss     photo-rate of "refused", and of "failed": findings about the classifier by themselves
    worst case         the slope over all photos asked, if every lost answer were as far against it as it can be

The slope itself is over the photos answered at every value: they are observed, and nothing bounds it.  The bounds
are sharp for the photos at hand; the sampling error is not in them.

A gate keeps the sweeps in which a reader saw the attribute move.  Where reader and classifier err alike, on the same
pictures, keeping those selects answers that moved, and a classifier without any association gets a slope.  The ungated
estimate is free of it: over all sweeps; of those dropped a random sample is asked about, and counts for the others.
Both are weighted means of the photos' slopes (Hajek) with t over units, see ``stats.contrast``.

Sources: Manski 1990, American Economic Review 80, 319-323; Hajek 1971 in Foundations of Statistical Inference.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gslopes.core.arrays import Array, Flags, Integers, Objects
from gslopes.core.errors import TableError
from gslopes.slopes.measures.answers import Answers, joined
from gslopes.slopes.measures.estimators import contrasted
from gslopes.slopes.measures.kinds import steepest, unit_slopes
from gslopes.slopes.measures.options import LEAST_KEPT, FitOptions
from gslopes.stats.clusters import clustered_mean, codes_of, effective_units, few
from gslopes.stats.contrast import contrast
from gslopes.stats.intervals import Estimate
from gslopes.stats.ols import line_slopes, line_weights
from gslopes.stats.outcomes import dense
from gslopes.stats.permutation import below_floor, permute
from gslopes.stats.rounding import settled

STATUS = ("answered", "refused", "failed")
# Prefix of columns, status, noun.
LOSSES = (("refusal", "refused", "refusals"), ("failed", "failed", "failures"))


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What became of every picture asked about: status is (n, K), 0 not asked, 1 answered, 2 refused, 3 failed.

    photos: (n,) ids, sorted.  values: (K,).
    """

    photos: Objects
    values: Array
    status: NDArray[np.int8]

    @property
    def lost(self) -> Flags:
        """(n, K) asked about without an answer."""
        return self.status > 1


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
    names = np.array(rows.column("photo").cast(pa.string()).to_pylist(), dtype=str)
    codes = [STATUS.index(text) + 1 for text in rows.column("status").to_pylist()]
    counted = np.ones(len(names), bool) if photos is None else np.isin(names, list(photos))
    ids, row = np.unique(names[counted], return_inverse=True)
    table = np.zeros((len(ids), len(values)), dtype=np.int8)
    table[row, rows.column("step").to_numpy()[counted]] = np.array(codes, dtype=np.int8)[counted]
    return Asked(ids.astype(object), values, table)


def loss_trend(
    asked: Asked, status: str, units: Callable[[Objects], Integers | None], options: FitOptions
) -> Estimate:
    """photo-rate of "refused" or "failed" over the photos asked about at all values, in points, with its t interval.

    p: permutation within units, or t below its floor; null hypothesis: a photo's losses are exchangeable over the
        values.  It decides if all photos are lost at one value, which t cannot; NaN for a single unit.

    units: gives the codes of photos' clusters, or None if each photo is a unit.
    """
    complete = (asked.status > 0).all(axis=1)
    lost = (asked.status[complete] == STATUS.index(status) + 1).astype(np.float32)
    codes = codes_of(units(asked.photos[complete]), len(lost))
    m = options.permutations
    most = steepest("rate", asked.values)
    mean = clustered_mean(100 * line_slopes(lost, asked.values), codes, (-most, most))
    rows = dense(lost[None], asked.values, codes)
    p_perm = np.full(1, np.nan)
    if m:
        p_perm = permute(rows, np.array([len(rows.sizes) > 1]), m, options.seed).p
    p = np.array([mean.p if mean.value or mean.se else 1.0])
    p, _ = below_floor(p_perm, p, m, trusted=not few(effective_units(rows.sizes)))
    return mean._replace(p=float(p[0]))


def bounds(present: Array, asked: Asked) -> tuple[Array, Array]:
    """The lowest and the highest slope that the lost answers allow, (L,) each; NaN without a photo.

    present: (L, K) pictures answered with the label, of the photos in ``asked``.  Unit: percentage points per unit.

    >>> status = np.array([[1, 1, 1], [1, 1, 2]], np.int8)
    >>> asked = Asked(np.array(["a", "b"], object), np.array([-1.0, 0.0, 1.0]), status)
    >>> [float(end[0]) for end in bounds(np.array([[0.0, 0.0, 1.0]]), asked)]
    [25.0, 50.0]
    """
    weights = 100 * line_weights(asked.values)
    total = len(asked.photos) or np.nan
    missing = (asked.status != 1).sum(axis=0)
    observed = present @ weights
    size = (present + missing) @ np.abs(weights)
    sides = np.minimum(weights, 0), np.maximum(weights, 0)
    low, high = (settled(observed + missing @ side, size) / total for side in sides)
    return low, high


def label_counts(
    scores: pa.Table, classifier: str, attribute: str, labels: Objects, asked: Asked
) -> Array:
    """(L, K) answered pictures with each label, photos that drop out of the slopes among them."""
    rows = _rows_of(scores, classifier, attribute)
    pairs = rows.group_by(["photo", "label", "step"]).aggregate([])
    photo, label = (
        pd.Index(names).get_indexer(pairs.column(name).cast(pa.string()).to_pylist())
        for name, names in (("photo", asked.photos), ("label", labels))
    )
    step = pairs.column("step").to_numpy().astype(np.int64)
    counted = (photo >= 0) & (label >= 0)
    counted[counted] &= asked.status[photo[counted], step[counted]] == 1
    counts = np.zeros((len(labels), len(asked.values)))
    np.add.at(counts, (label[counted], step[counted]), 1)
    return counts


def _rows_of(table: pa.Table, classifier: str, attribute: str) -> pa.Table:
    chosen = (pc.field("classifier") == classifier) & (pc.field("attribute") == attribute)
    return table.filter(chosen)


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """The gate's verdicts about the photos that the classifier was asked about.

    passed: (n,).
    dropped: how many sweeps it dropped, asked about or not.  total: how many it judged.
    """

    passed: Flags
    dropped: int
    total: int

    @property
    def sampled(self) -> int:
        """How many dropped sweeps were asked about."""
        return int((~self.passed).sum())

    @property
    def weights(self) -> Array:
        """(n,) how many sweeps each counts for: 1 if it passed, else dropped sweeps for each one asked about."""
        return np.where(self.passed, 1.0, self.dropped / max(self.sampled, 1))


def gating_rows(answers: Answers, gate: Gate, options: FitOptions) -> pd.DataFrame:
    """Rows of core.tables.GATING of one classifier and attribute.

    answers: over all photos asked about, dropped sweeps among them.  gate: of the same photos.
    """
    share = (gate.total - gate.dropped) / max(gate.total, 1)
    complete = gate.sampled > 0 or gate.dropped == 0
    note = ""
    if share < LEAST_KEPT:
        advice = ", and no dropped one was asked about"
        if complete:
            advice = "; read the ungated slope too"
        note = f"the gate kept {share:.0%} of the sweeps{advice}"
    units = codes_of(answers.units, len(answers.photos))
    weightings = {"gated": gate.passed.astype(np.float64), "ungated": gate.weights}
    frames = []
    for estimator in contrasted(options):
        slopes = unit_slopes(replace(answers, units=None), estimator.kind)
        columns: dict[str, Array] = {}
        for name, weights in weightings.items():
            counted = np.flatnonzero(weights)
            codes = codes_of(units[counted], len(counted))
            mean = contrast(slopes.joined(codes, weights[counted], counted))
            rare = mean.varying < options.min_varying
            low, high = (np.where(rare, np.nan, end) for end in (mean.low, mean.high))
            ends = {name: mean.difference, f"{name}_low": low, f"{name}_high": high}
            if len(counted) < 2 or not (name == "gated" or complete):
                ends = dict.fromkeys(ends, np.full(len(low), np.nan))
            columns |= ends
        frames.append(
            answers.frame(
                **columns,
                estimator=estimator.name,
                n=int(gate.passed.sum()),
                dropped=gate.dropped,
                sampled=gate.sampled,
                kept=share,
                note=note,
            )
        )
    return joined(frames)
