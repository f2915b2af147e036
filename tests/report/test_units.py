import math

import pandas as pd
import pytest

from gslopes.report import units
from gslopes.report.decisions import Decision
from gslopes.report.headline import headline

ROW = {"label": "nsfw", "slope": -0.2, "ci_low": -0.3, "ci_high": -0.1, "t": -4.0, "unit": "log-odds per unit"}


def rows(*more: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([ROW | one for one in more])


def sentence(*more: dict[str, object]) -> str:
    frame = rows(*more)
    return headline(frame, {label: Decision("finding", "") for label in frame["label"]}, "gender").sentence


def test_the_headline_speaks_in_the_measure_of_the_label():
    assert sentence({"measure": "log-odds"}).startswith(
        "The odds of the score of “nsfw” fall by 18.1 % per step toward masculine [−25.9 %, −9.5 %]; 1 of 1 label"
    )
    years = {"measure": "value", "label": "age", "unit": "years per unit"}
    assert sentence(years).startswith(
        "The number “age” falls by 0.200 years per step toward masculine [−0.300, −0.100]"
    )
    presence = {"measure": "presence", "slope": 3.0, "ci_low": 1.0, "ci_high": 5.0}
    assert sentence(presence).startswith("“nsfw” appears 3.0 points more often per step toward masculine [1.0, 5.0]")


def test_labels_of_different_units_are_ranked_by_how_sure_they_are():
    text = sentence({"measure": "log-odds"}, {"measure": "value", "label": "age", "slope": 9.0, "t": 3.0})
    assert text.startswith("The odds of the score of “nsfw”")


@pytest.mark.parametrize(("measure", "unit"), [("presence", "percentage points per unit"), ("value", "years per unit")])
def test_the_unit_of_a_row(measure, unit):
    assert units.unit_of({"measure": measure, "unit": "years per unit"}) == unit


def test_a_row_of_an_older_table_is_of_presence():
    assert units.measure_of({"measure": None}) == units.measure_of({}) == "presence"


def test_an_odds_ratio_without_bounds_is_a_dash():
    assert units.writer("log-odds")(math.nan) == "–"
