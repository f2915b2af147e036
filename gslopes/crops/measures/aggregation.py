"""Shares over a coarser grouping: race over both genders, gender over all races."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Weighting = Literal["equal", "size"]


def aggregate(
    shares: Mapping[tuple[str, str], float | Array],
    first: Sequence[str],
    second: Sequence[str],
    sizes: Mapping[str, int],
    weighting: Weighting = "equal",
) -> tuple[float | Array, int, int]:
    """P(first over second) as the mean of the P of all their cells, however each is stored.

    shares: (a, b) to P(a over b), a number or (B,) draws; a pair that is there as (b, a) counts as 1 - P.
    first, second: cells of the two coarse groups, such as black-female and black-male.
    sizes: persons of each cell.  weighting: ``equal``, as published, or ``size``, by m times n.

    Returns the mean, how many pairs of cells it is of, and how many are missing. ("pooled", all persons of the coarse
    group as one, is no mean of these: take ``parity`` over all of them.)

    >>> aggregate({("a", "x"): 0.6, ("y", "a"): 0.3}, ["a"], ["x", "y"], {"a": 1, "x": 1, "y": 1})
    (0.65, 2, 0)
    """
    total: float | Array = 0.0
    weight, cells, missing = 0.0, 0, 0
    for one in first:
        for other in second:
            known = shares.get((one, other))
            if known is None:
                turned = shares.get((other, one))
                known = None if turned is None else 1 - turned
            if known is None or (np.ndim(known) == 0 and np.isnan(known)):
                missing += 1
                continue
            share = float(sizes[one] * sizes[other]) if weighting == "size" else 1.0
            total, weight, cells = total + share * known, weight + share, cells + 1
    return (total / weight if cells else float("nan")), cells, missing
