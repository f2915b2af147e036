"""From a run folder's answers to its tables of measures; no cropper is asked."""

from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations, product
from math import nan

import numpy as np
from pandas import DataFrame, Series

from gslopes.ask.croppers.policies import TABLE_1
from gslopes.core import Names, Record, Row, many, read_json, reasons
from gslopes.core.records import Array, doubles
from gslopes.core.tables import ends
from gslopes.crops.config import (
    ABOVE,
    BOOTSTRAP,
    CONSTANT,
    EPSILON,
    INSIDE,
    MEASURES,
    SELDOM,
    SENTENCES,
)
from gslopes.crops.measures.panel import Answers, Couple, Panel, counted
from gslopes.crops.measures.parity import (
    average,
    comparable,
    disparate_impact,
    draws_half,
    influences,
    interval,
    kept_impact,
    parity,
    resampled,
)
from gslopes.crops.stimuli.people import Groups
from gslopes.frame.spec import Made, Run
from gslopes.stats import intervals, multiplicity, resampling, rounding

TALL = 1.25
LEAST_REGIONS = (
    2  # as published: smallest height/width of a photo by itself, and salient regions on it
)
WHAT: dict[str, str] = SENTENCES["what"]
POINTS_OF_TABLE_1 = ("agency", "automation", "coverage", "risk")
SHARES = ["share_left", "share_right"]
HEADS = ["kept_left", "kept_right"]
Rows = list[Row]
Measured = dict[str, Rows]


def measure(run: Run) -> Made:
    """Every table of measures, from the answers."""
    groups = read_json(run.folder / "groups.json")["groups"]
    people = run.table("people")
    saliency = run.table("saliency")
    panel = Panel.of(people, groups, run.config.seed)
    tables: Measured = defaultdict(list)
    _measure_joined(run, panel, tables)
    for (cropper, scale), rows in saliency.groupby(["cropper", "scale"]):
        # a model that scales each map by the map's maximum: maps of two photos cannot be compared
        if comparable(rows["max"].to_numpy(float)):
            key = {
                "cropper": cropper,
                "variant": f"alone, {scale} scale",
                "policy": "argmax",
            }
            _measure_favoured(run, panel, tables, key, panel.alone(rows))
    tables |= gaze_rows(saliency, people, groups, as_published=run.config.as_published)
    if run.config.as_published and not any(
        row["what"].startswith("tall") for row in tables["gaze"]
    ):
        run.note(
            f"No photo is {TALL} times as tall as wide with {LEAST_REGIONS} salient regions, as in section 3.4."
        )
    return {name: tables[name] for name in MEASURES}


def _measure_joined(run: Run, panel: Panel, tables: Measured) -> None:
    """Add the measures of joined pictures, by cropper and variant."""
    answers = run.table("pairs")
    drawn = answers[["cropper", "variant", "left", "right", "draws"]]
    sources = [answers, run.table("outcomes").merge(drawn), run.table("crops").merge(drawn)]
    variants = [config.variant for config in run.config.variants]
    for cropper, variant in product(sorted(answers["cropper"].unique()), variants):
        key = {"cropper": cropper, "variant": variant}
        pairs, outcomes, crops = (_having(source, key) for source in sources)
        if (pairs["status"] != "answered").any():
            run.note(f"{cropper}: {lost(pairs)} of {many(len(pairs), 'picture')}.")
        tables["positions"].append(position_row(panel, key, pairs, run.config.seed))
        if variant.endswith(ABOVE):
            side_by_side = {**key, "variant": variant.removesuffix(ABOVE)}
            tables["attached"] += attached_rows(panel, key, pairs, _having(answers, side_by_side))
        favoured = {}
        for policy, rows in outcomes.groupby("policy"):
            name = str(policy)
            favoured[name] = panel.favoured(rows, *rows[SHARES].to_numpy(float).T)
            _measure_favoured(run, panel, tables, {**key, "policy": name}, favoured[name])
        for (used, ratio), heads in crops.dropna(subset=HEADS).groupby(["policy", "ratio"]):
            labels = {
                **key,
                "policy": used,
                "outcome": f"kept@{ratio:g}",
            }
            tables["parity"] += kept_rows(panel, labels, heads, run.config.min_group)
        if "argmax" in favoured:
            tables["policies"] += policy_rows(panel, key, favoured, outcomes, crops)


def _having(frame: DataFrame, values: Row) -> DataFrame:
    """The rows that have these values, by column."""
    return frame[(frame[[*values]] == Series(values)).all(axis=1)]


def _measure_favoured(
    run: Run,
    panel: Panel,
    tables: Measured,
    key: Row,
    h: Answers,
) -> None:
    """Add the parity of who is favoured, and its averages."""
    labels = {**key, "outcome": "favoured"}
    tables["parity"] += parity_rows(panel, labels, h, run.config.min_group)
    tables["averages"] += average_rows(panel, key, h)


def kept_rows(
    panel: Panel,
    key: Record,
    rows: DataFrame,
    min_group: int,
) -> Rows:
    """Rows of PARITY on whose head is kept.  rows: of CROPS with two heads, of one ratio."""
    inside = doubles(rows[HEADS].to_numpy() >= INSIDE).T
    both = inside.prod(0)
    neither = (1 - inside).prod(0)
    heads = {
        "kept": panel.about(rows, *inside).mean,
        "both": panel.about(rows, both, both).mean,
        "neither": panel.about(rows, neither, neither).mean,
    }
    return parity_rows(panel, key, panel.favoured(rows, *inside), min_group, heads)


def parity_rows(
    panel: Panel,
    key: Record,
    h: Answers,
    min_group: int,
    heads: Mapping[str, Array] | None = None,
) -> Rows:
    """Rows of PARITY for every pair of groups of every column.

    key: cropper, variant, policy, outcome.  h: see ``Panel.favoured``.
    heads: for outcomes ``kept@RATIO`` three (N, N) shares of the pictures: the row's person kept, both, neither.
    """
    parities = []
    for column in panel.groups:
        rows = [
            {**key, **_parity_row(couple, h, min_group, heads)}
            for couple in panel.couples(column, h.mean)
        ]
        multiplicity.adjust(rows, "p_value")
        parities += rows
    return parities


def _parity_row(
    couple: Couple,
    h: Answers,
    min_group: int,
    heads: Mapping[str, Array] | None,
) -> Row:
    """The row of two groups, see ``parity_rows``."""
    mean, counts = h.at(couple.cells)
    estimate = parity(mean, counts)
    row = {
        **couple.names,
        **estimate._asdict(),
        "epsilon": EPSILON,
        "note": "",
    }
    row["draws"] = estimate.draws if h.drawn else None
    row["draws_half"] = draws_half(estimate.p, estimate.draws)
    if heads is None:
        impact = disparate_impact(estimate.p, estimate.ci_low, estimate.ci_high)
    else:
        shares = {name: table[couple.cells] for name, table in heads.items()}
        shares["other_kept"] = heads["kept"].T[couple.cells]
        row |= {name: influences(table, counts)[0] for name, table in shares.items()}
        sides = ["kept", "other_kept"]
        draws = (resampled(shares[side], *couple.weights, counts) for side in sides)
        impact = kept_impact(row["kept"], row["other_kept"], *draws)
    row |= {
        "ratio": impact.ratio,
        "ratio_low": impact.low,
        "ratio_high": impact.high if np.isfinite(impact.high) else nan,
        "verdict": impact.verdict,
    }
    unknown: Names = ()
    if not impact.verdict:
        row["note"] = SELDOM if estimate.ci_low >= 0 else CONSTANT
        unknown = ("ratio_low", "ratio_high")
    if min(estimate.persons, estimate.other_persons) < min_group:
        row["verdict"] = ""
        row["note"] = f"a group has fewer than {many(min_group, 'person', 'people')} (--min-group)"
        unknown = ("ratio_low", "ratio_high", "p_value")
    return row | dict.fromkeys(unknown, nan)


def average_rows(panel: Panel, key: Record, h: Answers) -> Rows:
    """Rows of AVERAGES: over all pairs of groups that differ in one column, whatever they are in the others.

    key: cropper, variant, policy.  h: see ``Panel.favoured``.
    """
    rows = []
    *columns, last = panel.groups
    crossed = [*panel.groups[last].values()]
    for column in columns:
        cells_of = {
            name: [n for n, cell in enumerate(crossed) if len(cell) and np.isin(cell, group).all()]
            for name, group in panel.groups[column].items()
        }
        for a, b in combinations(cells_of, 2):
            estimate = average(h.mean, h.counts, crossed, [*product(cells_of[a], cells_of[b])])
            if estimate.cells:
                row = {**key, "column": column, "group": a, "other": b}
                rows.append(row | estimate._asdict())
    return rows


def attached_rows(
    panel: Panel,
    key: Record,
    stacked: DataFrame,
    side_by_side: DataFrame,
) -> Rows:
    """The row of ATTACHED: does the same person win one above the other as side by side?

    key: cropper, variant.  stacked, side_by_side: rows of PAIRS of one cropper, of the same photos joined either way.
    """
    then = answered(side_by_side)[["left", "right", "won"]]
    both = answered(stacked).merge(then, on=["left", "right"], suffixes=("", "_then"))
    if both.empty:
        return []
    same = doubles(both["won"] == both["won_then"])
    *_, crossed = panel.groups.values()
    everybody = np.concatenate([*crossed.values()])
    pairs = panel.about(both, same, same)
    estimate = average(pairs.mean, pairs.counts, [everybody], [(0, 0)])
    pictures = int(counted(both).sum())
    return [{**key, **estimate._asdict(), "pictures": pictures, "same": estimate.p}]


def answered(pairs: DataFrame) -> DataFrame:
    """The rows of PAIRS that have an answer."""
    return pairs.query("status == 'answered'")


def position_row(
    panel: Panel,
    key: Record,
    pairs: DataFrame,
    seed: int,
) -> Row:
    """The row of POSITIONS: does the left photo win, whoever it shows?"""
    answers = answered(pairs)
    won = answers["won"].to_numpy(float)
    weights = resampling.multinomial_counts(
        panel.count, BOOTSTRAP // 2, np.random.default_rng([seed, 8])
    )
    wins = panel.about(answers, won, np.full_like(won, nan))
    low, high = interval(resampled(wins.mean, weights, weights, wins.counts))
    times = counted(answers)
    row = {
        **key,
        "pictures": int(times.sum()),
        "ties": int(times[won == 0.5].sum()),
        "left": float(rounding.settled(_mean(won, times) - 0.5, 0.5)),
        "ci_low": low - 0.5,
        "ci_high": high - 0.5,
    }
    for status in ("refused", "failed"):
        row[status] = int(counted(pairs.query("status == @status")).sum())
    for name in ("on_padding", "centred"):
        row[name] = _mean(answers[name].to_numpy(float), times)
    return row


def _mean(values: Array, weights: Array) -> float:
    if len(values):
        return float(np.average(values, weights=weights))
    return nan


def policy_rows(
    panel: Panel,
    key: Record,
    favoured: Mapping[str, Answers],
    outcomes: DataFrame,
    crops: DataFrame,
) -> Rows:
    """Rows of POLICIES: how much each way to use a map amplifies a small difference, and what it shows.

    key: cropper, variant.  favoured: policy to its h.  outcomes, crops: of this cropper and variant.
    """
    rows = []
    pictures = {
        policy: _shown(str(policy), of_policy, crops)
        for policy, of_policy in outcomes.groupby("policy")
    }
    couples = (
        couple
        for column in panel.groups
        for couple in panel.couples(column, favoured["argmax"].mean)
    )
    for couple in couples:
        hard = parity(*favoured["argmax"].at(couple.cells)).p - 0.5
        for policy, h in favoured.items():
            estimate = parity(*h.at(couple.cells))
            soft = estimate.p - 0.5
            low = estimate.ci_low - 0.5
            high = estimate.ci_high - 0.5
            row = {**key, "policy": policy, **couple.names, **pictures[policy]}
            row |= {"deviation": soft, "deviation_low": low, "deviation_high": high}
            if soft and (low * high > 0 or np.isnan(low)):  # only of a deviation from 0
                row["amplification"] = hard / soft
            rows.append(row | dict(zip(POINTS_OF_TABLE_1, TABLE_1[policy], strict=True)))
    return rows


def _shown(policy: str, rows: DataFrame, crops: DataFrame) -> Row:
    """What a picture shows under a policy, whoever is on it."""
    smaller = rows[SHARES].min(axis=1).to_numpy(float)
    exposure = _mean(smaller, counted(rows))
    if policy == "pad":
        return {"exposure": exposure, "whole": 1.0}
    apart = (crops["ratio"] - 1).abs()
    nearest = crops[(crops["policy"] == policy) & (apart == apart.min())].dropna(subset=HEADS)
    both = (nearest[HEADS] >= INSIDE).all(axis=1).to_numpy(float)
    return {"exposure": exposure, "whole": _mean(both, counted(nearest))}


def _off_heads(saliency: DataFrame, people: DataFrame) -> DataFrame:
    """Photos with a face and a focal point: of each of ``WHAT`` whether it lies off the head; null if not tall."""
    used = people.query("status == 'used'")[["photo", "person", "width", "height"]]
    usable = saliency.query("scale == 'own'").dropna(subset="on_head")
    rows = usable.merge(used, on="photo")
    rows["point"] = ~rows["on_head"].astype(bool)
    rows["crop"] = rows["kept"] < INSIDE
    rows["region"] = rows["regions_off"] > 0
    tall = (rows["height"] >= TALL * rows["width"]) & (rows["regions"] >= LEAST_REGIONS)
    for name in ("point", "crop", "region"):
        rows[f"tall {name}"] = rows[name].where(tall)
    return rows


def gaze_rows(
    saliency: DataFrame,
    people: DataFrame,
    groups: Groups,
    *,
    as_published: bool = False,
) -> Measured:
    """Rows of GAZE and GAZE_GAPS, of photos with a face and a focal point.

    Intervals: Wilson's of a share, Newcombe's of a difference, over photos (one a person, or people with several would
    count more than once).  Source: Yee et al. 2021, section 3.4.

    saliency, people: rows of SALIENCY and PEOPLE.  as_published: once more of tall photos with two salient regions.
    """
    rows = _off_heads(saliency, people)
    tables: Measured = {"gaze": [], "gaze_gaps": []}
    for (cropper, answers), (column, members) in product(rows.groupby("cropper"), groups.items()):
        group_of = {person: name for name, persons in members.items() for person in persons}
        by_group = answers.groupby(answers["person"].map(group_of))
        for what in [*WHAT][: None if as_published else 3]:
            key = {
                "cropper": cropper,
                "column": column,
                "what": what,
            }
            counts = by_group[what].agg(["sum", "count"]).query("count > 0").astype(int)
            for name, count, photos in counts.itertuples():
                share = count / photos
                row = {**key, "group": name, "photos": photos, "count": count, "share": share}
                tables["gaze"].append(row | ends(intervals.wilson(share, photos)))
            for (group_a, a, m), (group_b, b, n) in combinations(counts.itertuples(), 2):
                row = {**key, "group": group_a, "other": group_b, "difference": a / m - b / n}
                tables["gaze_gaps"].append(row | ends(intervals.newcombe(a, m, b, n)))
    return tables


def lost(pairs: DataFrame) -> str:
    """How many pictures were refused and failed, and why.  pairs: rows of PAIRS, one cropper's."""
    parts = []
    for status in ("refused", "failed"):
        rows = pairs.query("status == @status")
        why = f" ({reasons.counted(rows['reason'], rows['detail'])})" if len(rows) else ""
        parts.append(f"{len(rows):,} {status}{why}")
    return " and ".join(parts)
