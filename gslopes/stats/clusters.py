"""Photos of one person are alike: units of resampling and of standard errors."""

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas import Series
from scipy import optimize

from gslopes.core.csv_table import normal_names
from gslopes.core.records import AnyArray, Array, Integers, Interval, Objects, doubles
from gslopes.stats.intervals import (
    UNBOUNDED,
    Bounds,
    Estimate,
    bent,
    clustered_mean as clustered_mean,
    linearised,
    t_quantile,
)
from gslopes.stats.rounding import exceeds

FEW = 10.0  # effective units, below which a t over clusters is not to be trusted


def codes_of(clusters: AnyArray | None, n: int) -> Integers:
    """(n,) the number, from 0, of each row's cluster; without clusters each row is one."""
    if clusters is None:
        return np.arange(n)
    return np.unique(clusters, return_inverse=True)[1]


def named_codes(names: Sequence[str], ids: Objects) -> Integers:
    """(n,) the number of each row's cluster by its name; a row without a name is a cluster.

    names: (n,) texts.  ids: (n,) what tells the rows apart.
    """
    keys = [(bool(name), name or row) for name, row in zip(names, ids, strict=True)]
    return np.asarray(pd.factorize(Series(keys, dtype=object))[0], np.int64)


def normal_texts(column: Series) -> Series:
    """A column of groups as ``core.csv_table.normal_names`` has it.

    >>> normal_texts(Series(["male", "Male ", "male", "NaN", None])).tolist()
    ['male', 'male', 'male', '', '']
    """
    return Series(normal_names(column), index=column.index, dtype=object)


def effective_units(sizes: Array) -> float:
    """How many units of equal size tell as much about a mean, if photos of one unit are alike.

    Source: Carter, Schnepel & Steigerwald 2017, doi 10.1162/REST_a_00639, G* of an intercept.

    >>> round(effective_units(np.ones(30)), 6), round(effective_units(np.array([40.0, *[1.0] * 60])), 1)
    (30.0, 1.1)
    """
    if not len(sizes):
        return 0.0
    squares = np.square(doubles(sizes))
    return float(len(sizes) / (1 + np.var(squares) / np.mean(squares) ** 2))


def few(units: float) -> bool:
    """Whether effective units are fewer than ``FEW``, by more than rounding; False for NaN.

    >>> few(9.0), few(10 - 1e-15)
    (True, False)
    """
    return bool(exceeds(FEW, units))


def enough(sizes: Array) -> bool:
    """Whether a t over units of these sizes, (U,), is to be trusted."""
    return not few(effective_units(sizes))


def clustered_ratio(top: Array, bottom: Array, bounds: Bounds = UNBOUNDED) -> Estimate:
    """The ratio of two sums over clusters, such as hits over photos; otherwise as ``clustered_mean``.

    top, bottom: (U,) sums of each cluster; those without a ``bottom`` do not count.  bounds: what the ratio can be.
    """
    top = top[bottom > 0]
    bottom = bottom[bottom > 0]
    if not len(bottom):
        return Estimate(*[nan] * 5)
    ratio = float(top.sum() / bottom.sum())
    moves = (top - ratio * bottom) / bottom.sum()
    size = (abs(top) + abs(ratio) * bottom) / bottom.sum()
    return linearised(ratio, moves, size, bounds=bounds)


class Source(NamedTuple):
    """What one factor adds to the error of a number, such as whose photos or which rooms: its se and their degrees."""

    se: float
    dof: float


def crossed(
    value: float,
    ends: Interval,
    people: Source,
    other: Source,
    bounds: Bounds = UNBOUNDED,
) -> tuple[float, float, float]:
    """(low, high, p) of a number that two crossed factors move, people and another of few levels; 95 %.

    The distances of the ends join as independent ones do, each by its degrees of freedom; p is of the null
    hypothesis that the number is 0, from the level at which an end of such an interval by t meets 0.  What both factors
    share, the residual, counts in both: the interval is rather too wide, and wide indeed with two levels.

    ends: the interval over people only; NaN if people do not differ.  bounds: what the number can be.

    Source: Zou & Donner 2008, doi 10.1002/sim.3095.

    >>> low, high, p = crossed(10, (8, 12), Source(1.0, 100), Source(1.0, 4))
    >>> round(low, 1), round(high, 1), round(p, 4)
    (6.6, 13.4, 0.0007)
    """
    sources = [source for source in (people, other) if source.se > 0]
    if not (np.isfinite([value, *people, *other]).all() and sources):
        return nan, nan, nan
    half = float(t_quantile(other.dof)) * other.se
    low, high = (float(np.hypot(np.nan_to_num(abs(end - value)), half)) for end in ends)

    def excess(log_p: float) -> float:
        """How far the interval of level 1 - p goes beyond 0."""
        confidence = 1 - np.exp(log_p)
        halves = (float(t_quantile(source.dof, confidence)) * source.se for source in sources)
        return sum(half**2 for half in halves) - value**2

    smallest = np.log(1e-14)
    p = 1.0
    if value and excess(smallest) < 0:
        p = 1e-14
    elif value:
        p = float(np.exp(optimize.brentq(excess, smallest, 0)))
    below, above = bent(value, (np.asarray(value - low), np.asarray(value + high)), bounds)
    return float(below), float(above), p


def pooled_source(variances: Array, dofs: Array) -> Source:
    """The source of a sum of independent errors: their variances, (C,), each with its degrees of freedom.

    Source: Satterthwaite 1946, doi 10.2307/3002019, the squared variances corrected for what they are too large by,
    which matters for one or two degrees.

    >>> pooled_source(np.array([1.0, 1.0]), np.array([1.0, 1.0]))
    Source(se=1.4142135623730951, dof=2.0)
    """
    total = float(variances.sum())
    dof = float(dofs.sum())
    if total > 0:
        satterthwaite = total**2 / float((variances**2 / (dofs + 2)).sum()) - 2
        dof = float(np.clip(satterthwaite, dofs.min(), dof))
    return Source(float(np.sqrt(total)), dof)
