"""A grid of two attributes: each photo at every value of the first one, and there at every value of the second.

Its pictures are one sweep of the tables, and its slopes come from views of it, see ``slopes.measures.crossed``:
``gender-x-race`` names the sweep and the interaction, ``gender-x-race=-2`` the slope of gender at race -2. The second
attribute may have names in place of values; its slopes are then the contrasts with the first name.
"""

from collections.abc import Mapping, Sequence
from math import nan

from gslopes.core import frozen
from gslopes.core.placebo import CROSS, contrast, ends_of

Values = Mapping[str, Sequence[float]]  # of a sweep, by the attribute that is edited along it


@frozen
class Grid:
    """Two attributes with their values, ascending, an odd number of each; or both ends of the first, and of the second
    names, whose values are 0, 1 and so on.

    levels: those names, the baseline first.

    Step j I + i of its sweep, which is its value in the tables, shows value i of the first attribute, of I, and value j
    of the second.

    >>> grid = Grid(("gender", "race"), ((-2.0, 0.0, 2.0), (-1.0, 0.0, 1.0)))
    >>> grid.name, grid.axes["race"]
    ('gender-x-race', [-1.0, -1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    """

    names: tuple[str, str]
    values: tuple[tuple[float, ...], tuple[float, ...]]
    levels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """That of its sweep."""
        return CROSS.join(self.names)

    @property
    def contrasts(self) -> list[str]:
        """Of each other name with the baseline."""
        return [contrast(self.names[1], level, self.levels[0]) for level in self.levels[1:]]

    @property
    def sweeps(self) -> dict[str, list[float]]:
        """Attribute, or contrast, to its values."""
        if self.levels:
            return {self.names[0]: [*self.values[0]], **{one: [0.0, 1.0] for one in self.contrasts}}
        return dict(zip(self.names, map(list, self.values), strict=True))

    @property
    def axes(self) -> dict[str, list[float]]:
        """Attribute, or contrast, to its value at every step; NaN where a contrast has none."""
        cells = [(a, b) for b in self.values[1] for a in self.values[0]]
        axes = {name: [cell[axis] for cell in cells] for axis, name in enumerate(self.names)}
        if self.levels:
            steps = axes.pop(self.names[1])
            for level, name in enumerate(self.contrasts, 1):
                ends = {0.0: 0.0, level: 1.0}
                axes[name] = [ends.get(step, nan) for step in steps]
        return axes


def split(attribute: str) -> tuple[str, str, str]:
    """(the attribute that moves, the other one, its value), empty if the name has none.

    >>> split("gender"), split("gender-x-race"), split("race-x-gender=-2")
    (('gender', '', ''), ('gender', 'race', ''), ('race', 'gender', '-2'))
    """
    first, _, rest = attribute.partition(CROSS)
    second, _, value = rest.partition("=")
    return first, second, value


def grid_of(values: Values) -> Grid | None:
    """The grid of a run, by the values of its sweeps; None if they are plain."""
    named = [parts for name in values if (parts := ends_of(name))]
    for first, second, _ in (split(name) for name in values if CROSS in name):
        ends = [parts for parts in named if parts[0] == second]
        if ends:
            levels = [ends[0][2], *(level for _, level, _ in ends)]
            steps = tuple(map(float, range(len(levels))))
            return Grid((first, second), (tuple(values[first]), steps), tuple(levels))
        if {first, second} <= values.keys():
            return Grid((first, second), (tuple(values[first]), tuple(values[second])))
    return None
