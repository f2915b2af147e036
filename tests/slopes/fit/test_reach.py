import numpy as np
import pandas as pd
import pytest
from scipy import stats

from gslopes.slopes.fit.analysis import analyse
from gslopes.slopes.fit.measures import unit_slopes
from gslopes.slopes.fit.options import FitOptions
from gslopes.slopes.fit.reach import photo_reach, ratios
from tests.slopes.fit.conftest import of

VALUES = np.linspace(-2, 2, 5)
FAST = FitOptions(estimators=("photo-rate",), permutations=0)


def test_the_reach_is_the_slope_of_the_log_odds() -> None:
    odds = np.array([[0.3], [-1.0]]) + np.array([[0.5], [0.0]]) * VALUES
    np.testing.assert_allclose(photo_reach(1 / (1 + np.exp(-odds)), VALUES), [0.5, 0.0], atol=1e-12)
    assert np.isfinite(photo_reach(np.array([[0.0, 0, 0.5, 1, 1]]), VALUES)).all()
    assert np.isnan(photo_reach(np.array([[0.1, np.nan, 0.5, 0.6, 0.7]]), VALUES)).all()


def test_both_ends_solve_fiellers_equation() -> None:
    rng = np.random.default_rng(0)
    present = rng.random((80, 5)) < 0.4 + 0.05 * VALUES
    reach = rng.normal(1.0, 0.5, 80)
    units = unit_slopes(of(present), "rate")
    found = ratios(units, reach)
    slopes = units.sums.toarray()[0]
    for end in (found["ratio_low"][0], found["ratio_high"][0]):
        assert stats.ttest_1samp(slopes - end * reach, 0).pvalue == pytest.approx(0.05, abs=1e-6)
    assert found["ratio"][0] == pytest.approx(slopes.mean() / reach.mean())


def test_a_reach_that_may_be_0_gives_no_ratio() -> None:
    rng = np.random.default_rng(1)
    found = ratios(unit_slopes(of(rng.random((40, 5)) < 0.5), "rate"), rng.normal(0.05, 1.0, 40))
    assert found["reach_low"][0] < 0 < found["reach_high"][0]
    assert np.isnan([found["ratio"][0], found["ratio_low"][0]]).all()


def test_groups_have_their_own_reach(answers) -> None:
    rng = np.random.default_rng(3)
    dark = np.arange(200) < 100
    present = rng.random((200, 1, 5)) < 0.4 + np.where(dark, 0.02, 0.08)[:, None, None] * VALUES
    scores, asked = answers(present, VALUES)
    photos = sorted(set(asked["photo"]))
    about = pd.DataFrame({"tone": np.where(dark, "dark", "light")}, index=photos)
    reach = pd.DataFrame({"photo": photos, "attribute": "gender", "reading": "gender"})
    reach = reach.assign(reach=np.where(dark, 0.25, 1.0) + rng.normal(0, 0.1, 200))
    found = analyse(scores, asked, options=FAST, about=about, groups=["tone"], reach=reach).reach.set_index("group")
    tones = analyse(scores, asked, options=FAST, tones=about["tone"], reach=reach).reach
    assert tones["column"].tolist() == ["", "skin tone", "skin tone"]
    assert tones["ratio"].tolist() == found["ratio"].tolist()
    assert found["n"].to_dict() == {"": 200, "dark": 100, "light": 100}
    assert found["slope"]["light"] > 2 * found["slope"]["dark"]  # as slopes they do not compare
    assert found["ratio_low"]["dark"] < found["ratio"]["light"] < found["ratio_high"]["dark"]
