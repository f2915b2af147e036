"""The main summary: does an answer change with how well the context fits the person's gender?

And RQ4, in what way: shares of demographic, concrete and abstract tags, tables 11 and 13 of the paper.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.describe import ALL, GENDERS, INFERRED, Grid, by_person, person_words
from gslopes.contexts.measures.paired import ALIKE
from gslopes.contexts.tables import filled
from gslopes.stats.clusters import Source, crossed, pooled_source
from gslopes.stats.intervals import mean_t, t_quantile
from gslopes.stats.multiplicity import LEVEL
from gslopes.stats.permutation import permutation_p

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Words = NDArray[np.object_]
ROUNDING = 2.0**-40  # of shares of tags
STRONG = 3.0  # how far a rating is from neutral; the contexts that the paper shows
# Linguistic expectancy bias: for the gender that fits a context more abstract, fewer concrete and demographic tags.
EXPECTED = {"demographics": -1, "concrete": -1, "abstract": 1}


def settled(values: Array) -> Array:
    """The same without what rounding adds, by which shares that are equal would differ."""
    return np.asarray(ROUNDING * np.rint(values / ROUNDING))


def welch(one: Array, other: Array) -> dict[str, float]:
    """Welch's t of two groups: difference of means, t, df, p and 95 % interval; NaN under two in either.

    Source: Welch 1947, doi 10.1093/biomet/34.1-2.28.
    """
    one, other = one[np.isfinite(one)], other[np.isfinite(other)]
    names = ("difference", "t", "df", "ci_low", "ci_high", "p")
    one, other = settled(one), settled(other)
    if min(len(one), len(other)) < 2 or (np.ptp(one) == 0 and np.ptp(other) == 0):
        return dict.fromkeys(names, math.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # one group may be constant: its variance is 0, as it should be
        test = stats.ttest_ind(one, other, equal_var=False)
    low, high = test.confidence_interval(0.95)
    numbers = (one.mean() - other.mean(), test.statistic, test.df, low, high, test.pvalue)
    return {name: float(number) for name, number in zip(names, numbers, strict=True)}


def changes_table(grid: Grid, ratings: Mapping[str, float], options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``changes`` table without q and ``consistent``: women against men in each context.

    within: the change of a share of tags from the baseline.  between: the share in the context itself.  Each person
    counts once.  Null hypothesis: women's and men's means are equal (Welch's t).  The note names the contexts that the
    paper would show, rated further from 5 than ``STRONG``.
    """
    rows = []
    genders = person_words(grid, grid.gender)
    for name in grid.names:
        strong = abs(ratings.get(name, math.nan) - 5) >= STRONG
        for analysis in ("within", "between") if options.baseline in grid.baselines else ("between",):
            for measure in EXPECTED:
                values = grid.measures[measure]
                if analysis == "within":
                    values = values - values[:, grid.of(options.baseline)]
                person_values = by_person(values, grid, grid.of(name))
                women, men = (person_values[genders == gender] for gender in GENDERS)
                row = {**grid.head, "context": name, "analysis": analysis, "super": measure, **welch(women, men)}
                row |= {"women": mean_of(women), "men": mean_of(men), "note": "strongly gendered" if strong else ""}
                rows.append(row)
    return filled("changes", rows)


def consistent(rows: pd.DataFrame, ratings: Mapping[str, float]) -> list[bool]:
    """Whether a difference is found (q) and its sign is what linguistic expectancy bias predicts.

    rows: of the ``changes`` table, with q.
    """
    sides = [float(np.sign(5 - ratings.get(context, math.nan))) for context in rows["context"]]
    signs = rows["difference"] * rows["super"].map(EXPECTED) * sides
    return ((signs > 0) & (rows["q"] < LEVEL)).tolist()


def mean_of(values: Array) -> float:
    """The mean of the known values; NaN if there is none."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else math.nan


SCALE = {"n_tags": 1.0}  # tags per unit; all others in points (hundredths) per unit
_CHUNK = 500
NEEDS_TWO = "needs two contexts of different rating"


def kappa(rating: float, gender: str) -> float:
    """How well a context fits a gender: 1 wholly, -1 not at all; NaN for other genders.

    >>> kappa(0, "woman"), kappa(9, "woman"), kappa(9, "man")
    (1.0, -0.8, 0.8)
    """
    side = {"man": 1, "woman": -1}.get(gender, math.nan)
    return (rating - 5) / 5 * side


def slopes(values: Array, congruence: Array) -> Array:
    """(U,) least-squares slope of each person's values on the congruence of their contexts; NaN under two of them.

    values, congruence: (U, C), NaN where unknown.
    """
    weights = slope_weights(values, congruence)
    return np.asarray((weights * np.where(weights != 0, values, 0)).sum(axis=1))


def _mean_of(values: Array, known: Flags) -> Array:
    return np.asarray(np.where(known, values, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def slope_weights(values: Array, congruence: Array) -> Array:
    """(U, C) by which each person's known values add up to their slope; all NaN for people without one."""
    known = np.isfinite(values) & np.isfinite(congruence)
    centred = np.where(known, congruence - _mean_of(congruence, known)[:, None], 0)
    squares = (centred**2).sum(axis=1)[:, None]
    return np.divide(centred, squares, out=np.full(known.shape, np.nan), where=squares > 1e-12)


def rooms_source(values: list[Array], weights: Array, each: Array) -> Source:
    """What rooms add to the error of a weighted sum of people's slopes; NaN unless every context has two rooms.

    values: of each context, (U, B): people's answers before its B rooms, NaN where unknown.  weights: (U, C), of
    ``slope_weights``.  each: (U,) what each person's slope counts, such as 1 / U for a mean.
    """
    if not values or min(rooms.shape[1] for rooms in values) < 2:
        return Source(math.nan, math.nan)
    counted, variances = np.where(np.isfinite(weights), weights * each[:, None], 0.0), []
    for context, rooms in enumerate(values):
        known = np.isfinite(rooms)
        away = np.where(known, rooms - _mean_of(rooms, known)[:, None], 0) / known.sum(axis=1).clip(1)[:, None]
        number = rooms.shape[1]
        variances.append(number / (number - 1) * float(np.square(counted[:, context] @ away).sum()))
    return pooled_source(np.array(variances), np.array([rooms.shape[1] - 1.0 for rooms in values]))


def slope_permutation_p(values: Array, congruence: Array, permutations: int, seed: int) -> float:
    """Two-sided p of the mean slope when each person's answers are permuted over the contexts."""
    observed = slopes(values, congruence)
    use = np.isfinite(observed)
    if not use.any():
        return math.nan
    values, congruence = values[use], congruence[use]
    known, weights = np.isfinite(values) & np.isfinite(congruence), slope_weights(values, congruence)
    total, hits = abs(float(observed[use].mean())), 0
    generator = np.random.default_rng([seed, 5])
    rows, answers = np.arange(len(values))[None, :, None], np.where(known, values, 0)
    weights = np.take_along_axis(weights, np.argsort(~known, axis=1, kind="stable"), axis=1)  # the known ones first
    for done in range(0, permutations, _CHUNK):
        keys = generator.random((min(_CHUNK, permutations - done), *values.shape))
        order = np.argsort(np.where(known, keys, 2), axis=2, kind="stable")  # unknown answers come last
        drawn = np.abs((answers[rows, order] * weights).sum(axis=2).mean(axis=1))
        hits += int((drawn >= total - 1e-12).sum())
    return float(permutation_p(hits, permutations))


def congruence_table(grid: Grid, ratings: Mapping[str, float], options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``congruence`` table without q.

    Estimator ``person``: mean over people of each one's slope of the answer on congruence, over the contexts that have
    a rating, backgrounds and photos averaged first; in points per unit of congruence (tags per unit for ``n_tags``).
    Null hypothesis: the answers do not depend on the contexts (p of t; ``p_perm`` by permuting each person's answers
    over the contexts).  Interval: t over people, before these rooms; ``rooms``: for other rooms of such contexts as
    well, where each context has several.  ``difference``: Welch's t of two genders' or groups' slopes.  ``correct`` is
    whether the inferred gender is the self-reported one.
    """
    rated = [name for name in grid.names if math.isfinite(ratings.get(name, math.nan))]
    genders, groups = person_words(grid, grid.gender), person_words(grid, grid.group)
    fit = np.array([[kappa(ratings[name], gender) for name in rated] for gender in genders]).reshape(len(genders), -1)
    codes = np.array([INFERRED.index(word) if word in INFERRED else -1 for word in grid.gender])
    right = np.where(np.isin(grid.gender, GENDERS)[:, None], grid.inferred == codes[:, None], np.nan)
    rows: list[dict[str, Any]] = []
    for measure, values in {"correct": right, **grid.measures}.items():
        scale = SCALE.get(measure, 100.0)
        outcome = np.stack([by_person(values, grid, grid.of(name)) for name in rated], 1) if rated else fit
        each, weights = settled(slopes(outcome, fit) * scale), slope_weights(outcome, fit) * scale
        rooms = [np.stack([by_person(values, grid, [room]) for room in grid.of(name)], 1) for name in rated]
        for gender, group, one, other in _compared(genders, groups):
            row: dict[str, Any] = {**grid.head, "measure": measure, "gender": gender, "group": group}
            row |= _difference(each[one], each[other]) if other is not None else _mean_slope(each[one])
            if other is None and row["se"] > 0:
                row["p_perm"] = slope_permutation_p(outcome[one], fit[one], options.permutations, options.seed)
            rows.append(row | _over_rooms(each, one, other, rooms, weights))
    return filled("congruence", rows)


def _compared(genders: Words, groups: Words) -> list[tuple[str, str, Flags, Flags | None]]:
    """(gender, group, which people, which others) of everybody, each gender and group, and of differences of two."""
    either = np.isin(genders, GENDERS)
    names = sorted(set(groups.tolist()) - {""})
    return [
        (ALL, ALL, either, None),
        *((gender, ALL, genders == gender, None) for gender in GENDERS),
        *((ALL, group, either & (groups == group), None) for group in names if len(names) > 1),
        ("woman - man", ALL, genders == "woman", genders == "man"),
        *(
            (ALL, f"{one} - {other}", either & (groups == one), either & (groups == other))
            for one, other in combinations(names, 2)
        ),
    ]


def _mean_slope(each: Array) -> dict[str, Any]:
    known = each[np.isfinite(each)]
    mean, se, low, high, p = mean_t(known)
    row = {"n": len(known), "estimator": "person", "note": ALIKE * (se == 0) if len(known) else NEEDS_TWO}
    return {**row, "slope": mean, "se": se, "ci_low": low, "ci_high": high, "p": p}


def _difference(one: Array, other: Array) -> dict[str, Any]:
    test = welch(one, other)
    n = int(np.isfinite(one).sum() + np.isfinite(other).sum())
    se = test["difference"] / test["t"] if test["t"] else math.nan
    interval = {name: test[name] for name in ("ci_low", "ci_high", "p")}
    return {"n": n, "estimator": "difference", "slope": test["difference"], "se": se, **interval}


def _over_rooms(each: Array, one: Flags, other: Flags | None, shown: list[Array], weights: Array) -> dict[str, float]:
    """Interval and p of a mean slope, or of the difference of two, for people and rooms as samples of both."""
    counts, parts = np.zeros(len(each)), []
    for sign, at in ((1.0, one), (-1.0, other)):
        if at is not None:
            known = at & np.isfinite(each)
            counts[known] = sign / max(known.sum(), 1)
            found = mean_t(each[known])
            parts.append((sign * found.value, found.se, known.sum()))
    value = sum(part[0] for part in parts)
    squares = np.array([se**2 for _, se, _ in parts])
    people = pooled_source(squares, np.array([number - 1.0 for *_, number in parts]))
    half = float(t_quantile(people.dof)) * people.se if people.dof > 0 else math.nan
    low, high, p = crossed(value, (value - half, value + half), people, rooms_source(shown, weights, counts))
    return {"rooms_low": low, "rooms_high": high, "p_rooms": p}
