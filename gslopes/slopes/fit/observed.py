"""A slope is not a gap between people: the difference that is observed between real groups, and how much edits explain.

The classifier answers about every photo as it was, unedited.  Per label, by the measure that its slope has:

    observed    mean answer about one group's photos minus the other's
    distance    the same difference of the independent reader's log-odds, in the unedited photos
    explained   slope / reach * distance: the slope per unit of what the reader sees, times how far apart it sees the
                groups
    share       explained / observed

A classifier can be trained until its slope is 0 while the observed difference stays: it then reads something else of
which the groups have more.  The observed difference has causes that are no part of the face: clothes, ages, places.

Intervals: of observed, Newcombe's of two shares over clusters by their design effects, or Welch's t of two means; p is
Welch's t, null hypothesis: both groups have the same mean; of explained, t by the linearised product; of the share,
Fieller's with the covariance of both over units.  There is no share where the interval of the observed difference, of
the distance or of the reach contains 0.  Where all answers of one group are equal, its spread is not taken for 0: both
groups then share one (Student's t).

Source: Oaxaca 1973, doi 10.2307/2525981, the part explained by a characteristic; Fieller 1954, as ``slopes.fit.reach``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.slopes.fit.answers import Answers, all_labels, same_photos
from gslopes.slopes.fit.measures import numbers, unit_slopes
from gslopes.slopes.fit.options import RARE, FitOptions
from gslopes.stats.clusters import codes_of
from gslopes.stats.contrast import difference
from gslopes.stats.intervals import fieller, t_quantile
from gslopes.stats.multiplicity import LEVEL, benjamini_hochberg
from gslopes.stats.shares import difference_interval

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
SAME, OPPOSITE, OBSERVED, EDIT, NEITHER = "same sign", "opposite signs", "observed only", "edit only", "neither"


def observed_rows(
    sweep: Answers,
    unedited: Answers,
    groups: pd.Series,
    readings: pd.DataFrame | None,
    found: Mapping[str, str],
    options: FitOptions,
    cluster: Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """Rows of core.tables.OBSERVED of one classifier and attribute, without the column ``column``.

    sweep: answers along the attribute.  unedited: the same classifier's about the photos as they were, K = 1, with the
        measures of the sweep.  Both are cut to the photos that both have.
    groups: photo to its group; empty for none.
    readings: index photo; ``odds``, the reader's log-odds in the unedited photo, and ``reach``, as
        ``slopes.fit.reach``; None if nothing was read.
    found: label to the decision about its slope.  cluster: photo to the code of its cluster.

    Of each pair the group that the reader sees nearer the attribute's positive end stands first.
    """
    sweep, unedited = same_photos(sweep, unedited)
    frames = []
    for pair, keep, first in _pairs(groups, sweep.photos):
        part = _Pair(sweep.only(keep), unedited.only(keep), first, readings, cluster)
        one, other = pair if not part.distance["distance"] < 0 else pair[::-1]
        if one != pair[0]:
            part = _Pair(part.sweep, part.unedited, ~part.first, readings, cluster)
        if not len(part.labels):
            continue
        rows = pd.DataFrame([part.row(label, options.min_varying) for label in part.labels.tolist()])
        rows["q"] = benjamini_hochberg(rows["p"].to_numpy(dtype=float))
        rows["agreement"] = [_agreement(row, found) for row in rows.to_dict("records")]
        frames.append(rows.drop(columns="dof").assign(group=one, other=other))
    head = {"classifier": sweep.classifier, "attribute": sweep.attribute}
    return pd.concat(frames, ignore_index=True).assign(**head) if frames else pd.DataFrame()


def _pairs(groups: pd.Series, photos: NDArray[np.object_]) -> Iterator[tuple[tuple[str, str], Flags, Flags]]:
    """Each two groups, (n,) which photos are in either, and which of those are in the first."""
    names = groups.reindex(photos).fillna("").to_numpy(dtype=object)
    for one, other in combinations([name for name in sorted(set(names)) if name], 2):
        keep = np.isin(names.astype(str), (one, other))
        yield (one, other), keep, names[keep] == one


class _Pair:
    """Two groups of photos.  first: (n,) which are of the one."""

    def __init__(
        self,
        sweep: Answers,
        unedited: Answers,
        first: Flags,
        readings: pd.DataFrame | None,
        cluster: Mapping[str, int] | None,
    ) -> None:
        self.sweep, self.unedited, self.first = sweep, unedited, first
        self.labels = all_labels(sweep, unedited)
        self.units = _units(sweep.photos, cluster)
        blank = pd.DataFrame(np.nan, index=sweep.photos, columns=["odds", "reach"])
        known = (blank if readings is None else readings.reindex(sweep.photos)).to_numpy(dtype=np.float64)
        self.read = np.isfinite(known).all(axis=1)
        self.odds, self.reach = known[:, 0], known[:, 1]
        self.answers = dict(_values(unedited))
        self.slopes = {kind: unit_slopes(sweep, kind, None, self.labels) for kind in ("rate", "measure")}
        self.distance = dict.fromkeys(("distance", "distance_low", "distance_high"), np.nan)
        if min((self.read & side).sum() for side in (first, ~first)) > 1:
            gap = _gap(self.odds[self.read], first[self.read], self.units[self.read])
            ends = (gap["observed"], gap["ci_low"], gap["ci_high"])
            self.distance = dict(zip(self.distance, ends, strict=True))

    def row(self, label: str, min_varying: int) -> dict[str, Any]:
        measure, first = self.sweep.measures.get(label, "presence"), self.first
        shares = measure == "presence"
        values = self.answers.get(label, np.zeros(len(first)))
        gap = _gap(values, first, self.units, shares=shares)
        rare = _rare(values, first, min_varying, shares=shares)
        counts = {"n": int(first.sum()), "n_other": int((~first).sum())}
        means = {"mean": float(values[first].mean()), "mean_other": float(values[~first].mean())}
        row = {"label": label, "measure": measure, **counts, **means, **gap, "p": np.nan if rare else gap["p"]}
        return row | self.distance | self._explained(label, values, gap) | {"note": RARE if rare else ""}

    def _explained(self, label: str, values: Array, found: Mapping[str, float]) -> dict[str, Any]:
        kind = "measure" if label in self.sweep.measures else "rate"
        place = int(np.searchsorted(self.labels.astype(str), label))
        slopes = self.slopes[kind].sums[[place]].toarray().ravel()
        names = [f"{name}{end}" for name in ("explained", "share") for end in ("", "_low", "_high")]
        row: dict[str, Any] = {"slope": float(slopes.mean()), **dict.fromkeys(names, np.nan)}
        reach, r = _mean(self.reach, self.read)
        gap, low, high = self.distance.values()
        half = float(t_quantile(max(int(self.read.sum()) - 1, 1))) * np.sqrt(self._cover(r, r))
        if not np.isfinite(gap) or not abs(reach) > half:
            return row
        slope, s = _mean(slopes, np.ones(len(slopes), dtype=bool))
        near, far = (_mean(self.odds, self.read & side)[1] for side in (self.first, ~self.first))
        explained = slope / reach * gap
        influence = gap / reach * s + slope / reach * (near - far) - explained / reach * r
        spread = self._cover(influence, influence)
        limit = float(t_quantile(max(found["dof"], 1.0)))
        row["explained"] = explained
        if not np.any(slopes):
            return row  # answers that never vary say nothing about how sure a 0 is
        row |= {"explained_low": explained - limit * spread**0.5, "explained_high": explained + limit * spread**0.5}
        if low <= 0 <= high or not (found["ci_low"] > 0 or found["ci_high"] < 0):
            return row
        one, other = (_mean(values, side)[1] for side in (self.first, ~self.first))
        observed, o = found["observed"], one - other
        ends = fieller(explained, observed, spread, self._cover(o, o), self._cover(influence, o), limit)
        if np.isnan(ends[0]):
            return row
        return row | {"share": explained / observed, "share_low": float(ends[0]), "share_high": float(ends[1])}

    def _cover(self, one: Array, other: Array) -> float:
        """Covariance of two numbers by what each photo adds to them, photos of a unit alike."""
        sums = [np.bincount(self.units, side) for side in (one, other)]
        return float(sums[0] @ sums[1]) * len(sums[0]) / max(len(sums[0]) - 1, 1)


def _agreement(row: Mapping[Any, Any], found: Mapping[str, str]) -> str:
    """Whether slope and observed difference say the same; empty where that cannot be said."""
    low, high = row["distance_low"], row["distance_high"]
    if row["note"] or not (low > 0 or high < 0):
        return ""
    seen = row["q"] < LEVEL and bool(row["ci_low"] > 0 or row["ci_high"] < 0)
    moved = found.get(str(row["label"])) == "finding"
    if seen and moved:
        return SAME if row["slope"] * row["distance"] * row["observed"] > 0 else OPPOSITE
    return OBSERVED if seen else EDIT if moved else NEITHER


def _gap(values: Array, first: Flags, units: Codes, *, shares: bool = False) -> dict[str, float]:
    """Mean of the first group minus that of the other, with interval and Welch's p over units."""
    sides = []
    for side in (first, ~first):
        mean, influence = _mean(values, side)
        sums = np.bincount(np.unique(units[side], return_inverse=True)[1], influence[side])
        se = float(np.sqrt(np.square(sums).sum() * len(sums) / max(len(sums) - 1, 1)))
        sides.append((np.array([mean]), np.array([se]), len(sums)))
    if min(count for _, _, count in sides) < 2:
        gap = float(sides[0][0][0] - sides[1][0][0])
        return {"observed": gap, **dict.fromkeys(("ci_low", "ci_high", "p"), np.nan), "dof": 1.0}
    welch, dof = difference(sides[0], sides[1])
    low, high, p = float(welch.low[0]), float(welch.high[0]), float(welch.p[0]) if welch.se[0] > 0 else np.nan
    if shares:
        counts = []
        for side in (first, ~first):
            width, counted = int(units.max()) + 1, side & (values > 0)
            counts.append([np.bincount(units, flags, width).astype(np.float64) for flags in (counted, side)])
        low, high = (
            100 * end for end in difference_interval((counts[0][0], counts[0][1]), (counts[1][0], counts[1][1]))
        )
    return {"observed": float(welch.difference[0]), "ci_low": low, "ci_high": high, "p": p, "dof": float(dof[0])}


def _rare(values: Array, first: Flags, least: int, *, shares: bool) -> bool:
    """Whether too few photos tell the groups apart: of a group, or of those with, or without, a label."""
    sizes = [int(first.sum()), int((~first).sum())]
    if shares:
        sizes += [int((values > 0).sum()), int((values == 0).sum())]
    return min(sizes) < least


def _mean(values: Array, keep: Flags) -> tuple[float, Array]:
    """The mean of some of the numbers, and what each of all adds to its error."""
    count = max(int(keep.sum()), 1)
    mean = float(values[keep].sum()) / count
    return mean, np.where(keep, (np.where(keep, values, 0.0) - mean) / count, 0.0)


def _units(photos: NDArray[np.object_], cluster: Mapping[str, int] | None) -> Codes:
    codes = None if cluster is None else np.array([cluster[photo] for photo in photos.tolist()], dtype=np.int64)
    return np.asarray(codes_of(codes, len(photos)), dtype=np.int64)


def _values(unedited: Answers) -> Iterator[tuple[str, Array]]:
    """Label to (n,) numbers by its measure; presence in percentage points."""
    bounds = np.searchsorted(unedited.label, np.arange(len(unedited.labels) + 1))
    for place, label in enumerate(unedited.labels.tolist()):
        pairs = np.arange(bounds[place], bounds[place + 1])
        found = np.zeros(len(unedited.photos))
        number = numbers(unedited, pairs) if label in unedited.measures else 100.0 * unedited.present[pairs]
        found[unedited.photo[pairs]] = number[:, 0]
        yield label, found
