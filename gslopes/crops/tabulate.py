"""From a run folder's answers to its tables of measures.

Among them how much each way to use a map amplifies a small difference, and what it shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.core import runfolder, tables
from gslopes.core.files import csv_bytes
from gslopes.crops.asker import RECTANGLE
from gslopes.crops.config import INSIDE, CropsConfig
from gslopes.crops.measurer import Measurer, Panel
from gslopes.crops.parity import interval, resampled
from gslopes.crops.people import stored_groups
from gslopes.crops.policies import TABLE_1, weighted_exposure
from gslopes.crops.strengths import shares as shares_of
from gslopes.crops.tables import MEASURES, TABLES
from gslopes.frame.run import Run
from gslopes.frame.spec import Made
from gslopes.photos.people import CROSS
from gslopes.report.layouts import to_latex, to_markdown
from gslopes.report.words import printable

CONSTANT_SPREAD = 1e-6
Frames = dict[str, list[pd.DataFrame]]


def measure(run: Run) -> Made:
    """Every table of measures, from the answers; the chief ones next to the page, too, as CSV, Markdown and LaTeX."""
    config: CropsConfig = run.config
    saliency = run.table("saliency")
    measurer = Measurer(Panel.of(run.table("people")), stored_groups(run.folder), config)
    frames: Frames = defaultdict(list)
    if run.has("pairs"):
        names = ("pairs", "outcomes", "crops", "together", "stability")
        answers = {name: run.table(name) if run.has(name) else TABLES[name].empty() for name in names}
        for cropper in sorted(answers["pairs"]["cropper"].unique()):
            own = {name: frame[frame["cropper"] == cropper] for name, frame in answers.items()}
            _joined(frames, measurer, cropper, own)
    _alone(frames, measurer, saliency)
    if len(saliency):
        frames["spread"].append(measurer.spread(saliency))
    made = {name: _whole(name, [frame for frame in frames[name] if len(frame)]) for name in MEASURES}
    _write_tables(run.folder / "report" / "tables", made)
    return made


def _whole(name: str, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    table = TABLES[name]
    if not frames:
        return table.empty()
    rows = pd.concat(frames, ignore_index=True).sort_values([*table.key], kind="stable")
    return tables.check(table, rows).to_pandas()  # the texts have the order and the types of the table on disk


def _write_tables(folder: Path, made: Mapping[str, pd.DataFrame]) -> None:
    captions = {
        "parity": "Pairs of groups: who is favoured and kept, with 95 % intervals over people.",
        "aggregates": "Groups over a coarser grouping.",
        "policies": "Policies: deviation from even, amplification and exposure.",
    }
    for name, caption in captions.items():
        frame = made[name]
        runfolder.write_bytes(folder / f"{name}.csv", csv_bytes(frame))
        short = frame[[column for column in frame if not frame[column].isna().all()]]
        shown = short.map(lambda value: f"{value:.4g}" if isinstance(value, float) else printable(value))
        runfolder.write_bytes(folder / f"{name}.md", to_markdown(shown, caption).encode("utf-8", "replace"))
        runfolder.write_bytes(folder / f"{name}.tex", to_latex(shown, caption, name).encode("utf-8", "replace"))


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
        left, right = ((rows[name].to_numpy() >= INSIDE).astype(np.float64) for name in ("kept_left", "kept_right"))
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


Array = NDArray[np.float64]
VIEWED, EXPONENTS = 10_000, (0.0, 1.0, 1.5, 2.0)
ASKED = {"choose-k": 1.0, "either-k": 1.0, "focal-point": 1.0}  # of the pictures; of hybrid it is measured


def policy_rows(
    measurer: Measurer,
    key: dict[str, Any],
    tables: Mapping[str, Array],
    outcomes: pd.DataFrame,
    crops: pd.DataFrame,
    instability: Mapping[str, float],
) -> pd.DataFrame:
    """Rows of POLICIES.

    key: cropper, variant.  tables: policy to its (N, N) h.  outcomes, crops: of this cropper and variant.
    instability: policy to the mean move of its crop under small edits, if it was measured; ``pad`` never moves.
    """
    rows: list[dict[str, Any]] = []
    shown = _shown(outcomes, crops)
    for column, groups in measurer.numbers.items():
        weights = measurer.weights[column]
        for a, b in combinations(groups, 2):
            place = np.ix_(groups[a], groups[b])
            if np.isnan(tables["argmax"][place]).all():
                continue
            hard = float(np.nanmean(tables["argmax"][place])) - 0.5
            hard_draws = resampled(tables["argmax"][place], weights[a], weights[b]) - 0.5
            for policy, h in tables.items():
                soft = float(np.nanmean(h[place])) - 0.5
                draws = resampled(h[place], weights[a], weights[b]) - 0.5
                row = {**key, "policy": policy, "column": column, "group": a, "other": b}
                row |= _ends("deviation", soft, draws)
                row |= _ends("difference", abs(hard) - abs(soft), np.abs(hard_draws) - np.abs(draws))
                low, high = interval(draws)
                known = low * high > 0 or (np.isnan(low) and soft != 0)
                with np.errstate(divide="ignore", invalid="ignore"):
                    ratio = _ends("amplification", hard / soft, hard_draws / draws) if known else {}
                row |= ratio or _ends("amplification", np.nan, np.array([np.nan]))
                row |= shown[policy] | {"instability": 0.0 if policy == "pad" else instability.get(policy, np.nan)}
                row |= dict(zip(("agency", "automation", "coverage", "risk"), TABLE_1[policy], strict=True))
                rows.append(row)
    return pd.DataFrame(rows, columns=TABLES["policies"].columns)


def view_rows(measurer: Measurer, key: dict[str, Any], tables: Mapping[str, Array]) -> pd.DataFrame:
    """Rows of VIEWS: the first group's share of all views if pictures are seen as unequally as a power law has it.

    Argmax gives a picture's views to one person, so that a few much-seen pictures decide; sampling shares them out.
    tables: policy to its (N, N) h.
    """
    rows: list[dict[str, Any]] = []
    for column, groups in measurer.numbers.items():
        for policy, h in tables.items():
            for a, b in combinations(groups, 2):
                table = h[np.ix_(groups[a], groups[b])]
                if np.isnan(table).all():
                    continue
                row = {**key, "policy": policy, "column": column, "group": a, "other": b}
                for exponent in EXPONENTS:
                    share, spread, effective = weighted_exposure(table, VIEWED, exponent)
                    views = {"pictures": VIEWED, "exponent": exponent, "effective": effective}
                    rows.append({**row, **views, "share": share, "spread": spread})
    return pd.DataFrame(rows, columns=TABLES["views"].columns)


def _ends(name: str, value: float, draws: Array) -> dict[str, float]:
    low, high = interval(draws)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _shown(outcomes: pd.DataFrame, crops: pd.DataFrame) -> dict[str, dict[str, float]]:
    """What a picture shows under each policy, whoever is on it."""
    found: dict[str, dict[str, float]] = {}
    ratios = crops["ratio"].unique()
    main = min(ratios, key=lambda ratio: abs(ratio - 1)) if len(ratios) else np.nan
    for policy, rows in outcomes.groupby("policy", sort=True):
        cropped = crops[(crops["policy"] == policy) & (crops["ratio"] == main)]
        heads = cropped[["kept_left", "kept_right"]].to_numpy(np.float64)
        heads = heads[~np.isnan(heads).any(axis=1)]
        low = rows["low"].to_numpy(np.float64)
        found[str(policy)] = {
            "exposure": float(np.minimum(rows["share_left"], rows["share_right"]).mean()),
            "asked": float(np.isnan(low).mean()) if policy == "hybrid" else ASKED.get(str(policy), 0.0),
            "low_focus": float(np.nanmean(low)) if not np.isnan(low).all() else np.nan,
            "whole": 1.0 if policy == "pad" else float((heads >= 0.5).all(axis=1).mean()) if len(heads) else np.nan,
        }
    return found
