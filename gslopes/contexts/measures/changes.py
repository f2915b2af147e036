"""RQ4, in what way: shares of demographic, concrete and abstract tags.  Tables 11 and 13 of the paper."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from gslopes.contexts.measures.grid import GENDERS, Grid, by_person, person_words
from gslopes.contexts.options import ContextOptions

Array = NDArray[np.float64]
ROUNDING = 2.0**-40  # of shares of tags
# Linguistic expectancy bias: for the gender that fits a context more abstract, fewer concrete and demographic tags.
EXPECTED = {"demographics": -1, "concrete": -1, "abstract": 1}


def welch(one: Array, other: Array) -> dict[str, float]:
    """Welch's t of two groups: difference of means, t, df, p and 95 % interval; NaN under two in either.

    Source: Welch 1947, doi 10.1093/biomet/34.1-2.28.
    """
    one, other = one[np.isfinite(one)], other[np.isfinite(other)]
    names = ("difference", "t", "df", "ci_low", "ci_high", "p")
    # shares that differ by rounding alone do not vary
    one, other = ROUNDING * np.rint(one / ROUNDING), ROUNDING * np.rint(other / ROUNDING)
    if min(len(one), len(other)) < 2 or (np.ptp(one) == 0 and np.ptp(other) == 0):
        return dict.fromkeys(names, math.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # one group may be constant: its variance is 0, as it should be
        found = stats.ttest_ind(one, other, equal_var=False)
    low, high = found.confidence_interval(0.95)
    numbers = (one.mean() - other.mean(), found.statistic, found.df, low, high, found.pvalue)
    return {name: float(number) for name, number in zip(names, numbers, strict=True)}


def changes_table(grid: Grid, ratings: dict[str, float], options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``changes`` table without q and ``consistent``: women against men in each context.

    within: the change of a share of tags from the baseline.  between: the share in the context itself.  Each person
    counts once.  Null hypothesis: women's and men's means are equal (Welch's t).  The note names the contexts that the
    paper would show, rated further from 5 than ``strong``.
    """
    rows = []
    genders = person_words(grid, grid.gender)
    for name in grid.names:
        for analysis in ("within", "between"):
            if analysis == "within" and options.baseline not in grid.baselines:
                continue
            for measure in EXPECTED:
                values = grid.measures[measure]
                if analysis == "within":
                    values = values - values[:, grid.of(options.baseline)]
                person_values = by_person(values, grid, grid.of(name))
                parts = [person_values[genders == gender] for gender in GENDERS]
                rows.append(
                    {
                        "classifier": grid.classifier,
                        "context": name,
                        "tags": grid.tags,
                        "analysis": analysis,
                        "super": measure,
                        "women": _mean(parts[0]),
                        "men": _mean(parts[1]),
                        **welch(*parts),
                        "note": _note(ratings.get(name, math.nan), options),
                    }
                )
    return pd.DataFrame(rows)


def consistent(rows: pd.DataFrame, ratings: dict[str, float], alpha: float = 0.05) -> list[bool]:
    """Whether a difference is found (q) and its sign is what linguistic expectancy bias predicts.

    rows: of the ``changes`` table, with q.
    """
    found = []
    for row in rows.to_dict("records"):
        rating = ratings.get(row["context"], math.nan)
        side = float(np.sign(5 - rating)) if math.isfinite(rating) else 0.0
        found.append(bool(side and row["q"] < alpha and row["difference"] * EXPECTED[row["super"]] * side > 0))
    return found


def _mean(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else math.nan


def _note(rating: float, options: ContextOptions) -> str:
    return "strongly gendered" if math.isfinite(rating) and abs(rating - 5) >= options.strong else ""


def bars(grid: Grid, options: ContextOptions) -> list[dict[str, Any]]:
    """Figures 4 to 7: mean change of each share by context, group and gender, from the baseline."""
    rows = []
    if options.baseline not in grid.baselines:
        return []
    genders, groups = person_words(grid, grid.gender), person_words(grid, grid.group)
    for name in grid.names:
        for measure in EXPECTED:
            values = grid.measures[measure]
            person_values = by_person(values - values[:, grid.of(options.baseline)], grid, grid.of(name))
            for group in sorted(set(groups.tolist())):
                for gender in GENDERS:
                    mean = _mean(person_values[(groups == group) & (genders == gender)])
                    rows.append({"context": name, "group": group, "gender": gender, "super": measure, "change": mean})
    return rows
