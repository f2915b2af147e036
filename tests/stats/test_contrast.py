"""Contrasts against scipy: paired differences, changes of signs, clusters."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats

from gslopes.slopes.measures.kinds import unit_slopes
from gslopes.stats.contrast import Units, contrast
from tests.skewed import corrected
from tests.slopes.measures.conftest import of

VALUES = np.linspace(-2, 2, 5)


def drawn(seed: int, photos: int = 60, slope: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).random((photos, 5)) < 0.4 + slope * VALUES


def test_the_difference_is_that_of_the_photos_slopes_corrected_for_skewness() -> None:
    item, second = drawn(0, slope=0.05), drawn(1)
    result = contrast(
        unit_slopes(of(item), "rate").minus(unit_slopes(of(second), "rate")), permutations=2000
    )
    weights = 100 * VALUES / (VALUES @ VALUES)
    theirs = stats.ttest_rel(item @ weights, second @ weights)
    assert result.difference[0] == pytest.approx(np.mean((item - 1.0 * second) @ weights))
    ends_and_p = corrected((item - 1.0 * second) @ weights)
    assert (result.low[0], result.high[0], result.p[0]) == pytest.approx(ends_and_p)
    assert result.p_perm[0] == pytest.approx(theirs.pvalue, abs=0.03)


def test_changes_of_signs_are_exact_for_few_units() -> None:
    sums = sparse.csr_array(np.array([[1.0, 1, 1, 1, 1, 0, 0, 0]]))
    result = contrast(Units(sums, np.ones(8)), permutations=20_000)
    assert result.p_perm[0] == pytest.approx(2 / 2**5, abs=0.006)
    assert result.varying.tolist() == [5]


def test_a_mean_of_nothing_is_not_tested() -> None:
    result = contrast(Units(sparse.csr_array((1, 20)), np.ones(20)), permutations=99)
    assert np.isnan([result.se[0], result.p[0], result.p_perm[0], result.low[0]]).all()


def test_photos_of_a_cluster_count_as_one() -> None:
    present = np.repeat(drawn(2, photos=12), 5, axis=0)
    cluster = np.repeat(np.arange(12), 5)
    units = unit_slopes(replace(of(present), units=cluster), "rate")
    once = unit_slopes(of(present[::5]), "rate")
    assert units.means[0] == pytest.approx(once.means[0])
    values, single = contrast(units), contrast(once)
    assert values.p[0] == pytest.approx(single.p[0])
    assert values.se[0] == pytest.approx(single.se[0])
