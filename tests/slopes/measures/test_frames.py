import numpy as np
import pandas as pd
import pytest

import gslopes
from gslopes.core import tables
from gslopes.core.errors import ConfigError, TableError, UsageError
from gslopes.slopes.measures.analysis import analyse
from gslopes.slopes.measures.options import FitOptions
from tests.skewed import corrected

VALUES = np.linspace(-2, 2, 5)
FAST = FitOptions(permutations=50)


@pytest.fixture
def known(answers):
    present = np.random.default_rng(0).random((40, 2, 5)) < 0.5
    present[-3:] = False  # photos that never get a label
    return answers(present, VALUES)


def test_three_columns_and_the_photos_are_enough(known) -> None:
    scores, asked = known
    short = scores[["photo", "value", "label"]].assign(mood="fine")
    found = gslopes.fit_slopes(short, photos=set(asked["photo"]), options=FAST)
    whole = gslopes.fit_slopes(scores, asked, options=FAST)
    pd.testing.assert_frame_equal(whole, analyse(scores, asked, options=FAST).slopes)
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
    nothing = gslopes.fit_slopes(scores, asked.assign(status="failed", reason="x"), options=FAST)
    assert (nothing["n"] == 0).all()
    assert nothing["slope"].isna().all()


def test_bad_frames_are_refused_in_one_sentence(known) -> None:
    scores, asked = known
    with pytest.raises(UsageError, match="scores have no column 'label' for label"):
        gslopes.fit_slopes(scores.drop(columns="label"))
    with pytest.raises(UsageError, match="no column 'lable' for label") as error:
        gslopes.fit_slopes(scores, label="lable")
    assert "Did you mean 'label'?" in error.value.hint
    with pytest.raises(UsageError, match="asked have no column 'value' for value"):
        gslopes.fit_slopes(scores, asked.drop(columns=["step"]))
    with pytest.raises(TableError, match="not in the sweep"):
        gslopes.fit_slopes(scores.drop(columns="step"), values={"gender": [-1.0, 0.0, 1.0]})
    with pytest.raises(TableError, match="Pass the values"):
        gslopes.fit_slopes(scores.drop(columns="value"))
    assert gslopes.fit_slopes(tables.SCORES.empty()).empty


def own_words(photos: int = 40) -> pd.DataFrame:
    """Answers of some tool, under its own column names: Cap appears the more the higher the value."""
    rng = np.random.default_rng(0)
    rows = [
        (f"p{photo}", value, "Cap", 0.8)
        for photo in range(photos)
        for value in (-1.0, 0.0, 1.0)
        if rng.random() < 0.5 + 0.3 * value
    ]
    rows += [(f"p{photo}", 0.0, None, np.nan) for photo in range(photos)]
    return pd.DataFrame(rows, columns=["image", "edit", "tag", "confidence"])


def test_any_answers_give_slopes_in_points() -> None:
    names = {"photo": "image", "value": "edit", "label": "tag", "score": "confidence"}
    found = gslopes.fit_slopes(own_words(), **names, options=FAST)
    row = found.query("estimator == 'photo-rate' and label == 'Cap'").iloc[0]
    assert row["n"] == 40
    assert 15 < row["slope"] < 45
    assert set(tables.SLOPES.columns) == set(found.columns)
    several = own_words().assign(model="m", trait="gender")
    named = gslopes.fit_slopes(
        several, **names, classifier="model", attribute="trait", options=FAST
    )
    assert set(named["classifier"]) == {"m"}
    assert set(named["attribute"]) == {"gender"}
    pd.testing.assert_series_equal(named["slope"], found["slope"])


def test_two_values_give_differences_and_the_paper_no_p() -> None:
    rng = np.random.default_rng(0)
    present = rng.random((60, 2)) < [0.3, 0.5]
    rows = [
        (f"p{photo}", value, "Chef" if present[photo, value] else None)
        for photo in range(60)
        for value in (0, 1)
    ]
    found = gslopes.fit_slopes(
        pd.DataFrame(rows, columns=["photo", "value", "label"]), options=FAST
    )
    by = found.set_index("estimator")
    low, high, p = corrected(100 * (present[:, 1].astype(float) - present[:, 0]))
    assert by.loc["photo-rate", "slope"] == pytest.approx(
        100 * (present[:, 1].mean() - present[:, 0].mean())
    )
    assert by.loc["photo-rate", "p"] == pytest.approx(p)
    rate, more = present.mean(axis=0)
    assert by.loc["paper", ["y_centre", "slope"]].tolist() == pytest.approx(
        [rate, more / rate - 1]
    ), "relative to 0"
    assert by.loc["photo-rate", ["ci_low", "ci_high"]].to_numpy(float) == pytest.approx([low, high])
    assert by.loc["paper", ["se", "t", "p", "ci_low", "q"]].isna().all()


def test_a_keyword_that_names_no_column_is_refused_with_the_nearest(known) -> None:
    with pytest.raises(ConfigError, match="no option 'lable'") as error:
        gslopes.fit_slopes(known[0], lable="label")
    assert "label" in error.value.hint


def test_a_score_of_none_is_left_out(known) -> None:
    scores, asked = known
    found = gslopes.fit_slopes(scores.assign(score=7.0), asked, score=None, options=FAST)
    pd.testing.assert_frame_equal(found, gslopes.fit_slopes(scores, asked, options=FAST))
