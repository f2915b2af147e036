import numpy as np
import pytest
from scipy import stats

from gslopes.slopes.fit.bootstrap import replicates
from gslopes.slopes.fit.photo import KINDS, acceleration, linear
from gslopes.slopes.fit.profiles import Profiles, dense, moments
from gslopes.stats.logistic import fit_logits
from gslopes.stats.ols import line_weights
from gslopes.stats.resampling import bca_intervals as intervals
from gslopes.stats.resampling import bootstrap_counts as draw

VALUES = np.linspace(-2, 2, 5)
NAMES = ("photo-rate", "photo-score", "photo-z", "photo-logodds")


def simulated(photos: int = 80) -> np.ndarray:
    rng = np.random.default_rng(4)
    rates = np.stack([0.5 - 0.1 * VALUES, np.full(5, 0.2)])
    return (rng.random((2, photos, 5)) < rates[:, None]).astype(np.float32)


def both(numbers: np.ndarray) -> dict[str, Profiles]:
    return {"rate": dense(numbers, VALUES), "score": dense(numbers * np.float32(0.5), VALUES)}


def test_every_resample_has_the_slopes_of_the_photos_drawn() -> None:
    numbers = simulated()
    by_kind = both(numbers)
    sums = moments(by_kind["rate"])
    start = fit_logits(sums.first, sums.photos, VALUES)
    found = replicates(by_kind, NAMES, 40, seed=7, start=start)
    seeds = np.random.SeedSequence([7, 1]).spawn(2)
    weights = np.concatenate(
        [draw(80, size, np.random.default_rng(seed)) for size, seed in zip((32, 8), seeds, strict=True)], axis=1
    )
    assert (weights.sum(axis=0) == 80).all()
    for resample in (0, 31, 39):
        again = np.repeat(numbers, weights[:, resample].astype(int), axis=1)
        for name in NAMES:
            kind = "score" if name == "photo-score" else "rate"
            point = linear(name, moments(both(again)[kind]), VALUES)
            np.testing.assert_allclose(found[name][:, resample], point.slope, rtol=2e-4, atol=1e-6)


def test_intervals_are_those_of_scipy() -> None:
    numbers = simulated()
    profile = dense(numbers, VALUES)
    point = linear("photo-rate", moments(profile), VALUES)
    drawn = replicates({"rate": profile}, ["photo-rate"], 4000, seed=0)["photo-rate"]
    ends = intervals(drawn.copy(), point.slope, acceleration(point, profile))
    for label, answers in enumerate(numbers):
        slopes = 100 * answers @ line_weights(VALUES)
        width = slopes.std() / np.sqrt(len(slopes))
        for method, low, high in (
            ("percentile", ends.low, ends.high),
            ("BCa", ends.bca_low, ends.bca_high),
        ):
            rng = np.random.default_rng(1)
            theirs = stats.bootstrap((slopes,), np.mean, n_resamples=4000, method=method, rng=rng).confidence_interval
            # two draws of 4,000 resamples: their ends differ by a few hundredths of a standard error
            np.testing.assert_allclose([low[label], high[label]], theirs, atol=0.2 * width)


def test_bca_ends_are_scipys_formula_on_the_same_resamples() -> None:
    rng = np.random.default_rng(5)
    slopes = rng.gamma(2, size=(1, 999)).astype(np.float32)
    estimate, skewness = np.array([1.6]), np.array([0.04])
    ends = intervals(slopes.copy(), estimate, skewness)
    bias = stats.norm.ppf((slopes < 1.6).mean())
    z = stats.norm.ppf([0.025, 0.975])
    levels = stats.norm.cdf(bias + (bias + z) / (1 - 0.04 * (bias + z)))
    np.testing.assert_allclose([ends.bca_low[0], ends.bca_high[0]], np.quantile(slopes[0], levels), rtol=1e-5)
    np.testing.assert_allclose([ends.low[0], ends.high[0]], np.quantile(slopes[0], [0.025, 0.975]), rtol=1e-5)


def test_resamples_without_a_slope_are_left_out_and_a_one_sided_bootstrap_has_no_bca() -> None:
    slopes = np.array([[1.0, 2.0, 3.0, np.nan], [5.0, 6.0, 7.0, 8.0], [np.nan] * 4], np.float32)
    ends = intervals(slopes, np.array([2.0, 1.0, 0.0]), np.zeros(3))
    assert ends.low[0] == pytest.approx(1.05, rel=1e-6)
    assert ends.high[0] == pytest.approx(2.95, rel=1e-6)
    assert np.isfinite(ends.bca_low[0])
    assert np.isnan(ends.bca_low[1:]).all()
    assert np.isnan([ends.low[2], ends.high[2]]).all()


def test_a_constant_has_one_point_for_an_interval() -> None:
    profile = dense(np.ones((1, 20, 5), np.float32), VALUES)
    point = linear("photo-rate", moments(profile), VALUES)
    ends = intervals(replicates({"rate": profile}, ["photo-rate"], 50, 0)["photo-rate"], point.slope, np.zeros(1))
    assert [ends.low[0], ends.high[0], ends.bca_low[0], ends.bca_high[0]] == [0, 0, 0, 0]


def test_the_same_seed_draws_the_same_and_a_longer_draw_begins_with_it() -> None:
    by_kind = {"rate": dense(simulated(), VALUES)}
    short, again, other = (replicates(by_kind, ["photo-rate"], 32, seed)["photo-rate"] for seed in (3, 3, 4))
    np.testing.assert_array_equal(short, again)
    assert (short != other).any()
    np.testing.assert_array_equal(replicates(by_kind, ["photo-rate"], 64, 3)["photo-rate"][:, :32], short)


def test_clusters_are_drawn_whole() -> None:
    numbers = simulated(4)
    profile = Profiles(VALUES, np.array([1.0, 3.0]), np.array([0, 1], np.int32), np.array([0, 2]), numbers[0, :2])
    found = replicates({"rate": profile}, ["photo-rate"], 200, 0)["photo-rate"][0]
    slopes = 100 * numbers[0, :2] @ line_weights(VALUES)
    possible = [slopes[0], slopes.sum() / 4, slopes[1] / 3]  # twice the one, one of each, twice the other
    assert np.abs(found[:, None] - possible).min(axis=1).max() < 1e-4
    assert KINDS["paper"] == "rate"
