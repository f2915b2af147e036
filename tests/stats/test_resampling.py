import numpy as np

from gslopes.stats.resampling import bootstrap_rows, multinomial_counts


def test_every_resample_draws_as_many_units_as_there_are() -> None:
    assert (multinomial_counts(20, 50, np.random.default_rng(0)).sum(axis=1) == 20).all()
    assert multinomial_counts(0, 5, np.random.default_rng(0)).shape == (5, 0)
    assert all(len(rows) == 4 for rows in bootstrap_rows(4, 3))
