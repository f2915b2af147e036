"""RQ1: does a tagger infer more women or men in a context?  Table 7 of the paper, with what changes for whom."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.grid import ALL, INFERRED, Grid
from gslopes.contexts.measures.paired import noted, share_change, share_of, sums
from gslopes.contexts.tables import filled

CONGRUENT = {"feminine": "woman", "masculine": "man"}


def inferred_table(grid: Grid, labels: dict[str, str], options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``inferred`` table without q.

    Estimator: the share of answered pictures inferred woman, man, neutral; interval: see ``paired.share_of``.  Change:
    see ``paired.share_change``, over pairs of baseline and context.  labels: context to feminine, masculine or none;
    they decide the marks of the paper alone.
    """
    rows = [
        _row(grid, name, gender, code, labels.get(name, ""), options)
        for name in [*grid.baselines, *grid.names]
        for gender in [ALL, *grid.genders()]
        for code in (1, 2, 0)
    ]
    return filled("inferred", rows)


def counts(grid: Grid, name: str, gender: str = ALL) -> dict[str, int]:
    """Pictures inferred woman, man and neutral in a context or at a baseline: a cell of table 7."""
    columns = grid.of(name)
    codes = grid.inferred[:, columns][grid.answered[:, columns] & grid.of_gender(gender)[:, None]]
    by_code = np.bincount(codes, minlength=3)
    return {INFERRED[code]: int(by_code[code]) for code in (1, 2, 0)}


def _row(grid: Grid, name: str, gender: str, code: int, label: str, options: ContextOptions) -> dict[str, Any]:
    inferred = INFERRED[code]
    columns, shown = grid.of(name), grid.answered[:, grid.of(name)] & grid.of_gender(gender)[:, None]
    parts = ((grid.inferred[:, columns] == code).astype(float), np.ones(shown.shape))
    row: dict[str, Any] = {**grid.head, "context": name, "gender": gender, "inferred": inferred}
    row |= share_of(*(grid.pooled(sums(part, shown, grid.person, grid.people), name) for part in parts))
    if name in grid.baselines or options.start not in grid.baselines:
        return row
    start = grid.of(options.start)
    keep = shown & grid.answered[:, start]
    before = np.broadcast_to(grid.inferred[:, start] == code, keep.shape).astype(float)
    base = counts(grid, options.start, gender)
    rises = bool(row["n"] and sum(base.values())) and row["share"] > base[inferred] / sum(base.values())
    row["congruent_rise"] = rises and CONGRUENT.get(label) == inferred
    moved = share_change(before, parts[0], keep, grid.person, options, partial(grid.pooled, context=name))
    return {**row, **moved, "note": noted(row["note"], moved["note"])}
