"""Whom a tagger infers, what it recognises, whether it is right, and how far its descriptions are from their baseline.

RQ1 to RQ4, tables 7 to 10 and 12 of the paper.
"""

import warnings
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series
from scipy import stats
from scipy.stats import contingency

from gslopes.contexts import filled
from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.describe import ALL, GENDERS, INFERRED, Grid, stacked, sums
from gslopes.contexts.measures.paired import (
    ALIKE,
    ALONE,
    FEW,
    LEAST,
    RARE,
    change_ends,
    exchanged,
    moves_of,
    noted,
    share_change,
    share_of,
)
from gslopes.core import Row, Texts
from gslopes.core.records import Array, Flags, Int8Array, Objects, doubles, quotients
from gslopes.core.tables import ends
from gslopes.stats import intervals, multiplicity
from gslopes.stats.rounding import gap, levelled, settled
from gslopes.stats.shares import difference_interval, independence_p

GIVEN = ("woman", "man", "neutral")
CONGRUENT = {"feminine": "woman", "masculine": "man"}
NOT_APPLICABLE = "not applicable: the context has no tags"
NAMED = 0.1  # share of the pictures that an F1 needs; the paper's, Table 9


# -- RQ1: does it infer more women or men in a context?  Table 7, with what changes for whom --------------------------


def inferred_table(grid: Grid, labels: Texts, options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``inferred`` table without q.

    Estimator: the share of answered pictures inferred woman, man, neutral; interval: see ``paired.share_of``.  Change:
    see ``paired.share_change``, over pairs of baseline and context.  labels: context to feminine, masculine or none;
    only the marks of the paper depend on them.
    """
    rows = [
        _inferred(grid, name, gender, inferred, options)
        for name in [*grid.baselines, *grid.names]
        for gender in [ALL, *grid.genders()]
        for inferred in GIVEN
    ]
    _mark(rows, "inferred", "share", labels, options)
    return filled("inferred", rows)


def _inferred(grid: Grid, name: str, gender: str, inferred: str, options: ContextOptions) -> Row:
    hits = grid.inferred == INFERRED.index(inferred)
    answered = grid.answered & grid.of_gender(gender)
    columns = grid.of(name)
    row: Row = {**grid.head, "context": name, "gender": gender, "inferred": inferred}
    row |= _share(grid, hits[:, columns], answered[:, columns])
    if name in grid.baselines or options.baseline not in grid.baselines:
        return row
    start = grid.of(options.baseline)
    after = doubles(hits[:, columns])
    before = doubles(np.broadcast_to(hits[:, start], after.shape))
    both = answered[:, columns] & answered[:, start]
    moved = share_change(before, after, both, grid.person, options)
    return {**row, **moved, "note": noted(row["note"], moved["note"])}


def _share(grid: Grid, hits: Flags, answered: Flags) -> Row:
    """``paired.share_of`` the pictures asked about, (P, B)."""
    return share_of(sums(hits & answered, grid.person), sums(answered, grid.person))


def _mark(
    rows: list[Row],
    column: str,
    number: str,
    labels: Texts,
    options: ContextOptions,
) -> None:
    """The paper's stars, ``congruent_rise``: more of a congruent gender than at the baseline.

    column: of the gender.  number: the column that is compared.
    """
    base = {
        (row["gender"], row[column]): row[number]
        for row in rows
        if row["context"] == options.baseline
    }
    for row in rows:
        congruent = CONGRUENT.get(labels.get(row["context"], "")) == row[column]
        rises = row[number] > base.get((row["gender"], row[column]), nan)
        row["congruent_rise"] = bool(congruent and rises)


# -- RQ2: does it name the context independently of the gender that it infers?  Table 8 -------------------------------


def recognised_table(grid: Grid) -> pd.DataFrame:
    """Rows of the ``recognised`` table without q: Pr(R) and Pr(R | inferred).

    Estimator: shares, see ``paired.share_of``.  Null hypothesis of the test, in the row of all: whether the context is
    named does not depend on the inferred gender (Pearson's X² without continuity correction; Rao and Scott's correction
    if people have several pictures); not judged if a gender is inferred of fewer than ten people.  v is Cramér's.
    """
    rows = []
    for name in grid.names:
        columns = grid.of(name)
        answered = grid.answered[:, columns]
        named = grid.recognised[:, columns]
        inferred = grid.inferred[:, columns]
        head = {**grid.head, "context": name}
        if name not in grid.tagged:
            row = {"given": ALL, "n": int(answered.sum()), "note": NOT_APPLICABLE}
            rows.append(head | row)
            continue
        shares = {ALL: _share(grid, named, answered)}
        for word in GIVEN:
            members = answered & (inferred == INFERRED.index(word))
            shares[word] = _share(grid, named, members)
        gendered = (answered & (inferred > 0)).any(1)
        if len(np.unique(grid.person[gendered])) < FEW:
            shares[ALL]["note"] = noted(shares[ALL]["note"], "a gender is inferred of too few")
        else:
            pair = named[answered], inferred[answered]
            person = grid.person[np.nonzero(answered)[0]]
            shares[ALL] |= {"p": independence_p(*pair, person), "v": cramers_v(*pair)}
        rows += [{**head, "given": word, **share} for word, share in shares.items()]
    return filled("recognised", rows)


def cramers_v(recognised: Flags, inferred: Int8Array) -> float:
    """Cramér's V of R and the inferred genders that occur; NaN if one of them never varies."""
    table = pd.crosstab(recognised, inferred).to_numpy()
    if min(table.shape) > 1:
        return float(contingency.association(table))
    return nan


# -- RQ3: is the inferred gender more often the self-reported one in a congruent context?  Table 9 --------------------


def f1(tp: Any, fp: Any, fn: Any) -> Any:
    """F1 of counts, numbers or arrays; 0 if nothing was right, NaN if all three are 0.

    >>> float(f1(80, 5, 20))
    0.8648648648648649
    """
    hits = 2 * doubles(tp)
    return quotients(hits, hits + fp + fn)


def accuracy_table(grid: Grid, labels: Texts, options: ContextOptions) -> pd.DataFrame:
    """Rows of the ``accuracy`` table without q: F1 of each gender against self-report, at baselines and in contexts.

    A neutral answer is a miss; people of other genders are in no F1.  In contexts it is over pictures whose context was
    recognised, and NaN for both genders if less than ``NAMED`` were, as in the paper.  Interval: ``share_of`` of F1
    as the share 2 tp of 2 tp + fp + fn; of its change, Newcombe's for two shares of the same people.  ``rooms``: as
    ``over_rooms``.  Change: against the baseline over the same pictures, so that selection cannot cause it; null
    hypothesis: each person's two answers are exchangeable; p by exchanging them.  A change of fewer than ten people is
    not judged.

    labels: context to feminine, masculine or none; only the marks of the paper depend on them.
    """
    rows = [
        _accuracy(grid, name, gender, options)
        for name in [*grid.baselines, *grid.names]
        for gender in GENDERS
        if gender in grid.gender
    ]
    _mark(rows, "gender", "f1", labels, options)
    return filled("accuracy", rows)


def _hits(grid: Grid, columns: list[int], keep: Flags, gender: str) -> Array:
    """(3, U, B): true positives, false positives and false negatives of each person.  keep: (P, B), which count."""
    reported = grid.of_gender(gender)
    either = np.isin(grid.gender, GENDERS)[:, None]
    called = grid.inferred[:, columns] == INFERRED.index(gender)
    parts = (reported & called, either & ~reported & called, reported & ~called)
    return np.stack([sums(part & keep, grid.person) for part in parts])


def _as_share(tp: Array, fp: Array, fn: Array) -> tuple[Array, Array]:
    """F1 as a share, 2 tp of 2 tp + fp + fn."""
    return 2 * tp, 2 * tp + fp + fn


def _counted(grid: Grid, name: str) -> tuple[Flags, str]:
    """(P, B) pictures that count in a context, and why none does, or why all do."""
    columns = grid.of(name)
    answered = grid.answered[:, columns]
    if name in grid.baselines:
        return answered, ""
    if name not in grid.tagged:
        return answered, "over all pictures: the context has no tags"
    named = answered & grid.recognised[:, columns]
    if answered.sum() and (share := named.sum() / answered.sum()) < NAMED:
        return np.zeros_like(named), f"recognised in {share:.1%} of the pictures, under {NAMED:.0%}"
    return named, ""


def _accuracy(grid: Grid, name: str, gender: str, options: ContextOptions) -> Row:
    columns = grid.of(name)
    keep, note = _counted(grid, name)
    n = int((keep & np.isin(grid.gender, GENDERS)[:, None]).sum())
    row: Row = {**grid.head, "context": name, "gender": gender, "f1": nan}
    if not keep.any():
        return {**row, "n": n, "note": note}
    hits = _hits(grid, columns, keep, gender)
    row |= share_of(*_as_share(*hits))
    row |= {"n": n, "f1": row["share"], "note": noted(note, row["note"])}
    row |= dict(zip(("tp", "fp", "fn"), hits.sum((1, 2)).astype(int), strict=True))
    if name in grid.baselines or options.baseline not in grid.baselines:
        return row
    start = grid.of(options.baseline)
    both = keep & grid.answered[:, start]
    before = _hits(grid, start, both, gender)
    after = _hits(grid, columns, both, gender)
    shares = [_as_share(*part) for part in (after, before)]
    moves = gap(moves_of(*shares[0]), moves_of(*shares[1]))
    photos = shares[0][1] + shares[1][1]
    before = before.sum(2)
    after = after.sum(2)
    change = f1(*after.sum(1)) - f1(*before.sum(1))
    discordant = int((before != after).any(0).sum())
    rare = discordant < FEW
    row["paired_change"] = change
    row["note"] = noted(row["note"], RARE * rare, ALIKE * (not discordant))
    if not rare:
        interval = difference_interval(_as_share(*after), _as_share(*before))
        row |= change_ends(change, moves, photos, interval)
        row["p"] = exchanged(f1, before, after, options.permutations, options.seed)
    return row


# -- distances --------------------------------------------------------------------------------------------------------

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
