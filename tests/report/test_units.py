import math

import numpy as np
import pandas as pd
import pytest

from gslopes.core.tables import PLACEBOS, SLOPES
from gslopes.report import units
from gslopes.slopes.measures.answers import Answers
from gslopes.slopes.measures.frames import fit_slopes
from gslopes.slopes.page import page_data
from gslopes.slopes.page.decisions import Decision
from gslopes.slopes.page.lead import headline, summary
from gslopes.slopes.page.loading import Finding

ROW = {
    "label": "nsfw",
    "slope": -0.2,
    "ci_low": -0.3,
    "ci_high": -0.1,
    "t": -4.0,
    "unit": "log-odds per unit",
}
ROW |= {"n": 60, "y_first": 0.51, "y_last": 0.42}
ENDS = ", feminine to masculine"


def rows(*more: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([ROW | item for item in more])


def sentence(*more: dict[str, object]) -> str:
    frame = rows(*more)
    return headline(
        frame, {label: Decision("finding", "") for label in frame["label"]}, "gender"
    ).sentence


def test_the_headline_speaks_in_the_measure_of_the_label():
    assert sentence({"measure": "log-odds"}) == (
        f"The mean score of “nsfw” falls from 0.51 to 0.42{ENDS}.\n"
        "Slope −18.1 % [−25.9 %, −9.5 %] of the odds per unit, 60 photos."
    )
    years = {
        "measure": "value",
        "label": "age",
        "unit": "years per unit",
        "y_first": 38.2,
        "y_last": 31.0,
    }
    assert sentence(years) == (
        f"The mean of “age” falls from 38 to 31 years{ENDS}.\n"
        "Slope −0.200 [−0.300, −0.100] years per unit, 60 photos."
    )
    assert f"falls from 38 to 31{ENDS}.\nSlope −0.200 [−0.300, −0.100] per unit, " in sentence(
        years | {"unit": None}
    )
    presence = {
        "measure": "presence",
        "slope": 3.0,
        "ci_low": 1.0,
        "ci_high": 5.0,
        "y_first": 0.06,
        "y_last": 0.94,
    }
    assert sentence(presence) == (
        f"“nsfw” rises from 6 to 94 of 100 photos{ENDS}.\nSlope +3.0 [+1.0, +5.0] points per unit, 60 photos."
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            {"y_first": 0.5, "y_last": 0.5},
            f"falls{ENDS}, not at the ends themselves (50 and 50 of 100 photos)",
        ),
        (
            {"y_first": 0.5, "y_last": 0.6},
            f"falls{ENDS}, not at the ends themselves (50 and 60 of 100 photos)",
        ),
        (
            {"y_first": 0.53, "y_last": 0.525},
            f"falls from 53.0 to 52.5 of 100 photos{ENDS}.\nSlope",
        ),
        ({"y_first": math.nan}, f"“nsfw” falls{ENDS}.\nSlope −0.2"),
        ({"light": 0.487}, "60 photos; light alone moves it 49 % as far."),
        ({"light": 0.08}, "60 photos."),
        (
            {"label": "Wearing_Lipstick", "n": 50},
            "“Wearing lipstick” falls from 51 to 42 of 100 photos",
        ),
        ({"n": 49, "y_first": 25 / 49, "y_last": 21 / 49}, "falls from 25 to 21 of 49 photos"),
        ({"n": 16, "y_first": 1 / 16, "y_last": 0.0}, "falls from 1 to 0 of 16 photos"),
        (
            {"n": 16, "y_first": 3 / 16, "y_last": 3 / 16},
            "not at the ends themselves (3 and 3 of 16 photos)",
        ),
    ],
)
def test_the_headline_says_no_more_than_the_ends_show_and_light_s_share(
    row: dict[str, object], said: str
) -> None:
    assert said in sentence({"measure": "presence"} | row)


def test_a_row_has_the_unit_of_its_measure_and_without_one_that_of_presence():
    assert (
        units.unit_of({"measure": "presence", "unit": "years per unit"})
        == "percentage points per unit"
    )
    assert units.unit_of({"measure": "value", "unit": "years per unit"}) == "years per unit"
    assert units.measure_of({"measure": None}) == units.measure_of({}) == "presence"
    assert units.writer("log-odds")(math.nan) == "–"


def test_labels_of_different_units_are_ranked_by_how_sure_they_are():
    text = sentence(
        {"measure": "log-odds"}, {"measure": "value", "label": "age", "slope": 9.0, "t": 3.0}
    )
    assert text.startswith("The mean score of “nsfw”")


def test_the_page_is_given_each_label_in_its_own_unit_and_the_mean_of_its_numbers():
    values = np.array([-1.0, 0.0, 1.0])
    ages = (
        30
        + np.arange(12)[:, None]
        + values
        + np.tile([0.0, 0.25, -0.25], (12, 1)) * (np.arange(12) % 2)[:, None]
    )
    rows = [
        (f"p{i:02d}", value, "age", ages[i, k]) for i in range(12) for k, value in enumerate(values)
    ]
    rows += [
        (f"p{i:02d}", value, "hat", 0.9) for i in range(12) for value in values if (i + value) % 3
    ]
    slopes = fit_slopes(
        pd.DataFrame(rows, columns=["photo", "value", "label", "score"]), options={}
    )
    photos, label = np.array([f"p{i:02d}" for i in range(12)], object), np.array(["age"], object)
    pairs = (
        np.arange(12, dtype=np.int32),
        np.zeros(12, np.int32),
        np.ones(ages.shape, bool),
        ages.astype(np.float32),
    )
    answers = Answers("c", "gender", values, label, photos, *pairs, 0.0)
    of_age = Finding("f0", "c", "gender", values, slopes, PLACEBOS.empty())
    page = page_data.finding(of_age, answers, {}, {})
    assert page["labels"] == ["age", "hat"]
    assert page["units"] == ["of its number per unit", "percentage points per unit"]
    assert next(iter(page["estimators"])) == page_data.BY_MEASURE
    assert page["estimators"][page_data.BY_MEASURE]["slope"][0] == pytest.approx(
        ages.mean(0)[2] / 2 - ages.mean(0)[0] / 2
    )
    assert page["share"][0] == pytest.approx(ages.mean(axis=0), abs=1e-3)
    assert page["line"][0][1] == pytest.approx(
        page["estimators"][page_data.BY_MEASURE]["slope"][0], abs=1e-4
    )


def test_a_classifier_that_returned_nothing_is_told_what_to_do(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    assert "give threshold=0" in summary(tmp_path, SLOPES.empty())
