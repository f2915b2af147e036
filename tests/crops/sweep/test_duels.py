from __future__ import annotations

import numpy as np

from gslopes.crops.sweep.duels import duels, value_pairs


def test_the_larger_value_always_wins():
    h = np.full((5, 3, 3), np.nan)
    for low, high in value_pairs(3):
        h[:, high, low], h[:, low, high] = 1, 0
    found = duels(h)
    assert (found.score == 1).all()
    assert found.p[2, 0] == 1
    assert np.isnan(np.diag(found.p)).all()


def test_identical_pictures_are_even():
    found = duels(np.where(np.eye(4, dtype=bool), np.nan, np.full((3, 4, 4), 0.5)))
    assert (found.score == 0).all()
