import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from gslopes.stats.clusters import (
    clustered_mean,
    clustered_slope,
    codes_of,
    effective_units,
    named_codes,
    normal_texts,
)


def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 12, 80)
    at = rng.normal(size=80)
    return rng.normal(size=12)[clusters] + 0.3 * at + rng.normal(size=80), at, clusters


@pytest.mark.parametrize("slope", [False, True])
def test_standard_errors_are_those_of_statsmodels_but_for_its_smaller_correction(slope: bool) -> None:
    values, at, clusters = drawn()
    design = sm.add_constant(at) if slope else np.ones((80, 1))
    theirs = sm.OLS(values, design).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}, use_t=True
    )
    found = clustered_slope(values, at, clusters) if slope else clustered_mean(values, clusters)
    assert found.value == pytest.approx(theirs.params[-1])
    assert found.se == pytest.approx(theirs.bse[-1] * np.sqrt(12 / 11))
    assert found.low < found.value < found.high


def test_one_cluster_and_equal_numbers_have_no_interval() -> None:
    alone = clustered_mean(np.arange(4.0), np.zeros(4, int))
    equal = clustered_mean(np.full(4, 0.25), np.arange(4))
    assert (alone.value, equal.value, equal.se) == (1.5, 0.25, 0.0)
    assert np.isnan([*alone[1:], *equal[2:]]).all()
    assert np.isnan(clustered_slope(np.arange(4.0), np.ones(4), np.arange(4))).all()
    assert np.isnan(clustered_mean(np.empty(0), np.empty(0, int)).value)


def test_rows_without_a_name_are_their_own_cluster() -> None:
    assert named_codes(["x", "", "x", ""], np.array(["a", "b", "c", "d"], object)).tolist() == [0, 1, 0, 2]
    assert codes_of(None, 3).tolist() == [0, 1, 2]
    assert codes_of(np.array(["b", "a", "b"]), 3).tolist() == [1, 0, 1]


def test_one_large_cluster_leaves_few_effective_units() -> None:
    assert effective_units(np.ones(30)) == pytest.approx(30)
    assert effective_units(np.array([40.0, *[1.0] * 60])) < 2
    assert effective_units(np.empty(0)) == 0


def test_names_of_groups_are_one_whatever_their_case_and_blanks() -> None:
    column = pd.Series(["b a", "B  a ", "b a", "NULL", "n/a", None, np.nan, "c"])
    assert normal_texts(column).tolist() == ["b a", "b a", "b a", "", "", "", "", "c"]
    assert normal_texts(pd.Series([], dtype=object)).empty
