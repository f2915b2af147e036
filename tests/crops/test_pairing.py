from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslopes.core.errors import ConfigError
from gslopes.crops.config import CropsConfig
from gslopes.crops.pairing import all_pairs, balanced_pairs, opponents, pictures_of, published_draws
from gslopes.crops.people import People

GROUPS = {"a": range(5), "b": range(5, 12), "c": range(12, 15)}


def test_all_pairs_of_different_groups_once():
    pairs = all_pairs(GROUPS)
    assert len(pairs) == 5 * 7 + 5 * 3 + 7 * 3
    assert len({frozenset(pair) for pair in pairs.tolist()}) == len(pairs)


@given(st.integers(2, 12), st.integers(2, 12), st.integers(1, 100))
def test_balanced_pairs_meet_everybody_equally_often_and_nobody_twice(m, n, most):
    groups = {"a": range(m), "b": range(100, 100 + n)}
    pairs = balanced_pairs(groups, most, seed=3).tolist()
    assert len(pairs) == min(most, m * n)
    assert len({tuple(pair) for pair in pairs}) == len(pairs)
    for column, size in ((0, m), (1, n)):
        met = Counter(pair[column] for pair in pairs)
        counts = [met.get(person, 0) for person in (range(m) if column == 0 else range(100, 100 + n))]
        assert len(counts) == size
        assert max(counts) - min(counts) <= 1 + (column == 1)


def test_fewer_pairs_than_pairs_of_groups():
    with pytest.raises(ConfigError, match="3 pairs of groups"):
        balanced_pairs(GROUPS, 2)


def test_published_draws_repeat_and_put_the_first_group_on_the_left():
    pairs = published_draws({"a": range(3), "b": range(3, 5)}, 1000)
    assert pairs.shape == (1000, 2)
    assert pairs[:, 0].max() < 3 <= pairs[:, 1].min()
    assert np.array_equal(pairs, published_draws({"a": range(3), "b": range(3, 5)}, 1000))


def test_both_orders_or_the_first_group_on_the_left():
    persons = tuple("abcd")
    people = People((), ("g",), {"g": {"one": persons[:2], "two": persons[2:]}}, {})
    pairs = [[0, 2], [0, 3], [1, 2], [1, 3]]
    assert pictures_of(people, persons, CropsConfig()).tolist() == pairs + [pair[::-1] for pair in pairs]
    drawn = pictures_of(people, persons, CropsConfig(as_published=True, pairs=50))
    assert len(drawn) == 50
    assert drawn[:, 0].max() < 2 <= drawn[:, 1].min()


def test_opponents_are_others_met_equally_often_and_never_of_the_same_person():
    person = [f"p{number // 2}" for number in range(20)]
    for known in (None, person):
        pairs = opponents(20, 6, 1, known)
        assert len({tuple(pair) for pair in pairs.tolist()}) == 20 * 6
        assert not any(one == other or (known and known[one] == known[other]) for one, other in pairs)
        assert np.ptp(np.bincount(pairs[:, 1])) <= 4
