"""The weights of the least-squares line."""

import numpy as np

from gslopes.stats.ols import line_weights


def test_curves_times_line_weights_are_their_least_squares_slopes():
    curves = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]])
    assert (curves @ line_weights(np.array([-2.0, 0.0, 2.0]))).tolist() == [0.5, 0.0]
