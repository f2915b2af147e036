"""RQ2: does a tagger name the context independently of the gender that it infers?  Table 8 of the paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from gslopes.contexts.measures.grid import ALL, INFERRED, Grid
from gslopes.contexts.measures.paired import FEW, RARE
from gslopes.contexts.options import ContextOptions
from gslopes.stats.proportions import wilson

NOT_APPLICABLE = "not applicable: the context has no tags"
DIFFERENCE = "gendered - neutral"
Array = NDArray[np.float64]


def recognised_table(grid: Grid, options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``recognised`` table without q: Pr(R), Pr(R | inferred), and their difference.

    Estimator: shares with Wilson's interval; the difference gendered minus neutral with Newcombe's.  Null hypothesis of
    the test, in the row of all: whether the context is named does not depend on the inferred gender (Pearson's X²
    without correction; ``p_perm`` by dealing R anew to people within each background).  v is Cramér's.
    """
    rows = []
    for name in grid.names:
        rows += _context(grid, name, options) if name in grid.tagged else [_absent(grid, name)]
    return pd.DataFrame(rows)


def pearson(recognised: NDArray[np.bool_], inferred: NDArray[np.int8]) -> tuple[float, int, float, float]:
    """(X², df, p, Cramér's V) of R against the inferred genders that occur; NaN where one of them never varies."""
    table = _crossed(recognised, inferred)
    if table.shape[0] < 2 or table.shape[1] < 2:
        return math.nan, 0, math.nan, math.nan
    statistic = _statistic(table)
    df = table.shape[1] - 1
    return statistic, df, float(stats.chi2.sf(statistic, df)), math.sqrt(statistic / table.sum())


def newcombe(first: tuple[int, int], second: tuple[int, int]) -> tuple[float, float, float]:
    """(difference, low, high) of two independent shares, (count, n) each.

    Source: Newcombe 1998, doi 10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I, method 10.
    """
    if not first[1] or not second[1]:
        return math.nan, math.nan, math.nan
    one, other = first[0] / first[1], second[0] / second[1]
    (low, high), (least, most) = wilson(one, first[1]), wilson(other, second[1])
    below = math.sqrt((one - low) ** 2 + (most - other) ** 2)
    above = math.sqrt((high - one) ** 2 + (other - least) ** 2)
    return one - other, one - other - below, one - other + above


def _context(grid: Grid, name: str, options: ContextOptions) -> list[dict[str, Any]]:
    columns = grid.of(name)
    there = grid.answered[:, columns]
    named, inferred = grid.recognised[:, columns], grid.inferred[:, columns]
    rows = []
    for code, given in ((None, ALL), *((code, INFERRED[code]) for code in (1, 2, 0))):
        keep = there if code is None else there & (inferred == code)
        rows.append(_share(grid, name, given, int(keep.sum()), int(named[keep].sum())))
    _, _, p, v = pearson(named[there], inferred[there])
    gendered = int((inferred[there] > 0).sum())
    if 0 < gendered < FEW:
        rows[0]["note"] = RARE
    else:
        rows[0] |= {"p": p, "v": v, "p_perm": _permuted(named, inferred, there, grid.person, options)}
    by_given = {row["given"]: row for row in rows}
    pair = (
        (by_given["woman"]["count"] + by_given["man"]["count"], by_given["woman"]["n"] + by_given["man"]["n"]),
        (by_given["neutral"]["count"], by_given["neutral"]["n"]),
    )
    difference, low, high = newcombe(*pair)
    last = _share(grid, name, DIFFERENCE, pair[0][1] + pair[1][1], pair[0][0] + pair[1][0])
    return [*rows, {**last, "share": difference, "ci_low": low, "ci_high": high}]


def _share(grid: Grid, name: str, given: str, n: int, count: int, note: str = "") -> dict[str, Any]:
    share = count / n if n else math.nan
    low, high = wilson(share, n)
    return {
        "classifier": grid.classifier,
        "context": name,
        "tags": grid.tags,
        "given": given,
        "n": n,
        "count": count,
        "share": share,
        "ci_low": low,
        "ci_high": high,
        "p": math.nan,
        "p_perm": math.nan,
        "v": math.nan,
        "note": note,
    }


def _absent(grid: Grid, name: str) -> dict[str, Any]:
    row = _share(grid, name, ALL, 0, 0, NOT_APPLICABLE)
    return {**row, "n": int(grid.answered[:, grid.of(name)].sum())}


def _crossed(recognised: NDArray[np.bool_], inferred: NDArray[np.int8]) -> Array:
    """Counts of R (2 rows) by inferred gender (3 columns), without empty rows and columns."""
    table = np.bincount(recognised.astype(np.int64) * 3 + inferred, minlength=6).reshape(2, 3).astype(float)
    return table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]


def _statistic(table: Array) -> float:
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def _permuted(
    named: NDArray[np.bool_],
    inferred: NDArray[np.int8],
    there: NDArray[np.bool_],
    person: NDArray[np.int64],
    options: ContextOptions,
) -> float:
    """P of X² when R is dealt anew: rows of a person stay together, people with the same pictures change places."""
    statistic, df, _, _ = pearson(named[there], inferred[there])
    if not df or not math.isfinite(statistic):
        return math.nan
    if len(np.unique(person)) == len(person) and there.shape[1] == 1:
        return _dealt_by_count(named[there], inferred[there], statistic, options)
    generator = np.random.default_rng([options.seed, 11])
    blocks = _blocks(there, person)
    shuffled, hits, count = named.copy(), 0, min(options.permutations, 1999)
    for _ in range(count):
        for block in blocks:  # (people, photos of each): all of one shape and with the same pictures answered
            order = generator.permutation(len(block))
            shuffled[block.ravel()] = named[block[order].ravel()]
        hits += _statistic(_crossed(shuffled[there], inferred[there])) >= statistic - 1e-9
    return (1 + hits) / (count + 1)


def _dealt_by_count(
    named: NDArray[np.bool_], inferred: NDArray[np.int8], statistic: float, options: ContextOptions
) -> float:
    """One picture a person: dealing R anew draws counts from the multivariate hypergeometric distribution."""
    generator = np.random.default_rng([options.seed, 13])
    sizes = np.bincount(inferred, minlength=3)
    sizes = sizes[sizes > 0]
    hits = generator.multivariate_hypergeometric(sizes, int(named.sum()), options.permutations).astype(float)
    share = named.mean()
    expected = np.stack([sizes * share, sizes * (1 - share)])
    drawn = ((hits - expected[0]) ** 2 / expected[0] + (sizes - hits - expected[1]) ** 2 / expected[1]).sum(axis=1)
    return float((1 + np.sum(drawn >= statistic - 1e-9)) / (options.permutations + 1))


def _blocks(there: NDArray[np.bool_], person: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    shapes: dict[bytes, list[NDArray[np.int64]]] = {}
    for one in np.unique(person):
        rows = np.flatnonzero(person == one)
        shapes.setdefault(there[rows].tobytes(), []).append(rows)
    return [np.stack(rows) for rows in shapes.values()]
