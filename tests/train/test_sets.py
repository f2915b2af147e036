"""How often each photo of a training set is drawn."""

import numpy as np
import pytest

from gslopes.train.sets import balanced, evened


def test_rare_skin_tones_are_drawn_more_often_and_common_ones_still_most():
    angles = np.concatenate([np.full(90, 45.0), np.full(10, -30.0)])
    weights = evened(angles)
    assert weights[-1] / weights[0] == pytest.approx(3, rel=0.01)  # the root of 90 / 10
    assert weights[:90].sum() > weights[90:].sum()
    np.testing.assert_allclose(evened(angles[::-1]), weights[::-1])


def test_every_combination_is_drawn_as_often_but_a_very_rare_one_eight_times_its_share():
    first = np.array([0] * 50 + [1] * 49 + [2], np.float32)
    weights = balanced(first)
    assert weights[:50].sum() == pytest.approx(weights[50:99].sum())
    assert weights[99] == pytest.approx(8 / 100)
