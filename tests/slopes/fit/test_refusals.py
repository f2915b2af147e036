import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.errors import TableError
from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.slopes.fit.refusals import Asked, bounds
from gslopes.stats.ols import line_weights

VALUES = [-2.0, -1.0, 0.0, 1.0, 2.0]
FAST = FitOptions(estimators=("photo-rate",), bootstrap=0, permutations=0)


def refused_when(answers, present: np.ndarray, lost: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables in which the pictures of ``lost`` (n, K) were refused."""
    scores, asked = answers(present & ~lost[:, None, :], VALUES)
    asked = asked.assign(status=np.where(lost.ravel(), "refused", "answered"), reason=np.where(lost.ravel(), "x", ""))
    return scores, asked


def test_the_slope_of_refusal_is_reported_and_warned_of(answers) -> None:
    rng = np.random.default_rng(0)
    lost = rng.random((300, 5)) < 0.04 * np.arange(5)
    found = analyse(*refused_when(answers, rng.random((300, 1, 5)) < 0.4, lost), options=FAST)
    row = found.balance.iloc[0]
    expected = 100 * lost.mean(axis=0) @ line_weights(np.array(VALUES))
    assert row["refusal_slope"] == pytest.approx(expected)
    assert row["refusal_p"] < 1e-6
    assert "refusals depend on the value" in row["warning"]
    shares = found.refusals.set_index("step")["lost"]
    np.testing.assert_allclose(shares, lost.mean(axis=0))
    assert found.refusals["refused"].sum() == lost.sum()


def test_bounds_hold_the_slope_that_refusals_hid(answers) -> None:
    """Steep photos are refused at the end: the slope of the complete ones is far off."""
    rng = np.random.default_rng(1)
    steep = np.arange(400) < 200
    present = rng.random((400, 1, 5)) < 0.4 + np.where(steep, 0.15, 0.0)[:, None, None] * np.array(VALUES)
    lost = (rng.random((400, 5)) < 0.5) & steep[:, None] & (np.array(VALUES) == 2)
    found = analyse(*refused_when(answers, present, lost), options=FAST).slopes.iloc[0]
    truth = 100 * present[:, 0].mean(axis=0) @ line_weights(np.array(VALUES))
    assert abs(found["slope"] - truth) > 1
    assert found["worst_low"] <= truth <= found["worst_high"]
    assert found["trimmed_low"] == pytest.approx(
        found["slope"]
    )  # refused at one value alone: their answers are all known
    assert found["trimmed_high"] == pytest.approx(found["slope"])


def test_without_losses_both_bounds_are_the_slope(answers) -> None:
    status = np.ones((30, 5), np.int8)
    asked = Asked(np.arange(30).astype(object), np.array(VALUES), status)
    present = np.array([[3.0, 5, 8, 9, 12]])
    expected = 100 * present[0] / 30 @ line_weights(np.array(VALUES))
    np.testing.assert_allclose([end[0] for end in bounds(present, asked)], expected)
    found = analyse(*answers(np.ones((30, 1, 5), bool), VALUES), options=FAST)
    assert found.refusals.empty
    assert found.slopes["worst_low"].isna().all()
    assert found.balance["refusal_slope"].isna().all()


def test_a_status_nobody_knows_and_percentages_are_refused(answers) -> None:
    present = np.ones((3, 1, 5), bool)
    present[1] = False
    scores, asked = answers(present, VALUES)
    with pytest.raises(TableError, match="'Answered'"):
        analyse(scores, asked.assign(status="Answered"), options=FAST)
    with pytest.raises(TableError, match="Divide them by 100"):
        analyse(scores.assign(score=np.float32(87)), asked, options=FAST)
    assert analyse(tables.SCORES.empty(), tables.ASKED.empty(), options=FAST).slopes.empty


def test_trimmed_bounds_hold_the_slope_of_the_photos_answered_where_most_are_lost(answers) -> None:
    rng = np.random.default_rng(2)
    values = np.array(VALUES)
    present = rng.random((300, 1, 5)) < 0.4
    lost = rng.random((300, 5)) < np.where(values == 2, 0.3, 0.05)
    found = analyse(*refused_when(answers, present, lost), options=FAST).slopes.iloc[0]
    kept = ~lost[:, 4]
    truth = 100 * present[kept, 0].mean(axis=0) @ line_weights(values)
    assert found["trimmed_low"] < truth < found["trimmed_high"]
    assert found["trimmed_high"] - found["trimmed_low"] < found["worst_high"] - found["worst_low"]
