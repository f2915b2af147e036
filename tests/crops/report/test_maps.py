from __future__ import annotations

import numpy as np
from PIL import Image

from gslopes.crops.report.maps import STRIP, with_map


def test_a_map_its_peaks_and_its_scores_stand_below_the_pair():
    values = np.zeros((4, 8), np.float32)
    values[1, 6] = 5
    row = {"rows": 4, "columns": 8, "values": values.ravel(), "peaks": np.array([6.5 / 8, 1.5 / 4], np.float32)}
    drawn = Image.new("RGB", (320, 160), "gray")
    whole = np.asarray(with_map(drawn, drawn, row), np.int64)
    assert whole.shape == (160 + 160 + 2 + STRIP, 320, 3)
    assert (whole[:160] == 128).all()
    below = whole[162:322]
    assert below[60 - 12, 260 - 12, 1] > below[130, 40, 1] + 60  # yellow beside the peak, violet elsewhere
    assert (below[60 - 6, 260] == 255).all()  # the peak's own disc
    line = whole[322:]
    violet = (line[..., 2] - line[..., 1]) > 70
    highest = np.argmax(violet.any(axis=1))
    assert abs(int(np.argmax(violet[highest])) - (14.5 / 32) * 320) < 4


def test_a_constant_map_has_a_flat_line():
    row = {"rows": 3, "columns": 3, "values": np.ones(9, np.float32), "peaks": np.array([], np.float32)}
    drawn = Image.new("RGB", (60, 30), "gray")
    line = np.asarray(with_map(drawn, drawn, row), np.int64)[-STRIP:]
    violet = (line[..., 2] - line[..., 1]) > 70
    assert violet.any(axis=1).sum() == 1
