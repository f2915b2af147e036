"""Slopes over the sweeps that a gate kept, next to those over all of them.

A gate keeps the sweeps in which a reader saw the attribute move.  Where reader and classifier err alike, on the same
pictures, keeping those selects answers that moved, and a classifier without any association gets a slope.  Two
estimates are free of it and stand next to the gated one:

    ungated    over all sweeps; of those dropped a random sample is asked about, and counts for the others
    crossfit   each half of the values is fitted on the photos that the gate keeps on the other half; the mean of both

All three are means of the photos' slopes with weights (Hajek), with the standard error of their influence values.  The
cross-fit mends errors that are new in every picture; an error that a photo shares over all its values only the ungated
estimate escapes.

Sources: Hajek 1971 in Foundations of Statistical Inference; cross-fitting as in Chernozhukov et al. 2018, doi
10.1111/ectj.12097.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.options import LEAST_KEPT, FitOptions
from gslopes.slopes.fit.paired import SCALE
from gslopes.slopes.fit.photo import KINDS, TESTED
from gslopes.slopes.fit.profiles import Kind, profiles
from gslopes.stats.intervals import t_quantile
from gslopes.stats.ols import line_weights

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

_CELLS = 1 << 22  # labels times photos in memory at once


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """What the gate said of the photos that the classifier was asked about.

    kept: (n,) by all values.  even, odd: (n,) by the values at even and at odd steps alone.
    dropped: how many sweeps it dropped, asked about or not.  total: how many it judged.
    """

    kept: NDArray[np.bool_]
    even: NDArray[np.bool_]
    odd: NDArray[np.bool_]
    dropped: int
    total: int

    @property
    def weights(self) -> Array:
        """(n,) how many sweeps each stands for: 1 if kept, else dropped sweeps for each one asked about."""
        sampled = max(int((~self.kept).sum()), 1)
        return np.where(self.kept, 1.0, self.dropped / sampled)


def halves(values: Array) -> tuple[Array, Array]:
    """(K,) weights of the least squares slope over the values at even steps, and at odd ones; 0 at the others."""
    found = []
    for first in (0, 1):
        weights = np.zeros(len(values))
        weights[first::2] = line_weights(values[first::2]) if len(values[first::2]) > 1 else np.nan
        found.append(weights)
    return found[0], found[1]


def weighted_means(parts: list[tuple[sparse.csr_array, Array]], cluster: Codes | None) -> tuple[Array, Array, int]:
    """The mean of several weighted means over the same photos: (L,) estimate, (L,) standard error, and its units.

    parts: (L, n) slopes and (n,) weights of each.
    """
    labels, photos = parts[0][0].shape
    counted = np.any([weights > 0 for _, weights in parts], axis=0)
    codes = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
    units = int(counted.sum()) if codes is None else len(np.unique(codes[counted]))
    estimate, squares = np.zeros(labels), np.zeros(labels)
    each = max(1, _CELLS // max(photos, 1))
    for start in range(0, labels if photos else 0, each):
        rows = slice(start, start + each)
        influence = np.zeros((len(estimate[rows]), photos))
        for slopes, weights in parts:
            whole = max(float(weights.sum()), 1e-300)
            mean = (slopes[rows] @ weights) / whole
            estimate[rows] += mean / len(parts)
            influence += (slopes[rows].toarray() - mean[:, None]) * weights / whole / len(parts)
        if codes is not None:
            influence = influence @ np.eye(int(codes.max(initial=-1)) + 1)[codes]
        squares[rows] = np.square(influence).sum(axis=1)
    return estimate, np.sqrt(squares * units / max(units - 1, 1)), units


def gating_rows(answers: Answers, gate: Gate, options: FitOptions, cluster: Codes | None = None) -> pd.DataFrame:
    """Rows of core.tables.GATING of one classifier and attribute.

    answers: over all photos asked about, dropped sweeps among them.  gate: of the same photos.
    """
    kept, sampled = (gate.total - gate.dropped) / max(gate.total, 1), int((~gate.kept).sum())
    complete = sampled > 0 or gate.dropped == 0
    note = ""
    if kept < LEAST_KEPT:
        advice = "; read the ungated slope too" if complete else ", and no dropped one was asked about"
        note = f"the gate kept {kept:.0%} of the sweeps{advice}"
    frames = []
    for estimator in (name for name in options.estimators if name in TESTED):
        each = (line_weights(answers.values), *halves(answers.values))
        line, even, odd = (_matrix(answers, KINDS[estimator], weights) for weights in each)
        estimates = {"gated": [(line, gate.kept.astype(np.float64))], "ungated": [(line, gate.weights)]}
        if np.isfinite(even.data).all() and np.isfinite(odd.data).all():
            estimates["crossfit"] = [(even, gate.weights * gate.odd), (odd, gate.weights * gate.even)]
        columns: dict[str, Array] = {}
        for name, parts in estimates.items():
            mean, se, units = weighted_means(parts, cluster)
            half = t_quantile(max(units - 1, 1), options.confidence) * se
            known = np.full(len(mean), units > 1 and (name == "gated" or complete))
            for key, value in (("", mean), ("_low", mean - half), ("_high", mean + half)):
                shown = known & (se > 0) if key else known  # answers that never vary have no interval
                columns[name + key] = np.where(shown, value, np.nan)
        counts = {"n": int(gate.kept.sum()), "dropped": gate.dropped, "sampled": sampled, "kept": kept}
        frames.append(answers.frame(estimator=estimator, **counts, **columns, note=note))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _matrix(answers: Answers, kind: Kind, weights: Array) -> sparse.csr_array:
    profile = profiles(answers, kind)
    slopes = SCALE[kind] * (profile.numbers.astype(np.float64) @ weights)
    shape = (profile.labels, len(profile.sizes))
    return sparse.csr_array((slopes, (profile.label, profile.unit)), shape=shape)
