"""Numbers, unit by unit, ready for any estimator that is linear in a unit's K answers; and their moments.

A *unit* is what is resampled and permuted as one: a photo, or all photos of a cluster (a person, a keyword).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.measures import numbers as measured_numbers

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Kind = Literal["rate", "score", "measure"]


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """The K answers of each unit for each label that it has, sums over the unit's photos; all others are zero.

    values: (K,).  sizes: (U,) float64, photos in each unit.
    unit: (P,) int32, sorted inside each label.  starts: (L + 1,) int64: label l has rows starts[l] to starts[l + 1].
    numbers: (P, K) float32.
    """

    values: Array
    sizes: Array
    unit: NDArray[np.int32]
    starts: Integers
    numbers: NDArray[np.float32]

    @property
    def labels(self) -> int:
        """L."""
        return len(self.starts) - 1

    @property
    def photos(self) -> int:
        """n, over all units."""
        return int(self.sizes.sum())

    @property
    def label(self) -> Integers:
        """(P,) the label of each row."""
        return np.repeat(np.arange(self.labels), np.diff(self.starts))

    def part(self, first: int, last: int) -> Profiles:
        """The same of the labels from ``first`` to before ``last``."""
        starts = self.starts[first : last + 1]
        rows = slice(int(starts[0]), int(starts[-1]))
        return replace(self, unit=self.unit[rows], starts=starts - starts[0], numbers=self.numbers[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Sums over units, from which every linear estimator's mean and variance follow; x is a unit's K numbers.

    photos: n.  units: U.  squares: the sum of sizes squared.
    first: (L, K), sum of x.  weighted: (L, K), sum of size * x.  second: (L, K, K), sum of x x'.
    """

    photos: int
    units: int
    squares: float
    first: Array
    weighted: Array
    second: Array


def profiles(answers: Answers, kind: Kind = "rate", cluster: Integers | None = None) -> Profiles:
    """Profiles of one kind of number.

    kind: ``rate``: 1 where the label was returned, 0 elsewhere.  ``score``: the score, 0 where it was not returned.
        ``measure``: of the labels that are not judged by presence, see ``slopes.fit.measures``; the others have none.
    cluster: (n,) codes from 0 of the units that photos belong to; each photo is its own without it.
    """
    pair_photo, pair_label = answers.photo, answers.label
    if kind == "rate":
        numbers = answers.present.astype(np.float32)
    elif kind == "score":
        numbers = answers.score
    else:
        known = np.array([label in answers.measures for label in answers.labels.tolist()], dtype=bool)
        pairs = np.flatnonzero(known[answers.label])
        pair_photo, pair_label, numbers = pair_photo[pairs], pair_label[pairs], measured_numbers(answers, pairs)
    labels = len(answers.labels)
    if cluster is None:
        starts = np.searchsorted(pair_label, np.arange(labels + 1)).astype(np.int64)
        return Profiles(answers.values, np.ones(len(answers.photos)), pair_photo, starts, numbers)
    codes, sizes = np.unique(cluster, return_inverse=True)[1], np.unique(cluster, return_counts=True)[1]
    key = pair_label.astype(np.int64) * max(len(sizes), 1) + codes[pair_photo]
    order = np.argsort(key, kind="stable")
    keys, heads = np.unique(key[order], return_index=True)
    summed = np.add.reduceat(numbers[order], heads, axis=0) if len(heads) else numbers[:0]
    starts = np.searchsorted(keys // max(len(sizes), 1), np.arange(labels + 1)).astype(np.int64)
    unit = (keys % max(len(sizes), 1)).astype(np.int32)
    return Profiles(answers.values, sizes.astype(np.float64), unit, starts, summed)


def dense(numbers: NDArray[np.float32], values: Array) -> Profiles:
    """Profiles from a dense array, (L, n, K): simulated answers, or a table that was never sparse."""
    label, photo = np.nonzero(numbers.any(axis=2))
    starts = np.searchsorted(label, np.arange(len(numbers) + 1)).astype(np.int64)
    rows = np.ascontiguousarray(numbers[label, photo], dtype=np.float32)
    return Profiles(values, np.ones(numbers.shape[1]), photo.astype(np.int32), starts, rows)


def moments(profile: Profiles) -> Moments:
    """The sums; one small matrix product a label."""
    width = len(profile.values)
    first = np.zeros((profile.labels, width))
    weighted = np.zeros((profile.labels, width))
    second = np.zeros((profile.labels, width, width))
    single = bool((profile.sizes == 1).all())
    for label, (start, stop) in enumerate(zip(profile.starts[:-1], profile.starts[1:], strict=True)):
        rows = profile.numbers[start:stop].astype(np.float64)
        first[label] = rows.sum(axis=0)
        weighted[label] = first[label] if single else profile.sizes[profile.unit[start:stop]] @ rows
        second[label] = rows.T @ rows
    return Moments(profile.photos, len(profile.sizes), float(np.square(profile.sizes).sum()), first, weighted, second)


def varying(profile: Profiles) -> Integers:
    """(L,) how many units have numbers that are not all the same."""
    moves = (profile.numbers != profile.numbers[:, :1]).any(axis=1)
    totals = np.concatenate([[0], np.cumsum(moves)])
    return np.asarray(totals[profile.starts[1:]] - totals[profile.starts[:-1]], dtype=np.int64)
