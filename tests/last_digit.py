"""Tables moved by one unit in the last place, and whether what is made of them is the same: DESIGN's rule 21.

Answers are stored with 24 bits, and two processors rarely agree about the last one.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

NEAR = 3e-4  # of the scale of a column: rounding of 24 bits, and what log-odds of scores near 1 make of it


def moved(numbers: Any, lot: np.random.Generator) -> np.ndarray:
    """Every number one unit in the last place up or down, in its precision; NaN stays."""
    array = np.asarray(numbers)
    ends = np.where(lot.random(array.shape) < 0.5, -np.inf, np.inf).astype(array.dtype)
    return np.where(np.isnan(array), array, np.nextafter(array, ends))


def moved_table(table: pd.DataFrame, lot: np.random.Generator) -> pd.DataFrame:
    """The table with every float moved."""
    floats = table.select_dtypes("floating")
    return table.assign(**{str(name): moved(floats[name].to_numpy(), lot) for name in floats})


def differences(one: Mapping[str, pd.DataFrame], other: Mapping[str, pd.DataFrame]) -> list[str]:
    """What differs by more than rounding, or at all if it is no number: texts, counts, flags, what is missing."""
    wrong = [f"{name}: only one has it" for name in one.keys() ^ other.keys()]
    for name in sorted(one.keys() & other.keys()):
        first, second = one[name], other[name]
        if first.shape != second.shape or list(first) != list(second):
            wrong.append(f"{name}: {first.shape} and {second.shape}")
            continue
        wrong += [
            f"{name}, {column}: {how}"
            for column in first
            for how in _apart(first[column], second[column])
        ]
    return wrong


def _apart(one: pd.Series, other: pd.Series) -> Iterable[str]:
    if not (pd.api.types.is_float_dtype(one.dtype) and pd.api.types.is_float_dtype(other.dtype)):
        rows = [pair for pair in zip(one, other, strict=True) if str(pair[0]) != str(pair[1])]
        return [f"{rows[0][0]!r} and {rows[0][1]!r}"] if rows else []
    first, second = one.to_numpy(float), other.to_numpy(float)
    if (np.isnan(first) != np.isnan(second)).any():
        row = int(np.argmax(np.isnan(first) != np.isnan(second)))
        return [f"row {row} is {first[row]} and {second[row]}"]
    signs = [np.sign(np.nan_to_num(side)) for side in (first, second)]
    if (signs[0] != signs[1]).any():
        row = int(np.argmax(signs[0] != signs[1]))
        return [f"row {row} is {first[row]} and {second[row]}: another sign"]
    finite = np.isfinite(first)
    scale = np.abs(first[finite]).max(initial=0.0)
    far = np.flatnonzero(~(np.abs(first[finite] - second[finite]) <= NEAR * scale))
    if (first[~finite & ~np.isnan(first)] != second[~finite & ~np.isnan(first)]).any():
        return ["infinite in one alone"]
    return [f"{first[finite][far[0]]!r} and {second[finite][far[0]]!r}"] if len(far) else []
