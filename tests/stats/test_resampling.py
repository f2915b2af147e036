import numpy as np
import pytest
from scipy import sparse, stats

from gslopes.stats.resampling import bca_intervals, bootstrap_counts, bootstrap_rows, enough, joined, multinomial_counts


def test_every_resample_draws_as_many_units_as_there_are() -> None:
    counts = bootstrap_counts(20, 50, np.random.default_rng(0))
    assert counts.shape == (20, 50)
    assert (counts.sum(axis=0) == 20).all()
    assert (multinomial_counts(20, 50, np.random.default_rng(0)).sum(axis=1) == 20).all()
    assert multinomial_counts(0, 5, np.random.default_rng(0)).shape == (5, 0)


def test_clusters_are_drawn_whole() -> None:
    clusters = np.array(["a", "b", "a", "c"])
    for rows in bootstrap_rows(4, 30, clusters=clusters):
        drawn = np.bincount(rows, minlength=4)
        assert drawn[0] == drawn[2]
        assert drawn[0] + drawn[1] + drawn[3] == 3
    assert all(len(rows) == 4 for rows in bootstrap_rows(4, 3))


def test_resamples_need_ten_units_with_it_and_ten_without() -> None:
    rows = np.zeros((4, 60))
    rows[0, :10] = rows[1, :9] = rows[2, :51] = 1.0
    rows[3] = 0.5
    assert enough(sparse.csr_array(rows), np.arange(60)).tolist() == [True, False, False, True]
    assert enough(sparse.csr_array(rows), np.repeat(np.arange(12), 5)).tolist() == [False, False, False, True]


def test_bca_ends_are_scipys_formula_on_the_same_resamples() -> None:
    rng = np.random.default_rng(5)
    slopes = rng.gamma(2, size=(1, 999)).astype(np.float32)
    estimate, skewness = np.array([1.6]), np.array([0.04])
    ends = bca_intervals(slopes.copy(), estimate, skewness)
    bias = stats.norm.ppf((slopes < 1.6).mean())
    z = stats.norm.ppf([0.025, 0.975])
    levels = stats.norm.cdf(bias + (bias + z) / (1 - 0.04 * (bias + z)))
    np.testing.assert_allclose([ends.bca_low[0], ends.bca_high[0]], np.quantile(slopes[0], levels), rtol=1e-5)
    np.testing.assert_allclose([ends.low[0], ends.high[0]], np.quantile(slopes[0], [0.025, 0.975]), rtol=1e-5)


def test_resamples_without_a_slope_are_left_out_and_a_one_sided_bootstrap_has_no_bca() -> None:
    slopes = np.array([[1.0, 2.0, 3.0, np.nan], [5.0, 6.0, 7.0, 8.0], [np.nan] * 4], np.float32)
    ends = bca_intervals(slopes, np.array([2.0, 1.0, 0.0]), np.zeros(3))
    assert ends.low[0] == pytest.approx(1.05, rel=1e-6)
    assert ends.high[0] == pytest.approx(2.95, rel=1e-6)
    assert np.isfinite(ends.bca_low[0])
    assert np.isnan(ends.bca_low[1:]).all()
    assert np.isnan([ends.low[2], ends.high[2]]).all()
    assert joined([ends, ends]).high.shape == (6,)
