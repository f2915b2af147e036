"""How much each way to use a map amplifies a small difference, and what it shows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.crops.measures.bootstrap import interval, resampled
from gslopes.crops.measures.measurer import Measurer
from gslopes.crops.policies import TABLE_1, weighted_exposure
from gslopes.crops.tables import POLICIES, VIEWS

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
    return pd.DataFrame(rows, columns=POLICIES.columns)


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
    return pd.DataFrame(rows, columns=VIEWS.columns)


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
