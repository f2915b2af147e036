"""."""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.crops.duels import duels, pair_slope, value_pairs
from gslopes.stats.ols import line_slopes


def test_the_larger_value_always_wins():
    h = np.full((5, 3, 3), np.nan)
    for low, high in value_pairs(3):
        h[:, high, low], h[:, low, high] = 1, 0
    found = duels(h)
    assert (found.score == 1).all()
    assert found.p[2, 0] == 1
    assert np.isnan(np.diag(found.p)).all()


def test_identical_pictures_are_even():
    found = duels(np.where(np.eye(4, dtype=bool), np.nan, np.full((3, 4, 4), 0.5)))
    assert (found.score == 0).all()


VALUES = np.linspace(-2, 2, 5)


def pairs(people, each, generator):
    found = [(i, j) for i in range(people) for j in generator.permutation(np.delete(np.arange(people), i))[:each]]
    return np.array(found).T


def test_the_slope_of_a_line_is_its_own():
    shares = np.array([0.5 + 0.1 * VALUES, 0.2 - 0.03 * VALUES, np.full(5, np.nan)])
    assert line_slopes(shares, VALUES)[:2] == pytest.approx([0.1, -0.03])
    assert np.isnan(line_slopes(shares, VALUES)[2])


def test_missing_pairs_are_left_out_and_nothing_gives_nothing():
    found = pair_slope(np.array([0.1, np.nan, 0.1]), np.array([0, 1, 2]), np.array([1, 2, 0]), 3, 200)
    assert found.slope == pytest.approx(0.1)
    assert np.isnan([found.low, found.high]).all()  # pairs of one slope do not vary
    assert np.isnan(pair_slope(np.array([np.nan]), np.array([0]), np.array([1]), 2).slope)


@pytest.mark.parametrize("planted", [0.0, 0.05])
def test_the_interval_holds_the_planted_slope_where_opponents_matter(planted):
    """Slopes of pairs: planted + persons' + opponents' part; the t interval over persons alone is too narrow."""
    held, naive = [], []
    for run in range(150):
        generator = np.random.default_rng(run)
        person, opponent = pairs(40, 8, generator)
        parts = generator.normal(0, 0.02, 40)[person] + generator.normal(0, 0.2, 40)[opponent]
        slopes = planted + parts
        found = pair_slope(slopes, person, opponent, 40, 400, run)
        held.append(found.low < planted < found.high)
        means = np.array([slopes[person == one].mean() for one in range(40)])
        half = 2.02 * means.std(ddof=1) / np.sqrt(40)
        naive.append(abs(means.mean() - planted) < half)
    assert np.mean(held) > 0.9
    assert np.mean(naive) < 0.75


def test_p_is_small_far_from_nought_and_never_nought():
    person, opponent = pairs(30, 6, np.random.default_rng(1))
    slopes = 0.1 + np.random.default_rng(2).normal(0, 0.02, len(person))
    assert pair_slope(slopes, person, opponent, 30, 500).p == 1 / 500
    assert pair_slope(slopes - slopes.mean(), person, opponent, 30, 500).p > 0.3
