"""Shares of pictures that are answered though none shows the answer: by value, group and person."""

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.slopes.measures.analysis import Fit
from gslopes.slopes.measures.options import FitOptions, Study
from gslopes.slopes.measures.soundness import ALL, soundness_rows
from gslopes.stats.intervals import wilson

VALUES = [-1.0, 0.0, 1.0]
SHARES = np.array([[1.0, 0.5, 0.0], [0.6, 0.4, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.2]])


def rows(**about: object) -> pd.DataFrame:
    """Of four photos whose replies abstain at these shares."""
    cells = [
        (f"{photo}", "gender", step, VALUES[step], "m,counts=abstentions", "(abstains)", share)
        for (photo, step), share in np.ndenumerate(SHARES)
    ]
    scores = pd.DataFrame(cells, columns=tables.SCORES.columns)
    asked = scores.assign(status="answered", reason="", detail="")[tables.ASKED.columns]
    frame = pd.DataFrame(about, index=list("0123"))
    study = Study(about=frame, groups=[*frame.columns.drop("who", errors="ignore")])
    if "who" in about:
        study = Study(about=frame, cluster="who")
    found = soundness_rows(Fit(scores, asked, study, FitOptions(permutations=0)))
    return found.set_index(["column", "group", "step"])


def test_a_picture_is_answered_if_less_than_half_of_its_replies_abstain():
    found = rows().loc[("", ALL)]
    assert found["share"].tolist() == pytest.approx([7 / 12, 1 / 4, 2 / 4, 4 / 4])
    assert found["photos"].tolist() == [4] * 4
    assert np.isnan(found.loc[-1, "value"])
    assert found["value"].tolist()[1:] == VALUES
    assert found.loc[0, ["ci_low", "ci_high"]].tolist() == pytest.approx(list(wilson(0.25, 4)))
    whole = found.loc[-1]
    assert whole["ci_low"] < wilson(7 / 12, 12)[0]  # pictures of one photo are alike
    assert whole["ci_high"] > wilson(7 / 12, 12)[1]


def test_groups_have_shares_of_their_own_and_photos_without_one_are_in_none():
    found = rows(tone=["dark", "light", "light", ""])
    assert found.loc[("tone", "dark", -1), ["photos", "share"]].tolist() == [
        1,
        pytest.approx(1 / 3),
    ]
    assert found.loc[("tone", "light", 0), ["photos", "share"]].tolist() == [2, 0.5]
    assert len(found) == 3 * 4


def test_photos_of_one_person_are_one_unit():
    wide = rows(who=["a", "a", "b", "c"]).loc[("", ALL, 1)]
    alone = rows().loc[("", ALL, 1)]
    assert wide["share"] == alone["share"]
    assert wide["ci_high"] - wide["ci_low"] > alone["ci_high"] - alone["ci_low"]
