"""What of a computed number is nothing but rounding: one rule, for every spread, mean, difference, tie and order.

Processors add in different orders, so the last digits of a sum differ; the last digit of an answer may be any.
A number is 0 if it is no larger than this leaves; two numbers that differ by no more are equal.  The limit is a share
of the size of the numbers that went in: 0.1 + 0.2 - 0.3 is small next to 0.3.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from gslopes.core.records import Array, Flags, Integers, doubles

EXACT = 2.0**-40  # of counts, and of shares of them: doubles, summed over all units
STORED = 2.0**-20  # of answers: tables store them with 24 bits


def settled(numbers: ArrayLike, size: ArrayLike, grain: float = EXACT) -> Array:
    """The numbers; 0 if they are nothing but rounding; NaN stays NaN.

    size: of what they were computed from, as an array that goes with them.  grain: the share of it that rounding may
        be: ``EXACT``, ``STORED``, or 1 if the size is the rounding's.

    >>> settled([0.1 + 0.2 - 0.3, 1e-9], 0.3).tolist()
    [0.0, 1e-09]
    """
    values = doubles(numbers)
    small = abs(values) <= grain * abs(doubles(size))
    return np.where(small & np.isfinite(values), 0.0, values)


def gap(first: Array, second: Array, grain: float = EXACT) -> Array:
    """The first less the second, 0 if that is nothing but rounding of the two.

    >>> gap(np.array([0.1 + 0.2]), np.array([0.3])).tolist()
    [0.0]
    """
    return settled(first - second, abs(first) + abs(second), grain)


def exceeds(numbers: ArrayLike, limit: ArrayLike, grain: float = STORED) -> Flags:
    """Whether numbers are larger than a limit by more than rounding; not if either is NaN.

    >>> exceeds([0.1 + 0.2, 0.31], 0.3).tolist()
    [False, True]
    """
    with np.errstate(invalid="ignore"):  # both infinite: neither exceeds the other
        gap = doubles(numbers) - doubles(limit)
    return np.asarray(settled(gap, limit, grain) > 0, bool)


def places(numbers: ArrayLike, size: float = 0.0, grain: float = STORED) -> Integers:
    """(n,) places in rising order, from 0, that ignore rounding: neighbours that are equal but for it share one.

    NaN come last, and share a place.  size: of what the numbers were computed from, if it is larger than they are.

    >>> places([0.3, 0.1, 0.1 + 0.2, np.nan]).tolist()
    [1, 0, 1, 2]
    """
    values = doubles(numbers)
    order = np.argsort(values, kind="stable")
    below = values[order[:-1]]
    above = values[order[1:]]
    sizes = np.maximum(np.maximum(abs(below), abs(above)), size)
    with np.errstate(invalid="ignore"):
        apart = abs(above - below) > grain * sizes
    apart |= (np.isnan(above) & ~np.isnan(below)) | (np.isinf(above) != np.isinf(below))
    result = np.zeros(len(values), np.int64)
    result[order[1:]] = np.cumsum(apart)
    return result


def levelled(numbers: ArrayLike) -> Array:
    """The numbers, (n,), those that are equal but for rounding made equal; of the size of the largest.

    >>> levelled([0.3, 0.1 + 0.2, 1.0, 1e-17, 0.0]).tolist()
    [0.3, 0.3, 1.0, 0.0, 0.0]
    """
    values = doubles(numbers)
    order = np.argsort(values, kind="stable")
    place = places(values, np.nanmax(abs(values), initial=0), EXACT)
    least = np.unique(place[order], return_index=True)[1]  # where each place begins
    return values[order[least]][place]


def sort_key(column: Any) -> Any:
    """The ``key`` of ``DataFrame.sort_values``: computed numbers by their places; names decide between equal ones."""
    return places(column) if column.dtype.kind == "f" else column


def ranked(frame: pd.DataFrame, *by: str | pd.Series) -> pd.DataFrame:
    """The rows in rising order of columns, or of numbers that go with the rows; each decides ties before it."""
    columns = [frame[one] if isinstance(one, str) else one for one in by]
    keys = pd.concat(columns, axis=1, ignore_index=True).reset_index(drop=True)
    return frame.iloc[keys.sort_values(keys.columns.tolist(), key=sort_key).index]


def highest(numbers: ArrayLike) -> int:
    """The place of the largest number; of several that are equal but for rounding, the first.  NaN are left out.

    Raises: ValueError for no number.

    >>> highest([0.1, 0.3, 0.1 + 0.2])
    1
    """
    return int(places(-doubles(numbers)).argmin())
