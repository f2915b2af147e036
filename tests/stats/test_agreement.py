from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import kendalltau, spearmanr

from gslopes.stats.agreement import cohens_kappa, kendall, rank_correlation

VALUES = np.linspace(-2, 2, 7)


@given(hnp.arrays(np.int64, (5, 7), elements=st.integers(0, 4)))
def test_tau_is_the_one_of_scipy_with_ties(readings: np.ndarray) -> None:
    ours = kendall(readings, VALUES)
    for row, tau in zip(readings, ours, strict=True):
        expected = np.nan if np.ptp(row) == 0 else kendalltau(VALUES, row).statistic
        assert tau == pytest.approx(expected, nan_ok=True)


def test_kappa_is_1_for_equal_answers_and_0_for_independent_ones() -> None:
    assert cohens_kappa(["a", "b"], ["a", "b"]) == 1
    assert cohens_kappa(["a", "a", "b", "b"], ["a", "b", "a", "b"]) == 0
    assert cohens_kappa(["a"], ["a"]) == 1
    assert np.isnan(cohens_kappa([], []))


@given(hnp.arrays(np.int64, 12, elements=st.integers(0, 6)))
def test_rank_correlations_are_those_of_scipy_with_ties(y: np.ndarray) -> None:
    x = np.arange(12) // 2
    result = rank_correlation(x, y, permutations=19)
    if np.ptp(y) == 0:
        assert np.isnan(result[1:]).all()
        return
    assert result.rho == pytest.approx(spearmanr(x, y).statistic)
    assert result.tau == pytest.approx(kendalltau(x, y).statistic)
    assert result.rho_low <= result.rho <= result.rho_high
    assert result.tau_low <= result.tau <= result.tau_high
    mirrored = rank_correlation(x, -y, permutations=19)
    assert mirrored.rho_low == pytest.approx(-result.rho_high)


def test_a_perfect_order_still_has_an_interval_and_few_pairs_have_none() -> None:
    result = rank_correlation(range(10), range(10))
    assert result.rho == result.rho_high == 1
    assert 0.8 < result.rho_low < 1
    assert np.isnan(rank_correlation(range(4), range(4)).rho_low)


def test_p_of_rank_correlations_is_that_of_all_5040_orders_of_seven_pairs() -> None:
    x, y = np.arange(7), np.array([1, 0, 2, 4, 3, 6, 5])
    below = np.array(list(permutations(y))) @ (x - x.mean())
    exact = np.mean(np.abs(below) >= y @ (x - x.mean()))
    assert rank_correlation(x, y).p == pytest.approx(exact, abs=0.005)
    assert rank_correlation(x, y[::-1]).p == pytest.approx(exact, abs=0.005)
