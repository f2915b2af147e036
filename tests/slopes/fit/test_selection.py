"""What refusals and a gate hide: bounds, the slope of refusal, and slopes of all sweeps next to those kept."""

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.core.errors import TableError
from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.slopes.fit.selection import Asked, bounds
from gslopes.stats.ols import line_weights

VALUES = [-2.0, -1.0, 0.0, 1.0, 2.0]
FAST = FitOptions(estimators=("photo-rate",), permutations=0)


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


def test_without_losses_both_bounds_are_the_slope(answers) -> None:
    status = np.ones((30, 5), np.int8)
    asked = Asked(np.arange(30).astype(object), np.array(VALUES), status)
    present = np.array([[3.0, 5, 8, 9, 12]])
    expected = 100 * present[0] / 30 @ line_weights(np.array(VALUES))
    np.testing.assert_allclose([end[0] for end in bounds(present, asked)], expected)
    found = analyse(*answers(np.ones((30, 1, 5), bool), VALUES), options=FAST)
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


SEVEN = np.linspace(-2, 2, 7)


def shared_error(photos: int, seed: int) -> tuple[np.ndarray, pd.Series]:
    """A classifier without any association, and a reader that errs with it; the gate asks for a trend."""
    rng = np.random.default_rng(seed)
    error = rng.normal(size=(photos, 7))
    present = rng.normal(size=(photos, 7)) + error > 0
    reading = 0.35 * SEVEN + error + 0.5 * rng.normal(size=(photos, 7))
    return present[:, None], pd.Series(reading @ line_weights(SEVEN) > 0.4)


def gating(answers, present: np.ndarray, gate: pd.Series, asked_about: np.ndarray) -> pd.Series:
    scores, asked = answers(present, SEVEN)
    gate.index = pd.Index(sorted(set(asked["photo"])))
    wanted = set(gate.index[asked_about])
    scores, asked = (frame[frame["photo"].isin(wanted)] for frame in (scores, asked))
    found = analyse(scores, asked, values={"gender": SEVEN.tolist()}, options=FAST, gates={"gender": gate})
    assert found.slopes["slope"].iloc[0] == pytest.approx(found.gating["gated"].iloc[0])
    return found.gating.iloc[0]


def test_an_error_shared_with_the_gate_makes_a_slope_that_the_ungated_one_does_not_have(answers) -> None:
    present, gate = shared_error(3000, 0)
    row = gating(answers, present, gate, np.ones(3000, bool))
    assert row["gated_low"] > 1
    assert row["ungated_low"] < 0 < row["ungated_high"]
    assert row["kept"] < 0.8
    assert "read the ungated slope" in row["note"]


def test_a_sample_of_the_dropped_stands_for_all_of_them(answers) -> None:
    present, gate = shared_error(2000, 1)
    everything = gating(answers, present, gate.copy(), np.ones(2000, bool))
    sample = gate.to_numpy() | (np.random.default_rng(2).random(2000) < 0.3)
    row = gating(answers, present, gate.copy(), sample)
    assert row["dropped"] == everything["dropped"] > row["sampled"]
    assert row["gated"] == pytest.approx(everything["gated"])
    assert row["ungated"] == pytest.approx(everything["ungated"], abs=0.7)
    assert row["ungated_high"] - row["ungated_low"] > everything["ungated_high"] - everything["ungated_low"]


def test_what_was_refused_of_the_dropped_counts_for_no_bound(answers) -> None:
    """60 sweeps kept, which rise; 40 dropped, which fall, and of which two photos were refused."""
    present = np.zeros((100, 1, 5), bool)
    present[:60, 0, 3:] = present[60:, 0, :2] = True
    lost = np.zeros((100, 5), bool)
    lost[[0, 60, 61], 4] = True
    scores, asked = refused_when(answers, present, lost)
    gate = pd.Series(np.arange(100) < 60, index=sorted(set(asked["photo"])))
    given = {"values": {"gender": VALUES}, "options": FAST}
    found = analyse(scores, asked, gates={"gender": gate}, **given)
    alone = analyse(scores, asked, photos=gate.index[:60], **given)
    pd.testing.assert_frame_equal(found.balance, alone.balance)
    assert found.balance[["used", "refused", "missing"]].iloc[0].tolist() == [59, 1, 0]
    row = found.slopes.iloc[0]
    assert row["worst_low"] < row["slope"] == pytest.approx(row["worst_high"])


def test_without_a_sample_the_dropped_are_unknown(answers) -> None:
    present, gate = shared_error(300, 3)
    row = gating(answers, present, gate, gate.to_numpy())
    assert np.isnan(row["ungated"])
    assert "no dropped one was asked about" in row["note"]
