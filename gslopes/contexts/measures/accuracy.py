"""RQ3: is the inferred gender more often the self-reported one in a congruent context?  Table 9 of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.contexts.measures.grid import GENDERS, INFERRED, Grid
from gslopes.contexts.measures.inferred import CONGRUENT
from gslopes.contexts.measures.paired import FEW, RARE, exchanged, interval, resampled, sums
from gslopes.contexts.options import ContextOptions

Array = NDArray[np.float64]


def f1(tp: Any, fp: Any, fn: Any) -> Any:
    """F1 of counts, numbers or arrays; 0 if nothing was right, NaN if there was nothing to find nor to say.

    >>> f1(80, 5, 20)
    0.8648648648648649
    """
    total = 2 * np.asarray(tp, float) + fp + fn
    result = np.divide(2.0 * np.asarray(tp, float), total, out=np.full(np.shape(total), np.nan), where=total > 0)
    return float(result) if result.ndim == 0 else result


def accuracy_table(grid: Grid, options: ContextOptions, labels: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Rows of the ``accuracy`` table without q: F1 of each gender against self-report, at baselines and in contexts.

    A neutral answer is a miss; people of other genders are in no F1.  In contexts it is over pictures whose context was
    recognised (``f1_on``), and NaN for both genders where less than ``recognised_share`` were.  Interval: percentile
    bootstrap over people.  Change: against the baseline over the same pictures, so that it is no gain of selection;
    null hypothesis: each person's two answers are exchangeable; p by exchanging them.

    labels: context to feminine, masculine or none; they decide the marks of the paper alone.
    """
    rows = []
    for name in [*grid.baselines, *grid.names]:
        rows += [_row(grid, name, gender, options) for gender in GENDERS if gender in grid.genders()]
    base = {row["gender"]: row["f1"] for row in rows if row["context"] == options.baseline}
    for row in rows:
        congruent = CONGRUENT.get((labels or {}).get(row["context"], "")) == row["gender"]
        row["congruent_rise"] = congruent and bool(row["f1"] > base.get(row["gender"], math.nan))
    return pd.DataFrame(rows)


def hits(inferred: NDArray[np.int8], keep: NDArray[np.bool_], grid: Grid, gender: str) -> tuple[Array, Array, Array]:
    """(U, B) each: true positives, false positives and false negatives.  inferred, keep: (P, B)."""
    same_gender, other = (grid.gender == gender)[:, None], np.isin(grid.gender, GENDERS)[:, None]
    said = inferred == INFERRED.index(gender)
    parts = (same_gender & said, other & ~same_gender & said, same_gender & ~said)
    tp, fp, fn = (sums(part.astype(float), keep, grid.person, grid.people) for part in parts)
    return tp, fp, fn


def restricted(grid: Grid, name: str, options: ContextOptions) -> tuple[NDArray[np.bool_], str]:
    """(P, B) pictures that count in a context, and why none does, or why there is no restriction."""
    columns = grid.of(name)
    there = grid.answered[:, columns]
    if name in grid.baselines or options.f1_on == "all":
        return there, ""
    if name not in grid.tagged:
        return there, "over all pictures: the context has no tags"
    named = there & grid.recognised[:, columns]
    if there.sum() and named.sum() / there.sum() < options.recognised_share:
        note = f"recognised in {named.sum() / there.sum():.1%} of the pictures, under {options.recognised_share:.0%}"
        return np.zeros_like(there), note
    return named, ""


def _row(grid: Grid, name: str, gender: str, options: ContextOptions) -> dict[str, Any]:
    columns = grid.of(name)
    keep, note = restricted(grid, name, options)
    parts = hits(grid.inferred[:, columns], keep, grid, gender)
    tp, fp, fn = (int(part.sum()) for part in parts)
    ends = interval(resampled(f1, parts, options.bootstrap, options.seed)) if keep.any() else (math.nan, math.nan)
    row: dict[str, Any] = {
        "classifier": grid.classifier,
        "context": name,
        "tags": grid.tags,
        "gender": gender,
        "n": int((keep & np.isin(grid.gender, GENDERS)[:, None]).sum()),
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "f1": f1(tp, fp, fn) if keep.any() else math.nan,
        "ci_low": ends[0],
        "ci_high": ends[1],
        "paired_change": math.nan,
        "change_low": math.nan,
        "change_high": math.nan,
        "p": math.nan,
        "note": note,
    }
    if name in grid.baselines or options.baseline not in grid.baselines or not keep.any():
        return row
    start = grid.of(options.baseline)
    both = keep & grid.answered[:, start]
    before = hits(np.broadcast_to(grid.inferred[:, start], both.shape), both, grid, gender)
    after = hits(grid.inferred[:, columns], both, grid, gender)
    return {**row, **_change(before, after, options, note)}


def _change(before: tuple[Array, ...], after: tuple[Array, ...], options: ContextOptions, note: str) -> dict[str, Any]:
    def difference(*totals: Array) -> Array:
        return np.asarray(f1(*totals[3:]) - f1(*totals[:3]))

    one, other = ([part.sum() for part in side] for side in (before, after))
    low, high = interval(resampled(difference, [*before, *after], options.bootstrap, options.seed))
    units = [[part.sum(axis=1) for part in side] for side in (before, after)]
    discordant = np.any([first != second for first, second in zip(*units, strict=True)], axis=0).sum()
    rare = bool(discordant < FEW)
    p = math.nan if rare else exchanged(f1, units[0], units[1], options.permutations, options.seed)
    return {
        "paired_change": f1(*other) - f1(*one),
        "change_low": low,
        "change_high": high,
        "p": p,
        "note": "; ".join(part for part in (note, RARE * rare) if part),
    }
