"""S2: goldens 36 to 40 and the fast path as published; what is held fixed and refused otherwise."""

import math

import numpy as np
import pytest

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Box
from gslopes.captions.measures import salience
from gslopes.captions.measures.salience import VALID, _rotate, _splits, fit, fit_published, layout
from gslopes.stats.intervals import percentile
from gslopes.stats.ridge_logistic import fit_ridge
from gslopes.stats.score_test import Coefficient


def test_golden_36_without_a_penalty_it_is_the_log_odds_ratio():
    group = np.repeat([0.5, -0.5], [40, 50])
    mentioned = np.r_[np.arange(40) < 30, np.arange(50) < 20]
    result = fit_published(np.empty((90, 0)), group, mentioned, AuditOptions(splits=5), ridge=0)
    assert result.coefficient == pytest.approx(1.5041, abs=5e-5)
    alone = fit(np.zeros((90, 2)), 0, group, mentioned)
    assert alone.coefficient == pytest.approx(math.log(4.5))
    assert 0 < alone.low < alone.coefficient < alone.high
    assert alone.p < 0.002


def test_golden_37_the_penalty_keeps_a_separated_fit_finite():
    group = np.repeat([0.5, -0.5], 10)
    result = fit_published(np.empty((20, 0)), group, group > 0, AuditOptions(splits=5), ridge=1)
    assert result.coefficient == pytest.approx(2.3550, abs=5e-5)


def test_golden_38_more_than_nine_tenths():
    assert [valid > VALID * 1000 for valid in (900, 901)] == [False, True]


def test_golden_39_percentiles():
    assert percentile(np.arange(1.0, 1001.0)) == (pytest.approx(25.975), pytest.approx(975.025))


def test_golden_40_what_is_always_mentioned_is_not_eligible():
    group = np.repeat([0.5, -0.5], 20)
    result = fit_published(np.empty((40, 0)), group, np.ones(40, bool), AuditOptions(splits=10))
    assert (result.valid, result.eligible, result.mentioned) == (0, False, result.n)


@pytest.fixture(scope="module")
def drawn():
    chance = np.random.default_rng(0)
    features = chance.normal(size=(150, 30)) * chance.uniform(0.1, 5, 30)
    group = np.where(chance.random(150) < 0.5, 0.5, -0.5)
    logit = 1.2 * group + features[:, 0] / features[:, 0].std()
    return features, group, chance.random(150) < 1 / (1 + np.exp(-logit))


def test_the_fast_path_is_within_two_hundredths_of_the_exact_one(drawn):
    """Exact: features are standardised on the training part of every split, and the fit goes to its optimum."""
    features, group, mentioned = drawn
    fast, y = fit_published(*drawn, AuditOptions(splits=40)), mentioned.astype(np.float64)
    exact = []
    for mask in _splits(len(y), 40, np.random.default_rng([0, 6])).T:
        part = features[mask > 0]
        keep = part.std(axis=0) > 1e-12
        columns = (features[:, keep] - part[:, keep].mean(axis=0)) / part[:, keep].std(axis=0)
        rotated, back = _rotate(columns, group)
        exact.append(float(back @ fit_ridge(rotated, y, mask[:, None], 1.0)[1:, 0]))
    assert np.mean(fast.splits) == pytest.approx(np.mean(exact), abs=0.02)
    assert percentile(fast.splits) == pytest.approx(percentile(np.array(exact)), abs=0.06)


def test_layout_is_size_and_distance_from_the_centre():
    found = layout([[Box("a.n.01", 0, 0, 0.2, 0.2), Box("a.n.01", 0, 0, 1, 1)], []], ["a.n.01", "b.n.01"])
    assert found.tolist() == [[1, 0, 0, 1], [0, 0, 1, 1]]


def labelled(n: int, types: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Features of types in 30 % of the images, the first in all of them, and groups."""
    chance = np.random.default_rng(seed)
    there = chance.random((n, types)) < 0.3
    there[:, 0] = True
    sizes = there * chance.beta(1, 6, there.shape)
    return (
        np.column_stack([sizes, np.where(there, chance.random(there.shape), 1)]),
        np.where(chance.random(n) < 0.5, 0.5, -0.5),
        chance,
    )


def test_own_size_is_held_fixed_where_one_group_is_shown_larger():
    features, group, chance = labelled(2000)
    features[:, 0] *= np.where(group > 0, 2, 1)
    y = chance.random(2000) < 1 / (1 + np.exp(-8 * (features[:, 0] - 0.2)))
    found = fit(features, 0, group, y)
    assert found.low < 0 < found.high
    assert fit_published(features[:, 1:20], group, y, AuditOptions(splits=20)).splits.min() > 0.3, "without its size"


def test_a_type_that_goes_with_the_group_and_the_mention_is_held_fixed():
    features, _, chance = labelled(1000)
    with_it = features[:, 7] > 0
    group = np.where(chance.random(1000) < np.where(with_it, 0.7, 0.4), 0.5, -0.5)
    y = chance.random(1000) < np.where(with_it, 0.75, 0.3)
    found = fit(features, 0, group, y)
    assert found.held >= 1
    assert found.low < 0 < found.high
    assert fit(features[:, [0, 20]], 0, group, y).low > 0, "without it"


def test_what_n_does_not_allow_is_refused_with_how_many_images_would_do():
    features, group, _ = labelled(60)
    found = fit(features, 0, group, np.arange(60) < 6)
    assert (found.eligible, math.isnan(found.p), math.isnan(found.low)) == (False, True, True)
    assert found.note == "too few images to tell: of 60, 6 mention it; about 112 would do"
    assert fit(features, 0, np.full(60, 0.5), np.arange(60) < 30).note == "shown with one of the groups only"
    assert fit(features, 0, group, np.zeros(60, bool)).note == "never mentioned"
    features[:, 0] = 1 + group
    assert "size and place alone" in fit(features, 0, group, np.arange(60) % 2 > 0).note


@pytest.mark.slow
def test_intervals_of_sixty_images_hold_what_was_planted():
    held = []
    for seed in range(200):
        features, group, chance = labelled(60, seed=seed)
        found = fit(features, 0, group, chance.random(60) < 1 / (1 + np.exp(-group)))
        held.append(found.low <= 1 <= found.high)
    assert 0.9 <= np.mean(held) <= 0.99


def test_a_fit_that_reached_no_maximum_is_refused_with_the_reason(monkeypatch):
    monkeypatch.setattr(salience, "score_interval", lambda *_: Coefficient(1.0, math.nan, math.nan, math.nan))
    features, group, chance = labelled(60, seed=0)
    found = fit(features, 0, group, chance.random(60) < 0.5)
    assert (found.eligible, found.note) == (False, "the fit reached no maximum")
    assert math.isnan(found.coefficient)
