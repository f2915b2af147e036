from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslopes.core.errors import ConfigError
from gslopes.crops.pairing import all_pairs, balanced_pairs, opponents, ordered, published_draws

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


def test_both_orders():
    pairs = all_pairs(GROUPS)
    assert len(ordered(pairs)) == 2 * len(pairs)
    assert np.array_equal(ordered(pairs, "left"), pairs)


def test_opponents_are_others_balanced_over_groups():
    found = opponents(range(15), GROUPS, 6, seed=1)
    assert (found[:, 0] != found[:, 1]).all()
    for person in range(15):
        met = found[found[:, 0] == person, 1]
        assert len(met) == len(set(met.tolist())) == 6
        per_group = [sum(other in members for other in met) for members in GROUPS.values()]
        assert max(per_group) <= 3


def test_opponents_of_groups_that_do_not_divide_the_count_turn_from_photo_to_photo():
    found = opponents(range(15), GROUPS, 8, seed=1)
    met = {name: np.isin(found[:, 1], list(members)).sum() for name, members in GROUPS.items()}
    assert max(met.values()) - min(met.values()) <= len(GROUPS)


def test_nobody_stands_beside_another_photo_of_the_same_person():
    person = [f"p{number // 2}" for number in range(20)]
    found = opponents(range(20), {"everybody": range(20)}, 6, 0, person)
    assert len(found) == 20 * 6
    assert not any(person[one] == person[other] for one, other in found)
