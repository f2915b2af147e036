import numpy as np
import pandas as pd
import pytest

import gslopes
from gslopes.core import tables
from gslopes.core.errors import TableError
from gslopes.fit.analysis import analyse
from gslopes.fit.options import FitOptions

VALUES = np.linspace(-2, 2, 5)
FAST = FitOptions(bootstrap=50, permutations=50)


@pytest.fixture
def known(answers):
    present = np.random.default_rng(0).random((40, 2, 5)) < 0.5
    present[-3:] = False  # photos that never get a label
    return answers(present, VALUES)


def test_it_gives_the_rows_of_analyse_with_every_estimator(known) -> None:
    scores, asked = known
    found = gslopes.fit_slopes(scores, asked, options=FAST)
    pd.testing.assert_frame_equal(found, analyse(scores, asked, options=FAST).slopes)
    assert set(found["estimator"]) == {"paper", "photo-rate", "photo-score", "photo-z", "photo-logodds"}


def test_three_columns_and_the_photos_are_enough(known) -> None:
    scores, asked = known
    short = scores[["photo", "value", "label"]].assign(mood="fine")
    found = gslopes.fit_slopes(short, photos=set(asked["photo"]), options=FAST)
    whole = gslopes.fit_slopes(scores, asked, options=FAST)
    keep = ["label", "estimator", "n", "active", "y_centre"]
    pd.testing.assert_frame_equal(found[keep], whole[keep])
    rate = (found["estimator"] == "photo-rate").to_numpy()
    pd.testing.assert_series_equal(found["slope"][rate], whole["slope"][rate])
    derived = gslopes.fit_slopes(short, options=FAST)
    assert derived["n"].iloc[0] == 37  # without the photos, those without any label cannot be known


def test_asked_may_lack_what_is_the_same_everywhere(known) -> None:
    scores, asked = known
    short = asked[["photo"]].assign(value=np.tile(VALUES, 40))
    short.loc[0, "status"] = "refused"
    short["status"] = short["status"].fillna("answered")
    found = gslopes.fit_slopes(scores.drop(columns="step"), short, options=FAST)
    assert found["n"].iloc[0] == 39


def test_nothing_answered_gives_no_slope_of_0(known) -> None:
    scores, asked = known
    found = gslopes.fit_slopes(scores, asked.assign(status="failed", reason="x"), options=FAST)
    assert (found["n"] == 0).all()
    assert found["slope"].isna().all()


def test_bad_frames_are_refused_in_one_sentence(known) -> None:
    scores, asked = known
    with pytest.raises(TableError, match="have the columns"):
        gslopes.fit_slopes(scores.drop(columns="label"))
    with pytest.raises(TableError, match="Asked has the columns"):
        gslopes.fit_slopes(scores, asked.drop(columns=["step"]))
    with pytest.raises(TableError, match="not in the sweep"):
        gslopes.fit_slopes(scores.drop(columns="step"), values={"gender": [-1.0, 0.0, 1.0]})
    with pytest.raises(TableError, match="Pass the values"):
        gslopes.fit_slopes(scores.drop(columns="value"))
    assert gslopes.fit_slopes(tables.SCORES.empty()).empty
