"""The main summary: does an answer change with how well the context fits the person's gender?

And RQ4, in what way: shares of demographic, concrete and abstract tags, tables 11 and 13 of the paper.
"""

from collections.abc import Mapping
from itertools import combinations, product
from math import inf, isfinite, nan

import numpy as np
from pandas import DataFrame

from gslopes.contexts import filled
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.describe import ALL, GENDERS, INFERRED, Grid
from gslopes.contexts.measures.paired import (
    ALIKE,
    FEW,
    TOO_FEW,
    UNJUDGED,
    welch,
)
from gslopes.core import Row
from gslopes.core.records import Array, Flags, Objects, quotients, slices
from gslopes.stats import multiplicity, permutation
from gslopes.stats.clusters import Source, crossed, pooled_source
from gslopes.stats.intervals import mean_t
from gslopes.stats.rounding import gap, levelled, settled

STRONG = 3.0  # how far a rating is from neutral; the contexts that the paper shows
# Linguistic expectancy bias: for the gender that fits a context more abstract, fewer concrete and demographic tags.
EXPECTED = {"demographics": -1, "concrete": -1, "abstract": 1}
SCALE = {"n_tags": 1.0}  # tags per unit; all others in points (hundredths) per unit
MOST = {"n_tags": inf}  # how high a number can be; all others are shares
NEEDS_TWO = "needs two contexts of different rating"
_CHUNK = 500


# -- shares of tags, women against men --------------------------------------------------------------------------------


def changes_table(grid: Grid, ratings: Mapping[str, float], options: ContextOptions) -> DataFrame:
    """Rows of the ``changes`` table without q and ``consistent``: women against men in each context.

    within: the change of a share of tags from the baseline.  between: the share in the context itself.  Each person
    counts once.  Null hypothesis: women's and men's means are equal (Welch's t); fewer than ten of either are not
    judged.  The note names the contexts that the paper would show, rated further from 5 than ``STRONG``.
    """
    rows = []
    genders = grid.people[0]
    # how far apart means can be
    analyses = (("within", 2.0), ("between", 1.0))[options.baseline not in grid.baselines :]
    for name in grid.names:
        strong = abs(ratings.get(name, nan) - 5) >= STRONG
        for (analysis, most), measure in product(analyses, EXPECTED):
            values = grid.measures[measure]
            if analysis == "within":
                values = gap(values, values[:, grid.of(options.baseline)])
            shares = grid.by_person(values, grid.of(name))
            women = shares[genders == "woman"]
            men = shares[genders == "man"]
            tested = welch(women, men, most)
            rows.append(
                {
                    **grid.head,
                    "context": name,
                    "analysis": analysis,
                    "super": measure,
                    "women": mean_t(women).value,
                    "men": mean_t(men).value,
                    **tested,
                    "note": tested["note"] or "strongly gendered" * strong,
                }
            )
    return filled("changes", rows)


def consistent(rows: DataFrame, ratings: Mapping[str, float]) -> list[bool]:
    """Whether a difference is a finding and its sign is what linguistic expectancy bias predicts.

    rows: of the ``changes`` table, with q.
    """
    sides = [float(np.sign(5 - ratings.get(context, nan))) for context in rows["context"]]
    signs = rows["difference"] * rows["super"].map(EXPECTED) * sides
    return (
        (signs > 0) & multiplicity.is_finding(rows["q"], rows["ci_low"], rows["ci_high"])
    ).tolist()


# -- slopes on congruence ---------------------------------------------------------------------------------------------


def kappa(rating: float, gender: str) -> float:
    """How well a context fits a gender: 1 wholly, -1 not at all; NaN for other genders.

    >>> kappa(0, "woman"), kappa(9, "woman"), kappa(9, "man")
    (1.0, -0.8, 0.8)
    """
    side = {"man": 1, "woman": -1}.get(gender, nan)
    return (rating - 5) / 5 * side


def _mean_of(values: Array, finite: Flags) -> Array:
    """(U, 1) means of each row's known values; 0 without any."""
    total = np.where(finite, values, 0).sum(1, keepdims=True)
    return total / finite.sum(1, keepdims=True).clip(1)


def slope_weights(values: Array, congruence: Array) -> Array:
    """(U, C) by which each person's known values add up to their slope; all NaN for people without one.

    values, congruence: (U, C), NaN if unknown.
    """
    finite = np.isfinite(values) & np.isfinite(congruence)
    mean = _mean_of(congruence, finite)
    centred = np.where(finite, gap(congruence, mean), 0)
    return quotients(centred, (centred**2).sum(1)[:, None])


def slopes(values: Array, weights: Array) -> Array:
    """(U,) least-squares slopes of each person's values on the congruence of their contexts.

    values: (U, C).  weights: as from ``slope_weights``.
    """
    parts = weights * np.where(weights != 0, values, 0)
    return settled(parts.sum(1), abs(parts).sum(1))


def slope_permutation_p(values: Array, congruence: Array, permutations: int, seed: int) -> float:
    """Two-sided p of the mean slope when each person's answers are permuted over the contexts."""
    weights = slope_weights(values, congruence)
    use = np.isfinite(weights).all(1)
    if not use.any():
        return nan
    values = values[use]
    weights = weights[use]
    finite = np.isfinite(values) & np.isfinite(congruence[use])
    observed = slopes(values, weights)
    limit = permutation.as_extreme(
        abs(observed.mean()), float(np.linalg.norm(observed)) / len(observed)
    )
    answers = np.where(finite, values, 0)[None]
    first = np.argsort(~finite, 1, kind="stable")  # unknown answers come last
    weights = np.take_along_axis(weights, first, 1)
    generator = np.random.default_rng([seed, 5])
    hits = 0
    for part in slices(permutations, _CHUNK):
        keys = generator.random((len(range(permutations)[part]), *values.shape))
        order = np.argsort(np.where(finite, keys, 2), 2, kind="stable")
        drawn = abs((np.take_along_axis(answers, order, 2) * weights).sum(2).mean(1))
        hits += int((drawn >= limit).sum())
    return float(permutation.permutation_p(hits, permutations))


def congruence_table(
    grid: Grid, ratings: Mapping[str, float], options: ContextOptions
) -> DataFrame:
    """Rows of the ``congruence`` table without q.

    Estimator ``person``: mean over people of each one's slope of the answer on congruence, over the contexts that have
    a rating, backgrounds and photos averaged first; in points per unit of congruence (tags per unit for ``n_tags``).
    Null hypothesis: the answers do not depend on the contexts (p of t; ``p_perm`` by permuting each person's answers
    over the contexts).  Interval: t over people, before these rooms; ``rooms``: for other rooms of such contexts as
    well, if each context has several.  No interval goes beyond the slopes that the contexts' ratings leave room for.
    ``difference``: Welch's t of two genders' or groups' slopes.  Fewer than ten people are not judged.  ``correct`` is
    whether the inferred gender is the self-reported one.
    """
    rated = [name for name in grid.names if isfinite(ratings.get(name, nan))]
    genders, groups = grid.people
    fit = np.array([[kappa(ratings[name], gender) for name in rated] for gender in genders])
    fit = fit.reshape(len(genders), len(rated))
    right = np.array(INFERRED, object)[grid.inferred] == grid.gender[:, None]
    answers = np.where(np.isin(grid.gender, GENDERS)[:, None], right, nan)
    rows = []
    for measure, values in {"correct": answers, **grid.measures}.items():
        outcome = np.empty_like(fit)
        rooms = []
        for column, name in enumerate(rated):
            outcome[:, column] = grid.by_person(values, grid.of(name))
            rooms.append(np.stack([grid.by_person(values, [room]) for room in grid.of(name)], 1))
        weights = slope_weights(outcome, fit) * SCALE.get(measure, 100.0)
        slope = levelled(slopes(outcome, weights))
        most = np.maximum(weights, 0).sum(1) * MOST.get(measure, 1.0)
        for gender, group, people, others in _compared(genders, groups):
            row: Row = {**grid.head, "measure": measure, "gender": gender, "group": group}
            row |= _contrasted(slope, people, others, rooms, weights, most)
            if others is None and row["p"] >= 0:
                row["p_perm"] = slope_permutation_p(
                    outcome[people], fit[people], options.permutations, options.seed
                )
            rows.append(row)
    return filled("congruence", rows)


def _compared(genders: Objects, groups: Objects) -> list[tuple[str, str, Flags, Flags | None]]:
    """(gender, group, people, people compared with) of everybody, each gender and group, and differences of two."""
    either = np.isin(genders, GENDERS)
    women, men = (genders == gender for gender in GENDERS)
    members = {name: either & (groups == name) for name in sorted(set(groups.tolist()) - {""})}
    compared = [
        (ALL, ALL, either, None),
        ("woman", ALL, women, None),
        ("man", ALL, men, None),
        ("woman - man", ALL, women, men),
    ]
    if len(members) > 1:
        compared += [(ALL, name, people, None) for name, people in members.items()]
    for first, second in combinations(members, 2):
        compared.append((ALL, f"{first} - {second}", members[first], members[second]))
    return compared


def _contrasted(
    slope: Array,
    people: Flags,
    others: Flags | None,
    rooms: list[Array],
    weights: Array,
    most: Array,
) -> Row:
    """The mean slope of some people, or less the mean slope of others, with its intervals.  slope: (U,).

    rooms, weights: as of ``rooms_source``.  most: (U,) how steep each slope can be.
    """
    finite = np.isfinite(slope)
    n = m = int((finite & people).sum())
    counts = np.where(finite & people, 1 / max(n, 1), 0.0)  # what each person's slope counts
    if others is not None:
        m = int((finite & others).sum())
        counts[finite & others] = -1 / max(m, 1)
    used = counts != 0
    far = float(abs(counts[used]) @ most[used])
    if others is None:
        mean = mean_t(slope[people], (-far, far))
        row: Row = {"n": n, "estimator": "person", "df": n - 1.0}
        row |= dict(zip(("slope", "se", "ci_low", "ci_high", "p"), mean, strict=True))
        row["note"] = ALIKE * (mean.se == 0) if n else NEEDS_TWO
    else:
        row = {"n": n + m, "estimator": "difference", **welch(slope[people], slope[others], far)}
        row["slope"] = row["difference"]
    if min(n, m) < FEW:
        return row | UNJUDGED | {"note": row["note"] or TOO_FEW}
    ends = row["ci_low"], row["ci_high"]
    of_people = Source(row["se"], row["df"])
    of_rooms = rooms_source(rooms, weights, counts)
    limits = crossed(row["slope"], ends, of_people, of_rooms, (-far, far))
    return row | dict(zip(("rooms_low", "rooms_high", "p_rooms"), limits, strict=True))


def rooms_source(values: list[Array], weights: Array, counts: Array) -> Source:
    """What rooms add to the error of a weighted sum of people's slopes; NaN unless every context has two rooms.

    values: of each context, (U, B): people's answers before its B rooms, NaN if unknown.  weights: (U, C), of
    ``slope_weights``.  counts: (U,) what each person's slope counts, such as 1 / U for a mean.
    """
    if not values or min(rooms.shape[1] for rooms in values) < 2:
        return Source(nan, nan)
    counted = np.where(np.isfinite(weights), weights * counts[:, None], 0.0)
    numbers = np.array([float(rooms.shape[1]) for rooms in values])
    variances = []
    for context, rooms in enumerate(values):
        finite = np.isfinite(rooms)
        mean = _mean_of(rooms, finite)
        away = np.where(finite, settled(rooms - mean, abs(rooms) + mean), 0)
        moved = counted[:, context] @ (away / finite.sum(1, keepdims=True).clip(1))
        variances.append(float(np.square(moved).sum()))
    return pooled_source(numbers / (numbers - 1) * np.array(variances), numbers - 1)
