"""Answers about joined pictures as matrices over persons: every measure of them is computed from these."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from gslopes.core.arrays import Array, Integers
from gslopes.core.tables import lookup
from gslopes.crops.config import BOOTSTRAP
from gslopes.crops.measures.parity import compared, draw_weights
from gslopes.crops.stimuli.people import Groups


class Answers(NamedTuple):
    """What was answered about any two persons.

    mean: (N, N) of a number about the first of both, whichever side it stood on; NaN without a picture.
    counts: (N, N) how much it counts: as often as pictures of both were drawn; 1 where pairs are not drawn by lot.
    drawn: whether they are.
    """

    mean: Array
    counts: Array
    drawn: bool = False

    def at(self, cells: tuple[Any, ...]) -> tuple[Array, Array]:
        """Mean and count of some."""
        return self.mean[cells], self.counts[cells]


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Persons by number, which photos are theirs, and to which groups they belong.

    of_photo: photo to the number of its person.  count: N, of persons.  groups: column to group to numbers of persons.
    weights: of each group (B, persons), how often each is drawn in each resample.
    """

    of_photo: Mapping[str, int]
    count: int
    groups: Mapping[str, Mapping[str, Integers]]
    weights: Mapping[str, Mapping[str, Array]]

    @classmethod
    def of(cls, people: pd.DataFrame, groups: Groups, seed: int = 0) -> "Panel":
        """From the people table, whose skipped photos have no person.  groups: column to group to persons."""
        used = people[people["status"] == "used"]
        number = {str(name): index for index, name in enumerate(dict.fromkeys(used["person"]))}
        coded = {
            column: {
                name: np.array([number[p] for p in persons if p in number], np.int64)
                for name, persons in of.items()
            }
            for column, of in groups.items()
        }
        weights = {
            column: draw_weights({name: len(codes) for name, codes in of.items()}, BOOTSTRAP, seed)
            for column, of in coded.items()
        }
        numbered = used.assign(person=used["person"].map(number))
        return cls(lookup(numbered, "photo", "person"), len(number), coded, weights)

    def about(self, frame: pd.DataFrame, of_left: Array, of_right: Array | None = None) -> Answers:
        """The mean of a number about the first person of each two, over pictures and sides.

        frame: left, right, and draws.
        of_left, of_right: (rows,) about the person on each side; without the latter, of persons on the left alone.
        """
        left, right = (
            frame[name].map(self.of_photo).to_numpy(np.int64) for name in ("left", "right")
        )
        values = of_left
        weights = counted(frame)
        if of_right is not None:
            left, right, values = np.r_[left, right], np.r_[right, left], np.r_[of_left, of_right]
            weights = np.r_[weights, weights]
        size = self.count
        usable = ~np.isnan(values)
        cells = left[usable] * size + right[usable]
        weights = weights[usable]
        total = np.bincount(cells, weights=weights * values[usable], minlength=size * size)
        count = np.bincount(cells, weights=weights, minlength=size * size)
        mean = np.divide(total, count, out=np.full(size * size, np.nan), where=count > 0)
        drawn = bool((frame["draws"] > 0).any())
        counts = np.asarray(count if drawn else count > 0, float)
        return Answers(mean.reshape(size, size), counts.reshape(size, size), drawn)

    def favoured(self, frame: pd.DataFrame, share_left: Array, share_right: Array) -> Answers:
        """Shares h: of the answers about i and j, in whichever order, that favoured i.

        share_left, share_right: (rows,) chance that each is shown; where both or neither may be, h is 1/2 plus half of
        the difference.
        """
        won = 0.5 + (share_left - share_right) / 2
        return self.about(frame, won, 1 - won)

    def alone(self, saliency: pd.DataFrame) -> Answers:
        """Shares h of photos that are never joined: the higher maximum wins, ties half; means of a person's photos."""
        person = saliency["photo"].map(self.of_photo).to_numpy(np.int64)
        count = np.bincount(person, minlength=self.count)
        total = np.bincount(person, weights=saliency["max"].to_numpy(float), minlength=self.count)
        values = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
        h = compared(values, values)
        return Answers(h, np.ones_like(h))

    def pairs(
        self, column: str, h: Array
    ) -> Iterator[tuple[dict[str, str], tuple[Any, ...], Array, Array]]:
        """Pairs of groups of which any pair of persons was asked about: names, cells in (N, N), weights of both."""
        for a, b in combinations(self.groups[column], 2):
            cells = np.ix_(self.groups[column][a], self.groups[column][b])
            if not np.isnan(h[cells]).all():
                weights = self.weights[column]
                yield {"column": column, "group": a, "other": b}, cells, weights[a], weights[b]


def counted(frame: pd.DataFrame) -> Array:
    """(rows,) how often each picture counts: as often as it was drawn; once where pairs are not drawn by lot."""
    return np.maximum(frame["draws"].to_numpy(float), 1)
