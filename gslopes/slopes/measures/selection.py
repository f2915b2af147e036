"""Sweeps that do not count: refused ones, and those that a gate dropped. What do the slopes of the others hide?

A photo refused at one value drops out of every slope, and so does one where asking failed: losses that depend on the
value and on what is in the photo bias what is left.  Two things are said about it:

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
from gslopes.slopes.measures.estimators import KINDS
from gslopes.slopes.measures.kinds import unit_slopes
from gslopes.slopes.measures.options import LEAST_KEPT, FitOptions
from gslopes.stats.clusters import clustered_mean, codes_of, effective_units, few
from gslopes.stats.contrast import contrast
from gslopes.stats.intervals import Estimate
from gslopes.stats.ols import line_slopes, line_weights
from gslopes.stats.outcomes import dense
from gslopes.stats.permutation import below_floor, permute
from gslopes.stats.rounding import settled

STATUS = ("answered", "refused", "failed")
LOSSES = (
    ("refusal", "refused", "refusals"),
    ("failed", "failed", "failures"),
)  # prefix of columns, status, noun


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
    unknown = sorted(set(pc.unique(asked.column("status")).to_pylist()) - set(STATUS))
    if unknown:
        names = ", ".join(map(repr, unknown))
        raise TableError(
            f"The asked table has the status {names}.",
            f"Write {', '.join(STATUS[:-1])} or {STATUS[-1]}.",
        )


def asked_about(
    asked: pa.Table,
    classifier: str,
    attribute: str,
    values: Array,
    photos: Collection[str] | None = None,
) -> Asked:
    """One classifier's questions along one attribute; with ``photos``, those photos alone."""
    rows = _rows_of(asked, classifier, attribute)
    names = np.array(rows.column("photo").cast(pa.string()).to_pylist(), dtype=object)
    status = np.array(
        [STATUS.index(text) + 1 for text in rows.column("status").to_pylist()], dtype=np.int8
    )
    step = rows.column("step").to_numpy().astype(np.int64)
    if photos is not None:
        keep = np.isin(names.astype(str), list(photos))
        names = names[keep]
        status = status[keep]
        step = step[keep]
    ids, row = (
        np.unique(names.astype(str), return_inverse=True)
        if len(names)
        else (names, np.empty(0, np.int64))
    )
    table = np.zeros((len(ids), len(values)), dtype=np.int8)
    table[row, step] = status
    return Asked(ids.astype(object), values, table)


def loss_trend(
    found: Asked, status: str, units: Callable[[Objects], Integers | None], options: FitOptions
) -> Estimate:
    """photo-rate of "refused" or "failed" over the photos asked about at all values, in points, with its t interval.

    p: permutation within units, or t below its floor; null hypothesis: a photo's losses are exchangeable over the
        values.  It decides where all photos are lost at one value, which t cannot; NaN for a single unit.

    units: gives the codes of photos' clusters, or None where each photo is its own.
    """
    complete = (found.status > 0).all(axis=1)
    lost = (found.status[complete] == STATUS.index(status) + 1).astype(np.float32)
    codes = codes_of(units(found.photos[complete]), len(lost))
    m = options.permutations
    mean = clustered_mean(100 * line_slopes(lost, found.values), codes)
    rows = dense(lost[None], found.values, codes)
    several = np.array([len(rows.sizes) > 1])
    p_perm = permute(rows, several, m, options.seed).p if m else np.full(1, np.nan)
    p = np.array([mean.p if mean.value or mean.se else 1.0])
    p, _ = below_floor(p_perm, p, m, trusted=not few(effective_units(rows.sizes)))
    return mean._replace(p=float(p[0]))


def bounds(present: Array, found: Asked) -> tuple[Array, Array]:
    """The lowest and the highest slope that the lost answers allow, (L,) each; NaN without a photo.

    present: (L, K) pictures answered with the label, of the photos in ``found``.  Unit: percentage points per unit.

    >>> status = np.array([[1, 1, 1], [1, 1, 2]], np.int8)
    >>> asked = Asked(np.array(["a", "b"], object), np.array([-1.0, 0.0, 1.0]), status)
    >>> [float(end[0]) for end in bounds(np.array([[0.0, 0.0, 1.0]]), asked)]
    [25.0, 50.0]
    """
    weights = 100 * line_weights(found.values)
    total = len(found.photos) or np.nan
    missing = (found.status != 1).sum(axis=0)
    observed = present @ weights
    size = (present + missing) @ np.abs(weights)
    sides = np.minimum(weights, 0), np.maximum(weights, 0)
    low, high = (settled(observed + missing @ side, size) / total for side in sides)
    return low, high


def label_counts(
    scores: pa.Table, classifier: str, attribute: str, labels: Objects, found: Asked
) -> Array:
    """(L, K) answered pictures with each label, photos that drop out of the slopes among them."""
    pairs = (
        _rows_of(scores, classifier, attribute).group_by(["photo", "label", "step"]).aggregate([])
    )
    photo, label = (
        pd.Index(names).get_indexer(pairs.column(name).cast(pa.string()).to_pylist())
        for name, names in (("photo", found.photos), ("label", labels))
    )
    step = pairs.column("step").to_numpy().astype(np.int64)
    counts = np.zeros((len(labels), len(found.values)))
    keep = (photo >= 0) & (label >= 0)
    keep[keep] &= found.status[photo[keep], step[keep]] == 1
    np.add.at(counts, (label[keep], step[keep]), 1)
    return counts


def _rows_of(table: pa.Table, classifier: str, attribute: str) -> pa.Table:
    chosen = (pc.field("classifier") == classifier) & (pc.field("attribute") == attribute)
    return table.filter(chosen)


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """What the gate said of the photos that the classifier was asked about.

    kept: (n,).
    dropped: how many sweeps it dropped, asked about or not.  total: how many it judged.
    """

    kept: Flags
    dropped: int
    total: int

    @property
    def weights(self) -> Array:
        """(n,) how many sweeps each counts for: 1 if kept, else dropped sweeps for each one asked about."""
        sampled = max(int((~self.kept).sum()), 1)
        return np.where(self.kept, 1.0, self.dropped / sampled)


def gating_rows(answers: Answers, gate: Gate, options: FitOptions) -> pd.DataFrame:
    """Rows of core.tables.GATING of one classifier and attribute.

    answers: over all photos asked about, dropped sweeps among them.  gate: of the same photos.
    """
    share = (gate.total - gate.dropped) / max(gate.total, 1)
    sampled = int((~gate.kept).sum())
    complete = sampled > 0 or gate.dropped == 0
    note = ""
    if share < LEAST_KEPT:
        advice = (
            "; read the ungated slope too" if complete else ", and no dropped one was asked about"
        )
        note = f"the gate kept {share:.0%} of the sweeps{advice}"
    frames = []
    alone = replace(answers, units=None)
    units = codes_of(answers.units, len(answers.photos))
    for estimator in options.of_photos:
        slopes = unit_slopes(alone, KINDS[estimator])
        columns: dict[str, Array] = {}
        for name, weights in (("gated", gate.kept.astype(np.float64)), ("ungated", gate.weights)):
            counted = np.flatnonzero(weights)
            codes = codes_of(units[counted], len(counted))
            mean = contrast(slopes.joined(codes, weights[counted], counted))
            estimable = int((weights > 0).sum()) > 1 and (name == "gated" or complete)
            ends = {name: mean.difference, f"{name}_low": mean.low, f"{name}_high": mean.high}
            columns |= {
                key: value if estimable else np.full(len(value), np.nan)
                for key, value in ends.items()
            }
        counts = {
            "n": int(gate.kept.sum()),
            "dropped": gate.dropped,
            "sampled": sampled,
            "kept": share,
        }
        frames.append(answers.frame(estimator=estimator, **counts, **columns, note=note))
    return joined(frames)
