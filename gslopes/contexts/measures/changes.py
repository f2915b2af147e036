"""RQ4, in what way: shares of demographic, concrete and abstract tags.  Tables 11 and 13 of the paper."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.grid import GENDERS, Grid, by_person, person_words
from gslopes.contexts.tables import CHANGES, filled

Array = NDArray[np.float64]
ROUNDING = 2.0**-40  # of shares of tags
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
    paper would show, rated further from 5 than ``strong``.
    """
    rows = []
    genders = person_words(grid, grid.gender)
    for name in grid.names:
        strong = abs(ratings.get(name, math.nan) - 5) >= options.strong
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
    return filled(CHANGES, rows)


def consistent(rows: pd.DataFrame, ratings: Mapping[str, float], alpha: float = 0.05) -> list[bool]:
    """Whether a difference is found (q) and its sign is what linguistic expectancy bias predicts.

    rows: of the ``changes`` table, with q.
    """
    sides = [float(np.sign(5 - ratings.get(context, math.nan))) for context in rows["context"]]
    signs = rows["difference"] * rows["super"].map(EXPECTED) * sides
    return ((signs > 0) & (rows["q"] < alpha)).tolist()


def mean_of(values: Array) -> float:
    """The mean of the known values; NaN if there is none."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else math.nan
