"""The controlled version: does the context decide more than the face?  K counterfactuals of each person in each one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from gslopes.contexts.measures.paired import FEW, RARE, sign_flips
from gslopes.contexts.options import ContextOptions
from gslopes.fit.profiles import line_weights

Array = NDArray[np.float64]
INDICATORS = ("inferred woman", "inferred man", "recognised")
CANVAS = "canvas"


def interaction_table(
    described: pd.DataFrame,
    presence: dict[str, set[tuple[str, str, int]]],
    values: Array,
    people: pd.DataFrame,
    options: ContextOptions,
    attribute: str = "gender",
) -> pd.DataFrame:
    """Rows of the ``interaction`` table without q: slopes on the plain canvas and in front of each background.

    Estimator: mean over people of the slope of presence on the value, in points per unit (``photo-rate``), over
    people answered at all K values under both conditions.  difference: of the two slopes, paired by person; interval
    and p of its t; ``p_perm`` by flipping signs.  context: what the background itself does at the middle value, in
    points, with its paired interval.  Null hypotheses: the context does not move the slope; it does not move the
    answer.

    described: rows of one classifier and kind of tags.  presence: tag to the (photo, attribute, step) that have it.
    values: (K,).  people: the table of that name.
    """
    rows = described[described["attribute"].str.endswith(f"~{attribute}") & described["photo"].isin(people["photo"])]
    if rows.empty:
        return pd.DataFrame()
    photos = sorted(set(rows["photo"]))
    conditions = sorted({name.partition("~")[0] for name in set(rows["attribute"])} - {CANVAS})
    cells = _cells(rows, photos, [CANVAS, *conditions], len(values), attribute)
    person_of = dict(zip(people["photo"], people["person"], strict=True))
    person = np.unique([person_of[photo] for photo in photos], return_inverse=True)[1]
    head = {"classifier": str(rows["classifier"].iloc[0]), "tags": str(rows["tags"].iloc[0])}
    result = []
    for label, present in _indicators(cells, presence, photos, [CANVAS, *conditions], attribute):
        for index, condition in enumerate(conditions, start=1):
            use = cells.answered[:, [0, index]].all(axis=(1, 2))
            estimates = compare(present[use, 0], present[use, index], values, person[use], options)
            result.append({**head, "background": condition, "label": label, **estimates})
    return pd.DataFrame(result)


def compare(
    canvas: Array, condition: Array, values: Array, person: NDArray[np.int64], options: ContextOptions
) -> dict[str, Any]:
    """One label on the canvas and in front of a background.

    canvas, condition: (P, K) of 0 and 1.  person: (P,) codes.
    """
    weights = 100 * line_weights(values)
    middle = len(values) // 2
    codes = np.unique(person, return_inverse=True)[1]
    base, slope = (_by_person(answers @ weights, codes) for answers in (canvas, condition))
    effect = _by_person(100 * (condition[:, middle] - canvas[:, middle]), codes)
    active = int(((canvas > 0).any(axis=1) | (condition > 0).any(axis=1)).sum())
    rare = active < FEW
    difference, low, high, p = _paired(slope - base)
    context, context_low, context_high, context_p = _paired(effect)
    p_perm = math.nan if rare or not len(base) else sign_flips(slope - base, options.permutations, options.seed)
    return {
        "n": len(base),
        "slope": _mean(slope),
        "baseline": _mean(base),
        "difference": difference,
        "ci_low": low,
        "ci_high": high,
        "p": math.nan if rare else p,
        "p_perm": p_perm,
        "face": 2 * _mean(base),  # from value -1 to 1 on the plain canvas
        "face_low": 2 * _paired(base)[1],
        "face_high": 2 * _paired(base)[2],
        "effect": context,
        "effect_low": context_low,
        "effect_high": context_high,
        "effect_p": math.nan if rare else context_p,
        "note": RARE if rare else "",
    }


class _Cells:
    """(photos, conditions, K) arrays of one classifier's descriptions."""

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.answered = np.zeros(shape, bool)
        self.woman, self.man, self.recognised = (np.zeros(shape) for _ in range(3))


def _cells(rows: pd.DataFrame, photos: list[str], conditions: list[str], width: int, attribute: str) -> _Cells:
    cells = _Cells((len(photos), len(conditions), width))
    row_of = {photo: index for index, photo in enumerate(photos)}
    column_of = {f"{condition}~{attribute}": index for index, condition in enumerate(conditions)}
    at = (
        rows["photo"].map(row_of).to_numpy(int),
        rows["attribute"].map(column_of).to_numpy(int),
        rows["step"].to_numpy(int),
    )
    cells.answered[at] = True
    cells.woman[at] = rows["inferred"] == "woman"
    cells.man[at] = rows["inferred"] == "man"
    cells.recognised[at] = rows["recognised"]
    return cells


def _indicators(
    cells: _Cells,
    presence: dict[str, set[tuple[str, str, int]]],
    photos: list[str],
    conditions: list[str],
    attribute: str,
) -> list[tuple[str, Array]]:
    found: list[tuple[str, Array]] = list(zip(INDICATORS, (cells.woman, cells.man, cells.recognised), strict=True))
    row_of = {photo: index for index, photo in enumerate(photos)}
    column_of = {f"{condition}~{attribute}": index for index, condition in enumerate(conditions)}
    for tag, keys in sorted(presence.items()):
        indicator = np.zeros(cells.answered.shape)
        for photo, condition, step in keys:
            if photo in row_of and condition in column_of:
                indicator[row_of[photo], column_of[condition], step] = 1
        if indicator.any(axis=(1, 2)).sum() >= FEW:
            found.append((tag, indicator))
    return found


def _by_person(values: Array, person: NDArray[np.int64]) -> Array:
    counts = np.bincount(person)
    return np.asarray(np.bincount(person, values) / np.maximum(counts, 1))


def _paired(differences: Array) -> tuple[float, float, float, float]:
    """(mean, low, high, p) of a one-sample t; an interval of width 0 has no p."""
    n = len(differences)
    if n < 2:
        return (_mean(differences), math.nan, math.nan, math.nan)
    mean, se = _mean(differences), float(differences.std(ddof=1) / math.sqrt(n))
    half = float(stats.t.ppf(0.975, n - 1)) * se
    return mean, mean - half, mean + half, float(2 * stats.t.sf(abs(mean) / se, n - 1)) if se > 0 else math.nan


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else math.nan
