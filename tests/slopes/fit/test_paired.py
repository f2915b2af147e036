import numpy as np
import pytest
from scipy import sparse, stats

from gslopes.slopes.fit.answers import Answers
from gslopes.slopes.fit.paired import mean_test, paired_test, unit_slopes
from gslopes.stats.clusters import effective_units
from gslopes.stats.permutation import below_floor

VALUES = np.linspace(-2, 2, 5)


def of(present: np.ndarray) -> Answers:
    """One label, (n, K) presence."""
    photos = np.array([f"{i:04d}" for i in range(len(present))], dtype=object)
    rows = np.flatnonzero(present.any(axis=1)).astype(np.int32)
    found = present[rows].astype(bool)
    label = np.zeros(len(rows), np.int32)
    names = np.array(["x"], dtype=object)
    return Answers("c", "gender", VALUES, names, photos, {}, rows, label, found, found.astype(np.float32), 0.5)


def drawn(seed: int, photos: int = 60, slope: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).random((photos, 5)) < 0.4 + slope * VALUES


def test_the_difference_is_scipys_paired_t_of_the_photos_slopes() -> None:
    one, other = drawn(0, slope=0.05), drawn(1)
    found = paired_test(unit_slopes(of(one), "rate"), unit_slopes(of(other), "rate"), permutations=2000)
    weights = 100 * VALUES / (VALUES @ VALUES)
    theirs = stats.ttest_rel(one @ weights, other @ weights)
    assert found.difference[0] == pytest.approx(np.mean((one - 1.0 * other) @ weights))
    assert found.p[0] == pytest.approx(theirs.pvalue)
    assert (found.low[0], found.high[0]) == pytest.approx(theirs.confidence_interval(0.95))
    assert found.p_perm[0] == pytest.approx(theirs.pvalue, abs=0.03)


def test_changes_of_signs_are_exact_for_few_units() -> None:
    sums = sparse.csr_array(np.array([[1.0, 1, 1, 1, 1, 0, 0, 0]]))
    found = mean_test(sums, np.ones(8), permutations=20_000)
    assert found.p_perm[0] == pytest.approx(2 / 2**5, abs=0.006)
    assert found.varying.tolist() == [5]


def test_a_mean_of_nothing_is_not_tested() -> None:
    found = mean_test(sparse.csr_array((1, 20)), np.ones(20), permutations=99)
    assert np.isnan([found.se[0], found.p[0], found.p_perm[0], found.low[0]]).all()


def test_photos_of_a_cluster_count_as_one() -> None:
    present = np.repeat(drawn(2, photos=12), 5, axis=0)
    cluster = np.repeat(np.arange(12), 5)
    units = unit_slopes(of(present), "rate", cluster)
    once = unit_slopes(of(present[::5]), "rate")
    assert units.means[0] == pytest.approx(once.means[0])
    several, single = mean_test(units.sums, units.sizes), mean_test(once.sums, once.sizes)
    assert several.p[0] == pytest.approx(single.p[0])
    assert several.se[0] == pytest.approx(single.se[0])


def test_below_the_floor_t_speaks_and_never_above_it() -> None:
    p_perm, p = np.array([0.01, 0.01, 0.5, np.nan]), np.array([1e-9, 0.2, 1e-9, np.nan])
    tested, source = below_floor(p_perm, p, 99)
    assert tested[:3].tolist() == [1e-9, 0.01, 0.5]
    assert source.tolist() == ["t below the permutations' floor", "permutation", "permutation", None]
    assert below_floor(p_perm, p, 99, trusted=False)[0][0] == 0.01


def test_one_large_cluster_leaves_few_effective_units() -> None:
    assert effective_units(np.ones(50)) == 50
    assert effective_units(np.array([40.0, *[1.0] * 60])) < 2
    assert effective_units(np.array([])) == 0
