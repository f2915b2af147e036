from __future__ import annotations

import numpy as np
import pytest

from gslopes.core.errors import ConfigError
from gslopes.crops.measures.disparate_impact import disparate_impact, kept_impact, verdict


def test_four_fifths_is_a_share_of_four_ninths():
    assert disparate_impact(4 / 9, 0.4, 0.5).ratio == pytest.approx(0.8)


def test_the_smaller_direction_comes_first():
    less, more = disparate_impact(0.3, 0.2, 0.4), disparate_impact(0.7, 0.6, 0.8)
    assert less.ratio == pytest.approx(more.ratio)
    assert (less.low, less.high) == pytest.approx((more.low, more.high))


@pytest.mark.parametrize(("low", "high", "word"), [(0.5, 0.79, "shown"), (0.81, 1.1, "ruled out"), (0.7, 0.9, "open")])
def test_a_verdict_needs_the_whole_interval_on_one_side(low, high, word):
    assert verdict(low, high, 0.2) == word


def test_kept_by_the_bootstrap_of_the_log_ratio():
    draws, others = np.full(100, 0.4), np.linspace(0.7, 0.9, 100)
    found = kept_impact(0.4, 0.8, draws, others)
    assert found.ratio == pytest.approx(0.5)
    assert found.low < 0.5 < found.high
    assert found.verdict == "shown"
    assert kept_impact(0.8, 0.4, others, draws).ratio == pytest.approx(0.5)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -0.1])
def test_epsilon_out_of_range(epsilon):
    with pytest.raises(ConfigError, match="four-fifths"):
        disparate_impact(0.4, 0.3, 0.5, epsilon)
