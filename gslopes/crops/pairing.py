"""Which pairs of people are asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gslopes.core.errors import ConfigError
from gslopes.crops.config import DRAWS, MAX_PAIRS, CropsConfig
from gslopes.crops.people import People

Pairs = NDArray[np.int64]  # (P, 2) numbers of photos


def all_pairs(groups: Mapping[str, Sequence[int]]) -> Pairs:
    """(P, 2) of every pair of different groups, the earlier group first.

    groups: name to numbers, in the order in which pairs of groups are listed.
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
    sizes = {pair: len(groups[pair[0]]) * len(groups[pair[1]]) for pair in couples}
    total = sum(sizes.values())
    if total <= most:
        return all_pairs(groups)
    if most < len(couples):
        raise ConfigError(f"{most} pairs are fewer than the {len(couples)} pairs of groups.", "Raise --pairs.")
    pairs = []
    for (a, b), size in sizes.items():
        first, second = (generator.permutation(np.asarray(groups[name], dtype=np.int64)) for name in (a, b))
        turn = np.arange(max(1, min(size, round(most * size / total))))
        # (t mod m, t mod n) meets every pair once in lcm(m, n) turns of each coset; each lap begins one further on
        lap = turn // np.lcm(len(first), len(second))
        pairs.append(np.stack([first[turn % len(first)], second[(turn + lap) % len(second)]], axis=1))
    return np.concatenate(pairs)


def published_draws(groups: Mapping[str, Sequence[int]], draws: int = DRAWS, seed: int = 42) -> Pairs:
    """(P, 2) drawn with replacement, ``draws`` for each pair of groups, the first group on the left.

    Source: Yee et al. 2021, section 3.2.
    """
    generator = np.random.default_rng([seed, 5])
    pairs = [
        np.stack([generator.choice(np.asarray(groups[name], dtype=np.int64), draws) for name in couple], axis=1)
        for couple in combinations(groups, 2)
    ]
    return np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.int64)


def opponents(count: int, others: int = 8, seed: int = 0, person: Sequence[str] | None = None) -> Pairs:
    """(P, 2) of each of ``count`` photos with ``others`` others, the same for every value of a sweep.

    Each photo is met equally often, as nearly as can be.
    person: of each photo; no one meets another photo of the same person. None: each photo is a person of its own.
    """
    queue = np.random.default_rng([seed, 6]).permutation(count)
    pairs: list[tuple[int, int]] = []
    used = 0
    for photo in range(count):
        met = {photo}
        for _ in range(others):
            for _ in range(count):
                other = int(queue[used % count])
                used += 1
                if other not in met and (person is None or person[other] != person[photo]):
                    met.add(other)
                    pairs.append((photo, other))
                    break
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def pictures_of(people: People, persons: Sequence[str], config: CropsConfig) -> Pairs:
    """(P, 2) numbers of the photos of each joined picture, left and right; ``persons`` names each photo's person.

    Both orders of each pair of different groups; as published, the first group on the left.
    """
    numbers: dict[str, list[int]] = {}
    for number, person in enumerate(persons):
        numbers.setdefault(person, []).append(number)
    groups = {
        name: [number for person in members for number in numbers.get(person, [])]
        for name, members in people.cells.items()
    }
    groups = {name: photos for name, photos in groups.items() if photos}
    if config.as_published:
        return published_draws(groups, config.pairs or DRAWS, config.seed)
    pairs, most = all_pairs(groups), config.pairs or MAX_PAIRS // 2
    pairs = pairs if len(pairs) <= most else balanced_pairs(groups, most, config.seed)
    return np.concatenate([pairs, pairs[:, ::-1]])
