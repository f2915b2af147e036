"""Shares and their intervals."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from scipy.stats import ttest_1samp
from statsmodels.stats.proportion import proportion_confint

from gslopes.stats.clusters import clustered_ratio
from gslopes.stats.contrast import Units, contrast
from gslopes.stats.intervals import (
    UNBOUNDED,
    bent,
    estimate_share,
    mean_t,
    newcombe,
    skewed_test,
    wilson,
)
from tests.skewed import corrected, corrected_parts

chances = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@pytest.mark.parametrize(("count", "n"), [(0, 10), (10, 10), (3, 7), (81, 263), (1, 1)])
def test_wilsons_interval_is_that_of_statsmodels(count, n):
    assert wilson(count / n, n) == pytest.approx(
        proportion_confint(count, n, method="wilson"), abs=1e-9
    )
    values = wilson(np.array([0.5, count / n]), n)
    assert [ends[1] for ends in values] == list(wilson(count / n, n))
    assert np.isnan(wilson(np.nan, 0)).all()


def test_newcombes_interval_of_the_worked_examples():
    # 56 of 70 against 48 of 80: Newcombe 1998, table II, method 10
    assert newcombe(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert newcombe(4, 5, 1, 5) == pytest.approx((-0.0003, 0.8316), abs=5e-5)
    assert np.isnan(newcombe(0, 0, 1, 2)).all()


def test_the_interval_of_a_mean_is_scipys_where_its_numbers_are_symmetric():
    half = np.random.default_rng(0).normal(0, 1, 10)
    values = 0.3 + np.r_[half, -half]
    theirs = ttest_1samp(values, 0)
    result = mean_t(np.r_[values, np.nan])
    assert (result.low, result.high) == pytest.approx(tuple(theirs.confidence_interval()))
    assert (result.value / result.se, result.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert np.isnan([mean_t(np.ones(1)).low, mean_t(np.ones(4)).p]).all()


@pytest.mark.parametrize("n", [3, 5, 12, 60])
def test_of_skewed_numbers_it_is_halls_and_p_is_where_it_ends_at_0(n):
    rng = np.random.default_rng(n)
    for shift in (0.0, 0.7, 3.5, 6.0):
        for sign in (1, -1):
            values = sign * (rng.lognormal(0, 1, n) - shift)
            assert mean_t(values)[2:] == pytest.approx(corrected(values), rel=1e-6), values
    # as if each number were a unit's sum over its photos
    sizes = rng.integers(1, 4, n).astype(float)
    result = contrast(Units(sparse.csr_array(values[None] * sizes), sizes))
    gaps = values * sizes - result.difference[0] * sizes
    skew = (gaps**3).sum() / (gaps**2).sum() ** 1.5
    theirs = corrected_parts(result.difference[0], result.se[0], n - 1, skew)
    assert (result.low[0], result.high[0], result.p[0]) == pytest.approx(theirs, rel=1e-6)


def test_without_a_difference_p_is_1_and_without_an_error_t_says_nothing():
    p = skewed_test(np.array([0, 0, np.inf, -np.inf, -np.inf]), 9, np.array([0, 0.3, 0.3, 0.3, 0]))
    assert p[:2].tolist() == [1, 1]
    assert np.isnan(p[2:]).all()


@pytest.mark.parametrize("units", [12, 60])
def test_the_interval_holds_the_mean_of_skewed_numbers_about_95_times_of_100(units):
    """t's holds 89 and 94 % of the first, and 95 of the second."""
    rng = np.random.default_rng(units)
    for numbers, mean in (
        (rng.beta(0.5, 5, (2000, units)), 0.5 / 5.5),
        (rng.standard_t(3, (2000, units)), 0),
    ):
        result = contrast(Units(sparse.csr_array(numbers), np.ones(units)))
        assert 0.93 < np.mean((result.low <= mean) & (mean <= result.high)) < 0.975


@pytest.mark.parametrize(
    "values", [np.zeros(5), np.full(7, 50.0), np.full(9, 0.1) * 3, 0.3 + 1e-16 * np.arange(4)]
)
def test_numbers_that_are_equal_up_to_rounding_have_neither_interval_nor_p(values):
    result = mean_t(values)
    assert result.se == 0
    assert np.isnan([result.low, result.high, result.p]).all()
    assert np.isfinite(mean_t(np.r_[values, values[0] + 1e-6]).low)


def test_newcombe_of_shares_that_go_together_is_narrower():
    alone, together = newcombe(56, 80, 48, 80), newcombe(56, 80, 48, 80, correlation=0.8)
    assert alone[0] < together[0] < 0.1 < together[1] < alone[1]
    (low, high), (under, over) = wilson(0.7, 80), wilson(0.6, 80)
    ends = (0.7 - low, over - 0.6), (high - 0.7, 0.6 - under)
    distances = [np.sqrt(a * a - 2 * 0.8 * a * b + b * b) for a, b in ends]
    assert together == pytest.approx((0.1 - distances[0], 0.1 + distances[1]))


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_where_people_answered_everything_it_is_wilsons(said):
    result = estimate_share(np.array(said, float), np.ones(len(said), bool))
    assert (result.n, result.answered, result.share) == (
        len(said),
        len(said),
        pytest.approx(np.mean(said)),
    )
    assert (result.low, result.high) == pytest.approx(wilson(float(np.mean(said)), len(said)))


@given(chances)
def test_the_share_lies_in_its_interval_and_all_in_the_unit(p):
    result = estimate_share(np.array(p), np.zeros(len(p), bool))
    assert 0 <= result.low <= result.share + 1e-12
    assert result.share <= result.high + 1e-12 <= 1 + 1e-9
    assert np.isnan(estimate_share(np.array([]), np.array([], bool)).share)


def test_the_interval_covers_the_share_of_a_search_at_least_as_often_as_it_says():
    """Faces come with a probability p, and are then perceived as female with that probability: a calibrated reader."""
    lot, runs = np.random.default_rng(0), 2000
    p = lot.beta(0.5, 1.2, (runs, 50))
    result = [estimate_share(row, np.zeros(50, bool)) for row in p]
    truth = 0.5 / 1.7
    assert np.mean([item.low <= truth <= item.high for item in result]) >= 0.95
    # half of the photos answered by people, who see what there is to see
    text = lot.random(p.shape) < p
    mixed = np.where(np.arange(50) < 25, text, p)
    result = [estimate_share(row, np.arange(50) < 25) for row in mixed]
    assert np.mean([item.low <= truth <= item.high for item in result]) >= 0.95


bounded = st.floats(-0.999, 0.999)


@given(bounded, st.floats(0, 9), st.floats(0, 9))
def test_a_bent_interval_lies_within_its_bounds_and_around_its_number(value, below, above):
    low, high = bent(value, (value - below, value + above), (-1, 1))
    assert -1 <= low <= value <= high <= 1
    if below <= (value + 1) / 2:
        assert low == value - below, "an end in the nearer half stays"
    assert (low > 0) == (value - below > 0), "p says the same of 0"
    assert (high < 0) == (value + above < 0)


@given(bounded, st.floats(0, 4), st.floats(0, 4))
def test_of_two_ends_the_further_one_stays_further(value, near, more):
    ends = [float(bent(value, (value, value + way), (-1, 1))[1]) for way in (near, near + more)]
    assert ends[0] <= ends[1]


def test_without_bounds_or_ends_nothing_is_bent():
    assert [float(end) for end in bent(3.0, (-99.0, 99.0), UNBOUNDED)] == [-99, 99]
    assert np.isnan(bent(1.0, (np.nan, np.nan), (-1, 1))).all()
    low, high = bent(np.array([0.0, 0.0]), (np.full(2, -0.9), np.full(2, 0.9)), (-1, np.inf))
    assert high.tolist() == [0.9, 0.9]
    assert (low > -0.9).all()


def test_a_mean_of_shares_has_an_interval_of_shares():
    values = np.r_[np.ones(9), 0.0]
    assert mean_t(values).high > 1 > mean_t(values, (0, 1)).high > 0.95
    assert mean_t(values, (0, 1)).low > mean_t(values).low, "more than half of the way to 0"
    assert mean_t(values, (-10, 1)).low == mean_t(values).low
    assert clustered_ratio(values, np.ones(10), (0, 1)) == mean_t(values, (0, 1))
