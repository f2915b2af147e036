"""By person: intervals and tests of shares, of means, and of changes between two pictures of the same people.

A *unit* is a person with all photos.  Sums over a unit's pictures are (U, B): B backgrounds of a context, 1 at least.
"""

from collections.abc import Callable, Sequence
from math import inf, isfinite, isnan, nan

import numpy as np

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.describe import sums
from gslopes.core import Row
from gslopes.core.records import Array, Flags, Integers, Interval
from gslopes.core.tables import ends
from gslopes.stats import contrast, permutation, resampling, rounding, shares
from gslopes.stats.clusters import Source, clustered_ratio, crossed
from gslopes.stats.intervals import Bounds, linearised, mean_t

RARE = "too few people change their answer"
ALIKE = "no interval: the same for everybody"
FEW = 10  # people, discordant people, or people inferred, of whom fewer are not judged
TOO_FEW = f"fewer than {FEW} people"
UNJUDGED = dict.fromkeys(("ci_low", "ci_high", "p"), nan)
LEAST = 5  # people whom an interval needs
ALONE = f"no interval: fewer than {LEAST} people"


def noted(*notes: str) -> str:
    """The notes that are not empty, each once, in one text."""
    return "; ".join(dict.fromkeys(filter(None, notes)))


# -- shares -----------------------------------------------------------------------------------------------------------


def share_of(hits: Array, photos: Array) -> Row:
    """n, count, share, its 95 % intervals and a note, as the tables name them.  hits, photos: (U, B) sums.

    ci: by Wilson for people before these rooms, several pictures of a person by a design effect, of ``LEAST`` people or
    more; rooms: for other rooms of such contexts as well, NaN with one room.
    """
    n = int(photos.sum())
    count = int(hits.sum())
    share = count / (n or nan)
    low, high = shares.share_interval(hits.sum(1), photos.sum(1))
    note = ALIKE * bool(n and isnan(low))
    if 0 < photos.any(1).sum() < LEAST:
        low = high = nan
        note = ALONE
    *rooms, _ = over_rooms(share, moves_of(hits, photos), photos, (low, high), (0, 1))
    row: Row = {"n": n, "count": count, "share": share, "note": note}
    return row | ends((low, high)) | ends(rooms, "rooms")


def moves_of(top: Array, bottom: Array) -> Array:
    """(U, B) by how much each person before each room moves the ratio of two sums, to first order; they sum to 0."""
    total = max(float(bottom.sum()), 1.0)
    return rounding.settled(top - float(top.sum()) / total * bottom, bottom) / total


def over_rooms(
    value: float, moves: Array, photos: Array, interval: Interval, bounds: Bounds
) -> tuple[float, float, float]:
    """(low, high, p) of a number, for people and rooms as samples of both; NaN with one room or one person.

    moves, photos: (U, B), as of ``moves_of``; those with photos count.  interval: over people before these rooms.
    bounds: of the number.
    """
    sources = []
    for axis in (1, 0):  # people, then rooms
        counted = photos.sum(axis) > 0
        moved = moves.sum(axis)[counted]
        size = abs(moves).sum(axis)[counted]
        sources.append(Source(linearised(value, moved, size).se, len(moved) - 1))
    people, rooms = sources
    return crossed(value, interval, people, rooms, bounds)


def share_change(
    before: Array,
    after: Array,
    keep: Flags,
    person: Integers,
    options: ContextOptions,
) -> Row:
    """How much a share moves between two pictures of the same photos, over pairs that were both answered.

    Null hypothesis: each person's change before these rooms is as likely with the other sign; p by changes of signs.
    Interval: t over people.  With several rooms, ``rooms`` is as ``over_rooms``; the null hypothesis is
    then that rooms of such contexts change nothing on average.  Fewer than ten discordant people are not judged: they
    have neither p nor interval.

    before, after, keep: (P, B) of 0 and 1.  person: (P,) codes.

    Returns change, change_low, change_high, discordant, p, the three of rooms and note, as the ``inferred`` table.
    """
    hits, hits_before, pairs = (sums(part * keep, person) for part in (after, before, keep))
    moved = hits - hits_before
    mean = clustered_ratio(moved.sum(1), pairs.sum(1), (-1, 1))
    discordant = int((sums((after != before) & keep, person) > 0).any(1).sum())
    rare = discordant < FEW
    row: Row = {
        "change": mean.value,
        "discordant": discordant,
        "note": noted(RARE * rare, ALIKE * (mean.se == 0)),
        **ends((nan, nan), "change"),
    }
    if not rare:
        row |= change_ends(mean.value, moves_of(moved, pairs), pairs, mean[2:4])
        start, end = ([part.sum(1), pairs.sum(1)] for part in (hits_before, hits))
        row["p"] = exchanged(np.divide, start, end, options.permutations, options.seed)
    return row


def change_ends(value: float, moves: Array, photos: Array, interval: Interval) -> dict[str, float]:
    """The intervals of a change, as the tables name them, and ``p_rooms``.

    moves, photos, interval: as of ``over_rooms``.
    """
    *rooms, p = over_rooms(value, moves, photos, interval, (-1, 1))
    return ends(interval, "change") | ends(rooms, "change_rooms") | {"p_rooms": p}


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
    moves = np.subtract(after, before)
    moving = moves.any(0)
    observed = np.ones((1, moving.sum()), np.float32)
    generator = np.random.default_rng([seed, moving.sum(), 7])
    signs = np.concatenate(
        [observed, resampling.random_signs((permutations, moving.sum()), generator)]
    )
    halves = [signs @ move[moving] / 2 for move in moves]
    middles = np.add(before, after).sum(1) / 2
    first, second = (
        statistic(*(middle + side * half for middle, half in zip(middles, halves, strict=True)))
        for side in (-1, 1)
    )
    changes = abs(second - first)
    if not isfinite(changes[0]):
        return nan
    limit = permutation.as_extreme(changes[0], float(np.nanstd(changes)))
    return float(permutation.permutation_p(np.sum(changes[1:] >= limit), permutations))


# -- means ------------------------------------------------------------------------------------------------------------


def welch(first: Array, second: Array, most: float = inf) -> Row:
    """Two groups by ``stats.contrast.difference``: difference, se, t, df, ci_low, ci_high, p, note, without NaN ones.

    Under ``FEW`` numbers in either group ends and p are NaN, under two, or if neither varies, se and t are NaN, too.
    most: how far apart means can be.
    """

    def mean(values: Array) -> tuple[Array, Array, int]:
        estimate = mean_t(rounding.levelled(values))
        return np.array([estimate.value]), np.array([estimate.se]), int(np.isfinite(values).sum())

    groups = mean(first), mean(second)
    gap, df = contrast.difference(*groups, most=most)
    names = ("difference", "se", "t", "df", "ci_low", "ci_high", "p")
    few = min(group[2] for group in groups) < FEW
    se = np.where(gap.se > 0, gap.se, nan)
    numbers = (gap.difference, se, gap.difference / se, df, gap.low, gap.high, gap.p)
    row: Row = {name: float(number[0]) for name, number in zip(names, numbers, strict=True)}
    row["note"] = noted(TOO_FEW * few, ALIKE * bool(gap.se == 0))
    return row | UNJUDGED if row["note"] else row
