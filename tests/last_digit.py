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


def differences(
    tables: Mapping[str, pd.DataFrame], moved_tables: Mapping[str, pd.DataFrame]
) -> list[str]:
    """What differs by more than rounding, or at all if it is no number: texts, counts, flags, what is missing."""
    wrong = [f"{name}: only one has it" for name in tables.keys() ^ moved_tables.keys()]
    for name in sorted(tables.keys() & moved_tables.keys()):
        before, after = tables[name], moved_tables[name]
        if before.shape != after.shape or list(before) != list(after):
            wrong.append(f"{name}: {before.shape} and {after.shape}")
            continue
        wrong += [
            f"{name}, {column}: {how}"
            for column in before
            for how in _apart(before[column], after[column])
        ]
    return wrong


def _apart(column: pd.Series, moved_column: pd.Series) -> Iterable[str]:
    if not (
        pd.api.types.is_float_dtype(column.dtype)
        and pd.api.types.is_float_dtype(moved_column.dtype)
    ):
        rows = [
            pair for pair in zip(column, moved_column, strict=True) if str(pair[0]) != str(pair[1])
        ]
        return [f"{rows[0][0]!r} and {rows[0][1]!r}"] if rows else []
    numbers, moved_numbers = column.to_numpy(float), moved_column.to_numpy(float)
    if (np.isnan(numbers) != np.isnan(moved_numbers)).any():
        row = int(np.argmax(np.isnan(numbers) != np.isnan(moved_numbers)))
        return [f"row {row} is {numbers[row]} and {moved_numbers[row]}"]
    signs = [np.sign(np.nan_to_num(side)) for side in (numbers, moved_numbers)]
    if (signs[0] != signs[1]).any():
        row = int(np.argmax(signs[0] != signs[1]))
        return [f"row {row} is {numbers[row]} and {moved_numbers[row]}: another sign"]
    finite = np.isfinite(numbers)
    scale = np.abs(numbers[finite]).max(initial=0.0)
    far = np.flatnonzero(~(np.abs(numbers[finite] - moved_numbers[finite]) <= NEAR * scale))
    if (numbers[~finite & ~np.isnan(numbers)] != moved_numbers[~finite & ~np.isnan(numbers)]).any():
        return ["infinite in one alone"]
    return (
        [f"{numbers[finite][far[0]]!r} and {moved_numbers[finite][far[0]]!r}"] if len(far) else []
    )
