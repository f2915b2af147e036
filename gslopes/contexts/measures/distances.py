"""RQ4, how much: distances of descriptions from their baseline by gender and group.  Tables 10 and 12 of the paper."""

import warnings
from math import nan

import numpy as np
from pandas import DataFrame, Series
from scipy import stats

from gslopes.contexts import filled
from gslopes.contexts.measures.describe import GENDERS, Grid, stacked, sums
from gslopes.contexts.measures.paired import ALIKE, ALONE, LEAST, noted
from gslopes.core.arrays import Array, Objects
from gslopes.core.tables import Row, ends
from gslopes.stats import intervals, multiplicity
from gslopes.stats.rounding import gap, levelled, settled

CELL = 3  # people
SUMS = 2  # type of the sums of squares: one factor over the other, for cells of unequal size
_ANOVA = ["term", "df", "sum_sq", "F", "p", "eta_sq"]


def distances_table(grid: Grid) -> DataFrame:
    """Rows of the ``distances`` table: mean over people of each one's mean distance, by gender and group.

    Interval: t over people, before these rooms, within 0 and 1.
    """
    rows = []
    genders, groups = grid.people
    values = grid.measures["distance"]
    missing = sums(grid.answered & ~np.isfinite(values), grid.person)
    for name in grid.names:
        columns = grid.of(name)
        distances = grid.by_person(values, columns)
        undefined = missing[:, columns].sum(1)
        for gender in grid.genders():
            for group in sorted(set(groups[genders == gender].tolist())):
                cell = (genders == gender) & (groups == group)
                row = {**grid.head, "context": name, "gender": gender, "group": group}
                row["undefined"] = int(undefined[cell].sum())
                rows.append(row | _mean(distances[cell]))
    return filled("distances", rows)


def _mean(values: Array) -> Row:
    numbers = levelled(values[np.isfinite(values)])
    mean = intervals.mean_t(numbers, (0, 1))
    row = {"n": len(numbers), "mean": mean.value}
    if len(numbers) < LEAST:
        return row | {"note": ALONE}
    row |= ends(mean[2:4]) | {"sd": float(numbers.std(ddof=1))}
    return row | {"note": ALIKE * (mean.se == 0)}


def anova(values: Array, gender: Objects, group: Objects) -> DataFrame:
    """Two-way analysis of variance of one number a person: columns term, df, sum_sq, F, p, eta_sq (partial).

    Null hypotheses: the means do not differ by gender, by group, nor by their interaction.  An empty cell drops the
    interaction.  If all people of each cell are alike, F and p are NaN.  By statsmodels, with sum contrasts.
    """
    import statsmodels.api as sm
    from statsmodels.formula.api import ols

    values = levelled(values)
    frame = DataFrame({"d": values, "gender": gender.astype(str), "group": group.astype(str)})
    factors = [name for name in ("gender", "group") if frame[name].nunique() > 1]
    if not factors or len(frame) < 3 or frame["d"].nunique() < 2:
        return DataFrame(columns=_ANOVA)
    full = frame.groupby(["gender", "group"], observed=True).size().unstack().notna().all(axis=None)
    joint = " * " if len(factors) == 2 and full else " + "
    formula = "d ~ " + joint.join(f"C({name}, Sum)" for name in factors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a cell without spread shows in the numbers
        table = sm.stats.anova_lm(ols(formula, frame).fit(), typ=SUMS)
    table["sum_sq"] = np.square(settled(np.sqrt(table["sum_sq"]), np.linalg.norm(values)))
    residual = table.loc["Residual", "sum_sq"]
    factor = table.index != "Residual"
    table.loc[factor & (table["sum_sq"] == 0), ["F", "PR(>F)"]] = 0.0, 1.0
    if residual == 0:
        table[["F", "PR(>F)"]] = nan
    table["eta_sq"] = (table["sum_sq"] / (table["sum_sq"] + residual)).where(factor)
    table["term"] = table.index.str.replace(r"C\((\w+), Sum\)", r"\1", regex=True).str.lower()
    return table.rename(columns={"PR(>F)": "p"}).reset_index(drop=True).astype({"df": int})[_ANOVA]


def tukey(values: Array, factor: Objects) -> DataFrame:
    """Tukey-Kramer comparisons of the levels of a factor: columns one, other, difference, ci_low, ci_high, p.

    The variance is taken within the levels, as in the paper; without any, p and the interval are NaN.  The interval
    is within -1 and 1, see ``stats.intervals.bent``.

    Source: Kramer 1956, doi 10.2307/3001469.
    """
    values = levelled(values)
    samples = {level: values[factor == level] for level in sorted(set(factor.tolist()))}
    columns = ["one", "other", "difference", "ci_low", "ci_high", "p"]
    if len(samples) < 2 or min(map(len, samples.values())) < 2:
        return DataFrame(columns=columns)
    pairs = np.triu_indices(len(samples), 1)
    means = np.array([sample.mean() for sample in samples.values()])
    levels = np.array(list(samples), object)
    table = DataFrame({"one": levels[pairs[0]], "other": levels[pairs[1]]})
    first, second = (means[places] for places in pairs)
    table["difference"] = gap(first, second)
    table[columns[3:]] = nan
    if any(np.ptp(sample) > 0 for sample in samples.values()):
        test = stats.tukey_hsd(*samples.values())
        interval = test.confidence_interval(0.95)
        table["p"] = test.pvalue[pairs]
        both = interval.low[pairs], interval.high[pairs]
        table["ci_low"], table["ci_high"] = intervals.bent(
            table["difference"].to_numpy(), both, (-1, 1)
        )
    return table


def compare_groups(grid: Grid) -> tuple[DataFrame, DataFrame]:
    """Rows of the ``anova`` (without q) and ``tukey`` tables: distance by gender and group in each context.

    Each person counts once.  Cells of fewer than ``CELL`` people are left out, and named.
    """
    variances = []
    comparisons = []
    genders, groups = grid.people
    level = multiplicity.LEVEL / max(len(grid.names), 1)  # the paper's Bonferroni, over contexts
    for name in grid.names:
        distances = grid.by_person(grid.measures["distance"], grid.of(name))
        use = np.isfinite(distances) & np.isin(genders, GENDERS) & (groups != "")
        cells = genders + " " + groups
        counts = Series(cells[use], dtype=object).value_counts().sort_index()
        small = counts[counts < CELL]
        use &= ~np.isin(cells, small.index)
        listed = ", ".join(f"{cell} ({count})" for cell, count in small.items())
        left_out = f"left out, fewer than {CELL}: {listed}" * bool(listed)
        head = {**grid.head, "context": name, "measure": "distance"}
        table = anova(distances[use], genders[use], groups[use])
        note = noted(left_out, _missing_terms(table))
        significant = table["p"].astype(float) < level
        variances.append(table.assign(**head, note=note, paper_significant=significant))
        for factor, words in (("gender", genders), ("group", groups)):
            pairs = tukey(distances[use], words[use])
            significant = pairs["p"].astype(float) < level
            comparisons.append(pairs.assign(**head, factor=factor, paper_significant=significant))
    return stacked(variances), stacked(comparisons)


def _missing_terms(table: DataFrame) -> str:
    terms = set(table["term"])
    if not terms:
        return "one group only, or no spread"
    if table.loc[table["term"] == "residual", "sum_sq"].eq(0).any():
        return "no test: no one differs within a group"
    if {"gender", "group"} <= terms and "gender:group" not in terms:
        return "an empty cell: no interaction"
    return ""
