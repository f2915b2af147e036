import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.kinds import unit_slopes
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.slopes.measures.reach import UNEVEN, per_reach, photo_reach, ratios
from gslopes.stats.contrast import Units
from tests.slopes.measures.conftest import of

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
    fitted = analyse(scores, asked, Study(about=about, groups=["tone"], reach=reach), options=FAST)
    found = fitted.reach.set_index("group")
    tones = analyse(scores, asked, Study(tones=about["tone"], reach=reach), options=FAST).reach
    assert tones["column"].tolist() == ["", "skin tone", "skin tone"]
    assert tones["ratio"].tolist() == found["ratio"].tolist()
    assert found["n"].to_dict() == {"": 200, "dark": 100, "light": 100}
    assert found["slope"]["light"] > 2 * found["slope"]["dark"]  # as slopes they do not compare
    assert found["ratio_low"]["dark"] < found["ratio"]["light"] < found["ratio_high"]["dark"]
    (row,) = fitted.differences.to_dict("records")  # nor are they compared as slopes
    assert row["reach_share"] == pytest.approx(0.25, abs=0.05)
    assert row["note"] == UNEVEN
    assert np.isnan([row["p"], row["p_test"], row["q"]]).all()
    assert row["per_reach_low"] < 0 < row["per_reach_high"]
    alike = analyse(
        scores,
        asked,
        Study(about=about, groups=["tone"], reach=reach.assign(reach=1.0)),
        options=FAST,
    )
    assert alike.differences["q"].iloc[0] < 0.05


@pytest.mark.evidence
@pytest.mark.slow
def test_the_interval_of_a_difference_per_unit_of_reach_holds_it() -> None:
    """Two groups of 30, 40 photos, reached 0.4 and 1 (a fifth of it apart), with 3 and 5 points per unit of reach."""
    rng, held, sets = np.random.default_rng(7), 0, 1000
    keys = {"estimator": "photo-rate", "column": "tone", "label": "x"}
    for _ in range(sets):
        rows = []
        for name, n, mean, points in (("dark", 30, 0.4, 3.0), ("light", 40, 1.0, 5.0)):
            reach = rng.normal(mean, 0.2, n)
            slopes = sparse.csr_array((points * reach + rng.normal(0, 4, n))[None])
            found = ratios(Units(slopes, np.ones(n)), reach + rng.normal(0, 0.1, n))
            rows.append({**keys, "group": name, **{key: value[0] for key, value in found.items()}})
        empty = dict.fromkeys(("p", "p_perm", "p_test", "q"), np.nan)
        pair = pd.DataFrame([{**keys, "group": "dark", "other": "light", "note": "", **empty}])
        one = per_reach(pair, pd.DataFrame(rows)).iloc[0]
        held += one["per_reach_low"] < -2 < one["per_reach_high"]
    assert 0.93 < held / sets < 0.97
