import numpy as np
import pandas as pd
import pytest

from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.options import FitOptions
from gslopes.stats.ols import line_weights

VALUES = np.linspace(-2, 2, 7)
FAST = FitOptions(estimators=("photo-rate",), bootstrap=0, permutations=0)


def shared_error(photos: int, seed: int) -> tuple[np.ndarray, pd.Series]:
    """A classifier without any association, and a reader that errs with it; the gate asks for a trend."""
    rng = np.random.default_rng(seed)
    error = rng.normal(size=(photos, 7))
    present = rng.normal(size=(photos, 7)) + error > 0
    reading = 0.35 * VALUES + error + 0.5 * rng.normal(size=(photos, 7))
    return present[:, None], pd.Series(reading @ line_weights(VALUES) > 0.4)


def gating(answers, present: np.ndarray, gate: pd.Series, asked_about: np.ndarray) -> pd.Series:
    scores, asked = answers(present, VALUES)
    gate.index = pd.Index(sorted(set(asked["photo"])))
    wanted = set(gate.index[asked_about])
    scores, asked = (frame[frame["photo"].isin(wanted)] for frame in (scores, asked))
    found = analyse(scores, asked, values={"gender": VALUES.tolist()}, options=FAST, gates={"gender": gate})
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


def test_without_a_sample_the_dropped_are_unknown(answers) -> None:
    present, gate = shared_error(300, 3)
    row = gating(answers, present, gate, gate.to_numpy())
    assert np.isnan(row["ungated"])
    assert "no dropped one was asked about" in row["note"]


def test_a_gate_that_keeps_all_changes_nothing(answers) -> None:
    present, gate = shared_error(200, 4)
    row = gating(answers, present, gate | True, np.ones(200, bool))
    assert row["gated"] == pytest.approx(row["ungated"])
    assert row["note"] == ""
