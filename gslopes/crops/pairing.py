"""Which pairs and larger sets of people are asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError, UsageError
from gslopes.crops.config import MAX_PAIRS, CropsConfig
from gslopes.crops.people import People

Orders = Literal["both", "left"]
Pairs = NDArray[np.int64]
Numbers = Mapping[str, list[int]]
LEAST_TOGETHER = 3


def all_pairs(groups: Mapping[str, Sequence[int]]) -> Pairs:
    """(P, 2) of every pair of persons of different groups, the earlier group first.

    groups: name to indices of persons, in the order in which pairs of groups are listed.
    """
    pairs = [
        np.stack([np.repeat(groups[a], len(groups[b])), np.tile(groups[b], len(groups[a]))], axis=1)
        for a, b in combinations(groups, 2)
    ]
    return np.concatenate(pairs).astype(np.int64) if pairs else np.empty((0, 2), dtype=np.int64)


def balanced_pairs(groups: Mapping[str, Sequence[int]], most: int, seed: int = 0) -> Pairs:
    """At most ``most`` pairs, spread evenly: each person of a meets equally many of b, cyclically, and the reverse.

    most: pairs in all; each pair of groups gets its part in proportion to its size.

    Raises: ConfigError if that is less than one pair for each pair of groups.
    """
    generator = np.random.default_rng([seed, 4])
    couples = list(combinations(groups, 2))
    whole = {pair: len(groups[pair[0]]) * len(groups[pair[1]]) for pair in couples}
    total = sum(whole.values())
    if total <= most:
        return all_pairs(groups)
    if most < len(couples):
        raise ConfigError(f"{most} pairs are fewer than the {len(couples)} pairs of groups.", "Raise --pairs.")
    pairs = []
    for (a, b), size in whole.items():
        first, second = (generator.permutation(np.asarray(groups[name], dtype=np.int64)) for name in (a, b))
        wanted = max(1, min(size, round(most * size / total)))
        turn = np.arange(wanted)
        # (t mod m, t mod n) meets every pair once in lcm(m, n) turns of each coset; each lap begins one further on
        lap = turn // np.lcm(len(first), len(second))
        pairs.append(np.stack([first[turn % len(first)], second[(turn + lap) % len(second)]], axis=1))
    return np.concatenate(pairs)


def published_draws(groups: Mapping[str, Sequence[int]], draws: int = 10_000, seed: int = 42) -> Pairs:
    """(P, 2) drawn with replacement, ``draws`` for each pair of groups, the first group on the left.

    Source: Yee et al. 2021, section 4.
    """
    generator = np.random.default_rng([seed, 5])
    pairs = [
        np.stack([generator.choice(np.asarray(groups[name], dtype=np.int64), draws) for name in couple], axis=1)
        for couple in combinations(groups, 2)
    ]
    return np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.int64)


def one_per_group(groups: Mapping[str, Sequence[int]], count: int, seed: int = 0) -> Pairs:
    """(count, k) of one person of each of k groups next to each other.

    Each person of a group is shown equally often (within one), and each group has each place equally often: k pictures
    in a row are the rotations of one random order of the groups.
    """
    generator = np.random.default_rng([seed, 10])
    columns = []
    for members in groups.values():
        persons = np.asarray(members, dtype=np.int64)
        columns.append(
            np.concatenate([generator.permutation(persons) for _ in range(-(-count // len(persons)))])[:count]
        )
    shown = np.stack(columns, axis=1)
    for start in range(0, count, len(groups)):
        order = generator.permutation(len(groups))
        for place in range(start, min(start + len(groups), count)):
            shown[place] = shown[place][(order + place - start) % len(groups)]
    return shown


def ordered(pairs: Pairs, orders: Orders = "both") -> Pairs:
    """The pictures to ask about, (left, right): each pair in both orders, or the first group on the left only."""
    return pairs if orders == "left" else np.concatenate([pairs, pairs[:, ::-1]])


def opponents(
    photos: Sequence[int],
    groups: Mapping[str, Sequence[int]],
    count: int = 8,
    seed: int = 0,
    person: Sequence[str] | None = None,
) -> Pairs:
    """(P, 2) of each photo with ``count`` others, balanced over the groups, the same for every value of a sweep.

    groups: name to numbers of photos. Each photo meets equally many of each, within one; who meets the odd ones turns
        from photo to photo, and each photo of a group is met equally often, as nearly as can be.
    person: number to person; no one meets another photo of the same person. None: each photo is a person of its own.
    """
    generator = np.random.default_rng([seed, 6])
    queues = {name: generator.permutation(np.asarray(members, dtype=np.int64)) for name, members in groups.items()}
    used = dict.fromkeys(queues, 0)
    names = list(queues)
    pairs = []
    for turn, photo in enumerate(photos):
        met: set[int] = {photo}
        for step in range(count):
            name = names[(turn * (count % len(names)) + step) % len(names)]
            queue = queues[name]
            for _ in range(len(queue)):
                other = int(queue[used[name] % len(queue)])
                used[name] += 1
                if other not in met and (person is None or person[other] != person[photo]):
                    met.add(other)
                    pairs.append((photo, other))
                    break
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def pairs_of(table: People, numbers: Numbers, config: CropsConfig) -> NDArray[np.int64]:
    """(P, 2) numbers of photos of different groups.  numbers: person to those of the photos."""
    groups = _numbered(table, numbers)
    if config.draws:
        large = {name: persons for name, persons in groups.items() if len(persons) >= config.min_group}
        return published_draws(large, config.draws, config.seed)
    most = config.pairs or MAX_PAIRS // (2 if config.orders == "both" else 1)
    whole = all_pairs(groups)
    return whole if len(whole) <= most else balanced_pairs(groups, most, config.seed)


def sets_of(table: People, numbers: Numbers, config: CropsConfig) -> NDArray[np.int64]:
    """(``config.together``, k) numbers of photos, one of each group that is large enough.

    Raises: UsageError if there are fewer than three such groups.
    """
    if not config.together:
        return np.empty((0, 0), dtype=np.int64)
    groups = {name: indices for name, indices in _numbered(table, numbers).items() if len(indices) >= config.min_group}
    if len(groups) < LEAST_TOGETHER:
        counts = ", ".join(f"{name} {len(persons)}" for name, persons in table.cells.items())
        message = f"One person of each group together needs {LEAST_TOGETHER} groups of {config.min_group} persons"
        raise UsageError(f"{message} ({counts}).", "Lower --min-group, or leave out --together.")
    return one_per_group(groups, config.together, config.seed)


def _numbered(table: People, numbers: Numbers) -> dict[str, list[int]]:
    groups = {
        name: [number for person in persons for number in numbers.get(person, [])]
        for name, persons in table.cells.items()
    }
    return {name: indices for name, indices in groups.items() if indices}


def by_person(persons: list[str]) -> dict[str, list[int]]:
    """Person to indices in the list."""
    indices: dict[str, list[int]] = {}
    for number, person in enumerate(persons):
        indices.setdefault(person, []).append(number)
    return indices
