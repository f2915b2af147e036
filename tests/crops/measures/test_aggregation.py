from __future__ import annotations

import math

import numpy as np
import pytest

from gslopes.crops.measures.aggregation import aggregate
from tests.published import PERSONS, shares

BLACK, WHITE = ["BF", "BM"], ["WF", "WM"]
WOMEN, MEN = ["BF", "WF"], ["BM", "WM"]


@pytest.mark.parametrize(
    ("run", "first", "second", "weighting", "share"),
    [
        ("native-10000", BLACK, WHITE, "equal", 0.45745),
        ("native-10000", BLACK, WHITE, "size", 0.4714),
        ("native-10000", WOMEN, MEN, "equal", 0.5941),
        ("native-10000", WOMEN, MEN, "size", 0.5814),
        ("height-5000", BLACK, WHITE, "equal", 0.4715),
        ("height-5000", WOMEN, MEN, "equal", 0.5980),
    ],
)
def test_published_aggregates(run, first, second, weighting, share):
    found, cells, missing = aggregate(shares(run), first, second, PERSONS, weighting)
    assert found == pytest.approx(share, abs=6e-5)
    assert (cells, missing) == (4, 0)


@pytest.mark.parametrize(("run", "three"), [("native-10000", 0.5804), ("height-5000", 0.5883)])
def test_a_pair_stored_the_other_way_round_is_not_left_out(run, three):
    """No 1: the published women-men aggregate misses WF-BM, which is stored as BM-WF."""
    stored = shares(run)
    assert ("WF", "BM") not in stored
    found, cells, missing = aggregate(stored, WOMEN, MEN, PERSONS)
    assert (cells, missing) == (4, 0)
    forward = [stored[pair] for pair in [("BF", "BM"), ("BF", "WM"), ("WF", "WM")]]
    assert np.mean(forward) == pytest.approx(three, abs=6e-5)
    assert found != pytest.approx(three, abs=0.005)


def test_missing_cells_are_counted():
    stored = shares("native-10000")
    del stored["BM", "WF"]
    found, cells, missing = aggregate(stored, WOMEN, MEN, PERSONS)
    assert (cells, missing) == (3, 1)
    assert found == pytest.approx(0.5804, abs=6e-5)
    assert math.isnan(aggregate({}, WOMEN, MEN, PERSONS)[0])


def test_draws_are_averaged_draw_by_draw():
    draws = {("a", "x"): np.array([0.2, 0.4]), ("x", "b"): np.array([0.9, 0.5])}
    found, _, _ = aggregate(draws, ["a", "b"], ["x"], {"a": 1, "b": 1, "x": 1})
    assert found.tolist() == pytest.approx([0.15, 0.45])
