"""From a run folder's answers to its tables of measures; no cropper is asked.

Every measure of joined pictures is computed from the answers about them as matrices over persons (``Panel``).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from gslopes.ask.croppers.policies import TABLE_1
from gslopes.core.arrays import Array, Integers
from gslopes.core.files import read_json
from gslopes.core.tables import Record, Row, lookup
from gslopes.core.text import many
from gslopes.crops.config import ABOVE, BOOTSTRAP, EPSILON, INSIDE, CropsConfig
from gslopes.crops.parity import (
    average,
    comparable,
    compared,
    disparate_impact,
    draw_weights,
    draws_half,
    influences,
    interval,
    kept_impact,
    parity,
    resampled,
)
from gslopes.crops.people import Groups
from gslopes.crops.tables import CONSTANT, MEASURES, SENTENCES
from gslopes.crops.words import lost
from gslopes.frame.spec import Made, Run
from gslopes.stats.intervals import newcombe, wilson
from gslopes.stats.multiplicity import adjust
from gslopes.stats.resampling import multinomial_counts
from gslopes.stats.rounding import settled

TALL = 1.25
LEAST_REGIONS = 2  # as published: smallest height/width of a photo alone, and salient regions on it
WHAT: dict[str, str] = SENTENCES["what"]
WHAT |= {
    f"tall {name}": f"{text}, of photos {TALL} times as tall as wide" for name, text in WHAT.items()
}
Rows = list[Row]


def measure(run: Run) -> Made:
    """Every table of measures, from the answers."""
    config: CropsConfig = run.config
    groups = read_json(run.folder / "groups.json")["groups"]
    people = run.table("people")
    saliency = run.table("saliency")
    panel = Panel.of(people, groups, config.seed)
    made: dict[str, Rows] = defaultdict(list)
    answers = {name: run.table(name) for name in ("pairs", "outcomes", "crops")}
    drawn = answers["pairs"][["cropper", "variant", "left", "right", "draws"]]
    answers |= {name: answers[name].merge(drawn) for name in ("outcomes", "crops")}
    variants = [joined.variant for joined in config.variants]
    for cropper, variant in product(sorted(answers["pairs"]["cropper"].unique()), variants):
        key = {"cropper": cropper, "variant": variant}
        pairs, outcomes, crops = (
            frame[(frame["cropper"] == cropper) & (frame["variant"] == variant)]
            for frame in answers.values()
        )
        if (pairs["status"] != "answered").any():
            run.note(f"{cropper}: {lost(pairs)} of {many(len(pairs), 'picture')}.")
        made["positions"].append(position_row(panel, key, pairs, config.seed))
        if variant.endswith(ABOVE):
            every = answers["pairs"]
            side_by_side = every[
                (every["cropper"] == cropper) & (every["variant"] == variant.removesuffix(ABOVE))
            ]
            made["attached"] += attached_rows(panel, key, pairs, side_by_side)
        shares: dict[str, Answers] = {}
        for policy, rows in outcomes.groupby("policy", sort=True):
            left, right = (rows[name].to_numpy(float) for name in ("share_left", "share_right"))
            h = shares[str(policy)] = panel.favoured(rows, left, right)
            labels = {**key, "policy": policy, "outcome": "favoured"}
            made["parity"] += parity_rows(panel, labels, h, config.min_group)
            made["averages"] += average_rows(panel, {**key, "policy": policy}, h)
        with_heads = crops.dropna(subset=["kept_left", "kept_right"])
        for (policy, ratio), rows in with_heads.groupby(["policy", "ratio"], sort=True):
            left, right = (
                (rows[name].to_numpy() >= INSIDE).astype(float)
                for name in ("kept_left", "kept_right")
            )
            pairs_kept = {
                "kept": (left, right),
                "both": (left * right,) * 2,
                "neither": ((1 - left) * (1 - right),) * 2,
            }
            heads = {name: panel.about(rows, *sides).mean for name, sides in pairs_kept.items()}
            labels = {**key, "policy": policy, "outcome": f"kept@{ratio:g}"}
            made["parity"] += parity_rows(
                panel, labels, panel.favoured(rows, left, right), config.min_group, heads
            )
        if "argmax" in shares:
            made["policies"] += policy_rows(panel, key, shares, outcomes, crops)
    for (cropper, scale), rows in saliency.groupby(["cropper", "scale"], sort=True):
        # a model that scales each map by its own maximum: maps of two photos cannot be compared
        if comparable(rows["max"].to_numpy(float)):
            labels = {"cropper": cropper, "variant": f"alone, {scale} scale", "policy": "argmax"}
            alone = panel.alone(rows)
            made["parity"] += parity_rows(
                panel, {**labels, "outcome": "favoured"}, alone, config.min_group
            )
            made["averages"] += average_rows(panel, labels, alone)
    made |= gaze_rows(saliency, people, groups, as_published=config.as_published)
    if config.as_published and not any(row["what"].startswith("tall") for row in made["gaze"]):
        run.note(
            f"No photo is {TALL} times as tall as wide with {LEAST_REGIONS} salient regions, as in section 3.4."
        )
    return {name: made[name] for name in MEASURES}


class Answers(NamedTuple):
    """What was answered about any two persons.

    mean: (N, N) of a number about the first of both, whichever side it stood on; NaN without a picture.
    counts: (N, N) how much it counts: as often as pictures of both were drawn; 1 where pairs are not drawn by lot.
    drawn: whether they are.
    """

    mean: Array
    counts: Array
    drawn: bool = False

    def at(self, cells: tuple[Any, ...]) -> tuple[Array, Array]:
        """Mean and count of some."""
        return self.mean[cells], self.counts[cells]


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Persons by number, which photos are theirs, and to which groups they belong.

    of_photo: photo to the number of its person.  count: N, of persons.  groups: column to group to numbers of persons.
    weights: of each group (B, persons), how often each is drawn in each resample.
    """

    of_photo: Mapping[str, int]
    count: int
    groups: Mapping[str, Mapping[str, Integers]]
    weights: Mapping[str, Mapping[str, Array]]

    @classmethod
    def of(cls, people: pd.DataFrame, groups: Groups, seed: int = 0) -> "Panel":
        """From the people table, whose skipped photos have no person.  groups: column to group to persons."""
        used = people[people["status"] == "used"]
        number = {str(name): index for index, name in enumerate(dict.fromkeys(used["person"]))}
        coded = {
            column: {
                name: np.array([number[p] for p in persons if p in number], np.int64)
                for name, persons in of.items()
            }
            for column, of in groups.items()
        }
        weights = {
            column: draw_weights({name: len(codes) for name, codes in of.items()}, BOOTSTRAP, seed)
            for column, of in coded.items()
        }
        numbered = used.assign(person=used["person"].map(number))
        return cls(lookup(numbered, "photo", "person"), len(number), coded, weights)

    def about(self, frame: pd.DataFrame, of_left: Array, of_right: Array | None = None) -> Answers:
        """The mean of a number about the first person of each two, over pictures and sides.

        frame: left, right, and draws.
        of_left, of_right: (rows,) about the person on each side; without the latter, of persons on the left alone.
        """
        left, right = (
            frame[name].map(self.of_photo).to_numpy(np.int64) for name in ("left", "right")
        )
        values = of_left
        weights = counted(frame)
        if of_right is not None:
            left, right, values = np.r_[left, right], np.r_[right, left], np.r_[of_left, of_right]
            weights = np.r_[weights, weights]
        size = self.count
        usable = ~np.isnan(values)
        cells = left[usable] * size + right[usable]
        weights = weights[usable]
        total = np.bincount(cells, weights=weights * values[usable], minlength=size * size)
        count = np.bincount(cells, weights=weights, minlength=size * size)
        mean = np.divide(total, count, out=np.full(size * size, np.nan), where=count > 0)
        drawn = bool((frame["draws"] > 0).any())
        counts = np.asarray(count if drawn else count > 0, float)
        return Answers(mean.reshape(size, size), counts.reshape(size, size), drawn)

    def favoured(self, frame: pd.DataFrame, share_left: Array, share_right: Array) -> Answers:
        """Shares h: of the answers about i and j, in whichever order, that favoured i.

        share_left, share_right: (rows,) chance that each is shown; where both or neither may be, h is 1/2 plus half of
        the difference.
        """
        won = 0.5 + (share_left - share_right) / 2
        return self.about(frame, won, 1 - won)

    def alone(self, saliency: pd.DataFrame) -> Answers:
        """Shares h of photos that are never joined: the higher maximum wins, ties half; means of a person's photos."""
        person = saliency["photo"].map(self.of_photo).to_numpy(np.int64)
        count = np.bincount(person, minlength=self.count)
        total = np.bincount(person, weights=saliency["max"].to_numpy(float), minlength=self.count)
        values = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
        h = compared(values, values)
        return Answers(h, np.ones_like(h))

    def pairs(
        self, column: str, h: Array
    ) -> Iterator[tuple[dict[str, str], tuple[Any, ...], Array, Array]]:
        """Pairs of groups of which any pair of persons was asked about: names, cells in (N, N), weights of both."""
        for a, b in combinations(self.groups[column], 2):
            cells = np.ix_(self.groups[column][a], self.groups[column][b])
            if not np.isnan(h[cells]).all():
                weights = self.weights[column]
                yield {"column": column, "group": a, "other": b}, cells, weights[a], weights[b]


def parity_rows(
    panel: Panel,
    key: Record,
    h: Answers,
    min_group: int,
    kept: Mapping[str, Array] | None = None,
) -> Rows:
    """Rows of PARITY for every pair of groups of every column.

    key: cropper, variant, policy, outcome.  h: see ``Panel.favoured``.
    kept: for outcomes ``kept@RATIO`` three (N, N) shares of the pictures: the row's person kept, both, neither.
    """
    made: Rows = []
    for column in panel.groups:
        rows: Rows = []
        for names, cells, weights, other_weights in panel.pairs(column, h.mean):
            counts = h.counts[cells]
            estimate = parity(h.mean[cells], counts)
            row = {**key, **names, **estimate._asdict(), "epsilon": EPSILON}
            row["draws"] = estimate.draws if h.drawn else None
            row["draws_half"] = draws_half(estimate.p, estimate.draws)
            if kept is None:
                impact = disparate_impact(estimate.p, estimate.ci_low, estimate.ci_high)
            else:
                shares = {"kept": kept["kept"][cells], "other_kept": kept["kept"].T[cells]}
                shares |= {name: kept[name][cells] for name in ("both", "neither")}
                row |= {name: influences(table, counts)[0] for name, table in shares.items()}
                drawn = (
                    resampled(shares[name], weights, other_weights, counts)
                    for name in ("kept", "other_kept")
                )
                impact = kept_impact(row["kept"], row["other_kept"], *drawn)
            row |= {"ratio": impact.ratio, "ratio_low": impact.low, "verdict": impact.verdict}
            row["ratio_high"] = impact.high if np.isfinite(impact.high) else np.nan
            row["note"] = "" if impact.verdict else CONSTANT
            small = min(estimate.persons, estimate.other_persons) < min_group
            if row["note"]:
                row |= dict.fromkeys(("ci_low", "ci_high"), np.nan)
            if row["note"] or (
                small and kept is not None
            ):  # percentiles of a few people's draws are too narrow
                row |= dict.fromkeys(("ratio_low", "ratio_high"), np.nan)
            if small:
                note = f"a group has fewer than {many(min_group, 'person')} (--min-group)"
                row |= {"p_value": np.nan, "verdict": "", "note": note}
            rows.append(row)
        adjust(rows, "p_value")
        made += rows
    return made


def average_rows(panel: Panel, key: Record, h: Answers) -> Rows:
    """Rows of AVERAGES: over all pairs of groups that differ in one column, whatever they are in the others.

    key: cropper, variant, policy.  h: see ``Panel.favoured``.
    """
    rows: Rows = []
    columns = [*panel.groups]
    crossed = [*panel.groups[columns[-1]].values()]
    for column in columns[:-1]:
        of = panel.groups[column]
        inside = {
            name: [
                n for n, cell in enumerate(crossed) if len(cell) and np.isin(cell, of[name]).all()
            ]
            for name in of
        }
        for a, b in combinations(of, 2):
            found = average(h.mean, h.counts, crossed, [*product(inside[a], inside[b])])
            if found.cells:
                rows.append({**key, "column": column, "group": a, "other": b, **found._asdict()})
    return rows


def attached_rows(
    panel: Panel, key: Record, stacked: pd.DataFrame, side_by_side: pd.DataFrame
) -> Rows:
    """The row of ATTACHED: does the same person win one above the other as side by side?

    key: cropper, variant.  stacked, side_by_side: rows of PAIRS of one cropper, of the same photos joined either way.
    """
    answered = [pairs[pairs["status"] == "answered"] for pairs in (stacked, side_by_side)]
    both = answered[0].merge(
        answered[1][["left", "right", "won"]], on=["left", "right"], suffixes=("", "_then")
    )
    if both.empty:
        return []
    same = np.asarray(both["won"] == both["won_then"], float)
    crossed = [*[*panel.groups.values()][-1].values()]
    pairs = panel.about(both, same, same)
    found = average(pairs.mean, pairs.counts, [np.concatenate(crossed)], [(0, 0)])
    row = {
        "pictures": int(counted(both).sum()),
        "same": found.p,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
    }
    return [{**key, **row}]


def position_row(panel: Panel, key: Record, pairs: pd.DataFrame, seed: int) -> Row:
    """The row of POSITIONS: does the left photo win, whoever it shows?"""
    answered = pairs[pairs["status"] == "answered"]
    won = answered["won"].to_numpy(float)
    weights = multinomial_counts(panel.count, BOOTSTRAP // 2, np.random.default_rng([seed, 8]))
    wins = panel.about(answered, won)
    low, high = (end - 0.5 for end in interval(resampled(wins.mean, weights, weights, wins.counts)))
    pictures = counted(answered)
    counts = {"pictures": pictures.sum(), "ties": pictures[won == 0.5].sum()}
    counts |= {
        status: counted(pairs[pairs["status"] == status]).sum() for status in ("refused", "failed")
    }
    row = {
        **key,
        "ci_low": low,
        "ci_high": high,
        **{name: int(count) for name, count in counts.items()},
    }
    row["left"] = float(settled(_mean(won, pictures) - 0.5, 0.5))
    return row | {
        name: _mean(answered[name].to_numpy(float), pictures) for name in ("on_padding", "centred")
    }


def counted(frame: pd.DataFrame) -> Array:
    """(rows,) how often each picture counts: as often as it was drawn; once where pairs are not drawn by lot."""
    return np.maximum(frame["draws"].to_numpy(float), 1)


def _mean(values: Array, weights: Array) -> float:
    if len(values):
        return float(np.average(values, weights=weights))
    return np.nan


def policy_rows(
    panel: Panel,
    key: Record,
    shares: Mapping[str, Answers],
    outcomes: pd.DataFrame,
    crops: pd.DataFrame,
) -> Rows:
    """Rows of POLICIES: how much each way to use a map amplifies a small difference, and what it shows.

    key: cropper, variant.  shares: policy to its h.  outcomes, crops: of this cropper and variant.
    """
    rows: Rows = []
    pictures = {
        policy: _shown(str(policy), of_policy, crops)
        for policy, of_policy in outcomes.groupby("policy")
    }
    for column in panel.groups:
        for names, cells, *_ in panel.pairs(column, shares["argmax"].mean):
            hard = parity(*shares["argmax"].at(cells)).p - 0.5
            for policy, h in shares.items():
                estimate = parity(*h.at(cells))
                soft, low, high = (
                    end - 0.5 for end in (estimate.p, estimate.ci_low, estimate.ci_high)
                )
                row = {**key, "policy": policy, **names, **pictures[policy]}
                row |= {"deviation": soft, "deviation_low": low, "deviation_high": high}
                if soft and (low * high > 0 or np.isnan(low)):  # of a deviation from 0 alone
                    row["amplification"] = hard / soft
                words = zip(
                    ("agency", "automation", "coverage", "risk"), TABLE_1[policy], strict=True
                )
                rows.append(row | dict(words))
    return rows


def _shown(policy: str, rows: pd.DataFrame, crops: pd.DataFrame) -> dict[str, float]:
    """What a picture shows under a policy, whoever is on it."""
    cropped = crops[crops["policy"] == policy]
    cropped = cropped[(cropped["ratio"] - 1).abs() == (crops["ratio"] - 1).abs().min()]
    cropped = cropped.dropna(subset=["kept_left", "kept_right"])
    whole = (cropped[["kept_left", "kept_right"]] >= INSIDE).all(axis=1).to_numpy(float)
    smaller = rows[["share_left", "share_right"]].min(axis=1).to_numpy(float)
    return {
        "exposure": _mean(smaller, counted(rows)),
        "whole": 1.0 if policy == "pad" else _mean(whole, counted(cropped)),
    }


def gaze_rows(
    saliency: pd.DataFrame, people: pd.DataFrame, groups: Groups, *, as_published: bool = False
) -> dict[str, Rows]:
    """Rows of GAZE and GAZE_GAPS, of photos with a face and a focal point.

    Intervals: Wilson's of a share, Newcombe's of a difference, over photos (one a person, or people with several would
    count more than once).  Source: Yee et al. 2021, section 3.4.

    saliency, people: rows of SALIENCY and PEOPLE.  as_published: once more of tall photos with two salient regions.
    """
    used = people[people["status"] == "used"]
    rows = saliency[(saliency["scale"] == "own") & saliency["on_head"].notna()].merge(
        used[["photo", "person", "width", "height"]], on="photo"
    )
    rows = rows.assign(
        point=~rows["on_head"].astype(bool),
        crop=rows["kept"] < INSIDE,
        region=rows["regions_off"] > 0,
    )
    tall = (rows["height"] >= TALL * rows["width"]) & (rows["regions"] >= LEAST_REGIONS)
    rows = rows.assign(
        **{f"tall {name}": rows[name].where(tall) for name in ("point", "crop", "region")}
    )
    made: dict[str, Rows] = {"gaze": [], "gaze_gaps": []}
    for cropper, answered in rows.groupby("cropper", sort=True):
        for column, members in groups.items():
            group = {person: name for name, persons in members.items() for person in persons}
            by_group = answered.groupby(answered["person"].map(group), sort=True)
            for what in [*WHAT][: None if as_published else 3]:
                key = {"cropper": cropper, "column": column, "what": what}
                counts = by_group[what].agg(["sum", "count"]).query("count > 0").astype(int)
                for name, count, photos in counts.itertuples():
                    low, high = wilson(count / photos, photos)
                    row = {
                        **key,
                        "group": name,
                        "photos": photos,
                        "count": count,
                        "share": count / photos,
                    }
                    made["gaze"].append({**row, "ci_low": low, "ci_high": high})
                for (group_a, a, m), (group_b, b, n) in combinations(counts.itertuples(), 2):
                    low, high = newcombe(a, m, b, n)
                    row = {**key, "group": group_a, "other": group_b, "difference": a / m - b / n}
                    made["gaze_gaps"].append({**row, "ci_low": low, "ci_high": high})
    return made
