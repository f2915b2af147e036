from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import ndtr

from gslopes.crops.measures.bootstrap import draw_weights, interval, resampled, simultaneous
from gslopes.crops.measures.measurer import compared
from gslopes.crops.measures.parity import parity
from gslopes.stats.intervals import percentile


def audit(seed=1, m=40, n=50):
    generator = np.random.default_rng(seed)
    first, second = generator.normal(0.4, 1, m), generator.normal(0, 1, n)
    return (first[:, None] > second[None, :]).astype(float)


def test_the_bootstrap_over_people_agrees_with_delong():
    h = audit()
    weights = draw_weights({"a": 40, "b": 50}, 2000, seed=5)
    draws = resampled(h, weights["a"], weights["b"])
    assert draws.std() == pytest.approx(parity(h).se, rel=0.1)
    assert draws.mean() == pytest.approx(parity(h).p, abs=0.01)


def test_every_draw_has_as_many_people_as_the_group():
    weights = draw_weights({"a": 7, "b": 3}, 11, seed=2)
    assert (weights["a"].sum(axis=1) == 7).all()
    assert weights["b"].shape == (11, 3)


def test_pairs_that_were_not_asked_do_not_count():
    h = audit()
    h[:20, :] = np.nan
    draws = resampled(h, np.ones((1, 40)), np.ones((1, 50)))
    assert draws[0] == pytest.approx(np.nanmean(h))
    assert np.isnan(resampled(np.full((2, 2), np.nan), np.ones((1, 2)), np.ones((1, 2)))).all()


def test_simultaneous_intervals_are_wider_and_hold_their_estimate():
    weights = draw_weights({"a": 40, "b": 50, "c": 50}, 2000, seed=5)
    tables = {("a", "b"): audit(1), ("a", "c"): audit(2)}
    drawn = [(weights[a], weights[b]) for a, b in tables]
    for h, (rows, columns), (low, high) in zip(
        tables.values(), drawn, simultaneous([*tables.values()], drawn), strict=True
    ):
        assert low < parity(h).p < high
        assert high - low > np.subtract(*percentile(resampled(h, rows, columns))[::-1])


def test_six_intervals_of_small_groups_hold_at_once():
    """15 to 30 people a group: 90 of 100 with the estimates' own errors, 95 with those of each draw."""
    generator = np.random.default_rng(3)
    sizes, held = {"a": 15, "b": 20, "c": 25, "d": 30}, 0
    shift = dict(zip(sizes, (0, 0.25, 0.5, 0.75), strict=True))
    pairs = list(combinations(sizes, 2))
    for seed in range(100):
        scores = {name: generator.normal(shift[name], 1, size) for name, size in sizes.items()}
        weights = draw_weights(sizes, 400, seed)
        ends = simultaneous(
            [compared(scores[a], scores[b]) for a, b in pairs], [(weights[a], weights[b]) for a, b in pairs]
        )
        truth = [ndtr((shift[a] - shift[b]) / np.sqrt(2)) for a, b in pairs]
        held += all(low <= share <= high for share, (low, high) in zip(truth, ends, strict=True))
    assert held >= 90  # binomial with 0.95: 1 of 100 times fewer


def test_people_who_do_not_differ_have_no_interval():
    h = np.full((12, 12), 0.5)
    weights = draw_weights({"a": 12, "b": 12}, 100)
    pair = weights["a"], weights["b"]
    assert np.isnan(interval(resampled(h, *pair))).all()
    assert np.isnan(simultaneous([h], [pair])).all()
    found = parity(h)
    assert found.p == 0.5
    assert np.isnan([found.low, found.high, found.p_value]).all()
