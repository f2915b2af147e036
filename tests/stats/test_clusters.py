import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from gslopes.stats.clusters import (
    Source,
    clustered_mean,
    clustered_ratio,
    codes_of,
    crossed,
    effective_units,
    named_codes,
    pooled_source,
)


def test_standard_errors_are_those_of_statsmodels_but_for_its_smaller_correction() -> None:
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 12, 80)
    values = rng.normal(size=12)[clusters] + rng.normal(size=80)
    theirs = sm.OLS(values, np.ones((80, 1))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}, use_t=True
    )
    result = clustered_mean(values, clusters)
    assert result.value == pytest.approx(theirs.params[-1])
    assert result.se == pytest.approx(theirs.bse[-1] * np.sqrt(12 / 11))
    assert result.low < result.value < result.high


def test_one_cluster_and_equal_numbers_have_no_interval() -> None:
    alone = clustered_mean(np.arange(4.0), np.zeros(4, int))
    equal = clustered_mean(np.full(4, 0.25), np.arange(4))
    assert (alone.value, equal.value, equal.se) == (1.5, 0.25, 0.0)
    assert np.isnan([*alone[1:], *equal[2:]]).all()
    assert np.isnan(clustered_mean(np.empty(0), np.empty(0, int)).value)


def test_rows_without_a_name_are_their_own_cluster() -> None:
    assert named_codes(["x", "", "x", ""], np.array(["a", "b", "c", "d"], object)).tolist() == [
        0,
        1,
        0,
        2,
    ]
    assert codes_of(None, 3).tolist() == [0, 1, 2]
    assert codes_of(np.array(["b", "a", "b"]), 3).tolist() == [1, 0, 1]


def test_one_large_cluster_leaves_few_effective_units() -> None:
    assert effective_units(np.ones(30)) == pytest.approx(30)
    assert effective_units(np.array([40.0, *[1.0] * 60])) < 2
    assert effective_units(np.empty(0)) == 0


def test_a_ratio_of_equal_clusters_is_their_mean() -> None:
    values = np.random.default_rng(3).normal(size=20)
    assert clustered_ratio(3 * values, np.full(20, 3.0)) == pytest.approx(
        clustered_mean(values, np.arange(20))
    )
    assert np.isnan(clustered_ratio(np.zeros(2), np.zeros(2))).all()


def test_two_sources_of_which_one_is_nothing_are_the_other() -> None:
    people, none = Source(0.5, 9.0), Source(0.0, 1.0)
    mean = 1.3
    half = stats.t.ppf(0.975, 9) * 0.5
    low, high, p = crossed(mean, (mean - half, mean + half), people, none)
    assert (low, high) == pytest.approx((mean - half, mean + half))
    assert p == pytest.approx(2 * stats.t.sf(mean / 0.5, 9), rel=1e-6)
    low, high, p = crossed(mean, (np.nan, np.nan), Source(0.0, 9.0), Source(0.5, 3.0))
    assert (high - mean, p) == pytest.approx((stats.t.ppf(0.975, 3) * 0.5, 2 * stats.t.sf(2.6, 3)))
    assert np.isnan(crossed(mean, (np.nan, np.nan), Source(0.0, 9.0), none)).all()


def test_the_interval_of_two_sources_ends_where_p_says() -> None:
    people, rooms = Source(1.0, 40.0), Source(0.7, 2.0)
    for value in (3.0, 3.635):
        low, _, p = crossed(value, (value - 2.0211, value + 2.0211), people, rooms)
        assert (p < 0.05) == (low > 0)
    assert crossed(0.0, (-2.0, 2.0), people, rooms)[2] == 1
    assert crossed(1e9, (1e9 - 2, 1e9 + 2), people, rooms)[2] < 1e-12


def test_equal_errors_add_their_degrees_of_freedom_and_one_keeps_its_own() -> None:
    assert pooled_source(np.full(6, 2.0), np.ones(6)) == pytest.approx((12**0.5, 6.0))
    assert pooled_source(np.array([2.0, 0.0, 0.0]), np.ones(3)) == pytest.approx((2**0.5, 1.0))
    assert pooled_source(np.zeros(2), np.ones(2)) == (0.0, 2.0)
