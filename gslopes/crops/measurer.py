"""The third stage: tables of answers in, tables of measures out; no cropper is asked.

Every measure is computed from the answers about pictures as matrices over persons (``Panel``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.crops.config import EPSILON, CropsConfig
from gslopes.crops.parity import (
    Parity,
    Weighting,
    aggregate,
    disparate_impact,
    draw_weights,
    draws_half,
    interval,
    kept_impact,
    parity,
    resampled,
    simultaneous,
)
from gslopes.crops.strengths import bradley_terry
from gslopes.crops.tables import CONSTANT, FEW, TABLES
from gslopes.photos.people import CROSS
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.resampling import multinomial_counts

Array = NDArray[np.float64]
Kept = tuple[Array, Array, Array]
Groups = Mapping[str, Mapping[str, tuple[str, ...]]]
_MEANS: tuple[Weighting, ...] = ("equal", "size")


@dataclass(eq=False)
class Measurer:
    """Measures one run.

    panel: persons.  groups: column to group to persons.  config: the audit's.
    """

    panel: Panel
    groups: Groups
    config: CropsConfig
    numbers: dict[str, dict[str, NDArray[np.int64]]] = field(init=False)
    weights: dict[str, dict[str, Array]] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = {
            column: {name: self.panel.numbers(persons) for name, persons in members.items()}
            for column, members in self.groups.items()
        }
        self.weights = {
            column: draw_weights({name: len(n) for name, n in members.items()}, self.config.bootstrap, self.config.seed)
            for column, members in self.numbers.items()
        }

    # -- parity ------------------------------------------------------------------------------------------------------

    def parity(self, key: dict[str, Any], h: Array, kept: Kept | None = None, draws: int = 0) -> pd.DataFrame:
        """Rows of PARITY for every pair of groups of every column.

        key: cropper, variant, policy, outcome.  h: (N, N), see ``Panel.favoured``.
        kept: for outcomes ``kept@RATIO`` three (N, N) shares of the pictures: the row's person kept, both, neither.
        draws: pictures asked, drawn at random; 0: all pairs.
        """
        rows: list[dict[str, Any]] = []
        for column in self.numbers:
            rows += self._column(key | {"column": column}, h, kept, draws)
        return pd.DataFrame(rows, columns=TABLES["parity"].columns)

    def _column(self, key: dict[str, Any], h: Array, kept: Kept | None, draws: int) -> list[dict[str, Any]]:
        groups, weights = self.numbers[key["column"]], self.weights[key["column"]]
        pairs = _asked_pairs(groups, h)
        found = {(a, b): parity(h[np.ix_(groups[a], groups[b])]) for a, b in pairs}
        drawn = {(a, b): resampled(h[np.ix_(groups[a], groups[b])], weights[a], weights[b]) for a, b in pairs}
        judged = [pair for pair, one in found.items() if min(one.persons, one.others) >= self.config.min_group]
        tables = [h[np.ix_(groups[a], groups[b])] for a, b in judged]
        together = dict(zip(judged, simultaneous(tables, [(weights[a], weights[b]) for a, b in judged]), strict=True))
        rows = []
        for (a, b), one in found.items():
            low, high = together.get((a, b), (np.nan, np.nan))
            boot_low, boot_high = interval(drawn[a, b])
            row = {**key, "group": a, "other": b, "persons": one.persons, "other_persons": one.others}
            row |= {name: getattr(one, name) for name in ("pairs", "p", "se", "df", "p_value")}
            row |= {"ci_low": one.low, "ci_high": one.high, "boot_low": boot_low, "boot_high": boot_high}
            row |= {"sim_low": low, "sim_high": high, "draws_half": draws_half(one.p, draws or one.pairs)}
            row["epsilon"] = EPSILON
            if kept is None:
                row |= self._favoured_impact(one)
            else:
                row |= self._kept_impact(kept, np.ix_(groups[a], groups[b]), weights[a], weights[b])
            row["note"] = "" if row["verdict"] else CONSTANT
            if min(one.persons, one.others) < self.config.min_group:
                row |= {"p_value": np.nan, "verdict": "", "note": f"{FEW}: {one.persons} and {one.others} persons"}
            rows.append(row)
        q = benjamini_hochberg(np.array([row["p_value"] for row in rows], dtype=np.float64))
        return [{**row, "q": value} for row, value in zip(rows, q, strict=True)]

    def _favoured_impact(self, one: Parity) -> dict[str, Any]:
        nothing = dict.fromkeys(("kept", "other_kept", "both", "neither"), np.nan)
        impact = disparate_impact(one.p, one.low, one.high, EPSILON)
        high = impact.high if np.isfinite(impact.high) else np.nan
        return nothing | {"ratio": impact.ratio, "ratio_low": impact.low, "ratio_high": high, "verdict": impact.verdict}

    def _kept_impact(self, kept: Kept, pair: tuple[Any, ...], wa: Array, wb: Array) -> dict[str, Any]:
        shares, both, neither = kept
        first, second = shares[pair], shares.T[pair]
        means = [float(np.nanmean(table)) for table in (first, second, both[pair], neither[pair])]
        draws = resampled(first, wa, wb), resampled(second, wa, wb)
        impact = kept_impact(means[0], means[1], *draws, EPSILON)
        row = dict(zip(("kept", "other_kept", "both", "neither"), means, strict=True))
        ends = {"ratio": impact.ratio, "ratio_low": impact.low, "ratio_high": impact.high}
        return row | ends | {"verdict": impact.verdict}

    # -- over a coarser grouping ---------------------------------------------------------------------------------------

    def aggregates(self, key: dict[str, Any], h: Array) -> pd.DataFrame:
        """Rows of AGGREGATES: each column's groups over the cells of the crossed grouping, in all three weightings."""
        columns = self.config.groups
        rows: list[dict[str, Any]] = []
        if len(columns) < 2:
            return pd.DataFrame(rows, columns=TABLES["aggregates"].columns)
        crossed = CROSS.join(columns)
        cells, weights = self.numbers[crossed], self.weights[crossed]
        sizes = {name: len(numbers) for name, numbers in cells.items()}
        tables = {(a, b): h[np.ix_(cells[a], cells[b])] for a, b in _asked_pairs(cells, h)}
        shares = {pair: parity(table).p for pair, table in tables.items()}
        drawn = {(a, b): resampled(table, weights[a], weights[b]) for (a, b), table in tables.items()}
        for place, column in enumerate(columns):
            for first, second in combinations(self.numbers[column], 2):
                ours, theirs = (
                    [name for name in cells if name.split(CROSS)[place] == group] for group in (first, second)
                )
                labels = {**key, "column": column, "group": first, "other": second}
                for weighting in _MEANS:
                    p, count, missing = aggregate(shares, ours, theirs, sizes, weighting)
                    draws, _, _ = aggregate(drawn, ours, theirs, sizes, weighting)
                    low, high = interval(np.atleast_1d(draws)) if count else (np.nan, np.nan)
                    ends = {"p": p, "boot_low": low, "boot_high": high}
                    rows.append({**labels, "weighting": weighting, "cells": count, "cells_missing": missing, **ends})
                rows.append({**labels, **self._pooled(column, first, second, h)})
        return pd.DataFrame(rows, columns=TABLES["aggregates"].columns)

    def _pooled(self, column: str, first: str, second: str, h: Array) -> dict[str, Any]:
        groups, weights = self.numbers[column], self.weights[column]
        table = h[np.ix_(groups[first], groups[second])]
        low, high = interval(resampled(table, weights[first], weights[second]))
        ends = {"p": parity(table).p, "boot_low": low, "boot_high": high}
        return {"weighting": "pooled", "cells": 1, "cells_missing": 0, **ends}

    # -- the rest ------------------------------------------------------------------------------------------------------

    def positions(self, key: dict[str, Any], pairs: pd.DataFrame) -> pd.DataFrame:
        """The row of POSITIONS: does the left photo win, whoever it shows?"""
        answered = pairs[pairs["status"] == "answered"]
        won = answered["won"].to_numpy(np.float64)
        mean = self.panel.mean(answered, won)
        size = len(self.panel.persons)
        generator = np.random.default_rng([self.config.seed, 8])
        weights = multinomial_counts(size, min(self.config.bootstrap, 1000), generator)
        low, high = interval(resampled(mean, weights, weights) - 0.5)
        row = {**key, "pictures": len(answered), "ci_low": low, "ci_high": high, "ties": int((won == 0.5).sum())}
        row |= {status: int((pairs["status"] == status).sum()) for status in ("refused", "failed")}
        row["left"] = float(np.nanmean(won)) - 0.5 if len(won) else np.nan
        row["on_padding"] = float(answered["on_padding"].mean()) if len(answered) else np.nan
        return pd.DataFrame([row], columns=TABLES["positions"].columns)

    def strengths(self, key: dict[str, Any], h: Array, observed: Mapping[str, float]) -> pd.DataFrame:
        """Rows of STRENGTHS for every column of three groups or more."""
        rows: list[dict[str, Any]] = []
        for column, indices in self.numbers.items():
            if len(indices) < 3:
                continue
            names = list(indices)
            wins = np.zeros((len(names), len(names)))
            for i, j in combinations(range(len(names)), 2):
                table = h[np.ix_(indices[names[i]], indices[names[j]])]
                wins[i, j], wins[j, i] = np.nansum(table), np.nansum(1 - table)
            found = bradley_terry(wins)
            for index, name in enumerate(names):
                row = {"column": column, "group": name, "strength": float(found.strength[index])}
                seen = observed.get(name, np.nan) if column == CROSS.join(self.config.groups) else np.nan
                rows.append({**key, **row, "observed": seen, "chi2": found.chi2, "df": found.df})
        return pd.DataFrame(rows, columns=TABLES["strengths"].columns)

    def spread(self, saliency: pd.DataFrame) -> pd.DataFrame:
        """Rows of SPREAD: photos' own maps, group against group."""
        rows: list[dict[str, Any]] = []
        for (cropper, scale), photo_rows in saliency.groupby(["cropper", "scale"], sort=True):
            photo_rows = photo_rows.assign(spread=photo_rows["max"] - photo_rows["median"])
            for statistic in ("max", "p95", "median", "mean", "spread"):
                values = self.by_person(photo_rows, statistic)
                for column, groups in self.numbers.items():
                    for a, b in combinations(groups, 2):
                        first, second = (values[groups[name]] for name in (a, b))
                        first, second = first[~np.isnan(first)], second[~np.isnan(second)]
                        if not len(first) or not len(second):
                            continue
                        row = {"cropper": cropper, "scale": scale, "statistic": statistic, "column": column}
                        rows.append(row | {"group": a, "other": b} | _compared(first, second))
        return pd.DataFrame(rows, columns=TABLES["spread"].columns)

    def by_person(self, frame: pd.DataFrame, column: str) -> Array:
        """(N,) mean over each person's photos; NaN without one."""
        person = frame["photo"].map(self.panel.of_photo).to_numpy(np.int64)
        values = frame[column].to_numpy(np.float64)
        size = len(self.panel.persons)
        count = np.bincount(person, minlength=size)
        total = np.bincount(person, weights=values, minlength=size)
        return np.divide(total, count, out=np.full(size, np.nan), where=count > 0)

    def alone(self, saliency: pd.DataFrame) -> Array:
        """(N, N) h of photos that are never joined: the higher maximum wins, ties half."""
        values = self.by_person(saliency, "max")
        return np.where(np.isnan(values[:, None] + values[None, :]), np.nan, compared(values, values))


def _asked_pairs(groups: Mapping[str, NDArray[np.int64]], h: Array) -> list[tuple[str, str]]:
    """Pairs of groups of which any pair of persons was asked about."""
    return [(a, b) for a, b in combinations(groups, 2) if not np.isnan(h[np.ix_(groups[a], groups[b])]).all()]


def _compared(first: Array, second: Array) -> dict[str, Any]:
    one = parity(compared(first, second))
    row = {"persons": len(first), "other_persons": len(second), "p": one.p, "se": one.se}
    both = np.concatenate([first, second])
    below = [np.searchsorted(np.sort(values), both, side="right") / len(values) for values in (first, second)]
    ks = float(np.abs(below[0] - below[1]).max())
    return row | {"ci_low": one.low, "ci_high": one.high, "ks": ks}


def compared(first: Array, second: Array) -> Array:
    """(m, n) 1 where the first is higher, 1/2 where equal, 0 else.

    >>> compared(np.array([1.0, 2.0]), np.array([1.0])).tolist()
    [[0.5], [1.0]]
    """
    return np.asarray((np.sign(np.subtract.outer(first, second)) + 1) / 2)


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Persons by number, and which photos are theirs.

    persons: names.  of_photo: photo to the number of its person.
    """

    persons: tuple[str, ...]
    of_photo: Mapping[str, int]

    @classmethod
    def of(cls, people: pd.DataFrame) -> Panel:
        """From the people table; skipped photos have no person."""
        used = people[people["status"] == "used"]
        persons = tuple(dict.fromkeys(used["person"]))
        number = {name: index for index, name in enumerate(persons)}
        return cls(persons, {str(p): number[name] for p, name in zip(used["photo"], used["person"], strict=True)})

    @property
    def person_of(self) -> dict[str, str]:
        """Photo to the name of its person."""
        return {photo: self.persons[number] for photo, number in self.of_photo.items()}

    def numbers(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Numbers of the persons that have a photo."""
        known = {name: index for index, name in enumerate(self.persons)}
        return np.array([known[name] for name in names if name in known], dtype=np.int64)

    def positions(self, frame: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of the persons on the left and on the right of each row."""
        left, right = (
            np.asarray(frame[name].map(self.of_photo).to_numpy(), dtype=np.int64) for name in ("left", "right")
        )
        return left, right

    def mean(self, frame: pd.DataFrame, values: Array) -> Array:
        """(N, N) mean over the pictures with person i left and j right; NaN without one."""
        left, right = self.positions(frame)
        return self._mean(left, right, values)

    def favoured(self, frame: pd.DataFrame, share_left: Array, share_right: Array | None = None) -> Array:
        """(N, N) h: the share of the answers about i and j, in whichever order, that favoured i.

        share_left, share_right: (rows,) chance that each is shown; the right one's is the rest if None. Where both or
        neither may be shown, h is 1/2 plus half of the difference.
        """
        left, right = self.positions(frame)
        won = share_left if share_right is None else 0.5 + (share_left - share_right) / 2
        return self._mean(np.r_[left, right], np.r_[right, left], np.r_[won, 1 - won])

    def either(self, frame: pd.DataFrame, of_left: Array, of_right: Array) -> Array:
        """(N, N) mean of a number about the first person, whichever side it stood on."""
        left, right = self.positions(frame)
        return self._mean(np.r_[left, right], np.r_[right, left], np.r_[of_left, of_right])

    def _mean(self, row: NDArray[np.int64], column: NDArray[np.int64], values: Array) -> Array:
        size = len(self.persons)
        usable = ~np.isnan(values)
        place = row[usable] * size + column[usable]
        total = np.bincount(place, weights=values[usable], minlength=size * size)
        count = np.bincount(place, minlength=size * size)
        return np.divide(total, count, out=np.full(size * size, np.nan), where=count > 0).reshape(size, size)
