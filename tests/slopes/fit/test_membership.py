import numpy as np
import pytest
from scipy import stats

from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.membership import membership_test

VALUES = np.linspace(-2, 2, 5)


def of(present: np.ndarray) -> Answers:
    photos = np.array([f"{i:04d}" for i in range(len(present))], dtype=object)
    rows = np.flatnonzero(present.any(axis=1)).astype(np.int32)
    found = present[rows]
    label = np.zeros(len(rows), np.int32)
    names = np.array(["x"], dtype=object)
    return Answers("c", "gender", VALUES, names, photos, {}, rows, label, found, found.astype(np.float32), 0.5)


def p_of(present: np.ndarray, first: np.ndarray, cluster: np.ndarray | None = None, m: int = 499) -> float:
    return float(membership_test(of(present), "rate", first, cluster, permutations=m, seed=1)[0])


def test_it_agrees_with_scipys_permutation_of_welchs_t() -> None:
    rng = np.random.default_rng(0)
    first = np.arange(80) < 25
    present = rng.random((80, 5)) < 0.4 + np.where(first, 0.04, -0.02)[:, None] * VALUES
    slopes = present @ (VALUES / (VALUES @ VALUES))
    theirs = stats.ttest_ind(
        slopes[first], slopes[~first], equal_var=False, method=stats.PermutationMethod(n_resamples=2999, rng=rng)
    )
    assert p_of(present, first, m=2999) == pytest.approx(theirs.pvalue, abs=0.03)


def test_a_small_group_and_a_rare_label_keep_the_level() -> None:
    rng = np.random.default_rng(1)
    first = np.arange(200) < 20
    p = [p_of(rng.random((200, 5)) < 0.1, first, m=199) for _ in range(150)]
    assert np.mean(np.array(p) < 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


def test_clusters_move_as_one_and_shared_clusters_are_permuted_inside() -> None:
    rng = np.random.default_rng(2)
    present = np.repeat(rng.random((8, 5)) < 0.5, 10, axis=0)
    cluster = np.repeat(np.arange(8), 10)
    whole = p_of(present, cluster < 4, cluster)
    assert whole >= 1 / 70  # 8 choose 4 memberships, whatever the number of photos
    inside = p_of(present, np.tile([True, False], 40), cluster)
    assert inside == 1.0  # photos of a cluster are alike: no way to tell its halves apart


def test_what_cannot_be_permuted_has_no_p() -> None:
    present = np.random.default_rng(3).random((40, 5)) < 0.5
    assert np.isnan(p_of(present, np.ones(40, bool)))
    assert np.isnan(p_of(present, np.arange(40) < 20, m=0))
    cluster = np.r_[np.zeros(4, int), np.arange(1, 37)]
    assert np.isnan(p_of(present, np.arange(40) % 2 == 0, cluster))
