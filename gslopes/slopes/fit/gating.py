"""Slopes over the sweeps that a gate kept, next to those over all of them.

A gate keeps the sweeps in which a reader saw the attribute move.  Where reader and classifier err alike, on the same
pictures, keeping those selects answers that moved, and a classifier without any association gets a slope.  The ungated
estimate is free of it: over all sweeps; of those dropped a random sample is asked about, and counts for the others.

Both are means of the photos' slopes with weights (Hajek), with the standard error of their influence values.

Source: Hajek 1971 in Foundations of Statistical Inference.
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

    kept: (n,).
    dropped: how many sweeps it dropped, asked about or not.  total: how many it judged.
    """

    kept: NDArray[np.bool_]
    dropped: int
    total: int

    @property
    def weights(self) -> Array:
        """(n,) how many sweeps each stands for: 1 if kept, else dropped sweeps for each one asked about."""
        sampled = max(int((~self.kept).sum()), 1)
        return np.where(self.kept, 1.0, self.dropped / sampled)


def weighted_mean(slopes: sparse.csr_array, weights: Array, cluster: Codes | None) -> tuple[Array, Array, int]:
    """(L,) estimate, (L,) standard error, and the number of units.

    slopes: (L, n).  weights: (n,).
    """
    labels, photos = slopes.shape
    counted = weights > 0
    codes = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
    units = int(counted.sum()) if codes is None else len(np.unique(codes[counted]))
    estimate, squares = np.zeros(labels), np.zeros(labels)
    whole = max(float(weights.sum()), 1e-300)
    each = max(1, _CELLS // max(photos, 1))
    for start in range(0, labels if photos else 0, each):
        rows = slice(start, start + each)
        mean = (slopes[rows] @ weights) / whole
        estimate[rows] = mean
        influence = (slopes[rows].toarray() - mean[:, None]) * weights / whole
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
        slopes = _matrix(answers, KINDS[estimator], line_weights(answers.values))
        columns: dict[str, Array] = {}
        for name, weights in (("gated", gate.kept.astype(np.float64)), ("ungated", gate.weights)):
            mean, se, units = weighted_mean(slopes, weights, cluster)
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
