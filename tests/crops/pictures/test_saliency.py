from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslopes.ask.croppers.records import SaliencyMap
from gslopes.core.errors import AnswerError
from gslopes.crops.pictures.joining import layout
from gslopes.crops.pictures.saliency import check_map, focal_point, is_constant, owners
from gslopes.crops.policies import Settings, outcomes

PLAN = layout([(40, 40), (40, 30)])


def make(scores):
    scores = np.asarray(scores, np.float32)
    rows, columns = scores.shape
    x = (np.arange(columns) + 0.5) * PLAN.width / columns
    y = (np.arange(rows) + 0.5) * PLAN.height / rows
    return SaliencyMap(scores, x.astype(np.float32), y.astype(np.float32))


def favoured(found, plan, ties="half"):
    chosen = outcomes(found.scores[None], found.x, found.y, plan, ["argmax"], Settings(ties=ties))
    return chosen["argmax"].shares[0]


def test_the_focal_point_is_the_first_maximum_truncated():
    found = make([[0, 1, 1, 0], [1, 0, 0, 0]])
    assert focal_point(found) == (30, 10)
    assert favoured(found, PLAN).tolist() == [0.5, 0.5]
    assert favoured(make([[0, 0, 0, 3], [1, 2, 0, 0]]), PLAN).tolist() == [0.0, 1.0]


def test_a_tie_is_half_and_not_a_win_of_the_left():
    """Nos 8 and 12: the first group always stands on the left, and ties count for it."""
    tied = make([[0, 1, 1, 0]])
    assert favoured(tied, PLAN).tolist() == [0.5, 0.5]
    assert favoured(tied, PLAN, "first").tolist() == [1.0, 0.0]
    assert favoured(make([[5, 5, 5, 5]]), PLAN).tolist() == [0.5, 0.5]
    assert is_constant(make([[5, 5]]))
    nearly = make([[0, 1, 1 + 1e-7, 0]])
    assert favoured(nearly, PLAN).tolist() == [0.5, 0.5]


def test_the_point_on_padding_counts_for_the_column():
    found = make([[0, 0, 0, 0]] * 3 + [[0, 0, 0, 9]])
    assert favoured(found, PLAN).tolist() == [0.0, 1.0]
    assert PLAN.on_padding(*focal_point(found))


@given(st.integers(0, 1000), st.floats(-5, 5), st.floats(0.1, 5))
def test_constants_and_rising_transforms_leave_the_winner(seed, shift, factor):
    scores = np.random.default_rng(seed).integers(-10, 10, (4, 6)).astype(np.float32)
    winner = favoured(make(scores), PLAN).tolist()
    assert favoured(make(np.float32(factor) * scores + np.float32(shift)), PLAN).tolist() == winner
    assert favoured(make(np.arctan(scores)), PLAN).tolist() == winner


def test_every_cell_has_an_owner():
    found = owners(np.array([0, 39, 40, 79], np.float32), np.array([0, 39], np.float32), PLAN)
    assert found.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]] * 2


@pytest.mark.parametrize(
    ("scores", "x", "y", "says"),
    [
        (np.zeros((0, 3)), [0, 1, 2], [], "needs rows and columns"),
        (np.array([[np.nan, 1]]), [0, 1], [0], "NaN"),
        (np.array([[np.inf, 1]]), [0, 1], [0], "infinity"),
        (np.zeros((1, 2)), [1, 1], [0], "do not increase"),
        (np.zeros((1, 2)), [0, 99], [0], "outside"),
        (np.zeros((1, 2)), [0], [0], "1 coordinates x for 2"),
    ],
)
def test_maps_that_make_no_sense_name_cropper_and_picture(scores, x, y, says):
    broken = SaliencyMap(scores.astype(np.float32), np.array(x, np.float32), np.array(y, np.float32))
    with pytest.raises(AnswerError, match=f"mine for a.jpg .*{says}"):
        check_map(broken, 50, 50, "mine", "a.jpg")
