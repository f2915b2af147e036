import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import kendalltau, mannwhitneyu

from gslopes.stats.agreement import auc, cohens_kappa, kendall

VALUES = np.linspace(-2, 2, 7)


def test_auc_is_that_of_scipys_rank_test_with_ties() -> None:
    random = np.random.default_rng(0)
    truth, scores = random.random(200) < 0.3, random.integers(0, 10, 200).astype(float)
    expected = mannwhitneyu(scores[truth], scores[~truth]).statistic / (truth.sum() * (~truth).sum())
    assert auc(truth, scores) == pytest.approx(expected)


def test_auc_without_both_answers_is_unknown() -> None:
    assert np.isnan(auc([True, True], [0.1, 0.2]))


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
