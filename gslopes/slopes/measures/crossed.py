"""The slopes of a grid of two attributes, as sweeps that share pictures: views of one table of answers.

===================  ===============================================================================================
view                 what its slope is
===================  ===============================================================================================
``gender``           main slope: over all pictures, per unit of gender, as on average over the values of race
``race``             likewise
``gender-x-race``    interaction: by how much a unit of race changes the slope of gender, per unit of both
``gender-x-race=2``  slope of gender where race is at that end; so are the three others
===================  ===============================================================================================

The grid is full, so the first three are orthogonal. A value of a view is that of the attribute; of the interaction the
product of both, less their means. Its y_first and y_last are how far a label goes from end to end of the first
attribute where the second one is at its lowest and its highest value.

Permutations move whole rows or columns of a photo's grid: rows for the slope of the first attribute, columns for that
of the second, both for the interaction. A photo's own main effects, of whatever shape, sum to 0 over any such order, so
what is permuted for the interaction is what they leave, and the test is exact where they add up and the rest is
exchangeable. Where only the mean interaction is 0, it holds with many photos, as the statistic is studentised.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gslopes.core import placebo
from gslopes.core.arrays import Array, Integers
from gslopes.core.crossed import Grid, grid_of
from gslopes.slopes.measures.answers import values_by_attribute
from gslopes.stats.rounding import places


class View(NamedTuple):
    """steps: (K,) of the grid's pictures, by their values.  values: (K,).

    orders, ends: as of ``Answers``; of the interaction from end to end of the first attribute, at both of the second.
    """

    steps: Integers
    values: Array
    orders: NDArray[np.int8] | None = None
    ends: Array | None = None


def views(grid: Grid) -> dict[str, View]:
    """Name to view: main slopes, the interaction, and the slopes at an end."""
    shape = tuple(map(len, grid.values))
    axes = [np.array(values) for values in grid.axes.values()]
    cells, (rows, columns) = (
        np.arange(shape[0] * shape[1]).reshape(shape[::-1]).T,
        map(_orders, shape),
    )
    ends = np.zeros((3, 2, cells.size))
    for end in (0, -1):
        ends[0, end, cells[end]], ends[1, end, cells[:, end]] = 1 / shape[1], 1 / shape[0]
        ends[2, end, cells[[0, -1], end]] = -1, 1
    found = {
        grid.names[0]: _view(axes[0], ends[0], cells, rows, columns[:1]),
        grid.names[1]: _view(axes[1], ends[1], cells, rows[:1], columns),
        grid.name: _view(
            (axes[0] - axes[0].mean()) * (axes[1] - axes[1].mean()), ends[2], cells, rows, columns
        ),
    }
    for axis, names in enumerate((grid.names, grid.names[::-1])):
        for end in (0, -1):
            steps = np.take(cells, end, 1 - axis)
            found[f"{placebo.CROSS.join(names)}={grid.values[1 - axis][end]:g}"] = View(
                steps, axes[axis][steps]
            )
    return found


def _orders(count: int) -> Integers:
    """(t, count) orders of a grid's rows or columns, as they are first: all, or as many as do."""
    if count <= 5:
        return np.array(list(permutations(range(count))))
    plain = np.broadcast_to(np.arange(count), (120, count))
    return np.concatenate([plain[:1], np.random.default_rng(count).permuted(plain, axis=1)])


def _view(values: Array, ends: Array, cells: Integers, rows: Integers, columns: Integers) -> View:
    """values: (I J,) of the pictures.  rows, columns: orders of both."""
    steps = np.argsort(places(values), kind="stable")
    place = np.argsort(steps)  # of each cell among the view's pictures
    orders = [
        place[cells[np.ix_(row, column)].T.ravel()[steps]] for row, column in product(rows, columns)
    ]
    return View(steps, values[steps], np.array(orders, np.int8), ends[:, steps])


def along(
    scores: pa.Table, asked: pa.Table, given: Mapping[str, Sequence[float]] | None
) -> tuple[pa.Table, pa.Table, Mapping[str, Array], dict[str, View]]:
    """Tables of answers, along the views of a grid if the given values are of one, the values of each sweep, and the
    views.  given: as of ``answers.values_by_attribute``.
    """
    if (grid := grid_of(given)) is None:
        return scores, asked, values_by_attribute(scores, asked, given), {}
    every = {"": grid.name, **{f"-{kind}": placebo.name(grid.name, kind) for kind in placebo.KINDS}}
    seen = views(grid)
    found = {
        name + kind: (sweep, view) for name, view in seen.items() for kind, sweep in every.items()
    }
    values = {name: view.values for name, (_, view) in found.items()}
    return _along(scores, found), _along(asked, found), values, seen


def _along(table: pa.Table, found: Mapping[str, tuple[str, View]]) -> pa.Table:
    """A picture's row in each view that has it.  found: view to its sweep and steps."""
    attribute = table.column("attribute").cast(pa.string())
    step = table.column("step").to_numpy()
    parts = []
    for name, (sweep, view) in found.items():
        place = np.full(step.max(initial=view.steps.max()) + 1, -1)
        place[view.steps] = np.arange(len(view.steps))
        rows = np.flatnonzero(
            pc.equal(attribute, sweep).to_numpy(zero_copy_only=False) & (place[step] >= 0)
        )
        at = place[step[rows]]
        part = table.take(pa.array(rows))
        content = {column: part.column(column) for column in table.column_names}
        content |= {
            "attribute": pa.array([name] * len(rows), pa.string()),
            "step": pa.array(at, pa.int16()),
        }
        parts.append(pa.table(content))
    return pa.concat_tables(parts).unify_dictionaries()
