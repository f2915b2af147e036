"""The photo estimators against scipy's one-sample t and statsmodels' GEE, fitted label by label to dense answers."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from gslopes.slopes.fit.photo import acceleration, infer, linear
from gslopes.slopes.fit.profiles import Profiles, dense, moments

VALUES = np.linspace(-2, 2, 5)
RATES = np.stack([0.5 - 0.1 * VALUES, np.full(5, 0.3), 0.1 + 0.03 * VALUES])


def simulated(photos: int = 120, seed: int = 1) -> np.ndarray:
    """(3, photos, 5) presences; half of each photo's answers hang together."""
    rng = np.random.default_rng(seed)
    steady, each = rng.random((3, photos, 1)), rng.random((3, photos, 5))
    chance = np.where(rng.random((3, photos, 5)) < 0.5, steady, each)
    return (chance < RATES[:, None]).astype(np.float32)


def in_clusters(numbers: np.ndarray, cluster: np.ndarray) -> Profiles:
    summed = np.stack([numbers[:, cluster == code].sum(axis=1) for code in np.unique(cluster)], axis=1)
    whole = dense(summed, VALUES)
    return Profiles(VALUES, np.bincount(cluster).astype(float), whole.unit, whole.starts, whole.numbers)


@pytest.mark.parametrize(("estimator", "unit"), [("photo-rate", 100), ("photo-score", 1)])
def test_t_and_interval_are_those_of_scipy_on_each_photos_own_slope(estimator: str, unit: float) -> None:
    numbers = simulated() * (1 if unit == 100 else 0.7)
    sums = moments(dense(numbers, VALUES))
    lines = infer(linear(estimator, sums, VALUES), sums)
    for label, answers in enumerate(numbers):
        slopes = unit * np.polyfit(VALUES, answers.T, 1)[0]
        expected = stats.ttest_1samp(slopes, 0)
        ends = expected.confidence_interval()
        got = [getattr(lines, name)[label] for name in ("slope", "t", "p", "low", "high")]
        np.testing.assert_allclose(got, [slopes.mean(), expected.statistic, expected.pvalue, *ends], rtol=1e-6)


def test_z_is_the_papers_slope_with_the_delta_methods_error() -> None:
    numbers = simulated()
    sums = moments(dense(numbers, VALUES))
    lines = infer(linear("photo-z", sums, VALUES), sums)
    for label, answers in enumerate(numbers):
        slopes, centre = np.polyfit(VALUES, answers.T, 1)[0], answers[:, 2]
        ratio = slopes.mean() / centre.mean()
        covariance = np.cov(slopes, centre)
        variance = np.array([1, -ratio]) @ covariance @ np.array([1, -ratio]) / centre.mean() ** 2 / len(slopes)
        np.testing.assert_allclose([lines.slope[label], lines.se[label]], [ratio, np.sqrt(variance)], rtol=1e-6)


@pytest.mark.parametrize("clustered", [False, True])
def test_logodds_are_those_of_statsmodels_gee(clustered: bool) -> None:
    numbers = simulated()
    photos = numbers.shape[1]
    cluster = np.arange(photos) // 3 if clustered else np.arange(photos)
    profile = in_clusters(numbers, cluster)
    sums = moments(profile)
    lines = infer(linear("photo-logodds", sums, VALUES), sums)
    design = sm.add_constant(np.tile(VALUES, photos))
    for label, answers in enumerate(numbers):
        family, working = sm.families.Binomial(), sm.cov_struct.Independence()
        fit = sm.GEE(answers.ravel(), design, groups=np.repeat(cluster, 5), family=family, cov_struct=working).fit()
        np.testing.assert_allclose([lines.intercept[label], lines.slope[label]], fit.params, rtol=1e-6)
        units = len(np.unique(cluster))  # ours has the small-sample factor of a one-sample t
        np.testing.assert_allclose(lines.se[label], fit.bse[1] * np.sqrt(units / (units - 1)), rtol=1e-5)


def test_clustered_error_is_that_of_statsmodels_ols() -> None:
    numbers = simulated()
    cluster = np.sort(np.random.default_rng(3).integers(0, 40, numbers.shape[1]))
    cluster = np.unique(cluster, return_inverse=True)[1]
    profile = in_clusters(numbers, cluster)
    sums = moments(profile)
    lines = infer(linear("photo-rate", sums, VALUES), sums)
    units = len(np.unique(cluster))
    for label, answers in enumerate(numbers):
        slopes = 100 * np.polyfit(VALUES, answers.T, 1)[0]
        fit = sm.OLS(slopes, np.ones(len(slopes))).fit(cov_type="cluster", cov_kwds={"groups": cluster})
        expected = [fit.params[0], fit.bse[0]]
        np.testing.assert_allclose([lines.slope[label], lines.se[label]], expected, rtol=1e-5)
        assert lines.p[label] == pytest.approx(2 * stats.t.sf(abs(lines.t[label]), units - 1))


def test_acceleration_is_the_skewness_of_the_jackknife() -> None:
    numbers = simulated()
    profile = dense(numbers, VALUES)
    got = acceleration(linear("photo-rate", moments(profile), VALUES), profile)
    for label, answers in enumerate(numbers):
        slopes = np.polyfit(VALUES, answers.T, 1)[0]
        shifted = slopes - slopes.mean()
        assert got[label] == pytest.approx(
            (shifted**3).sum() / (6 * np.square(shifted).sum() ** 1.5), rel=1e-5, abs=1e-12
        )


def test_one_photo_has_a_slope_and_no_uncertainty() -> None:
    sums = moments(dense(simulated()[:, :1], VALUES))
    lines = infer(linear("photo-rate", sums, VALUES), sums)
    assert np.isfinite(lines.slope).all()
    assert np.isnan(lines.p).all()
    assert np.isnan(lines.low).all()


def test_labels_on_all_or_no_photos_have_no_logodds() -> None:
    numbers = np.stack([np.ones((9, 5)), np.zeros((9, 5)), np.tile([0, 0, 0, 1, 1], (9, 1))]).astype(np.float32)
    sums = moments(dense(numbers, VALUES))
    assert np.isnan(linear("photo-logodds", sums, VALUES).slope).all()


presences = st.sampled_from([0.0, 1.0])
small = hnp.arrays(np.float32, st.tuples(st.just(2), st.integers(3, 9), st.just(5)), elements=presences)


@settings(deadline=None, max_examples=40)
@given(small, st.floats(0.125, 9, width=16))
def test_scaling_the_answers_scales_slope_and_error_and_leaves_t(numbers: np.ndarray, factor: float) -> None:
    first, second = (moments(dense(n.astype(np.float32), VALUES)) for n in (numbers, numbers * factor))
    before, after = (infer(linear("photo-score", sums, VALUES), sums) for sums in (first, second))
    np.testing.assert_allclose(after.slope, before.slope * factor, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(after.se, before.se * factor, rtol=1e-4, atol=1e-7)
    ratio = infer(linear("photo-z", second, VALUES), second), infer(linear("photo-z", first, VALUES), first)
    np.testing.assert_allclose(ratio[0].slope, ratio[1].slope, rtol=1e-4, atol=1e-7)


@settings(deadline=None, max_examples=40)
@given(small)
def test_answers_that_stay_the_same_give_slope_zero_and_p_one(numbers: np.ndarray) -> None:
    flat = np.repeat(numbers[:, :, :1], 5, axis=2)
    sums = moments(dense(flat, VALUES))
    lines = infer(linear("photo-rate", sums, VALUES), sums)
    assert (lines.slope == 0).all()
    assert (lines.p == 1).all()
