"""RQ2: does a tagger name the context independently of the gender that it infers?  Table 8 of the paper."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.grid import ALL, INFERRED, Grid
from gslopes.contexts.measures.paired import ALIKE, FEW, RARE, noted, share_of, sums
from gslopes.contexts.tables import filled
from gslopes.stats.permutation import permutation_p
from gslopes.stats.shares import difference_interval, independence_p

NOT_APPLICABLE = "not applicable: the context has no tags"
DIFFERENCE = "gendered - neutral"
Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int8]


def recognised_table(grid: Grid, options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``recognised`` table without q: Pr(R), Pr(R | inferred), and their difference.

    Estimator: shares, see ``paired.share_of``; the difference gendered minus neutral with Newcombe's interval, several
    pictures of a person by a design effect.  Null hypothesis of the test, in the row of all: whether the context is
    named does not depend on the inferred gender (Pearson's X² without continuity correction, with Rao and Scott's
    where people have several pictures; ``p_perm`` by permuting R over people within each background).  v is Cramér's.
    """
    rows: list[dict[str, Any]] = []
    for name in grid.names:
        columns = grid.of(name)
        answered = grid.answered[:, columns]
        absent = [{"given": ALL, "n": int(answered.sum()), "share": math.nan, "note": NOT_APPLICABLE}]
        parts = grid.recognised[:, columns], grid.inferred[:, columns], answered
        made = (
            _context(*parts, grid.person, options, partial(grid.pooled, context=name))
            if name in grid.tagged
            else absent
        )
        rows += [{**grid.head, "context": name, **row} for row in made]
    return filled("recognised", rows)


def pearson(recognised: Flags, inferred: Codes) -> tuple[float, int, float, float]:
    """(X², df, p, Cramér's V) of R against the inferred genders that occur; NaN where one of them never varies."""
    table = _crossed(recognised, inferred)
    if table.shape[0] < 2 or table.shape[1] < 2:
        return math.nan, 0, math.nan, math.nan
    statistic, df = _statistic(table), table.shape[1] - 1
    return statistic, df, float(stats.chi2.sf(statistic, df)), math.sqrt(statistic / table.sum())


def _context(
    named: Flags,
    inferred: Codes,
    answered: Flags,
    person: NDArray[np.int64],
    options: ContextOptions,
    pooled: Callable[[Array], Array],
) -> list[dict[str, Any]]:
    """The rows of one context.  named, inferred, answered: (P, B).  person: (P,).  pooled: as in ``share_change``."""
    keeps = {ALL: answered, **{INFERRED[code]: answered & (inferred == code) for code in (1, 2, 0)}}
    keeps[DIFFERENCE] = answered & (inferred != 0)
    people = int(person.max()) + 1
    hits, photos = (
        {given: sums(part, keep, person, people) for given, keep in keeps.items()}
        for part in (named.astype(float), np.ones(named.shape))
    )
    rows = [{"given": given, **share_of(pooled(hits[given]), pooled(photos[given]))} for given in keeps]
    n = rows[-1]["n"]
    if 0 < n < FEW:
        rows[0]["note"] = noted(rows[0]["note"], RARE)
    else:
        photo = np.nonzero(answered)[0]
        p = independence_p(named[answered], inferred[answered], person[photo])
        v = pearson(named[answered], inferred[answered])[3]
        rows[0] |= {"p": p, "v": v, "p_perm": _permutation_p(named, inferred, answered, person, options)}
    missing = dict.fromkeys(("share", "ci_low", "ci_high", "rooms_low", "rooms_high"), math.nan)
    gendered, neutral = ((hits[one].sum(axis=1), photos[one].sum(axis=1)) for one in (DIFFERENCE, INFERRED[0]))
    if n and rows[-2]["n"]:
        missing["share"] = rows[-1]["share"] - rows[-2]["share"]
        missing["ci_low"], missing["ci_high"] = difference_interval(gendered, neutral)
    note = ALIKE * (math.isfinite(missing["share"]) and math.isnan(missing["ci_low"]))
    return [*rows[:-1], {**rows[-1], **missing, "note": note}]


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
