"""By person: intervals and tests of shares, of means, and of changes between two pictures of the same people.

A *unit* is a person with all photos.  Sums over a unit's pictures are (U, B): B backgrounds of a context, 1 at least.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from gslopes.contexts.config import ContextOptions
from gslopes.core.arrays import Array, Flags, Integers
from gslopes.core.tables import Row
from gslopes.stats.clusters import Source, crossed
from gslopes.stats.contrast import Units, contrast, difference
from gslopes.stats.intervals import linearised, mean_t
from gslopes.stats.permutation import as_extreme, permutation_p
from gslopes.stats.resampling import random_signs
from gslopes.stats.rounding import levelled, settled
from gslopes.stats.shares import share_interval

RARE = "too few people change their answer"
ALIKE = "no interval: the same for everybody"
FEW = 10  # discordant people, or people inferred, under which there is no test


def noted(*notes: str) -> str:
    """The notes that are not empty, each once, in one text."""
    return "; ".join(dict.fromkeys(filter(None, notes)))


# -- shares -----------------------------------------------------------------------------------------------------------


def sums(values: Array, keep: Flags, person: Integers, people: int) -> Array:
    """(U, B) sums of values over each person's photos.  values, keep: (P, B).  person: (P,) codes."""
    result = np.zeros((people, values.shape[1]))
    np.add.at(result, person, np.where(keep, values, 0))
    return result


def share_of(hits: Array, photos: Array) -> Row:
    """n, count, share, its 95 % intervals and a note, as the tables name them.  hits, photos: (U, B) sums.

    ci: by Wilson for people before these rooms, several pictures of a person by a design effect; rooms: for other rooms
    of such contexts as well, NaN with one room.
    """
    n = int(photos.sum())
    count = int(hits.sum())
    low, high = share_interval(hits.sum(axis=1), photos.sum(axis=1))
    share = count / n if n else math.nan
    under, over, _ = over_rooms(share, moves_of(hits, photos), photos, (low, high))
    row = {"n": n, "count": count, "share": share, "ci_low": low, "ci_high": high}
    row |= {"rooms_low": float(np.maximum(under, 0)), "rooms_high": float(np.minimum(over, 1))}
    return {**row, "note": ALIKE * bool(n and math.isnan(low))}


def moves_of(top: Array, bottom: Array) -> Array:
    """(U, B) by how much each person before each room moves the ratio of two sums, near what it is; they sum to 0."""
    total = max(float(bottom.sum()), 1.0)
    return settled(top - float(top.sum()) / total * bottom, bottom) / total


def over_rooms(
    value: float, moves: Array, photos: Array, ends: tuple[float, float]
) -> tuple[float, float, float]:
    """(low, high, p) of a number, for people and rooms as samples of both; NaN with one room or one person.

    moves, photos: (U, B), as of ``moves_of``; those with photos count.  ends: the interval over people before these
    rooms.
    """
    seen = [photos.sum(axis=axis) > 0 for axis in (1, 0)]
    found = [
        linearised(value, moves.sum(axis=axis)[some], np.abs(moves).sum(axis=axis)[some])
        for axis, some in zip((1, 0), seen, strict=True)
    ]
    people, rooms = (
        Source(one.se, int(some.sum()) - 1) for one, some in zip(found, seen, strict=True)
    )
    return crossed(value, ends, people, rooms)


def share_change(
    before: Array,
    after: Array,
    keep: Flags,
    person: Integers,
    options: ContextOptions,
) -> Row:
    """How much a share moves between two pictures of the same photos, over pairs that were both answered.

    Null hypothesis: each person's change before these rooms is as likely with the other sign; p by changes of signs.
    Interval: t over people.  Those of ``rooms``, where there are several: as ``over_rooms``; the null hypothesis is
    then that rooms of such contexts change nothing on average.  Fewer than ten discordant people are not judged: they
    have neither p nor interval.

    before, after, keep: (P, B) of 0 and 1.  person: (P,) codes.

    Returns change, change_low, change_high, discordant, p, the three of rooms and note, as the ``inferred`` table.
    """
    people = int(person.max()) + 1 if len(person) else 0
    moved, changed, pairs = (
        sums(values, keep, person, people)
        for values in (after - before, np.abs(after - before), np.ones_like(before))
    )
    asked = pairs.sum(axis=1) > 0
    discordant = int((changed.sum(axis=1) > 0).sum())
    rare = discordant < FEW
    units = Units(sparse.csr_array(moved.sum(axis=1)[None, asked]), pairs.sum(axis=1)[asked])
    mean = contrast(units, permutations=0 if rare else options.permutations, seed=options.seed)
    alike = bool(asked.sum() > 1 and not mean.se[0] > 0)
    value = float(mean.difference[0]) if asked.any() else math.nan
    row = {"change": value, "discordant": discordant, "p": float(mean.p_perm[0])}
    row |= change_ends(
        value, moves_of(moved, pairs), pairs, (float(mean.low[0]), float(mean.high[0])), rare=rare
    )
    return {**row, "note": noted(RARE * rare, ALIKE * alike)}


def change_ends(
    value: float, moves: Array, photos: Array, ends: tuple[float, float], *, rare: bool
) -> dict[str, float]:
    """The intervals of a change, as the tables name them, and ``p_rooms``; NaN where it is too rare to judge.

    moves, photos, ends: as of ``over_rooms``.
    """
    low, high, p_rooms = over_rooms(value, moves, photos, ends)
    numbers = [*np.clip((*ends, low, high), -1, 1).tolist(), p_rooms]
    names = ("change_low", "change_high", "change_rooms_low", "change_rooms_high", "p_rooms")
    return dict(zip(names, [math.nan] * 5 if rare else numbers, strict=True))


def exchanged(
    statistic: Callable[..., Array],
    before: Sequence[Array],
    after: Sequence[Array],
    permutations: int,
    seed: int,
) -> float:
    """Two-sided p of statistic(after) - statistic(before) by exchanging the two answers of whole people.

    before, after: (U,) sums of each unit, one array for each argument of the statistic.
    """
    moves = [other - one for one, other in zip(before, after, strict=True)]
    moving = np.any(moves, axis=0)
    signs = random_signs(
        (permutations, int(moving.sum())), np.random.default_rng([seed, int(moving.sum()), 7])
    )
    signs = np.concatenate(
        [np.ones((1, signs.shape[1]), np.float32), signs]
    )  # the first is what was observed
    middles = [(one.sum() + other.sum()) / 2 for one, other in zip(before, after, strict=True)]
    halves = [signs @ move[moving] / 2 for move in moves]
    first, second = (
        statistic(*(middle + side * half for middle, half in zip(middles, halves, strict=True)))
        for side in (-1, 1)
    )
    changes = np.abs(np.asarray(second - first))
    if not math.isfinite(changes[0]):
        return math.nan
    limit = as_extreme(changes[0], float(np.nanstd(changes)))
    return float(permutation_p(np.sum(changes[1:] >= limit), permutations))


# -- means ------------------------------------------------------------------------------------------------------------


def welch(one: Array, other: Array) -> dict[str, float]:
    """Two groups by ``stats.contrast.difference``: difference, se, t, df, ci_low, ci_high and p; NaN ones are left out.

    All are NaN under two numbers in either group, or where none varies.
    """
    first, second = (mean_t(levelled(values)) for values in (one, other))
    n, m = (int(np.isfinite(values).sum()) for values in (one, other))
    names = ("difference", "se", "t", "df", "ci_low", "ci_high", "p")
    gap, df = difference(
        (np.array([first.value]), np.array([first.se]), n),
        (np.array([second.value]), np.array([second.se]), m),
    )
    if not gap.se > 0:
        return dict.fromkeys(names, math.nan)
    numbers = (gap.difference, gap.se, gap.difference / gap.se, df, gap.low, gap.high, gap.p)
    return {name: float(number[0]) for name, number in zip(names, numbers, strict=True)}
