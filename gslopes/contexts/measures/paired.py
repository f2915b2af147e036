"""By person: intervals, exact and permutation tests of shares and of changes between two pictures of the same people.

A *unit* is a person with all photos.  Sums over a unit's pictures are (U, B): B backgrounds of a context, 1 at least.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from gslopes.contexts.config import ContextOptions
from gslopes.stats.clusters import Source, clustered_ratio, crossed
from gslopes.stats.intervals import Estimate
from gslopes.stats.permutation import permutation_p, random_signs
from gslopes.stats.shares import share_interval

Array = NDArray[np.float64]
RARE = "too rare to judge"
ALIKE = "no interval: the same for everybody"
FEW = 10  # discordant people, or people inferred, under which there is no test


def sums(values: Array, keep: NDArray[np.bool_], person: NDArray[np.int64], people: int) -> Array:
    """(U, B) sums of values over each person's photos.  values, keep: (P, B).  person: (P,) codes."""
    result = np.zeros((people, values.shape[1]))
    np.add.at(result, person, np.where(keep, values, 0))
    return result


def share_of(hits: Array, photos: Array) -> dict[str, Any]:
    """n, count, share, its 95 % intervals and a note, as the tables name them.  hits, photos: (U, B) sums.

    ci: by Wilson for people before these rooms, several pictures of a person by a design effect; rooms: for other rooms
    of such contexts as well, NaN with one room.
    """
    n, count = int(photos.sum()), int(hits.sum())
    low, high = share_interval(hits.sum(axis=1), photos.sum(axis=1))
    under, over, _ = over_rooms(hits, photos, clustered_ratio(hits.sum(axis=1), photos.sum(axis=1)), (low, high))
    row = {"n": n, "count": count, "share": count / n if n else math.nan, "ci_low": low, "ci_high": high}
    row |= {"rooms_low": float(np.maximum(under, 0)), "rooms_high": float(np.minimum(over, 1))}
    return {**row, "note": ALIKE * bool(n and math.isnan(low))}


def over_rooms(top: Array, bottom: Array, people: Estimate, ends: tuple[float, float]) -> tuple[float, float, float]:
    """(low, high, p) of a ratio of sums, for people and rooms as samples of both; NaN with one room.

    top, bottom: (U, B).  people, ends: the ratio over people before these rooms, and its interval.
    """
    shown = int((bottom.sum(axis=0) > 0).sum())
    if shown < 2:
        return math.nan, math.nan, math.nan
    rooms = clustered_ratio(top.sum(axis=0), bottom.sum(axis=0))
    units = int((bottom.sum(axis=1) > 0).sum())
    return crossed(people.value, ends, Source(people.se, units - 1), Source(rooms.se, shown - 1))


def share_change(
    before: Array,
    after: Array,
    keep: NDArray[np.bool_],
    person: NDArray[np.int64],
    options: ContextOptions,
) -> dict[str, Any]:
    """How much a share moves between two pictures of the same photos, over pairs that were both answered.

    Null hypothesis: each person's two answers before these rooms are exchangeable.  p: exact McNemar (binomial on the
    discordant pairs) where every person is one pair, else sign flips by person.  Interval: t over people.  Those of
    ``rooms``, where there are several: as ``over_rooms``; the null hypothesis is then that rooms of such contexts
    change nothing on average.  Fewer than ten discordant people have no p.

    before, after, keep: (P, B) of 0 and 1.  person: (P,) codes.

    Returns change, change_low, change_high, discordant, p, the three of rooms and note, as the ``inferred`` table.
    """
    people = int(person.max()) + 1 if len(person) else 0
    difference, changed, pairs = (
        sums(values, keep, person, people) for values in (after - before, np.abs(after - before), np.ones_like(before))
    )
    by_unit = difference.sum(axis=1)
    found = clustered_ratio(by_unit, pairs.sum(axis=1))
    low, high, p_rooms = over_rooms(difference, pairs, found, (found.low, found.high))
    discordant = int((changed.sum(axis=1) > 0).sum())
    rare = discordant < FEW
    if rare:
        p = p_rooms = math.nan
    elif pairs.sum(axis=1).max() == 1:
        p = mcnemar(int((by_unit > 0).sum()), int((by_unit < 0).sum()))
    else:
        p = sign_flips(by_unit, options.permutations, options.seed)
    row = {"change": found.value, "discordant": discordant, "p": p, "p_rooms": p_rooms}
    names = ("change_low", "change_high", "change_rooms_low", "change_rooms_high")
    row |= dict(zip(names, np.clip((found.low, found.high, low, high), -1, 1).tolist(), strict=True))
    return {**row, "note": noted(RARE * rare, ALIKE * (found.se == 0))}


def noted(*notes: str) -> str:
    """The notes that there are, each once, in one text."""
    return "; ".join(dict.fromkeys(filter(None, notes)))


def mcnemar(up: int, down: int) -> float:
    """Exact two-sided p of McNemar's test: binomial on the discordant pairs; 1 if there is none.

    Source: McNemar 1947, doi 10.1007/BF02295996.

    >>> mcnemar(12, 3)
    0.03515625
    """
    return float(stats.binomtest(up, up + down).pvalue) if up + down else 1.0


def sign_flips(differences: Array, permutations: int, seed: int) -> float:
    """Two-sided p of a sum of differences by flipping the sign of whole people.  differences: (U,)."""
    observed = abs(float(differences.sum()))
    moving = differences[differences != 0]
    flipped = np.abs(_signs(len(moving), permutations, seed) @ moving)
    return float(permutation_p(np.sum(flipped >= observed - 1e-9), permutations))


def exchanged(
    statistic: Callable[..., Array], before: Sequence[Array], after: Sequence[Array], permutations: int, seed: int
) -> float:
    """Two-sided p of statistic(after) - statistic(before) by exchanging the two answers of whole people.

    before, after: (U,) sums of each unit, one array for each argument of the statistic.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = float(statistic(*[one.sum() for one in after]) - statistic(*[one.sum() for one in before]))
        moving = np.any([one != other for one, other in zip(before, after, strict=True)], axis=0)
        swap = (_signs(int(moving.sum()), permutations, seed) < 0).astype(np.float64)
        first, second = [], []
        for one, other in zip(before, after, strict=True):
            exchanged = swap @ (one - other)[moving]
            first.append(one.sum() - exchanged)
            second.append(other.sum() + exchanged)
        drawn = np.asarray(statistic(*second) - statistic(*first))
    if not math.isfinite(observed):
        return math.nan
    return float(permutation_p(np.sum(np.abs(drawn) >= abs(observed) - 1e-9), permutations))


@lru_cache(maxsize=16)
def _signs(units: int, permutations: int, seed: int) -> NDArray[np.float32]:
    return random_signs((permutations, units), np.random.default_rng([seed, units, 7]))
