"""The slopes of a grid of two attributes, as sweeps that share pictures: views of one table of answers.

===================  ===============================================================================================
view                 what its slope is
===================  ===============================================================================================
``gender``           main slope: over all pictures, per unit of gender, as on average over the values of race
``race``             likewise
``gender-x-race``    interaction: by how much a unit of race changes the slope of gender, per unit of both
``gender-x-race=2``  slope of gender with race at that end; so are the three others
===================  ===============================================================================================

The grid is full, so the first three are orthogonal. A value of a view is the attribute's; of the interaction the
product of both, less their means. Its y_first and y_last are how far a label goes from end to end of the first
attribute with the second one at its lowest and at its highest value.

Permutations move whole rows or columns of a photo's grid: rows for the slope of the first attribute, columns for that
of the second, both for the interaction. A photo's own main effects, of whatever shape, sum to 0 over any such order, so
what is permuted for the interaction is what they leave, and the test is exact if they add up and the rest is
exchangeable. If only the mean interaction is 0, it holds with many photos, as the statistic is studentised.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from gslopes.core import frozen_identity, placebo
from gslopes.core.crossed import Grid, Values, grid_of
from gslopes.core.records import Array, Int8Array, Integers
from gslopes.slopes.measures.answers import Answers, encode, gather, values_by_attribute
from gslopes.stats.rounding import places


class View(NamedTuple):
    """steps: (K,) of the grid's pictures, by their values.  values: (K,).

    orders, ends: as of ``Answers``; of the interaction from end to end of the first attribute, at both of the second.
    """

    steps: Integers
    values: Array
    orders: Int8Array | None = None
    ends: Array | None = None


def views(grid: Grid) -> dict[str, View]:
    """Name to view: main slopes, the interaction, and the slopes at an end; with names these of each contrast."""
    if grid.levels:
        return _views_by_name(grid)
    count, other_count = map(len, grid.values)
    axes = [np.array(values) for values in grid.axes.values()]
    cells = np.arange(count * other_count).reshape(other_count, count).T
    rows, columns = _orders(count), _orders(other_count)
    ends = np.zeros((3, 2, cells.size))
    for end in (0, -1):
        ends[0, end, cells[end]] = 1 / other_count
        ends[1, end, cells[:, end]] = 1 / count
        ends[2, end, cells[[0, -1], end]] = -1, 1
    product_of = (axes[0] - axes[0].mean()) * (axes[1] - axes[1].mean())
    by_name = {
        grid.names[0]: _view(axes[0], ends[0], cells, rows, columns[:1]),
        grid.names[1]: _view(axes[1], ends[1], cells, rows[:1], columns),
        grid.name: _view(product_of, ends[2], cells, rows, columns),
    }
    for axis, names in enumerate((grid.names, grid.names[::-1])):
        for end in (0, -1):
            steps = np.take(cells, end, 1 - axis)
            name = f"{placebo.CROSS.join(names)}={grid.values[1 - axis][end]:g}"
            by_name[name] = View(steps, axes[axis][steps])
    return by_name


def _views_by_name(grid: Grid) -> dict[str, View]:
    """As ``views``: the slope of the first attribute over all pictures, the views of the baseline with each name."""
    first = grid.names[0]
    by_name = {first: views(replace(grid, levels=()))[first]}
    row = np.arange(len(grid.values[0]))
    for level, name in enumerate(grid.contrasts, 1):
        at_baseline = f"{first}{placebo.CROSS}{name}=0"
        pair = Grid((first, name), (grid.values[0], (0.0, 1.0)))
        steps = np.concatenate([row, row + level * len(row)])
        for view, content in views(pair).items():
            if level == 1 or view != at_baseline:  # the same for all names, once
                by_name.setdefault(view, content._replace(steps=steps[content.steps]))
    return by_name


def _orders(count: int) -> Integers:
    """(t, count) orders of a grid's rows or columns, unchanged first: all, or a sample that is large enough."""
    if count <= 5:
        return np.array(list(permutations(range(count))))
    plain = np.broadcast_to(np.arange(count), (120, count))
    return np.concatenate([plain[:1], np.random.default_rng(count).permuted(plain, axis=1)])


def _view(
    values: Array,
    ends: Array,
    cells: Integers,
    rows: Integers,
    columns: Integers,
) -> View:
    """values: (I J,) of the pictures.  rows, columns: orders of both."""
    steps = np.argsort(places(values), kind="stable")
    picture = np.argsort(steps)  # of each cell in the view
    orders = []
    for row, column in product(rows, columns):
        moved = cells[np.ix_(row, column)].T.ravel()
        orders.append(picture[moved[steps]])
    return View(steps, values[steps], np.array(orders, np.int8), ends[:, steps])


@frozen_identity
class Along:
    """Tables of answers; if they are of a grid, along its views, of which one at a time takes memory.

    values: of each sweep.  views: by name, without those of placebos.  named: name, placebos' too, to sweep and view.
    """

    scores: pa.Table
    asked: pa.Table
    values: Mapping[str, Array]
    views: Mapping[str, View] = field(default_factory=dict)
    named: Mapping[str, tuple[str, View]] = field(default_factory=dict)

    def rows(self, table: pa.Table, attribute: str) -> pa.Table:
        """Those of one of the tables along a sweep, and maybe others."""
        if not self.named:
            return table
        sweep, view = self.named[attribute]
        codes, sweeps = encode(table.column("attribute"))
        step = table.column("step").to_numpy()
        new_step = np.full(step.max(initial=view.steps.max()) + 1, -1)
        new_step[view.steps] = np.arange(len(view.steps))
        rows = np.flatnonzero((sweeps == sweep)[codes] & (new_step[step] >= 0))
        name = pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), [attribute])
        part = table.take(rows).drop_columns(["attribute", "step"])
        steps = pa.array(new_step[step[rows]], pa.int16())
        return part.append_column("attribute", name).append_column("step", steps)

    def sweeps(self) -> Iterator[Answers]:
        """As ``answers.gather``, in no order."""
        for name in self.named or [""]:
            yield from gather(
                self.rows(self.scores, name), self.rows(self.asked, name), self.values
            )


def along(scores: pa.Table, asked: pa.Table, passed: Values | None) -> Along:
    """Tables along the views of a grid if the passed values are of one; they are as of ``values_by_attribute``."""
    grid = grid_of(passed or {})
    if grid is None:
        return Along(scores, asked, values_by_attribute(scores, asked, passed))
    by_name = views(grid)
    sweeps = {"": grid.name}
    sweeps |= {f"-{kind}": placebo.name(grid.name, kind) for kind in placebo.KINDS}
    named = {
        name + kind: (sweep, view)
        for name, view in by_name.items()
        for kind, sweep in sweeps.items()
    }
    values = {name: view.values for name, (_, view) in named.items()}
    return Along(scores, asked, values, by_name, named)
