"""Permutation tests: p and its floor; the outcomes of a unit permuted over its conditions, against all dealings."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from gslopes.stats.ols import line_weights
from gslopes.stats.outcomes import Outcomes
from gslopes.stats.permutation import below_floor, count_extreme, permutation_p, permute
from tests.stats.dense import dense


def test_p_counts_the_observed_statistic() -> None:
    assert permutation_p(0, 99) == 0.01
    assert permutation_p(np.array([99, 4]), 99).tolist() == [1.0, 0.05]


def test_extreme_assignments_are_counted_over_all_blocks() -> None:
    blocks = [np.array([[1, -1], [1, 1]]), np.array([[-1], [-1]])]
    assert count_extreme(
        np.array([[1.0, 2.0], [0.0, 0.0]]), blocks, np.array([3.0, 0.0])
    ).tolist() == [2, 3]


def test_t_is_taken_only_below_the_floor_of_the_permutations() -> None:
    p_perm, t = np.array([0.01, 0.01, 0.5, np.nan]), np.array([1e-6, 0.2, 1e-6, 0.1])
    p, source = below_floor(p_perm, t, 99)
    np.testing.assert_array_equal(p, [1e-6, 0.01, 0.5, np.nan])
    assert source.tolist() == [
        "t below the permutations' floor",
        "permutation",
        "permutation",
        None,
    ]
    assert below_floor(p_perm, t, 99, trusted=False)[0].tolist()[:3] == [0.01, 0.01, 0.5]
    assert below_floor(p_perm, t, 0)[1].tolist() == ["t"] * 4


VALUES = np.linspace(-2, 2, 3)


def simulated(labels: int, photos: int, steps: int, seed: int, drift: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    offset = rng.normal(size=(labels, photos, 1))
    trend = drift * rng.normal(size=(labels, photos, 1)) * np.linspace(-2, 2, steps)
    return (offset + rng.normal(size=(labels, photos, steps)) + trend > 0.5).astype(np.float32)


def exact(answers: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """p of all dealings of a few photos: studentised mean slope, and the paper's slope."""
    weights, middle = line_weights(values), len(values) // 2

    def statistics(permuted: np.ndarray) -> tuple[float, float]:
        slopes, centre = permuted @ weights, permuted[:, middle].sum()
        root = np.sqrt(np.square(slopes).sum())
        return abs(slopes.sum()) / root if root else 0.0, abs(
            slopes.sum()
        ) / centre if centre else np.inf

    orders = list(permutations(range(len(values))))
    all_of_them = [
        statistics(
            np.stack([row[list(order)] for row, order in zip(answers, dealing, strict=True)])
        )
        for dealing in product(orders, repeat=len(answers))
    ]
    observed = statistics(answers)
    result = np.array(all_of_them) >= np.array(observed) - 1e-9
    return tuple(result.mean(axis=0))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_p_is_the_share_of_all_dealings(seed: int) -> None:
    answers = simulated(1, 4, 3, seed)
    answers[0, 0, 1] = 1
    result = permute(dense(answers, VALUES), np.array([True]), 20_000, seed=0, paper=True)
    np.testing.assert_allclose(
        [result.p[0], result.p_paper[0]], exact(answers[0], VALUES), atol=0.015
    )


@pytest.mark.parametrize(("photos", "bundles"), [(40, 1024), (300, 64)])
def test_under_exchangeability_p_is_uniform_and_bundled_p_too(photos: int, bundles: int) -> None:
    labels = 600
    profile = dense(simulated(labels, photos, 5, seed=1), np.linspace(-2, 2, 5))
    result = permute(profile, np.ones(labels, bool), 199, seed=0, bundles=bundles, paper=True)
    for p in (result.p, result.p_paper):
        assert stats.kstest(p, "uniform").pvalue > 0.001
        assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_photos_that_move_by_nothing_in_the_mean_keep_the_level_of_the_studentised_statistic_alone() -> (
    None
):
    labels = 400
    profile = dense(simulated(labels, 200, 5, seed=2, drift=1.0), np.linspace(-2, 2, 5))
    result = permute(profile, np.ones(labels, bool), 199, seed=0, paper=True)
    assert np.mean(result.p <= 0.05) < 0.085
    assert (
        np.mean(result.p_paper <= 0.05) > 0.1
    )  # it asks whether the answers depend on the attribute: they do


def test_labels_that_are_not_tested_have_no_p_and_change_no_other() -> None:
    answers = simulated(3, 50, 3, seed=7)
    answers[2] = np.tile([0, 0, 1], (50, 1))
    tested = np.array([True, True, False])
    result = permute(dense(answers, VALUES), tested, 199, 0, paper=True)
    alone = permute(dense(answers[:2], VALUES), np.ones(2, bool), 199, 0, paper=True)
    assert np.isnan([result.p[2], result.p_paper[2]]).all()
    np.testing.assert_array_equal(result.p[:2], alone.p)


def test_a_cluster_is_permuted_as_one() -> None:
    # two photos of one person that always answer alike are one photo with twice the weight
    answers = simulated(1, 6, 3, seed=8)
    item = dense(answers, VALUES)
    twice = Outcomes(VALUES, np.full(6, 2.0), item.unit, item.starts, 2 * item.numbers)
    assert permute(item, np.array([True]), 499, 0).p == permute(twice, np.array([True]), 499, 0).p
