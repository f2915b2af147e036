"""The third stage: tables of answers in, tables of measures out; nobody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from gslopes.crops.config import CropsConfig
from gslopes.crops.measures.aggregation import Weighting, aggregate
from gslopes.crops.measures.bootstrap import draw_weights, resampled, simultaneous
from gslopes.crops.measures.bradley_terry import bradley_terry
from gslopes.crops.measures.disparate_impact import disparate_impact, kept_impact
from gslopes.crops.measures.panel import Panel
from gslopes.crops.measures.parity import Parity, draws_half, parity
from gslopes.crops.people import CROSS
from gslopes.crops.tables import AGGREGATES, PARITY, POSITIONS, SPREAD, STRENGTHS
from gslopes.stats.intervals import percentile
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.resampling import multinomial_counts

Array = NDArray[np.float64]
Kept = tuple[Array, Array, Array]
Groups = Mapping[str, Mapping[str, tuple[str, ...]]]
FEW = "too few to judge"
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
        draws: pictures asked by lot; 0: all pairs.
        """
        rows: list[dict[str, Any]] = []
        for column in self.numbers:
            rows += self._column(key, column, h, kept, draws)
        return pd.DataFrame(rows, columns=PARITY.columns)

    def _column(
        self, key: dict[str, Any], column: str, h: Array, kept: Kept | None, draws: int
    ) -> list[dict[str, Any]]:
        groups, weights = self.numbers[column], self.weights[column]
        pairs = [(a, b) for a, b in combinations(groups, 2) if not np.isnan(h[np.ix_(groups[a], groups[b])]).all()]
        tables = {(a, b): h[np.ix_(groups[a], groups[b])] for a, b in pairs}
        found = {pair: parity(table) for pair, table in tables.items()}
        again = {(a, b): resampled(table, weights[a], weights[b]) for (a, b), table in tables.items()}
        together = simultaneous(
            [found[pair].p for pair in pairs], [found[pair].se for pair in pairs], [again[pair] for pair in pairs]
        )
        rows = []
        for (a, b), wide in zip(pairs, together, strict=True):
            one = found[a, b]
            row = {**key, "column": column, "group": a, "other": b, **self._estimate(one, again[a, b], wide, draws)}
            row |= self._impact(one, kept, groups[a], groups[b], weights[a], weights[b])
            few = min(one.persons, one.others) < self.config.min_group
            if few:
                row |= {"p_value": np.nan, "verdict": "", "note": f"{FEW}: {one.persons} and {one.others} persons"}
            rows.append(row)
        if rows:
            q = benjamini_hochberg(np.array([row["p_value"] for row in rows], dtype=np.float64))
            for row, value in zip(rows, q, strict=True):
                row["q"] = value
        return rows

    def _estimate(self, one: Parity, again: Array, wide: tuple[float, float], draws: int) -> dict[str, Any]:
        low, high = percentile(again)
        return {
            "persons": one.persons,
            "other_persons": one.others,
            "pairs": one.pairs,
            "p": one.p,
            "se": one.se,
            "df": one.df,
            "ci_low": one.low,
            "ci_high": one.high,
            "boot_low": low,
            "boot_high": high,
            "sim_low": wide[0],
            "sim_high": wide[1],
            "p_value": one.p_value,
            "draws_half": draws_half(one.p, draws or one.pairs),
            "epsilon": self.config.epsilon,
            "note": "",
        }

    def _impact(
        self, one: Parity, kept: Kept | None, a: NDArray[np.int64], b: NDArray[np.int64], wa: Array, wb: Array
    ) -> dict[str, Any]:
        nothing = dict.fromkeys(("kept", "other_kept", "both", "neither"), np.nan)
        if kept is None:
            if np.isnan(one.low):
                return {**nothing, "ratio": np.nan, "ratio_low": np.nan, "ratio_high": np.nan, "verdict": ""}
            impact = disparate_impact(one.p, one.low, one.high, self.config.epsilon)
            return {
                **nothing,
                "ratio": impact.ratio,
                "ratio_low": impact.low,
                "ratio_high": impact.high if np.isfinite(impact.high) else np.nan,
                "verdict": impact.verdict,
            }
        shares, both, neither = kept
        first, second = shares[np.ix_(a, b)], shares[np.ix_(b, a)].T
        draws = resampled(first, wa, wb), resampled(second, wa, wb)
        impact = kept_impact(float(np.nanmean(first)), float(np.nanmean(second)), *draws, self.config.epsilon)
        return {
            "kept": float(np.nanmean(first)),
            "other_kept": float(np.nanmean(second)),
            "both": float(np.nanmean(both[np.ix_(a, b)])),
            "neither": float(np.nanmean(neither[np.ix_(a, b)])),
            "ratio": impact.ratio,
            "ratio_low": impact.low,
            "ratio_high": impact.high,
            "verdict": impact.verdict,
        }

    # -- over a coarser grouping ---------------------------------------------------------------------------------------

    def aggregates(self, key: dict[str, Any], h: Array) -> pd.DataFrame:
        """Rows of AGGREGATES: each column's groups over the cells of the crossed grouping, in all three weightings."""
        columns = self.config.groups
        rows: list[dict[str, Any]] = []
        if len(columns) < 2:
            return pd.DataFrame(rows, columns=AGGREGATES.columns)
        crossed = CROSS.join(columns)
        cells, weights = self.numbers[crossed], self.weights[crossed]
        sizes = {name: len(numbers) for name, numbers in cells.items()}
        couples = [pair for pair in combinations(cells, 2) if not np.isnan(h[np.ix_(*self._of(cells, pair))]).all()]
        shares = {pair: parity(h[np.ix_(*self._of(cells, pair))]).p for pair in couples}
        again = {(a, b): resampled(h[np.ix_(cells[a], cells[b])], weights[a], weights[b]) for a, b in couples}
        for place, column in enumerate(columns):
            for first, second in combinations(self.numbers[column], 2):
                ours, theirs = (
                    [name for name in cells if name.split(CROSS)[place] == group] for group in (first, second)
                )
                labels = {**key, "column": column, "group": first, "other": second}
                for weighting in _MEANS:
                    p, count, missing = aggregate(shares, ours, theirs, sizes, weighting)
                    drawn, _, _ = aggregate(again, ours, theirs, sizes, weighting)
                    low, high = percentile(np.atleast_1d(drawn)) if count else (np.nan, np.nan)
                    ends = {"p": p, "boot_low": low, "boot_high": high}
                    rows.append({**labels, "weighting": weighting, "cells": count, "cells_missing": missing, **ends})
                rows.append({**labels, **self._pooled(column, first, second, h)})
        return pd.DataFrame(rows, columns=AGGREGATES.columns)

    def _pooled(self, column: str, first: str, second: str, h: Array) -> dict[str, Any]:
        groups, weights = self.numbers[column], self.weights[column]
        table = h[np.ix_(groups[first], groups[second])]
        low, high = percentile(resampled(table, weights[first], weights[second]))
        ends = {"p": parity(table).p, "boot_low": low, "boot_high": high}
        return {"weighting": "pooled", "cells": 1, "cells_missing": 0, **ends}

    @staticmethod
    def _of(cells: Mapping[str, NDArray[np.int64]], pair: tuple[str, str]) -> tuple[NDArray[np.int64], ...]:
        return tuple(cells[name] for name in pair)

    # -- the rest ------------------------------------------------------------------------------------------------------

    def positions(self, key: dict[str, Any], pairs: pd.DataFrame) -> pd.DataFrame:
        """The row of POSITIONS: does the left photo win, whoever it shows?"""
        answered = pairs[pairs["status"] == "answered"]
        won = answered["won"].to_numpy(np.float64)
        mean = self.panel.mean(answered, won)
        size = len(self.panel.persons)
        generator = np.random.default_rng([self.config.seed, 8])
        weights = multinomial_counts(size, min(self.config.bootstrap, 1000), generator)
        low, high = percentile(resampled(mean, weights, weights) - 0.5)
        row = {
            **key,
            "pictures": len(answered),
            "left": float(np.nanmean(won)) - 0.5 if len(won) else np.nan,
            "ci_low": low,
            "ci_high": high,
            "ties": int((won == 0.5).sum()),
            "on_padding": float(answered["on_padding"].mean()) if len(answered) else np.nan,
            "refused": int((pairs["status"] == "refused").sum()),
            "failed": int((pairs["status"] == "failed").sum()),
        }
        return pd.DataFrame([row], columns=POSITIONS.columns)

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
        return pd.DataFrame(rows, columns=STRENGTHS.columns)

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
                        one = parity(compared(first, second))
                        rows.append(
                            {
                                "cropper": cropper,
                                "scale": scale,
                                "statistic": statistic,
                                "column": column,
                                "group": a,
                                "other": b,
                                "persons": len(first),
                                "other_persons": len(second),
                                "p": one.p,
                                "se": one.se,
                                "ci_low": one.low,
                                "ci_high": one.high,
                                "ks": float(stats.ks_2samp(first, second, method="asymp").statistic),
                            }
                        )
        return pd.DataFrame(rows, columns=SPREAD.columns)

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


def compared(first: Array, second: Array) -> Array:
    """(m, n) 1 where the first is higher, 1/2 where equal, 0 else.

    >>> compared(np.array([1.0, 2.0]), np.array([1.0])).tolist()
    [[0.5], [1.0]]
    """
    return np.asarray((np.sign(np.subtract.outer(first, second)) + 1) / 2)
