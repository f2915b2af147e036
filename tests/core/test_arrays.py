"""The centre of a sweep, to which the paper's shares relate."""

import numpy as np
import pytest

from gslopes.core.records import centre_of


@pytest.mark.parametrize(
    ("values", "centre"),
    [
        (np.linspace(-2, 2, 7), 3),
        (np.linspace(-2, 2, 4), 2),  # two as near, but for rounding: the upper one
        ([0.0, 1.0], 0),  # the baseline of a contrast
        ([-1.0, 0.0], 1),
        ([10.0, 20.0, 40.0], 0),
        (np.repeat([-2.0, 0.0, 2.0], 5), 7),  # a crossed grid: the middle of what is at 0
        (np.tile([-2.0, 0.0, 2.0], 5), 7),
    ],
)
def test_the_centre_is_the_value_nearest_0(values, centre):
    assert centre_of(np.asarray(values, float)) == centre
