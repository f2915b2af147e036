import numpy as np
import pytest
from scipy import sparse, stats

from gslopes.stats.permutation import (
    below_floor,
    count_extreme,
    lone_q,
    permutation_p,
    random_signs,
    welch_permutation,
)


def test_p_counts_the_observed_statistic() -> None:
    assert permutation_p(0, 99) == 0.01
    assert permutation_p(np.array([99, 4]), 99).tolist() == [1.0, 0.05]


def test_extreme_assignments_are_counted_over_all_blocks() -> None:
    blocks = [np.array([[1, -1], [1, 1]]), np.array([[-1], [-1]])]
    assert count_extreme(np.array([[1.0, 2.0], [0.0, 0.0]]), blocks, np.array([3.0, 0.0])).tolist() == [2, 3]


def test_signs_are_even() -> None:
    signs = random_signs((100, 100), np.random.default_rng(0))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert signs.mean() == pytest.approx(0, abs=0.03)


def test_t_is_taken_only_below_the_floor_of_the_permutations() -> None:
    p_perm, t = np.array([0.01, 0.01, 0.5, np.nan]), np.array([1e-6, 0.2, 1e-6, 0.1])
    p, source = below_floor(p_perm, t, 99)
    np.testing.assert_array_equal(p, [1e-6, 0.01, 0.5, np.nan])
    assert source.tolist() == ["t below the permutations' floor", "permutation", "permutation", None]
    assert below_floor(p_perm, t, 99, trusted=False)[0].tolist()[:3] == [0.01, 0.01, 0.5]
    assert below_floor(p_perm, t, 0)[1].tolist() == ["t"] * 4


def test_a_lone_effect_has_the_q_of_the_floor() -> None:
    assert lone_q(10_000, 600) == pytest.approx(600 / 10_001)
    assert lone_q(10_000, 600, "holm") == pytest.approx(600 / 10_001)
    assert lone_q(99, 1) == 0.01


def test_the_studentised_permutation_agrees_with_scipy_where_spreads_are_equal() -> None:
    rng = np.random.default_rng(0)
    values, first = rng.normal(size=(2, 60)) + np.array([[0.0], [0.3]]) * (np.arange(60) < 25), np.arange(60) < 25
    drawn = (rng.permuted(np.tile(first, (500, 1)), axis=1).T.astype(float) for _ in range(4))
    p = welch_permutation(sparse.csr_array(values), np.ones(60), first, drawn, 2000)
    known = stats.ttest_ind(values[:, first], values[:, ~first], axis=1, equal_var=False).pvalue
    assert p == pytest.approx(known, abs=0.05)
