"""Goldens 42, 45, 46, and properties."""

import numpy as np
import pytest
from scipy import sparse, stats

from gslopes.captions.config import AuditOptions
from gslopes.captions.measures.rows import change, compare, rate
from gslopes.captions.stimuli.corpus import presence_of, presence_of_images
from gslopes.stats.intervals import newcombe, wilson
from gslopes.stats.multiplicity import benjamini_hochberg
from gslopes.stats.shares import fisher

OPTIONS = AuditOptions()


def test_golden_42_newcombe_and_fisher():
    low, high = newcombe(4, 5, 1, 5)
    assert (100 * low, 100 * high) == (
        pytest.approx(-0.03, abs=5e-3),
        pytest.approx(83.16, abs=5e-3),
    )
    assert fisher(4, 5, 1, 5) == pytest.approx(0.2063, abs=5e-5)


def test_golden_45_false_discovery_rate():
    q = benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.5]))
    assert q == pytest.approx([0.04, 0.0533, 0.0533, 0.5], abs=5e-5)


def test_golden_46_wilson():
    assert wilson(0, 17_360) == (0, pytest.approx(0.000221, abs=5e-7))
    assert wilson(28 / 14_560, 14_560) == (
        pytest.approx(0.001331, abs=5e-7),
        pytest.approx(0.002778, abs=5e-7),
    )


def shares(*rows: np.ndarray, first: int):
    """Differences of concepts by their shares of each image's captions, of which the first images are one group."""
    names = [str(i) for i in range(len(rows[0]))]
    entries = [(str(i), k, v) for i, row in enumerate(rows) for k, v in enumerate(row) if v]
    table = presence_of(entries, names, binary=False)
    return compare(table, np.where(np.arange(len(names)) < first, 1, -1).astype(np.int8), OPTIONS)


def test_shares_of_captions_are_compared_by_welch():
    values = np.random.default_rng(0).random(90)
    result = shares(values, first=30)
    theirs = stats.ttest_ind(values[:30], values[30:], equal_var=False)
    interval = theirs.confidence_interval()
    assert (result.ci_low[0], result.ci_high[0]) == pytest.approx(
        (100 * interval.low, 100 * interval.high)
    )
    assert result.p[0] == pytest.approx(theirs.pvalue)


def test_what_is_rare_in_a_group_has_no_interval_by_t():
    rare = np.zeros(90)
    rare[[0, *range(30, 45)]] = 0.5
    result = shares(rare, first=30)
    assert result[["ci_low", "ci_high", "p"]].isna().all(axis=None)


def test_groups_under_ten_images_are_not_tested():
    images = [str(i) for i in range(12)]
    table = presence_of_images({"a": images}, images)
    member = np.array([1] * 5 + [-1] * 7, np.int8)
    assert np.isnan(compare(table, member, AuditOptions(min_active=1)).p).all()


def test_a_concept_by_itself_is_tested_however_rare_and_one_of_many_is_not():
    images = [str(i) for i in range(40)]
    sides = np.repeat([1, -1], 20).astype(np.int8)
    alone = presence_of_images({"a": images[:4]}, images)
    assert compare(alone, sides, OPTIONS).p[0] == pytest.approx(fisher(4, 20, 0, 20))
    assert np.isnan(compare(presence_of_images({"a": []}, images), sides, OPTIONS).p[0])
    one_of_two = presence_of_images({"a": images[:4], "b": images}, images)
    assert np.isnan(compare(one_of_two, sides, OPTIONS).p[0])


def test_a_difference_of_shares_of_captions_ends_at_100_points():
    rng = np.random.default_rng(0)
    result = shares(np.r_[rng.uniform(0.9, 0.99, 12), rng.uniform(0, 0.1, 11), 0.9], first=12)
    assert result.ci_low[0] < result.value[0] < result.ci_high[0] <= 100


def test_equal_means_of_unequal_spread_are_no_difference():
    """25 images that vary against 200 that hardly do."""
    rng = np.random.default_rng(3)
    rows = [np.array([*rng.integers(0, 2, 25), *rng.uniform(0.45, 0.55, 200)]) for _ in range(300)]
    assert (shares(*rows, first=25).p < 0.05).mean() < 0.09


def test_no_change_between_stages_has_p_one():
    images = [str(i) for i in range(20)]
    table = presence_of_images({"a": images}, images).matrix
    value, low, high, p = change(table, table, np.repeat([1, -1], 10).astype(np.int8))
    assert (value[0], p[0]) == (0, 1)
    assert low[0] < 0 < high[0]


def test_a_change_is_the_difference_of_the_groups_changes():
    values, first = np.random.default_rng(0).random((1, 90)), np.arange(90) < 30
    before, after = sparse.csr_array((1, 90)), sparse.csr_array(values)
    value, *_ = change(before, after, np.where(first, 1, -1).astype(np.int8))
    assert value[0] == pytest.approx(values[0, first].mean() - values[0, ~first].mean())


def test_a_rate_of_independent_captions_is_wilsons_and_alike_ones_count_as_one():
    counts, of = (np.arange(200) < 30).astype(float), np.ones(200)
    assert rate(counts, of) == pytest.approx((0.15, *wilson(0.15, 200)))
    assert rate(5 * counts, 5 * of) == pytest.approx((0.15, *wilson(0.15, 200)))
    assert rate(0 * counts, 5 * of) == pytest.approx((0, *wilson(0, 200)))
    assert np.isnan(rate(np.zeros(3), np.zeros(3))).all()
