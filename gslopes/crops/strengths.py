"""Bradley-Terry strengths: do the shares of all pairs follow from one number a group?

Here too: how often each group is chosen, and kept, where one person of each stands in a picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from gslopes.crops.config import INSIDE, CropsConfig
from gslopes.crops.parity import draw_weights, interval
from gslopes.crops.tables import TABLES

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Strengths:
    """strength: (g,), sum 1, which is also the predicted share of each when all stand in one picture.

    chi2: departure of the counts from the prediction, of draws only.  df: (g-1)(g-2)/2.  p_value: of it; NaN without.
    """

    strength: Array
    chi2: float
    df: int
    p_value: float


def bradley_terry(wins: Array, *, rounds: int = 10_000, tolerance: float = 1e-12) -> Strengths:
    """Maximum likelihood by Hunter's MM steps.

    wins: (g, g), how often the row's was favoured over the column's; the diagonal does not count.

    Source: Bradley & Terry 1952, doi 10.1093/biomet/39.3-4.324; Hunter 2004, doi 10.1214/aos/1079120141.

    >>> bradley_terry(np.array([[0.0, 3.0], [1.0, 0.0]])).strength.round(4).tolist()
    [0.75, 0.25]
    """
    wins = np.where(np.eye(len(wins), dtype=bool), 0.0, wins)
    games = wins + wins.T
    strength = np.full(len(wins), 1 / len(wins))
    won = wins.sum(axis=1)
    for _ in range(rounds):
        below = (games / (strength[:, None] + strength[None, :] + 1e-300)).sum(axis=1)
        fresh = np.divide(won, below, out=np.zeros_like(won), where=below > 0)
        fresh /= fresh.sum() if fresh.sum() > 0 else 1.0
        change = float(np.abs(fresh - strength).max())
        strength = fresh
        if change < tolerance:
            break
    expected = games * strength[:, None] / (strength[:, None] + strength[None, :] + 1e-300)
    cells = games > 0
    chi2 = float((np.square(wins - expected)[cells] / np.maximum(expected[cells], 1e-300)).sum())
    size = len(wins)
    df = (size - 1) * (size - 2) // 2
    return Strengths(strength, chi2, df, float(stats.chi2.sf(chi2, df)) if df else float("nan"))


def shares(
    frame: pd.DataFrame, person: Mapping[str, str], column: str, config: CropsConfig, predicted: Mapping[str, float]
) -> pd.DataFrame:
    """Rows of SHARES: how often each group is chosen, and kept, where one person of each stands in a picture.

    frame: rows of TOGETHER, one cropper's.  person: photo to person.  predicted: group to its Bradley-Terry strength.
    The interval is the percentile bootstrap over the people of each group: a picture weighs the product of its people's
    weights.
    """
    rows: list[dict[str, Any]] = []
    for (cropper, variant), answers in frame.groupby(["cropper", "variant"], sort=True):
        answered = answers[answers["status"] == "answered"]
        if answered.empty:
            continue
        drawn = _drawn(answered, person, config)
        for group, in_group in answered.groupby("group", sort=True):
            in_group = in_group.sort_values("picture")
            share = in_group["share"].to_numpy(np.float64)
            kept = in_group["kept"].to_numpy(np.float64)
            head = np.where(np.isnan(kept), np.nan, kept >= INSIDE)
            low, high = interval(drawn @ share / drawn.sum(axis=1))
            known = in_group["photo"].map(person).nunique()
            row = {"cropper": cropper, "variant": variant, "column": column, "group": group, "persons": int(known)}
            row |= {"pictures": len(in_group), "share": float(share.mean()), "ci_low": low, "ci_high": high}
            row |= {"even": 1 / answered["group"].nunique(), "predicted": predicted.get(str(group), np.nan)}
            row["kept"] = float(np.nanmean(head)) if not np.isnan(head).all() else np.nan
            rows.append(row | {"left_out": int(answers["picture"].nunique() - len(in_group))})
    return pd.DataFrame(rows, columns=TABLES["shares"].columns)


def _drawn(answered: pd.DataFrame, person: Mapping[str, str], config: CropsConfig) -> Array:
    """(B, pictures) weights of the pictures, in their order, in each draw of people."""
    who = answered.assign(person=answered["photo"].map(person)).sort_values(["picture", "group"])
    people = {str(group): sorted(members["person"].unique()) for group, members in who.groupby("group", sort=True)}
    weights = draw_weights({group: len(names) for group, names in people.items()}, config.bootstrap, config.seed)
    result: Array | None = None
    for group, names in people.items():
        place = {name: index for index, name in enumerate(names)}
        index = who.loc[who["group"] == group, "person"].map(place).to_numpy(np.int64)
        members = weights[group][:, index].astype(np.float64)
        result = members if result is None else result * members
    assert result is not None
    empty = result.sum(axis=1) == 0  # a draw in which no picture is left
    return np.asarray(result[~empty] if not empty.all() else np.ones((1, result.shape[1])))
