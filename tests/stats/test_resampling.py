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


def test_bca_is_close_to_scipys_on_a_skewed_mean() -> None:
    rng = np.random.default_rng(1)
    sample = rng.exponential(size=60)
    draws = (bootstrap_counts(60, 4000, rng).T @ sample / 60).astype(np.float32)[None]
    influence = sample - sample.mean()
    acceleration = np.array([(influence**3).sum() / (6 * (influence**2).sum() ** 1.5)])
    found = bca_intervals(draws, np.array([sample.mean()]), acceleration)
    theirs = stats.bootstrap((sample,), np.mean, n_resamples=4000, method="BCa", rng=2).confidence_interval
    assert [found.bca_low[0], found.bca_high[0]] == pytest.approx([theirs.low, theirs.high], abs=0.03)
    assert found.low[0] < found.bca_low[0]  # a skewed mean: both ends move up


def test_no_interval_without_a_number_or_with_all_on_one_side() -> None:
    nothing = bca_intervals(np.full((1, 10), np.nan, np.float32), np.zeros(1), np.zeros(1))
    aside = bca_intervals(np.full((1, 10), 2, np.float32), np.zeros(1), np.zeros(1))
    assert np.isnan([nothing.low[0], nothing.bca_low[0], aside.bca_low[0], aside.bca_high[0]]).all()
    assert joined([nothing, aside]).high.tolist()[1] == 2


def test_resamples_need_ten_units_with_it_and_ten_without() -> None:
    rows = np.zeros((4, 60))
    rows[0, :10] = rows[1, :9] = rows[2, :51] = 1.0
    rows[3] = 0.5
    assert enough(sparse.csr_array(rows), np.arange(60)).tolist() == [True, False, False, True]
    assert enough(sparse.csr_array(rows), np.repeat(np.arange(12), 5)).tolist() == [False, False, False, True]
