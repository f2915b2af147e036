"""The values of one attribute that a sweep goes through."""

from __future__ import annotations

import numpy as np

from gslopes.core.errors import UsageError
from gslopes.core.records import FloatArray

# Joo & Kärkkäinen 2020, §3.3 and §4.3: a in (-2, 2), seven values for gender, five for race.
STEPS = {"gender": 7, "race": 5}
DEFAULT_STEPS = 7
EXTENT = (-2.0, 2.0)


def values_for(attribute: str, steps: int | None = None, extent: tuple[float, float] | None = None) -> FloatArray:
    """K values, evenly spaced, ascending, (K,) float32.

    steps: K, odd and at least 3, so that there is a centre; the paper's K for the attribute by default.
    extent: the first and the last value, in units of the attribute (-1 and 1 are the ends seen in training).

    Raises: UsageError for an even K, one below 3, or an extent that does not grow.

    >>> values_for("race").tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    count = STEPS.get(attribute, DEFAULT_STEPS) if steps is None else steps
    if count < 3 or count % 2 == 0:
        nearest = max(3, count + 1)
        raise UsageError(
            f"A sweep of {count} values has no centre to compare with.",
            f"Give --steps an odd number such as {nearest}.",
        )
    low, high = EXTENT if extent is None else extent
    if not (np.isfinite([low, high]).all() and low < high):
        raise UsageError(
            f"A sweep cannot run from {low} to {high}.", "Give --range two numbers that grow, such as -2,2."
        )
    return np.linspace(low, high, count, dtype=np.float32)
