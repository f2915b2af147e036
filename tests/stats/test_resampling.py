import numpy as np
import pytest

from gslopes.stats.resampling import bootstrap_rows, multinomial_counts, percentile


def test_every_resample_draws_as_many_units_as_there_are() -> None:
    assert (multinomial_counts(20, 50, np.random.default_rng(0)).sum(axis=1) == 20).all()
    assert multinomial_counts(0, 5, np.random.default_rng(0)).shape == (5, 0)
    assert all(len(rows) == 4 for rows in bootstrap_rows(4, 3))


def test_percentiles_leave_out_what_is_no_number():
    draws = np.arange(1.0, 1001.0)
    assert percentile(draws) == pytest.approx((25.975, 975.025))
    assert percentile(np.r_[draws, np.nan]) == percentile(draws)
    assert np.isnan(percentile(np.empty(0))).all()
