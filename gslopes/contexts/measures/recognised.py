"""RQ2: does a tagger name the context independently of the gender that it infers?  Table 8 of the paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.grid import ALL, INFERRED, Grid
from gslopes.contexts.measures.paired import FEW, RARE
from gslopes.contexts.tables import RECOGNISED, filled
from gslopes.stats.intervals import newcombe, wilson
from gslopes.stats.permutation import permutation_p

NOT_APPLICABLE = "not applicable: the context has no tags"
DIFFERENCE = "gendered - neutral"
Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int8]


def recognised_table(grid: Grid, options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``recognised`` table without q: Pr(R), Pr(R | inferred), and their difference.

    Estimator: shares with Wilson's interval; the difference gendered minus neutral with Newcombe's.  Null hypothesis of
    the test, in the row of all: whether the context is named does not depend on the inferred gender (Pearson's X²
    without correction; ``p_perm`` by permuting R over people within each background).  v is Cramér's.
    """
    rows: list[dict[str, Any]] = []
    for name in grid.names:
        columns = grid.of(name)
        answered = grid.answered[:, columns]
        absent = [{"given": ALL, "n": int(answered.sum()), "share": math.nan, "note": NOT_APPLICABLE}]
        parts = grid.recognised[:, columns], grid.inferred[:, columns], answered
        made = _context(*parts, grid.person, options) if name in grid.tagged else absent
        rows += [{**grid.head, "context": name, **row} for row in made]
    return filled(RECOGNISED, rows)


def pearson(recognised: Flags, inferred: Codes) -> tuple[float, int, float, float]:
    """(X², df, p, Cramér's V) of R against the inferred genders that occur; NaN where one of them never varies."""
    table = _crossed(recognised, inferred)
    if table.shape[0] < 2 or table.shape[1] < 2:
        return math.nan, 0, math.nan, math.nan
    statistic, df = _statistic(table), table.shape[1] - 1
    return statistic, df, float(stats.chi2.sf(statistic, df)), math.sqrt(statistic / table.sum())


def _context(
    named: Flags, inferred: Codes, answered: Flags, person: NDArray[np.int64], options: ContextOptions
) -> list[dict[str, Any]]:
    """The rows of one context.  named, inferred, answered: (P, B).  person: (P,)."""
    rows = [_share(ALL, int(answered.sum()), int(named[answered].sum()))]
    for code in (1, 2, 0):
        keep = answered & (inferred == code)
        rows.append(_share(INFERRED[code], int(keep.sum()), int(named[keep].sum())))
    _, woman, man, neutral = rows
    n, count = woman["n"] + man["n"], woman["count"] + man["count"]
    if 0 < n < FEW:
        rows[0]["note"] = RARE
    else:
        _, _, p, v = pearson(named[answered], inferred[answered])
        rows[0] |= {"p": p, "v": v, "p_perm": _permutation_p(named, inferred, answered, person, options)}
    last = {**_share(DIFFERENCE, n, count), **dict.fromkeys(("share", "ci_low", "ci_high"), math.nan)}
    if n and neutral["n"]:
        low, high = newcombe(count, n, neutral["count"], neutral["n"])
        last |= {"share": count / n - neutral["share"], "ci_low": low, "ci_high": high}
    return [*rows, last]


def _share(given: str, n: int, count: int) -> dict[str, Any]:
    share = count / n if n else math.nan
    low, high = wilson(share, n)
    return {"given": given, "n": n, "count": count, "share": share, "ci_low": low, "ci_high": high}


def _crossed(recognised: Flags, inferred: Codes) -> Array:
    """Counts of R (2 rows) by inferred gender (3 columns), without empty rows and columns."""
    table = np.bincount(recognised.astype(np.int64) * 3 + inferred, minlength=6).reshape(2, 3).astype(float)
    return table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]


def _statistic(table: Array) -> float:
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def _permutation_p(
    named: Flags, inferred: Codes, answered: Flags, person: NDArray[np.int64], options: ContextOptions
) -> float:
    """P of X² when R is permuted: rows of a person stay together, people with the same pictures change places."""
    statistic, df, _, _ = pearson(named[answered], inferred[answered])
    if not df or not math.isfinite(statistic):
        return math.nan
    if len(np.unique(person)) == len(person) and answered.shape[1] == 1:
        return _permutation_p_of_counts(named[answered], inferred[answered], statistic, options)
    generator = np.random.default_rng([options.seed, 11])
    blocks = _blocks(answered, person)
    shuffled, hits, count = named.copy(), 0, min(options.permutations, 1999)
    for _ in range(count):
        for block in blocks:  # (people, photos of each): all of one shape and with the same pictures answered
            order = generator.permutation(len(block))
            shuffled[block.ravel()] = named[block[order].ravel()]
        hits += _statistic(_crossed(shuffled[answered], inferred[answered])) >= statistic - 1e-9
    return float(permutation_p(hits, count))


def _permutation_p_of_counts(named: Flags, inferred: Codes, statistic: float, options: ContextOptions) -> float:
    """With one picture a person, the permuted counts are draws from the multivariate hypergeometric distribution."""
    generator = np.random.default_rng([options.seed, 13])
    sizes = np.bincount(inferred, minlength=3)
    sizes = sizes[sizes > 0]
    hits = generator.multivariate_hypergeometric(sizes, int(named.sum()), options.permutations).astype(float)
    expected = np.stack([sizes * named.mean(), sizes * (1 - named.mean())])
    drawn = ((hits - expected[0]) ** 2 / expected[0] + (sizes - hits - expected[1]) ** 2 / expected[1]).sum(axis=1)
    return float(permutation_p(np.sum(drawn >= statistic - 1e-9), options.permutations))


def _blocks(answered: Flags, person: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """People whose answered pictures are the same: (people, photos) rows of each such block."""
    shapes: dict[bytes, list[NDArray[np.int64]]] = {}
    for one in np.unique(person):
        rows = np.flatnonzero(person == one)
        shapes.setdefault(answered[rows].tobytes(), []).append(rows)
    return [np.stack(rows) for rows in shapes.values()]
