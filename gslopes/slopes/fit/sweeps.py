"""Which value of its attribute each step of a sweep stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError, TableError

Array = NDArray[np.float64]

# Values are float32 in the tables; two that differ by less are the same value written on two roads.
_TOLERANCE = 1e-6


def values_by_attribute(
    scores: pa.Table, asked: pa.Table, given: Mapping[str, Sequence[float]] | None = None
) -> dict[str, Array]:
    """The K values of every attribute that has scores, (K,) float64, increasing, K odd or 2.

    scores, asked: Arrow tables of the schemas in core.tables.
    given: attribute to its K values; an attribute that is not in it takes its values from the scores table, where a
        step without any label is filled in if the others lie evenly.

    Raises: ConfigError if given values are neither two nor an odd number, or do not increase; TableError if the tables'
        are so, or contradict the given ones, or leave the values of some step unknown.
    """
    attributes = sorted(pc.unique(scores.column("attribute")).to_pylist())
    given = given or {}
    return {name: _values(name, _only(scores, name), _only(asked, name), given.get(name)) for name in attributes}


def _only(table: pa.Table, attribute: str) -> pa.Table:
    names = [name for name in ("step", "value") if name in table.column_names]
    return table.select(names).filter(pc.equal(table.column("attribute"), attribute))


def _values(attribute: str, scores: pa.Table, asked: pa.Table, given: Sequence[float] | None) -> Array:
    known = _pairs(attribute, scores)
    last = max(int(np.max(table.column("step").to_numpy(), initial=0)) for table in (scores, asked))
    if given is None:
        values = _fill(attribute, known, last + 1)
        error: type[ConfigError | TableError] = TableError
    else:
        values = np.asarray(given, dtype=np.float64)
        error = ConfigError
    if values.ndim != 1 or (len(values) != 2 and (len(values) < 3 or len(values) % 2 == 0)):
        shown = len(values) if values.ndim == 1 else "a table of"
        hint = "It needs two, or an odd number: one is the centre."
        raise error(f"The sweep of {attribute} has {shown} values.", hint)
    if not np.isfinite(values).all() or (np.diff(values) <= 0).any():
        raise error(f"The values of {attribute} do not increase from step to step: {values.tolist()}.", "Sort them.")
    if last >= len(values):
        raise TableError(
            f"The tables have a step {last} (from 0) of {attribute}, which has {len(values)} values.",
            "Pass all the values of the sweep.",
        )
    _check_known_values(attribute, values, known)
    return _exact(values)


def _pairs(attribute: str, scores: pa.Table) -> dict[int, float]:
    """Step to value, as far as the scores table tells."""
    unique = scores.group_by(["step", "value"]).aggregate([])
    steps, values = unique.column("step").to_pylist(), unique.column("value").to_pylist()
    if min(steps, default=0) < 0:
        raise TableError(f"The scores table has a negative step of {attribute}.", "Number the steps from 0.")
    if len(set(steps)) != len(steps):
        raise TableError(
            f"The scores table has different values for one step of {attribute}.", "Give each step one value."
        )
    return dict(zip(steps, values, strict=True))


def _fill(attribute: str, known: Mapping[int, float], count: int) -> Array:
    """All values, those of steps where no label was returned drawn on the line through the others."""
    steps = np.array(sorted(known))
    values = np.array([known[step] for step in steps.tolist()], dtype=np.float64)
    if len(known) == count:
        return values
    hint = "Pass the values of the sweep."
    if len(known) < 2:
        raise TableError(f"The scores table holds {len(known)} of the {count} values of {attribute}.", hint)
    width = (values[-1] - values[0]) / (steps[-1] - steps[0])
    line: Array = values[0] + width * (np.arange(count) - steps[0])
    if np.abs(line[steps] - values).max() > _TOLERANCE * max(1.0, float(np.abs(values).max())):
        raise TableError(f"The scores table lacks steps of {attribute}, and the others do not lie evenly.", hint)
    return line


def _check_known_values(attribute: str, values: Array, known: Mapping[int, float]) -> None:
    for step, value in known.items():
        if abs(values[step] - value) > _TOLERANCE * max(1.0, abs(value)):
            given = f"but {values[step]:g} was given"
            raise TableError(
                f"Step {step} of {attribute} is {value:g} in the scores table, {given}.",
                "Leave the values out, or pass those of the table.",
            )


def _exact(values: Array) -> Array:
    """Evenly spaced values freed from the rounding to float32, so that every road to them gives the same slopes."""
    line = np.linspace(values[0], values[-1], len(values))
    return line if np.abs(line - values).max() <= _TOLERANCE * max(1.0, float(np.abs(values).max())) else values
