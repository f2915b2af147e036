"""S2: goldens 36 to 40, and the fast path beside the exact one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gslopes.captions.config import AuditOptions
from gslopes.captions.material import Box
from gslopes.captions.measures.salience import fit, is_eligible, layout
from gslopes.stats.intervals import percentile


def test_golden_36_without_a_penalty_it_is_the_log_odds_ratio():
    group = np.repeat([0.5, -0.5], [40, 50])
    mentioned = np.r_[np.arange(40) < 30, np.arange(50) < 20]
    result = fit(np.empty((90, 0)), group, mentioned, AuditOptions(ridge=0, splits=5, salience_bootstrap=0))
    assert result.coefficient == pytest.approx(math.log(4.5), abs=1e-4)
    assert result.coefficient == pytest.approx(1.5041, abs=5e-5)


def test_golden_37_the_penalty_keeps_a_separated_fit_finite():
    group = np.repeat([0.5, -0.5], 10)
    result = fit(np.empty((20, 0)), group, group > 0, AuditOptions(ridge=1, splits=5, salience_bootstrap=0))
    assert result.coefficient == pytest.approx(2.3550, abs=5e-5)


def test_golden_38_more_than_nine_tenths():
    assert (is_eligible(900, 1000), is_eligible(901, 1000)) == (False, True)


def test_golden_39_percentiles():
    assert percentile(np.arange(1.0, 1001.0)) == (pytest.approx(25.975), pytest.approx(975.025))


def test_golden_40_what_is_always_mentioned_is_not_eligible():
    group = np.repeat([0.5, -0.5], 20)
    result = fit(np.empty((40, 0)), group, np.ones(40, bool), AuditOptions(splits=10, salience_bootstrap=0))
    assert (result.valid, result.eligible, result.mentioned) == (0, False, result.n)


@pytest.fixture(scope="module")
def drawn():
    chance = np.random.default_rng(0)
    features = chance.normal(size=(150, 30)) * chance.uniform(0.1, 5, 30)
    group = np.where(chance.random(150) < 0.5, 0.5, -0.5)
    logit = 1.2 * group + features[:, 0] / features[:, 0].std()
    return features, group, chance.random(150) < 1 / (1 + np.exp(-logit))


def test_the_fast_path_is_within_two_hundredths_of_the_exact_one(drawn):
    fast, exact = (fit(*drawn, AuditOptions(splits=40, exact=e, salience_bootstrap=0)) for e in (False, True))
    assert fast.coefficient == pytest.approx(exact.coefficient)
    assert np.mean(fast.splits) == pytest.approx(np.mean(exact.splits), abs=0.02)
    assert percentile(fast.splits) == pytest.approx(percentile(exact.splits), abs=0.06)


def test_row_order_leaves_the_coefficient(drawn):
    features, group, y = drawn
    order = np.random.default_rng(2).permutation(len(y))
    options = AuditOptions(splits=5, salience_bootstrap=0)
    one, other = fit(features, group, y, options), fit(features[order], group[order], y[order], options)
    assert one.coefficient == pytest.approx(other.coefficient, abs=1e-6)


def test_layout_is_size_and_distance_from_the_centre():
    found = layout([[Box("a.n.01", 0, 0, 0.2, 0.2), Box("a.n.01", 0, 0, 1, 1)], []], ["a.n.01", "b.n.01"])
    assert found.tolist() == [[1, 0, 0, 1], [0, 0, 1, 1]]
