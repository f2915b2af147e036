import numpy as np
import pytest
from statsmodels.stats.multivariate import test_mvmean as mean_test

from gslopes.slopes.fit.shape import shape, within
from gslopes.stats.ols import line_weights
from gslopes.stats.outcomes import dense, moments

VALUES = np.linspace(-2, 2, 7)


def shaped(rates: np.ndarray, photos: int = 400, seed: int = 0):
    rng = np.random.default_rng(seed)
    numbers = (rng.random((len(rates), photos, 7)) < rates[:, None]).astype(np.float32)
    return numbers, shape(moments(dense(numbers, VALUES)), VALUES, tested=np.ones(len(rates), bool))


def test_curves_have_curvature_and_lack_of_fit_and_lines_have_neither() -> None:
    _, found = shaped(np.stack([0.5 + 0.15 * VALUES, 0.2 + 0.15 * VALUES**2]))
    assert found["curvature_p"][0] > 0.01 > 1e-6 > found["curvature_p"][1]
    assert found["lack_of_fit_p"][0] > 0.01 > 1e-6 > found["lack_of_fit_p"][1]
    assert found["curvature_low"][1] < 15 < found["curvature_high"][1]


def test_lack_of_fit_is_the_multivariate_test_of_statsmodels() -> None:
    numbers, found = shaped(np.full((1, 7), 0.4), photos=60)
    rest = np.linalg.svd(np.vander(VALUES, 2))[0][:, 2:]
    theirs = mean_test(numbers[0] @ rest)
    assert found["lack_of_fit"][0] == pytest.approx(theirs.statistic, rel=1e-6)
    assert found["lack_of_fit_p"][0] == pytest.approx(theirs.pvalue, rel=1e-6)


def test_curvature_and_inner_slope_are_least_squares_of_each_photo() -> None:
    numbers, found = shaped(np.full((1, 7), 0.4), photos=50)
    assert found["curvature"][0] == pytest.approx(100 * np.polyfit(VALUES, numbers[0].T, 2)[0].mean())
    inner = np.polyfit(VALUES[2:5], numbers[0, :, 2:5].T, 1)[0]
    assert found["inner_slope"][0] == pytest.approx(100 * inner.mean())
    assert found["slope"][0] == pytest.approx(100 * (numbers[0] @ line_weights(VALUES)).mean())


def test_a_finding_made_outside_the_range_of_training_is_reported() -> None:
    outside = 0.5 + np.where(np.abs(VALUES) > 1, 0.3 * np.sign(VALUES), 0)
    _, found = shaped(
        np.stack([0.5 + 0.2 * VALUES, outside, np.full(7, 0.5), 0.5 + 0.3 * np.sign(VALUES) - 0.25 * VALUES])
    )
    assert found["reading"].tolist()[0] == "holds inside [-1, 1]"
    assert found["reading"].tolist()[1] == "open: inside [-1, 1] the interval holds 0"
    assert found["reading"].tolist()[2] == "no finding over the whole range"


def test_values_all_outside_give_no_inner_slope_and_rare_labels_no_test() -> None:
    rng = np.random.default_rng(1)
    values = np.array([-9.0, -3.0, 0.0, 3.0, 9.0])
    sums = moments(dense((rng.random((1, 50, 5)) < 0.5).astype(np.float32), values))
    assert np.isnan(shape(sums, values, tested=np.array([True]))["inner_slope"][0])
    rare = shape(sums, values, tested=np.array([False]))
    assert rare["reading"][0] == "not judged"
    assert np.isnan(rare["curvature_p"][0])
    assert np.isfinite(rare["slope"][0])


def test_within_is_one_where_photos_keep_their_answer_and_near_zero_where_they_do_not() -> None:
    rng = np.random.default_rng(2)
    kept = np.repeat(rng.random((1, 500, 1)) < 0.3, 7, axis=2)
    each = rng.random((1, 500, 7)) < 0.3
    found = within(moments(dense(np.concatenate([kept, each]).astype(np.float32), VALUES)))
    assert found[0] == pytest.approx(1)
    assert abs(found[1]) < 0.1
