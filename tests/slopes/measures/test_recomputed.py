"""Slopes of log-odds, and changes between two runs, computed again by statsmodels from the photos' own lines."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import special

from gslopes.core.errors import ConfigError
from gslopes.core.tables import reading
from gslopes.slopes.measures.differences import paired_differences
from gslopes.slopes.measures.frames import fit_slopes

from .test_measures import answers_of, rows_of

PHOTOS = 60
PEOPLE = {
    f"p{photo:02d}": f"person {photo // 3 if photo < 45 else photo}" for photo in range(PHOTOS)
}


def own_lines(frame: pd.DataFrame) -> pd.Series:
    """Photo to the slope of its log-odds of “hire”, by numpy's least squares."""
    rows = frame[frame["label"] == "hire"]
    lines = {
        photo: np.polyfit(part["value"], special.logit(part["score"]), 1)[0]
        for photo, part in rows.groupby("photo")
    }
    return pd.Series(lines)


def by_statsmodels(numbers: pd.Series, people: dict[str, str] | None) -> tuple[float, float]:
    """(mean, standard error), cluster-robust where photos share a person; G / (G - 1) corrects it."""
    model = sm.OLS(numbers.to_numpy(), np.ones(len(numbers)))
    if people is None:
        found = model.fit()
    else:
        codes = pd.factorize(numbers.index.map(people))[0]
        found = model.fit(cov_type="cluster", cov_kwds={"groups": codes})
    return float(found.params[0]), float(found.bse[0])


@pytest.mark.parametrize("people", [None, PEOPLE])
def test_a_slope_of_log_odds_is_that_of_statsmodels(people) -> None:
    frame = rows_of(PHOTOS)
    about = pd.DataFrame({"person": pd.Series(PEOPLE)})
    more = {} if people is None else {"about": about, "cluster": "person"}
    row = (
        reading(fit_slopes(frame, options={"permutations": 0}, **more))
        .set_index("label")
        .loc["hire"]
    )
    assert (row["slope"], row["se"]) == pytest.approx(
        by_statsmodels(own_lines(frame), people), abs=2e-5
    )


@pytest.mark.parametrize("people", [None, PEOPLE])
def test_a_change_between_runs_is_that_of_statsmodels(people) -> None:
    before, after = rows_of(PHOTOS), rows_of(PHOTOS, seed=1)
    found = paired_differences(
        answers_of(before), answers_of(after), permutations=0, cluster=people
    )
    row = found.set_index("label").loc["hire"]
    change = own_lines(after) - own_lines(before)
    assert (row["difference"], row["se"]) == pytest.approx(by_statsmodels(change, people), abs=4e-5)


def test_a_table_that_knows_none_of_the_photos_is_refused() -> None:
    about = pd.DataFrame({"photo": list(PEOPLE), "person": list(PEOPLE.values())})
    with pytest.raises(ConfigError, match="has a row of none of them"):
        fit_slopes(rows_of(PHOTOS), options={"permutations": 0}, about=about, cluster="person")
