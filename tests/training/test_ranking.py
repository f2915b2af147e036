import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from training.ranking import auc


def test_auc_is_that_of_scipys_rank_test_with_ties() -> None:
    random = np.random.default_rng(0)
    truth, scores = random.random(200) < 0.3, random.integers(0, 10, 200).astype(float)
    expected = mannwhitneyu(scores[truth], scores[~truth]).statistic / (
        truth.sum() * (~truth).sum()
    )
    assert auc(truth, scores) == pytest.approx(expected)


def test_auc_without_both_answers_is_unknown() -> None:
    assert np.isnan(auc([True, True], [0.1, 0.2]))
