"""The answers about pictures as matrices over persons: what every measure is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Persons by number, and which photos are theirs.

    persons: names.  of_photo: photo to the number of its person.
    """

    persons: tuple[str, ...]
    of_photo: Mapping[str, int]

    @classmethod
    def of(cls, people: pd.DataFrame) -> Panel:
        """From the people table; skipped photos have no person."""
        used = people[people["status"] == "used"]
        persons = tuple(dict.fromkeys(used["person"]))
        number = {name: index for index, name in enumerate(persons)}
        return cls(persons, {str(p): number[name] for p, name in zip(used["photo"], used["person"], strict=True)})

    @property
    def person_of(self) -> dict[str, str]:
        """Photo to the name of its person."""
        return {photo: self.persons[number] for photo, number in self.of_photo.items()}

    def numbers(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Numbers of the persons that have a photo."""
        known = {name: index for index, name in enumerate(self.persons)}
        return np.array([known[name] for name in names if name in known], dtype=np.int64)

    def positions(self, frame: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of the persons on the left and on the right of each row."""
        left, right = (
            np.asarray(frame[name].map(self.of_photo).to_numpy(), dtype=np.int64) for name in ("left", "right")
        )
        return left, right

    def mean(self, frame: pd.DataFrame, values: Array) -> Array:
        """(N, N) mean over the pictures with person i left and j right; NaN without one."""
        left, right = self.positions(frame)
        return self._mean(left, right, values)

    def favoured(self, frame: pd.DataFrame, share_left: Array, share_right: Array | None = None) -> Array:
        """(N, N) h: the share of the answers about i and j, in whichever order, that favoured i.

        share_left, share_right: (rows,) chance that each is shown; the right one's is the rest if None. Where both or
        neither may be shown, h is 1/2 plus half of the difference.
        """
        left, right = self.positions(frame)
        won = share_left if share_right is None else 0.5 + (share_left - share_right) / 2
        return self._mean(np.r_[left, right], np.r_[right, left], np.r_[won, 1 - won])

    def either(self, frame: pd.DataFrame, of_left: Array, of_right: Array) -> Array:
        """(N, N) mean of a number about the first person, whichever side it stood on."""
        left, right = self.positions(frame)
        return self._mean(np.r_[left, right], np.r_[right, left], np.r_[of_left, of_right])

    def _mean(self, row: NDArray[np.int64], column: NDArray[np.int64], values: Array) -> Array:
        size = len(self.persons)
        usable = ~np.isnan(values)
        place = row[usable] * size + column[usable]
        total = np.bincount(place, weights=values[usable], minlength=size * size)
        count = np.bincount(place, minlength=size * size)
        return np.divide(total, count, out=np.full(size * size, np.nan), where=count > 0).reshape(size, size)
