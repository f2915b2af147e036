"""A grid of two attributes: each photo at every value of the first one, and there at every value of the second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gslopes.core.errors import UsageError
from gslopes.core.files import show


@dataclass(frozen=True, slots=True)
class Grid:
    """Two attributes with their values, ascending, an odd number of each.

    In the tables its pictures are one sweep, ``name``: step i J + j shows value i of the first attribute and value j of
    the second, of J. The column value is the step.

    >>> grid = Grid(("gender", "race"), ((-2.0, 0.0, 2.0), (-1.0, 0.0, 1.0)))
    >>> grid.name, grid.axes["race"]
    ('gender+race', [-1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0])
    """

    names: tuple[str, str]
    values: tuple[tuple[float, ...], tuple[float, ...]]

    @property
    def name(self) -> str:
        """That of its sweep."""
        return "+".join(self.names)

    @property
    def by_name(self) -> dict[str, tuple[float, ...]]:
        """Attribute to its values."""
        return dict(zip(self.names, self.values, strict=True))

    @property
    def steps(self) -> list[float]:
        """The values of its sweep."""
        return [float(step) for step in range(len(self.values[0]) * len(self.values[1]))]

    @property
    def axes(self) -> dict[str, list[float]]:
        """Attribute to its value at every step."""
        cells = [(a, b) for a in self.values[0] for b in self.values[1]]
        return {name: [cell[axis] for cell in cells] for axis, name in enumerate(self.names)}


def check_plain(manifest: Mapping[str, Any], run: Path) -> None:
    """Raises: UsageError for a run that crosses two attributes."""
    if manifest.get("grid"):
        raise UsageError(f"{show(run)} crosses two attributes.", "Name a run whose attributes are edited one by one.")


def grid_of(manifest: Mapping[str, Any]) -> Grid | None:
    """The grid of a run, by its ``run.json``; None where its sweeps are plain ones."""
    if not (facts := manifest.get("grid")):
        return None
    (one, first), (other, second) = facts.items()
    return Grid((one, other), (tuple(first), tuple(second)))
