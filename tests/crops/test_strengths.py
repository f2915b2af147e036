"""."""

from __future__ import annotations

import numpy as np
import pytest

from gslopes.crops.strengths import bradley_terry
from tests.published import COUNTS, FOUR_AT_ONCE, PERSONS

NAMES = list(PERSONS)


def wins():
    table = np.zeros((4, 4))
    for (a, b), (won, lost) in COUNTS["native-10000"].items():
        table[NAMES.index(a), NAMES.index(b)], table[NAMES.index(b), NAMES.index(a)] = won, lost
    return table


def test_strengths_of_the_published_counts_foretell_four_at_once():
    found = bradley_terry(wins())
    assert found.strength.tolist() == pytest.approx([0.2587, 0.1936, 0.3378, 0.2099], abs=6e-5)
    assert found.chi2 == pytest.approx(0.93, abs=0.006)
    assert found.df == 3
    assert found.p_value > 0.8
    observed = np.array([FOUR_AT_ONCE[name] for name in NAMES]) / 5000
    assert observed.tolist() == pytest.approx([0.2410, 0.1846, 0.3512, 0.2232], abs=1e-9)
    assert np.abs(observed - found.strength).max() < 0.02


def test_strengths_sum_to_one_and_a_loser_of_all_has_none():
    found = bradley_terry(np.array([[0.0, 5.0, 5.0], [0.0, 0.0, 3.0], [0.0, 3.0, 0.0]]))
    assert found.strength.sum() == pytest.approx(1)
    assert found.strength[0] == pytest.approx(1, abs=1e-3)


def test_consistent_shares_leave_no_error():
    strength = np.array([0.5, 0.3, 0.2])
    shares = strength[:, None] / (strength[:, None] + strength[None, :])
    assert np.abs(bradley_terry(shares).strength - strength).max() < 1e-6
