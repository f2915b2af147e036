"""Whom a tagger infers, what it recognises, and whether it is right: RQ1 to RQ3, tables 7 to 9 of the paper."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import contingency

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.describe import ALL, GENDERS, INFERRED, Grid
from gslopes.contexts.measures.paired import (
    ALIKE,
    FEW,
    RARE,
    change_ends,
    exchanged,
    moves_of,
    noted,
    share_change,
    share_of,
    sums,
)
from gslopes.contexts.tables import filled
from gslopes.core.arrays import Array, Flags
from gslopes.core.tables import Row
from gslopes.stats.rounding import settled
from gslopes.stats.shares import difference_interval, independence_p

Codes = NDArray[np.int8]
CONGRUENT = {"feminine": "woman", "masculine": "man"}
NOT_APPLICABLE = "not applicable: the context has no tags"
LEAST = 0.1  # share of the pictures that an F1 needs; the paper's, Table 9


# -- RQ1: does it infer more women or men in a context?  Table 7, with what changes for whom --------------------------


def inferred_table(grid: Grid, labels: Mapping[str, str], options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``inferred`` table without q.

    Estimator: the share of answered pictures inferred woman, man, neutral; interval: see ``paired.share_of``.  Change:
    see ``paired.share_change``, over pairs of baseline and context.  labels: context to feminine, masculine or none;
    they decide the marks of the paper alone.
    """
    rows = [
        _inferred(grid, name, gender, code, labels.get(name, ""), options)
        for name in [*grid.baselines, *grid.names]
        for gender in [ALL, *grid.genders()]
        for code in (1, 2, 0)
    ]
    return filled("inferred", rows)


def _inferred(
    grid: Grid, name: str, gender: str, code: int, label: str, options: ContextOptions
) -> Row:
    inferred = INFERRED[code]
    columns = grid.of(name)
    asked = grid.answered[:, columns] & grid.of_gender(gender)[:, None]
    hits = (grid.inferred[:, columns] == code).astype(float)
    row: Row = {**grid.head, "context": name, "gender": gender, "inferred": inferred}
    row |= share_of(
        *(sums(part, asked, grid.person, grid.people) for part in (hits, np.ones(asked.shape)))
    )
    if name in grid.baselines or options.baseline not in grid.baselines:
        return row
    start = grid.of(options.baseline)
    keep = asked & grid.answered[:, start]
    before = np.broadcast_to(grid.inferred[:, start] == code, keep.shape).astype(float)
    base = grid.inferred[:, start][grid.answered[:, start] & grid.of_gender(gender)[:, None]]
    rises = bool(row["n"] and len(base)) and bool(row["share"] > (base == code).mean())
    row["congruent_rise"] = rises and CONGRUENT.get(label) == inferred
    moved = share_change(before, hits, keep, grid.person, options)
    return {**row, **moved, "note": noted(row["note"], moved["note"])}


# -- RQ2: does it name the context independently of the gender that it infers?  Table 8 -------------------------------


def recognised_table(grid: Grid) -> pd.DataFrame:
    """Rows of the ``recognised`` table without q: Pr(R) and Pr(R | inferred).

    Estimator: shares, see ``paired.share_of``.  Null hypothesis of the test, in the row of all: whether the context is
    named does not depend on the inferred gender (Pearson's X² without continuity correction; Rao and Scott's correction
    where people have several pictures).  v is Cramér's.
    """
    rows: list[Row] = []
    for name in grid.names:
        columns = grid.of(name)
        answered = grid.answered[:, columns]
        named = grid.recognised[:, columns]
        inferred = grid.inferred[:, columns]
        head = {**grid.head, "context": name}
        if name not in grid.tagged:
            rows.append(
                {
                    **head,
                    "given": ALL,
                    "n": int(answered.sum()),
                    "share": math.nan,
                    "note": NOT_APPLICABLE,
                }
            )
            continue
        given = {
            ALL: answered,
            **{INFERRED[code]: answered & (inferred == code) for code in (1, 2, 0)},
        }
        parts: tuple[Array, Array] = named.astype(float), np.ones(named.shape)
        shares = {
            word: share_of(*(sums(part, keep, grid.person, grid.people) for part in parts))
            for word, keep in given.items()
        }
        if 0 < shares["woman"]["n"] + shares["man"]["n"] < FEW:
            shares[ALL]["note"] = noted(shares[ALL]["note"], "a gender is inferred of too few")
        else:
            person = grid.person[np.nonzero(answered)[0]]
            shares[ALL]["p"] = independence_p(named[answered], inferred[answered], person)
            shares[ALL]["v"] = cramers_v(named[answered], inferred[answered])
        rows += [{**head, "given": word, **row} for word, row in shares.items()]
    return filled("recognised", rows)


def cramers_v(recognised: Flags, inferred: Codes) -> float:
    """Cramér's V of R and the inferred genders that occur; NaN where one of them never varies."""
    table = pd.crosstab(recognised, inferred).to_numpy()
    if min(table.shape) > 1:
        return float(contingency.association(table))
    return math.nan


# -- RQ3: is the inferred gender more often the self-reported one in a congruent context?  Table 9 --------------------


def f1(tp: Any, fp: Any, fn: Any) -> Any:
    """F1 of counts, numbers or arrays; 0 if nothing was right, NaN where all three are 0.

    >>> f1(80, 5, 20)
    0.8648648648648649
    """
    total = 2 * np.asarray(tp, float) + fp + fn
    result = np.divide(
        2.0 * np.asarray(tp, float), total, out=np.full(np.shape(total), np.nan), where=total > 0
    )
    if result.ndim == 0:
        return float(result)
    return result


def accuracy_table(
    grid: Grid, options: ContextOptions, labels: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Rows of the ``accuracy`` table without q: F1 of each gender against self-report, at baselines and in contexts.

    A neutral answer is a miss; people of other genders are in no F1.  In contexts it is over pictures whose context was
    recognised, and NaN for both genders where less than ``LEAST`` were, as in the paper.  Interval: ``share_of`` of F1
    as the share 2 tp of 2 tp + fp + fn; of its change, Newcombe's for two shares of the same people.  ``rooms``: as
    ``over_rooms``.  Change: against the baseline over the same pictures, so that it is no gain of selection; null
    hypothesis: each person's two answers are exchangeable; p by exchanging them.  A change of fewer than ten people is
    not judged.

    labels: context to feminine, masculine or none; they decide the marks of the paper alone.
    """
    genders = [gender for gender in GENDERS if gender in grid.genders()]
    rows = [
        _accuracy(grid, name, gender, options)
        for name in [*grid.baselines, *grid.names]
        for gender in genders
    ]
    base = {row["gender"]: row["f1"] for row in rows if row["context"] == options.baseline}
    for row in rows:
        congruent = CONGRUENT.get((labels or {}).get(row["context"], "")) == row["gender"]
        row["congruent_rise"] = congruent and bool(row["f1"] > base.get(row["gender"], math.nan))
    return filled("accuracy", rows)


def _hits(inferred: Codes, keep: Flags, grid: Grid, gender: str) -> list[Array]:
    """(U, B) each: true positives, false positives and false negatives of a person.  inferred, keep: (P, B)."""
    own = (grid.gender == gender)[:, None]
    either = np.isin(grid.gender, GENDERS)[:, None]
    called = inferred == INFERRED.index(gender)
    parts = (own & called, either & ~own & called, own & ~called)
    return [sums(part.astype(float), keep, grid.person, grid.people) for part in parts]


def _as_share(tp: Array, fp: Array, fn: Array) -> tuple[Array, Array]:
    """F1 as a share, 2 tp of 2 tp + fp + fn."""
    return 2 * tp, 2 * tp + fp + fn


def _counted(grid: Grid, name: str) -> tuple[Flags, str]:
    """(P, B) pictures that count in a context, and why none does, or why there is no restriction."""
    columns = grid.of(name)
    answered = grid.answered[:, columns]
    if name in grid.baselines:
        return answered, ""
    if name not in grid.tagged:
        return answered, "over all pictures: the context has no tags"
    named = answered & grid.recognised[:, columns]
    if answered.sum() and (share := named.sum() / answered.sum()) < LEAST:
        return np.zeros_like(named), f"recognised in {share:.1%} of the pictures, under {LEAST:.0%}"
    return named, ""


def _accuracy(grid: Grid, name: str, gender: str, options: ContextOptions) -> Row:
    columns = grid.of(name)
    keep, note = _counted(grid, name)
    n = int((keep & np.isin(grid.gender, GENDERS)[:, None]).sum())
    row = {**grid.head, "context": name, "gender": gender, "n": n, "f1": math.nan, "note": note}
    if not keep.any():
        return row
    parts = _hits(grid.inferred[:, columns], keep, grid, gender)
    tp, fp, fn = (int(part.sum()) for part in parts)
    about = share_of(*_as_share(*parts))
    row |= {"tp": tp, "fp": fp, "fn": fn, "f1": f1(tp, fp, fn), "note": noted(note, about["note"])}
    row |= {name: about[name] for name in ("ci_low", "ci_high", "rooms_low", "rooms_high")}
    if name in grid.baselines or options.baseline not in grid.baselines:
        return row
    start = grid.of(options.baseline)
    both = keep & grid.answered[:, start]
    before = _hits(np.broadcast_to(grid.inferred[:, start], both.shape), both, grid, gender)
    after = _hits(grid.inferred[:, columns], both, grid, gender)
    (top, photos), (base, others) = _as_share(*after), _as_share(*before)
    one = moves_of(top, photos)
    other = moves_of(base, others)
    moves = settled(one - other, np.abs(one) + np.abs(other))
    before, after = ([part.sum(axis=1) for part in side] for side in (before, after))
    discordant = np.any(
        [first != second for first, second in zip(before, after, strict=True)], axis=0
    ).sum()
    rare = bool(discordant < FEW)
    ends = (
        difference_interval(_as_share(*after), _as_share(*before))
        if discordant
        else (math.nan, math.nan)
    )
    change = f1(*(part.sum() for part in after)) - f1(*(part.sum() for part in before))
    return {
        **row,
        **change_ends(change, moves, photos + others, ends, rare=rare),
        "paired_change": change,
        "p": math.nan if rare else exchanged(f1, before, after, options.permutations, options.seed),
        "note": noted(str(row["note"]), RARE * rare, ALIKE * (not discordant)),
    }
