"""What is only rounding is zero, by one function, and nothing asks another one."""

import doctest
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse, stats

from gslopes.stats import rounding
from gslopes.stats.clusters import clustered_mean
from gslopes.stats.contrast import Units, contrast, membership_p
from gslopes.stats.intervals import mean_t, wilson
from gslopes.stats.multiplicity import LEVEL, benjamini_hochberg
from gslopes.stats.outcomes import moments
from gslopes.stats.rounding import exceeds, highest, levelled, places, settled
from tests.stats.dense import dense

ROOT = Path(__file__).resolve().parents[2]


def test_the_examples_hold() -> None:
    assert doctest.testmod(rounding).failed == 0


@pytest.mark.parametrize("level", [0.1 + 0.2, 1 / 3, 1e6 + 0.1, 1e-9])
@pytest.mark.parametrize("units", [3, 7, 1000])
def test_units_that_are_alike_have_no_spread_whatever_their_size(level: float, units: int) -> None:
    numbers = np.full(units, level) * (1 + 1e-15 * np.arange(units) % 3)
    sizes = np.resize([1.0, 2.0, 5.0], units)
    result = contrast(Units(sparse.csr_array((numbers * sizes)[None]), sizes))
    assert result.se[0] == 0
    assert np.isnan(result.low[0])
    assert mean_t(numbers).se == 0 == clustered_mean(numbers, np.arange(units) // 2).se


def test_a_small_spread_beside_a_large_mean_keeps_its_digits() -> None:
    numbers = 1e6 + np.random.default_rng(0).normal(0, 1e-2, 500)
    result = contrast(Units(sparse.csr_array(numbers[None]), np.ones(500)))
    assert result.se[0] == pytest.approx(stats.sem(numbers), rel=1e-6)


def test_a_slope_that_all_photos_share_has_no_spread_though_they_lie_at_other_levels() -> None:
    values, levels = np.linspace(-2, 2, 5), np.linspace(0.1, 0.9, 30)
    numbers = (levels[:, None] + 0.1 * values).astype(np.float32)[None]
    result = moments(dense(numbers, values))
    assert result.slopes.squares[0] > 0  # counts would not differ so little
    errors = rounding.STORED * np.abs(numbers).max(axis=2)[0]
    assert moments(replace(dense(numbers, values), errors=errors)).slopes.squares[0] == 0


def test_permuted_membership_does_not_depend_on_where_the_numbers_lie() -> None:
    numbers = np.random.default_rng(1).normal(0, 1e-2, 40)
    first = np.arange(40) < 12
    near, far = (
        membership_p(Units(sparse.csr_array((numbers + level)[None]), np.ones(40)), first, 499, 0)
        for level in (1, 1e6)
    )
    assert near[0] == far[0] < 1


def test_statistics_that_are_tied_count_as_extreme_even_where_the_observed_one_is_almost_nothing() -> (
    None
):
    numbers = np.array([0.1, 0.2, -(0.1 + 0.2), 0.0])
    result = contrast(Units(sparse.csr_array(numbers[None]), np.ones(4)), permutations=200)
    assert result.difference[0] == 0
    assert result.p_perm[0] == 1


def test_a_q_at_the_level_is_not_below_it() -> None:
    for count in range(2, 60):
        p = np.full(count, 1.0)
        p[0] = LEVEL / count
        assert benjamini_hochberg(p)[0] == LEVEL


def test_an_end_of_wilsons_interval_is_0_or_1_where_the_share_is() -> None:
    for n in range(1, 200):
        assert wilson(0.0, n)[0] == 0
        assert wilson(1.0, n)[1] == 1


def test_order_and_the_highest_go_by_names_where_numbers_are_equal_but_for_rounding() -> None:
    assert places([0.3, 0.1 + 0.2, 0.2, np.inf, np.inf, np.nan]).tolist() == [1, 1, 0, 2, 2, 3]
    assert highest([np.nan, 0.3, 0.1 + 0.2]) == 1
    assert levelled([]).tolist() == [] == places([]).tolist()
    assert settled(np.nan, 1.0) != 0
    assert not exceeds(np.inf, np.inf)


def test_no_other_threshold_decides_what_is_rounding() -> None:
    """A small number in a comparison or under ``maximum`` stands for a decision that ``rounding`` makes."""
    folders = (
        "stats",
        *(f"{audit}/measures" for audit in ("slopes", "contexts", "crops", "captions")),
    )
    files = [file for folder in folders for file in (ROOT / "gslopes" / folder).glob("*.py")]
    files.append(ROOT / "gslopes/slopes/drift.py")
    pattern = re.compile(r"[<>]=?\s*-?1e-\d+|isclose|allclose|1 [+-] 1e-\d+")
    lines = [
        f"{file.name}: {line.strip()}"
        for file in files
        for line in file.read_text("utf-8").splitlines()
    ]
    assert [line for line in lines if pattern.search(line)] == [
        "logistic.py: if abs(step).max() < 1e-10:"
    ]
