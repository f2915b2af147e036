"""RQ1: does a tagger infer more women or men in a context?  Table 7 of the paper, with what changes for whom."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.grid import ALL, INFERRED, Grid
from gslopes.contexts.measures.paired import FEW, RARE, share_change
from gslopes.contexts.tables import INFERRED as TABLE
from gslopes.contexts.tables import filled
from gslopes.stats.intervals import wilson

CONGRUENT = {"feminine": "woman", "masculine": "man"}


def inferred_table(grid: Grid, labels: dict[str, str], options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``inferred`` table without q.

    Estimator: the share of answered pictures inferred woman, man, neutral; Wilson's interval.  Change: see
    ``paired.share_change``, over pairs of baseline and context.  labels: context to feminine, masculine or none; they
    decide the marks of the paper alone.
    """
    rows = [
        _row(grid, name, gender, code, labels.get(name, ""), options)
        for name in [*grid.baselines, *grid.names]
        for gender in [ALL, *grid.genders()]
        for code in (1, 2, 0)
    ]
    return filled(TABLE, rows)


def counts(grid: Grid, name: str, gender: str = ALL) -> dict[str, int]:
    """Pictures inferred woman, man and neutral in a context or at a baseline: a cell of table 7."""
    columns = grid.of(name)
    codes = grid.inferred[:, columns][grid.answered[:, columns] & grid.of_gender(gender)[:, None]]
    by_code = np.bincount(codes, minlength=3)
    return {INFERRED[code]: int(by_code[code]) for code in (1, 2, 0)}


def _row(grid: Grid, name: str, gender: str, code: int, label: str, options: ContextOptions) -> dict[str, Any]:
    inferred, cell = INFERRED[code], counts(grid, name, gender)
    n, count = sum(cell.values()), cell[inferred]
    share = count / n if n else math.nan
    low, high = wilson(share, n)
    row: dict[str, Any] = {**grid.head, "context": name, "gender": gender, "inferred": inferred}
    row |= {"n": n, "count": count, "share": share, "ci_low": low, "ci_high": high}
    if name in grid.baselines or options.baseline not in grid.baselines:
        return row
    columns, start = grid.of(name), grid.of(options.baseline)
    keep = grid.answered[:, columns] & grid.answered[:, start] & grid.of_gender(gender)[:, None]
    before = np.broadcast_to(grid.inferred[:, start] == code, keep.shape).astype(float)
    after = (grid.inferred[:, columns] == code).astype(float)
    paired = share_change(before, after, keep, grid.person, options)
    base = counts(grid, options.baseline, gender)
    rises = bool(n and sum(base.values())) and share > base[inferred] / sum(base.values())
    row["congruent_rise"] = rises and CONGRUENT.get(label) == inferred
    return {**row, **paired, "note": RARE if n and paired["discordant"] < FEW else ""}
