"""Answers about joined pictures as matrices over persons: every measure of them is computed from these."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame

from gslopes.core import Row, frozen_identity
from gslopes.core.records import Array, Integers, doubles, quotients
from gslopes.core.tables import lookup
from gslopes.crops.config import BOOTSTRAP
from gslopes.crops.measures.parity import compared, draw_weights
from gslopes.crops.stimuli.people import Groups


class Answers(NamedTuple):
    """What was answered about any two persons.

    mean: (N, N) of a number about the first of both, on whichever side; NaN without a picture.
    counts: (N, N) how much it counts: as often as pictures of both were drawn; 1 if pairs are not drawn by lot.
    drawn: whether they are.
    """

    mean: Array
    counts: Array
    drawn: bool = False

    def at(self, cells: tuple[Any, ...]) -> tuple[Array, Array]:
        """Mean and count of some."""
        return self.mean[cells], self.counts[cells]


class Couple(NamedTuple):
    """Two groups of a column.

    names: column, group and other.  cells: the persons of both in (N, N).  weights: of both, (B, persons), see
    ``Panel``.
    """

    names: Row
    cells: tuple[Any, ...]
    weights: tuple[Array, Array]


@frozen_identity
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
    def of(
        cls,
        people: DataFrame,
        groups: Groups,
        seed: int = 0,
    ) -> "Panel":
        """From the people table, whose skipped photos have no person.  groups: column to group to persons."""
        used = people.query("status == 'used'")
        codes, persons = pd.factorize(used["person"])
        number = {name: code for code, name in enumerate(persons)}
        coded = {}
        weights = {}
        for column, members in groups.items():
            coded[column] = {
                name: np.array([number[p] for p in persons if p in number], np.int64)
                for name, persons in members.items()
            }
            sizes = {name: len(group) for name, group in coded[column].items()}
            weights[column] = draw_weights(sizes, BOOTSTRAP, seed)
        of_photo = lookup(used.assign(person=codes), "photo", "person")
        return cls(of_photo, len(number), coded, weights)

    def about(self, frame: DataFrame, of_left: Array, of_right: Array) -> Answers:
        """The mean of a number about the first person of each two, over pictures and sides.

        frame: left, right, and draws.
        of_left, of_right: (rows,) about the person on each side; NaN does not count.
        """
        left, right = (
            frame[name].map(self.of_photo).to_numpy(np.int64) for name in ("left", "right")
        )
        cells = np.r_[left * self.count + right, right * self.count + left]
        values = np.r_[of_left, of_right]
        weights = np.tile(counted(frame), 2)
        usable = ~np.isnan(values)
        mean, count = _means(cells[usable], values[usable], weights[usable], self.count**2)
        drawn = bool((frame["draws"] > 0).any())
        counts = count if drawn else doubles(count > 0)
        square = (self.count, self.count)
        return Answers(mean.reshape(square), counts.reshape(square), drawn)

    def favoured(
        self,
        frame: DataFrame,
        share_left: Array,
        share_right: Array,
    ) -> Answers:
        """Shares h: of the answers about i and j, in whichever order, that favoured i.

        share_left, share_right: (rows,) chance that each is shown; if both or neither may be, h is 1/2 plus half of
        the difference.
        """
        won = 0.5 + (share_left - share_right) / 2
        return self.about(frame, won, 1 - won)

    def alone(self, saliency: DataFrame) -> Answers:
        """Shares h of photos that are never joined: the higher maximum wins, ties half; means of a person's photos."""
        persons = np.asarray(saliency["photo"].map(self.of_photo), np.int64)
        highest = saliency["max"].to_numpy(float)
        values = _means(persons, highest, np.ones_like(highest), self.count)[0]
        h = compared(values, values)
        return Answers(h, np.ones_like(h))

    def couples(self, column: str, h: Array) -> Iterator[Couple]:
        """Each two groups of a column, if any pair of their persons was asked about.  h: as ``Answers.mean``."""
        weights = self.weights[column]
        for (a, first), (b, second) in combinations(self.groups[column].items(), 2):
            cells = np.ix_(first, second)
            if not np.isnan(h[cells]).all():
                names = {
                    "column": column,
                    "group": a,
                    "other": b,
                }
                yield Couple(names, cells, (weights[a], weights[b]))


def counted(frame: DataFrame) -> Array:
    """(rows,) how often each picture counts: how often it was drawn; once if pairs are not drawn by lot."""
    return np.maximum(frame["draws"].to_numpy(float), 1)


def _means(
    codes: Integers,
    values: Array,
    weights: Array,
    size: int,
) -> tuple[Array, Array]:
    """(size,) the weighted mean of the values of each code, NaN without one; and the sum of its weights."""
    count = doubles(np.bincount(codes, weights, size))
    total = np.bincount(codes, weights * values, size)
    return quotients(total, count), count
