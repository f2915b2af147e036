"""A grid of two attributes: each photo at every value of the first one, and there at every value of the second.

Its pictures are one sweep of the tables, and its slopes come from views of it, see ``slopes.measures.crossed``:
``gender-x-race`` names the sweep and the interaction, ``gender-x-race=-2`` the slope of gender at race -2.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gslopes.core import frozen
from gslopes.core.errors import UsageError
from gslopes.core.files import show
from gslopes.core.placebo import CROSS


@frozen
class Grid:
    """Two attributes with their values, ascending, an odd number of each.

    Step j I + i of its sweep, which is its value in the tables, shows value i of the first attribute, of I, and value j
    of the second.

    >>> grid = Grid(("gender", "race"), ((-2.0, 0.0, 2.0), (-1.0, 0.0, 1.0)))
    >>> grid.name, grid.axes["race"]
    ('gender-x-race', [-1.0, -1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    """

    names: tuple[str, str]
    values: tuple[tuple[float, ...], tuple[float, ...]]

    @property
    def name(self) -> str:
        """That of its sweep."""
        return CROSS.join(self.names)

    @property
    def axes(self) -> dict[str, list[float]]:
        """Attribute to its value at every step."""
        cells = [(a, b) for b in self.values[1] for a in self.values[0]]
        return {name: [cell[axis] for cell in cells] for axis, name in enumerate(self.names)}


def split(attribute: str) -> tuple[str, str, str]:
    """(the attribute that moves, the other one, its value), empty if the name has none.

    >>> split("gender"), split("gender-x-race"), split("race-x-gender=-2")
    (('gender', '', ''), ('gender', 'race', ''), ('race', 'gender', '-2'))
    """
    first, _, rest = attribute.partition(CROSS)
    second, _, value = rest.partition("=")
    return first, second, value


def grid_of(values: Mapping[str, Sequence[float]] | None) -> Grid | None:
    """The grid of a run, by the values of its sweeps; None if they are plain."""
    values = values or {}
    pairs = [split(name)[:2] for name in values if CROSS in name]
    names = next((pair for pair in pairs if set(pair) <= set(values)), None)
    return names and Grid(names, (tuple(values[names[0]]), tuple(values[names[1]])))


def check_plain(manifest: Mapping[str, Any], run: Path) -> None:
    """Raises: UsageError for a run that crosses two attributes."""
    if grid_of(manifest.get("values")):
        raise UsageError(
            f"{show(run)} crosses two attributes.",
            "Name a run whose attributes are edited one by one.",
        )
