"""RQ3: is the inferred gender more often the self-reported one in a congruent context?  Table 9 of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.grid import GENDERS, INFERRED, Grid
from gslopes.contexts.measures.inferred import CONGRUENT
from gslopes.contexts.measures.paired import ALIKE, FEW, RARE, exchanged, noted, sums
from gslopes.contexts.tables import filled
from gslopes.stats.shares import difference_interval, share_interval

Array = NDArray[np.float64]
LEAST = 0.1  # share of the pictures; the paper's, Table 9


def f1(tp: Any, fp: Any, fn: Any) -> Any:
    """F1 of counts, numbers or arrays; 0 if nothing was right, NaN where all three are 0.

    >>> f1(80, 5, 20)
    0.8648648648648649
    """
    total = 2 * np.asarray(tp, float) + fp + fn
    result = np.divide(2.0 * np.asarray(tp, float), total, out=np.full(np.shape(total), np.nan), where=total > 0)
    return float(result) if result.ndim == 0 else result


def accuracy_table(grid: Grid, options: ContextOptions, labels: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Rows of the ``accuracy`` table without q: F1 of each gender against self-report, at baselines and in contexts.

    A neutral answer is a miss; people of other genders are in no F1.  In contexts it is over pictures whose context was
    recognised, and NaN for both genders where less than ``LEAST`` were, as in the paper.  Interval: Wilson's for
    people before these rooms, of F1 as the share 2 tp of 2 tp + fp + fn, with a design effect; of its change,
    Newcombe's for two shares of the same people.  Change: against the baseline over the same pictures, so that it is
    no gain of selection; null hypothesis: each person's two answers are exchangeable; p by exchanging them.

    labels: context to feminine, masculine or none; they decide the marks of the paper alone.
    """
    genders = [gender for gender in GENDERS if gender in grid.genders()]
    rows = [_row(grid, name, gender, options) for name in [*grid.baselines, *grid.names] for gender in genders]
    base = {row["gender"]: row["f1"] for row in rows if row["context"] == options.start}
    for row in rows:
        congruent = CONGRUENT.get((labels or {}).get(row["context"], "")) == row["gender"]
        row["congruent_rise"] = congruent and bool(row["f1"] > base.get(row["gender"], math.nan))
    return filled("accuracy", rows)


def _hits(inferred: NDArray[np.int8], keep: NDArray[np.bool_], grid: Grid, gender: str) -> tuple[Array, ...]:
    """(U, B) each: true positives, false positives and false negatives.  inferred, keep: (P, B)."""
    own, either = (grid.gender == gender)[:, None], np.isin(grid.gender, GENDERS)[:, None]
    called = inferred == INFERRED.index(gender)
    parts = (own & called, either & ~own & called, own & ~called)
    return tuple(sums(part.astype(float), keep, grid.person, grid.people) for part in parts)


def _counted(grid: Grid, name: str) -> tuple[NDArray[np.bool_], str]:
    """(P, B) pictures that count in a context, and why none does, or why there is no restriction."""
    columns = grid.of(name)
    answered = grid.answered[:, columns]
    if name in grid.baselines:
        return answered, ""
    if name not in grid.tagged:
        return answered, "over all pictures: the context has no tags"
    named = answered & grid.recognised[:, columns]
    if answered.sum() and named.sum() / answered.sum() < LEAST:
        share = named.sum() / answered.sum()
        return np.zeros_like(named), f"recognised in {share:.1%} of the pictures, under {LEAST:.0%}"
    return named, ""


def _row(grid: Grid, name: str, gender: str, options: ContextOptions) -> dict[str, Any]:
    columns = grid.of(name)
    keep, note = _counted(grid, name)
    n = int((keep & np.isin(grid.gender, GENDERS)[:, None]).sum())
    row = {**grid.head, "context": name, "gender": gender, "n": n, "f1": math.nan, "note": note}
    if not keep.any():
        return row
    parts = _hits(grid.inferred[:, columns], keep, grid, gender)
    tp, fp, fn = (int(part.sum()) for part in parts)
    low, high = share_interval(*_as_share(parts))
    row |= {"tp": tp, "fp": fp, "fn": fn, "f1": f1(tp, fp, fn), "ci_low": low, "ci_high": high}
    row["note"] = note = noted(note, ALIKE * (bool(tp + fp + fn) and math.isnan(low)))
    if name in grid.baselines or options.start not in grid.baselines:
        return row
    start = grid.of(options.start)
    both = keep & grid.answered[:, start]
    before = _hits(np.broadcast_to(grid.inferred[:, start], both.shape), both, grid, gender)
    after = _hits(grid.inferred[:, columns], both, grid, gender)
    return {**row, **_change(before, after, options, note)}


def _as_share(parts: tuple[Array, ...]) -> tuple[Array, Array]:
    """F1 as a share, 2 tp of 2 tp + fp + fn: both by person, (U,).  parts: tp, fp and fn, (U, B) each."""
    tp, fp, fn = (part.sum(axis=1) for part in parts)
    return 2 * tp, 2 * tp + fp + fn


def _change(before: tuple[Array, ...], after: tuple[Array, ...], options: ContextOptions, note: str) -> dict[str, Any]:
    units = [[part.sum(axis=1) for part in side] for side in (before, after)]
    discordant = np.any([first != second for first, second in zip(*units, strict=True)], axis=0).sum()
    ends = difference_interval(_as_share(after), _as_share(before)) if discordant else (math.nan, math.nan)
    start, end = (f1(*(part.sum() for part in side)) for side in (before, after))
    rare = bool(discordant < FEW)
    return {
        "paired_change": end - start,
        "change_low": ends[0],
        "change_high": ends[1],
        "p": math.nan if rare else exchanged(f1, units[0], units[1], options.permutations, options.seed),
        "note": noted(note, RARE * rare, ALIKE * (not discordant)),
    }
