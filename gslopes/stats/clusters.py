"""Photos of one person are alike: units of resampling and of standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
FEW = 10.0  # effective units, below which a t over clusters is not to be trusted


def codes_of(clusters: NDArray[Any] | None, n: int) -> Codes:
    """(n,) the number, from 0, of each row's cluster; its own where there are none."""
    return np.arange(n) if clusters is None else np.unique(clusters, return_inverse=True)[1]


def named_codes(names: Sequence[str], ids: NDArray[np.object_]) -> Codes:
    """(n,) the number of each row's cluster by its name; a row without a name is its own.

    names: (n,) texts.  ids: (n,) what tells the rows apart.
    """
    texts = [name or f"\0{row}" for name, row in zip(names, ids, strict=True)]
    return np.asarray(pd.factorize(np.array(texts, dtype=object))[0], dtype=np.int64)


def effective_units(sizes: Array) -> float:
    """How many units of equal size tell as much about a mean, if photos of one unit are alike.

    Source: Carter, Schnepel & Steigerwald 2017, doi 10.1162/REST_a_00639, G* of an intercept.

    >>> round(effective_units(np.ones(30)), 6), round(effective_units(np.array([40.0, *[1.0] * 60])), 1)
    (30.0, 1.1)
    """
    if not len(sizes):
        return 0.0
    squares = np.square(np.asarray(sizes, dtype=np.float64))
    return float(len(sizes) / (1 + np.var(squares) / np.mean(squares) ** 2))
