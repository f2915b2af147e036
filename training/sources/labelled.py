"""Photos with labels: what is read from every public data set."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import DataMissing


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPhotos:
    """Photos of one set and what is known of them.

    set: the set's short name.  paths: n files.  names: the columns of ``values``.
    values: (n, len(names)) float32; 1 and 0 for yes and no, years for ages, NaN where unknown.
    """

    set: str
    paths: tuple[Path, ...]
    names: tuple[str, ...]
    values: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.paths)

    def column(self, name: str) -> NDArray[np.float32]:
        """One label, (n,); all NaN if this set does not have it."""
        if name not in self.names:
            return np.full(len(self), np.nan, np.float32)
        return self.values[:, self.names.index(name)]

    def held_out(self, share: float = 0.1) -> NDArray[np.bool_]:
        """(n,) whether a photo is never trained on: fixed by the sha256 of its file name, the same for every model."""
        return np.array([held_out(path.name, share) for path in self.paths], bool)

    def fold(self, name: str) -> NDArray[np.bool_]:
        """(n,) whether a photo belongs to a fold: ``held-out``, ``judges`` or ``editors`` (see ``fold``)."""
        return np.array([fold(path.name) == name for path in self.paths], bool)

    def between(self, low: float, high: float) -> NDArray[np.bool_]:
        """(n,) whether a photo's ``place`` lies in [low, high)."""
        return np.array([low <= place(path.name) < high for path in self.paths], bool)


def place(name: str) -> float:
    """A fixed number in [0, 1), evenly distributed over photos: from the sha256 of the file name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) / 2**64


def held_out(name: str, share: float = 0.1) -> bool:
    """Whether the photo of this file name belongs to the held-out split.

    >>> sum(held_out(f"{i:06}.jpg") for i in range(1000))
    104
    """
    return place(name) < share


def fold(name: str) -> str:
    """Which models may learn from a photo, where editors and those who judge them must not share any.

    held-out (a tenth): none.  judges (35 %): the judge, which measures editors.  editors (55 %): editors, and the
    guide of their training.

    >>> fold("000001.jpg")
    'editors'
    """
    where = place(name)
    return "held-out" if where < 0.1 else "judges" if where < 0.45 else "editors"


def need(path: Path, what: str) -> Path:
    """``path``, if it is there.  Raises: DataMissing, saying what was looked for."""
    if not path.exists():
        raise DataMissing(
            f"{what} is not at {path}.", "Unzip the set there, or point --data at the folder that holds it."
        )
    return path
