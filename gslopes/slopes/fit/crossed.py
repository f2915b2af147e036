"""The slopes of a grid of two attributes, as sweeps that share pictures: views of one table of answers.

==================  ================================================================================================
view                what its slope is
==================  ================================================================================================
``gender``          main slope: over all pictures, per unit of gender, as on average over the values of race
``race``            likewise
``gender+race``     interaction: by how much a unit of race changes the slope of gender, per unit of both
``gender@race=2``   slope of gender where race is at that end; so are the three others
==================  ================================================================================================

The grid is full, so the first three are orthogonal. A value of a view is that of the attribute; of the interaction the
product of both, less their means.

Permutations move whole rows or columns of a photo's grid: rows for the slope of the first attribute, columns for that
of the second, both for the interaction. A photo's own main effects, of whatever shape, sum to 0 over any such order, so
what is permuted for the interaction is what they leave, and the test is exact where they add up and the rest is
exchangeable. Where only the mean interaction is 0, it holds with many photos, as the statistic is studentised.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gslopes.core import placebo
from gslopes.core.crossed import Grid

VIEWS = 7  # of a grid
Whole = NDArray[np.int64]


class View(NamedTuple):
    """steps: (K,) of the grid's pictures, by their values.  values: (K,).

    orders: (T, K) of its pictures, from which permutations are drawn; None for all orders.
    """

    steps: Whole
    values: NDArray[np.float64]
    orders: NDArray[np.int8] | None = None


def at_end(attribute: str, other: str, value: float) -> str:
    """The name of the view of an attribute where the other one has a value."""
    return f"{attribute}@{other}={value:g}"


def views(grid: Grid) -> dict[str, View]:
    """Name to view, main slopes first; each followed by those of the placebo sweeps."""
    shape, axes = tuple(map(len, grid.values)), [np.array(values) for values in grid.axes.values()]
    cells, (rows, columns) = np.arange(shape[0] * shape[1]).reshape(shape), map(_orders, shape)
    found = {
        grid.names[0]: _view(axes[0], cells, rows, columns[:1]),
        grid.names[1]: _view(axes[1], cells, rows[:1], columns),
        grid.name: _view((axes[0] - axes[0].mean()) * (axes[1] - axes[1].mean()), cells, rows, columns),
    }
    for axis, (name, other) in enumerate((grid.names, grid.names[::-1])):
        for end in (0, -1):
            steps = np.take(cells, [end], 1 - axis).ravel()
            found[at_end(name, other, grid.values[1 - axis][end])] = View(steps, axes[axis][steps])
    return {name: view for own, view in found.items() for name in (own, *placebo.names(own))}


def _orders(count: int) -> Whole:
    """(t, count) orders of a grid's rows or columns, as they are first: all, or as many as do."""
    if count <= 5:
        return np.array(list(permutations(range(count))))
    plain = np.broadcast_to(np.arange(count), (120, count))
    return np.concatenate([plain[:1], np.random.default_rng(count).permuted(plain, axis=1)])


def _view(values: NDArray[np.float64], cells: Whole, rows: Whole, columns: Whole) -> View:
    """values: (I J,) of the cells.  rows, columns: orders of both."""
    steps = np.argsort(values, kind="stable")
    place = np.argsort(steps)  # of each cell among the view's pictures
    orders = [place[cells[np.ix_(row, column)].ravel()[steps]] for row, column in product(rows, columns)]
    return View(steps, values[steps], np.array(orders, np.int8))


def expanded(table: pa.Table, grid: Grid) -> pa.Table:
    """A table of answers along the grid as one along its views: a picture's row in each that has it."""
    attribute, step, parts = table.column("attribute").cast(pa.string()), table.column("step").to_numpy(), []
    for name, view in views(grid).items():
        kind, place = placebo.split(name)[1], np.full(len(grid.steps), -1)
        place[view.steps] = np.arange(len(view.steps))
        own = pc.equal(attribute, placebo.name(grid.name, kind) if kind else grid.name)
        rows = np.flatnonzero(own.to_numpy(zero_copy_only=False) & (place[step] >= 0))
        at, part = place[step[rows]], table.take(pa.array(rows))
        content = {column: part.column(column) for column in table.column_names}
        content |= {"attribute": pa.array([name] * len(rows), pa.string()), "step": pa.array(at, pa.int16())}
        content |= {"value": pa.array(view.values[at], pa.float32())} if "value" in content else {}
        parts.append(pa.table(content))
    return pa.concat_tables(parts).unify_dictionaries()


def along(frame: pd.DataFrame, grid: Grid | None) -> pd.DataFrame:
    """Readings, or verdicts, along a grid as along each attribute alone: means over the values of the other one."""
    if grid is None:
        return frame
    own, parts = frame[frame["attribute"] == grid.name], []
    for name, values in grid.axes.items():
        part = own.assign(attribute=name)
        if "step" in frame:
            levels = dict(enumerate(np.unique(values, return_inverse=True)[1].tolist())) | {-1: -1}
            keys = part.assign(step=part["step"].map(levels)).groupby(
                ["photo", "attribute", "reading", "step"], sort=False
            )
            part = keys["score"].mean().reset_index()
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
