"""From a run folder's answers to its tables of measures; no cropper is asked.

Every measure is computed from the answers about pictures as matrices over persons (``Panel``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import tables
from gslopes.core.files import read_json
from gslopes.crops.config import BOOTSTRAP, DRAWS, EPSILON, INSIDE, CropsConfig
from gslopes.crops.parity import (
    compared,
    disparate_impact,
    draw_weights,
    draws_half,
    interval,
    kept_impact,
    parity,
    resampled,
)
from gslopes.crops.policies import TABLE_1
from gslopes.crops.regions import measure_gaze
from gslopes.crops.tables import CONSTANT, FEW, MEASURES, TABLES
from gslopes.frame.run import Run
from gslopes.frame.spec import Made
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.resampling import multinomial_counts

CONSTANT_SPREAD = 1e-6
Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Rows = list[dict[str, Any]]
Kept = tuple[Array, Array, Array]


def measure(run: Run) -> Made:
    """Every table of measures, from the answers."""
    config: CropsConfig = run.config
    groups = read_json(run.folder / "groups.json")["groups"]
    people, saliency = run.table("people"), run.table("saliency")
    panel = Panel.of(people, groups, config.seed)
    made: dict[str, Rows] = defaultdict(list)
    answers = {name: run.table(name) for name in ("pairs", "outcomes", "crops")}
    for cropper in sorted(answers["pairs"]["cropper"].unique()):
        pairs, outcomes, crops = (frame[frame["cropper"] == cropper] for frame in answers.values())
        key = {"cropper": cropper, "variant": config.variant}
        made["positions"].append(position_row(panel, key, pairs, config.seed))
        shares = {}
        for policy, rows in outcomes.groupby("policy", sort=True):
            left, right = (rows[name].to_numpy(np.float64) for name in ("share_left", "share_right"))
            h = shares[str(policy)] = panel.favoured(rows, left, right)
            labels = {**key, "policy": policy, "outcome": "favoured"}
            draws = (config.pairs or DRAWS) if config.as_published else 0
            made["parity"] += parity_rows(panel, labels, h, config.min_group, draws=draws)
        known = crops.dropna(subset=["kept_left", "kept_right"])
        for (policy, ratio), rows in known.groupby(["policy", "ratio"], sort=True):
            left, right = ((rows[name].to_numpy() >= INSIDE).astype(np.float64) for name in ("kept_left", "kept_right"))
            both, neither = left * right, (1 - left) * (1 - right)
            kept = panel.mean(rows, left, right), panel.mean(rows, both, both), panel.mean(rows, neither, neither)
            labels = {**key, "policy": policy, "outcome": f"kept@{ratio:g}"}
            made["parity"] += parity_rows(panel, labels, panel.favoured(rows, left, right), config.min_group, kept)
        if "argmax" in shares:
            made["policies"] += policy_rows(panel, key, shares, outcomes, crops)
    for (cropper, scale), rows in saliency.groupby(["cropper", "scale"], sort=True):
        # a model that scales each map by its own maximum: maps of two photos cannot be compared
        if np.ptp(rows["max"].to_numpy(np.float64)) > CONSTANT_SPREAD:
            labels = {"cropper": cropper, "variant": f"alone, {scale} scale", "policy": "argmax", "outcome": "favoured"}
            h = panel.alone(rows)
            made["parity"] += parity_rows(panel, labels, h, config.min_group)
    frames = {name: tables.frame_of(TABLES[name], made[name]) for name in MEASURES if name not in ("gaze", "gaze_gaps")}
    frames |= measure_gaze(saliency, people, groups, as_published=config.as_published)
    return {name: frame.sort_values([*TABLES[name].key], kind="stable") for name, frame in frames.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Persons by number, which photos are theirs, and to which groups they belong.

    persons: names.  of_photo: photo to the number of its person.  groups: column to group to numbers of persons.
    weights: of each group (B, persons), how often each is drawn in each resample.
    """

    persons: tuple[str, ...]
    of_photo: Mapping[str, int]
    groups: Mapping[str, Mapping[str, Codes]]
    weights: Mapping[str, Mapping[str, Array]]

    @classmethod
    def of(cls, people: pd.DataFrame, groups: Mapping[str, Mapping[str, Any]], seed: int = 0) -> Panel:
        """From the people table, whose skipped photos have no person.  groups: column to group to persons."""
        used = people[people["status"] == "used"]
        number = {str(name): index for index, name in enumerate(dict.fromkeys(used["person"]))}
        of_photo = {str(p): number[name] for p, name in zip(used["photo"], used["person"], strict=True)}
        coded = {
            column: {
                name: np.array([number[p] for p in persons if p in number], np.int64) for name, persons in of.items()
            }
            for column, of in groups.items()
        }
        weights = {
            column: draw_weights({name: len(codes) for name, codes in of.items()}, BOOTSTRAP, seed)
            for column, of in coded.items()
        }
        return cls(tuple(number), of_photo, coded, weights)

    def mean(self, frame: pd.DataFrame, of_left: Array, of_right: Array | None = None) -> Array:
        """(N, N) mean of a number about the first person of a pair, whichever side it stood on; NaN without a picture.

        of_left, of_right: (rows,) about the person on each side; without the latter, of persons on the left alone.
        """
        left, right = (frame[name].map(self.of_photo).to_numpy(np.int64) for name in ("left", "right"))
        values = of_left
        if of_right is not None:
            left, right, values = np.r_[left, right], np.r_[right, left], np.r_[of_left, of_right]
        size, usable = len(self.persons), ~np.isnan(values)
        place = left[usable] * size + right[usable]
        total = np.bincount(place, weights=values[usable], minlength=size * size)
        count = np.bincount(place, minlength=size * size)
        return np.divide(total, count, out=np.full(size * size, np.nan), where=count > 0).reshape(size, size)

    def favoured(self, frame: pd.DataFrame, share_left: Array, share_right: Array) -> Array:
        """(N, N) h: the share of the answers about i and j, in whichever order, that favoured i.

        share_left, share_right: (rows,) chance that each is shown; where both or neither may be, h is 1/2 plus half of
        the difference.
        """
        won = 0.5 + (share_left - share_right) / 2
        return self.mean(frame, won, 1 - won)

    def alone(self, saliency: pd.DataFrame) -> Array:
        """(N, N) h of photos that are never joined: the higher maximum wins, ties half; means of a person's photos."""
        person = saliency["photo"].map(self.of_photo).to_numpy(np.int64)
        count = np.bincount(person, minlength=len(self.persons))
        total = np.bincount(person, weights=saliency["max"].to_numpy(np.float64), minlength=len(self.persons))
        values = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
        return np.where(np.isnan(values[:, None] + values[None, :]), np.nan, compared(values, values))

    def pairs(self, column: str, h: Array) -> Iterator[tuple[str, str, tuple[Any, ...], Array, Array]]:
        """Pairs of groups of which any pair of persons was asked about: names, place in (N, N), weights of both."""
        for a, b in combinations(self.groups[column], 2):
            place = np.ix_(self.groups[column][a], self.groups[column][b])
            if not np.isnan(h[place]).all():
                yield a, b, place, self.weights[column][a], self.weights[column][b]


def parity_rows(
    panel: Panel, key: Mapping[str, Any], h: Array, min_group: int, kept: Kept | None = None, draws: int = 0
) -> Rows:
    """Rows of PARITY for every pair of groups of every column.

    key: cropper, variant, policy, outcome.  h: (N, N), see ``Panel.favoured``.
    kept: for outcomes ``kept@RATIO`` three (N, N) shares of the pictures: the row's person kept, both, neither.
    draws: pictures asked, drawn at random; 0: all pairs.
    """
    made: Rows = []
    for column in panel.groups:
        rows: Rows = []
        for a, b, place, wa, wb in panel.pairs(column, h):
            one = parity(h[place])
            row = {**key, "column": column, "group": a, "other": b, "persons": one.persons, "other_persons": one.others}
            row |= {name: getattr(one, name) for name in ("pairs", "p", "se", "df", "p_value")}
            row |= {"ci_low": one.low, "ci_high": one.high, "draws_half": draws_half(one.p, draws or one.pairs)}
            row |= dict.fromkeys(("kept", "other_kept", "both", "neither"), np.nan) | {"epsilon": EPSILON}
            if kept is None:
                impact = disparate_impact(one.p, one.low, one.high)
            else:
                first, second, both, neither = kept[0][place], kept[0].T[place], kept[1][place], kept[2][place]
                means = [float(np.nanmean(table)) for table in (first, second, both, neither)]
                impact = kept_impact(means[0], means[1], resampled(first, wa, wb), resampled(second, wa, wb))
                row |= dict(zip(("kept", "other_kept", "both", "neither"), means, strict=True))
            row |= {"ratio": impact.ratio, "ratio_low": impact.low}
            row |= {"ratio_high": impact.high if np.isfinite(impact.high) else np.nan, "verdict": impact.verdict}
            row["note"] = "" if impact.verdict else CONSTANT
            if min(one.persons, one.others) < min_group:
                row |= {"p_value": np.nan, "verdict": "", "note": f"{FEW}: {one.persons} and {one.others} persons"}
            rows.append(row)
        q = benjamini_hochberg(np.array([row["p_value"] for row in rows], dtype=np.float64))
        made += [{**row, "q": value} for row, value in zip(rows, q, strict=True)]
    return made


def position_row(panel: Panel, key: Mapping[str, Any], pairs: pd.DataFrame, seed: int) -> dict[str, Any]:
    """The row of POSITIONS: does the left photo win, whoever it shows?"""
    answered = pairs[pairs["status"] == "answered"]
    won = answered["won"].to_numpy(np.float64)
    weights = multinomial_counts(len(panel.persons), BOOTSTRAP // 2, np.random.default_rng([seed, 8]))
    low, high = interval(resampled(panel.mean(answered, won), weights, weights) - 0.5)
    row = {**key, "pictures": len(answered), "ci_low": low, "ci_high": high, "ties": int((won == 0.5).sum())}
    row |= {status: int((pairs["status"] == status).sum()) for status in ("refused", "failed")}
    row["left"] = float(np.nanmean(won)) - 0.5 if len(won) else np.nan
    return row | {"on_padding": float(answered["on_padding"].mean()) if len(answered) else np.nan}


# -- policies ---------------------------------------------------------------------------------------------------------


def policy_rows(
    panel: Panel, key: Mapping[str, Any], shares: Mapping[str, Array], outcomes: pd.DataFrame, crops: pd.DataFrame
) -> Rows:
    """Rows of POLICIES: how much each way to use a map amplifies a small difference, and what it shows.

    key: cropper, variant.  shares: policy to its (N, N) h.  outcomes, crops: of this cropper and variant.
    """
    rows: Rows = []
    shown = {policy: _shown(str(policy), of_policy, crops) for policy, of_policy in outcomes.groupby("policy")}
    for column in panel.groups:
        for a, b, place, wa, wb in panel.pairs(column, shares["argmax"]):
            hard = float(np.nanmean(shares["argmax"][place])) - 0.5
            hard_draws = resampled(shares["argmax"][place], wa, wb) - 0.5
            for policy, h in shares.items():
                soft, draws = float(np.nanmean(h[place])) - 0.5, resampled(h[place], wa, wb) - 0.5
                low, high = interval(draws)
                values = {
                    "deviation": (soft, draws),
                    "amplification": (np.nan, np.array([np.nan])),
                }
                if low * high > 0 or (np.isnan(low) and soft != 0):  # of a deviation from 0 alone
                    with np.errstate(divide="ignore", invalid="ignore"):
                        values["amplification"] = hard / soft, hard_draws / draws
                row = {**key, "policy": policy, "column": column, "group": a, "other": b, **shown[policy]}
                for name, (value, drawn) in values.items():
                    row[name], (row[f"{name}_low"], row[f"{name}_high"]) = value, interval(drawn)
                words = dict(zip(("agency", "automation", "coverage", "risk"), TABLE_1[policy], strict=True))
                rows.append(row | words)
    return rows


def _shown(policy: str, rows: pd.DataFrame, crops: pd.DataFrame) -> dict[str, float]:
    """What a picture shows under a policy, whoever is on it."""
    cropped = crops[crops["policy"] == policy]
    cropped = cropped[(cropped["ratio"] - 1).abs() == (crops["ratio"] - 1).abs().min()]
    heads = cropped[["kept_left", "kept_right"]].dropna().to_numpy(np.float64)
    return {
        "exposure": float(np.minimum(rows["share_left"], rows["share_right"]).mean()),
        "whole": 1.0 if policy == "pad" else float((heads >= INSIDE).all(axis=1).mean()) if len(heads) else np.nan,
    }
