"""From a run folder's answers to its tables of measures."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.crops.asking.asker import RECTANGLE
from gslopes.crops.config import CropsConfig
from gslopes.crops.measures.measurer import Measurer
from gslopes.crops.measures.panel import Panel
from gslopes.crops.measures.policies import policy_rows, view_rows
from gslopes.crops.measures.shares import shares as shares_of
from gslopes.crops.people import CROSS, People
from gslopes.crops.tables import CROPS, MEASURES, OUTCOMES, PAIRS, PEOPLE, SALIENCY, STABILITY, TOGETHER
from gslopes.frame.parts import read_table, write_tables

CONSTANT_SPREAD = 1e-6
Frames = dict[str, list[pd.DataFrame]]


def measure_run(out: Path, table: People, config: CropsConfig) -> dict[str, pd.DataFrame]:
    """Write every table of measures into the run folder; name to table."""
    saliency = read_table(SALIENCY, out)
    measurer = Measurer(Panel.of(read_table(PEOPLE, out)), table.groups, config)
    frames: Frames = defaultdict(list)
    if config.attach != "none":
        answers = {schema.name: read_table(schema, out) for schema in (PAIRS, OUTCOMES, CROPS)}
        answers |= {schema.name: read_table(schema, out, optional=True) for schema in (TOGETHER, STABILITY)}
        for cropper in sorted(answers[PAIRS.name]["cropper"].unique()):
            own = {name: frame[frame["cropper"] == cropper] for name, frame in answers.items()}
            _joined(frames, measurer, cropper, own)
    _alone(frames, measurer, saliency)
    if len(saliency):
        frames["spread"].append(measurer.spread(saliency))
    for schema in MEASURES:
        kept = [frame for frame in frames[schema.name] if len(frame)]
        whole = pd.concat(kept, ignore_index=True) if kept else schema.empty()
        write_tables(out, {schema.name: whole}, schema)
    return {schema.name: read_table(schema, out) for schema in MEASURES}


def _joined(frames: Frames, measurer: Measurer, cropper: str, own: dict[str, pd.DataFrame]) -> None:
    """Add the measures of one cropper's joined pictures.  own: its answers, by table."""
    pairs, outcomes, crops, together, stability = own.values()
    config, panel = measurer.config, measurer.panel
    key: dict[str, Any] = {"cropper": cropper, "variant": config.variant}
    frames["positions"].append(measurer.positions(key, pairs))
    shares = {}
    for policy, rows in outcomes.groupby("policy", sort=True):
        left, right = (rows[name].to_numpy(np.float64) for name in ("share_left", "share_right"))
        h = shares[str(policy)] = panel.favoured(rows, left, right)
        row: dict[str, Any] = {**key, "policy": str(policy), "outcome": "favoured"}
        frames["parity"].append(measurer.parity(row, h, draws=config.draws or 0))
        frames["aggregates"].append(measurer.aggregates(row, h))
    for (name, ratio), rows in crops.dropna(subset=["kept_left", "kept_right"]).groupby(["policy", "ratio"], sort=True):
        left, right = (
            (rows[name].to_numpy() >= config.inside).astype(np.float64) for name in ("kept_left", "kept_right")
        )
        both, neither = left * right, (1 - left) * (1 - right)
        sides = ((left, right), (both, both), (neither, neither))
        first, second, third = (panel.either(rows, *side) for side in sides)
        row = {**key, "policy": name, "outcome": f"kept@{ratio:g}"}
        frames["parity"].append(measurer.parity(row, panel.favoured(rows, left, right), (first, second, third)))
    main = "argmax" if "argmax" in shares else RECTANGLE
    if main in shares:
        strengths = measurer.strengths(key, shares[main], _observed(together))
        frames["strengths"].append(strengths)
        crossed = CROSS.join(config.groups)
        predicted = _predicted(strengths[strengths["column"] == crossed], together)
        if len(together):
            frames["shares"].append(shares_of(together, panel.person_of, crossed, config, predicted))
    if "argmax" in shares:
        frames["policies"].append(policy_rows(measurer, key, shares, outcomes, crops, _instability(stability)))
        frames["views"].append(view_rows(measurer, key, shares))


def _observed(together: pd.DataFrame) -> dict[str, float]:
    answered = together[together["status"] == "answered"]
    return {str(name): float(rows.mean()) for name, rows in answered.groupby("group")["share"]}


def _predicted(strengths: pd.DataFrame, together: pd.DataFrame) -> dict[str, float]:
    """Strengths of the groups that stood together, sum 1."""
    rows = strengths[strengths["group"].isin(set(together["group"]))]
    total = float(rows["strength"].sum())
    return {str(r["group"]): float(r["strength"]) / total for r in rows.to_dict("records")} if total > 0 else {}


def _instability(stability: pd.DataFrame) -> dict[str, float]:
    """Policy to the mean move over the three edits."""
    return {str(name): float(rows.mean()) for name, rows in stability.groupby("policy")["move"]}


def _alone(frames: Frames, measurer: Measurer, saliency: pd.DataFrame) -> None:
    """Photos that are never joined: the model's maximum of each decides."""
    for (cropper, scale), rows in saliency.groupby(["cropper", "scale"], sort=True):
        key = {"cropper": cropper, "variant": f"alone, {scale} scale", "policy": "argmax", "outcome": "favoured"}
        if np.ptp(rows["max"].to_numpy(np.float64)) <= CONSTANT_SPREAD:
            continue  # the model scales each map by its own maximum: maps of two photos cannot be compared
        h = measurer.alone(rows)
        frames["parity"].append(measurer.parity(key, h))
        frames["aggregates"].append(measurer.aggregates(key, h))
