from __future__ import annotations

import numpy as np
import pytest

from gslopes.crops.measures.bootstrap import draw_weights, resampled, simultaneous
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
    estimates = [parity(h) for h in tables.values()]
    draws = [resampled(h, weights[a], weights[b]) for (a, b), h in tables.items()]
    for found, one, (low, high) in zip(
        estimates, draws, simultaneous([o.p for o in estimates], [o.se for o in estimates], draws), strict=True
    ):
        assert low < found.p < high
        assert high - low > np.subtract(*percentile(one)[::-1])
