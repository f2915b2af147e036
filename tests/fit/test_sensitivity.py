"""Slopes beside those at a lower and a higher cut."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.fit.analysis import analyse
from gslopes.fit.options import FitOptions
from gslopes.fit.presence import ALL, Cut, present
from gslopes.fit.sensitivity import sensitivity, with_sensitivity

VALUES = (-1.0, 0.0, 1.0)
QUICK = FitOptions(bootstrap=0, permutations=0)
ADDED = ["cut", "slope_lower", "slope_higher"]


def answers() -> tuple:
    """A label whose score rises along the sweep through 0.5, and one that is always sure."""
    scores = [
        (f"p{photo}", "gender", step, value, "rekognition", label, score)
        for photo in range(12)
        for step, value in enumerate(VALUES)
        for label, score in (("edge", 0.55 + 0.1 * value), ("sure", 0.9))
    ]
    asked = [
        (f"p{photo}", "gender", step, "rekognition", "answered", "", "") for photo in range(12) for step in range(3)
    ]
    return (
        tables.check(tables.SCORES, pd.DataFrame(scores, columns=pd.Index(tables.SCORES.columns))),
        tables.check(tables.ASKED, pd.DataFrame(asked, columns=pd.Index(tables.ASKED.columns))),
    )


def test_a_label_at_the_edge_of_the_cut_moves_and_a_sure_one_does_not():
    found = sensitivity(*answers(), {"rekognition": Cut(0.5)}, {"gender": VALUES})
    found = found[found["estimator"] == "photo-rate"].set_index("label")
    edge, sure = found.loc["edge"], found.loc["sure"]
    assert edge["slope"] == pytest.approx(50)  # present at 0 and 1, not at -1
    assert edge["slope_lower"] == pytest.approx(0)
    assert edge["slope_higher"] == pytest.approx(50)  # at 1 alone
    assert [sure[name] for name in ("slope_lower", "slope", "slope_higher")] == pytest.approx([0, 0, 0])
    assert edge["cut"] == "score at least 0.5"


def test_what_is_not_cut_has_no_row():
    assert sensitivity(*answers(), {"rekognition": ALL}, {"gender": VALUES}).empty


def test_the_table_of_slopes_gets_its_columns_and_loses_nothing():
    scores, asked = answers()
    cuts = {"rekognition": Cut(0.5)}
    slopes = analyse(present(scores, cuts), asked, values={"gender": VALUES}, options=QUICK).slopes
    found = with_sensitivity(slopes, sensitivity(scores, asked, cuts, {"gender": VALUES}), cuts)
    assert list(found.columns) == list(slopes.columns)
    pd.testing.assert_frame_equal(found.drop(columns=ADDED), slopes.drop(columns=ADDED))
    edge = found[(found["label"] == "edge") & (found["estimator"] == "photo-rate")].iloc[0]
    assert [edge["slope_lower"], edge["slope"], edge["slope_higher"]] == pytest.approx([0, 50, 50])
    assert set(found["cut"]) == {"score at least 0.5"}


def test_without_a_cut_it_is_said_that_everything_counts():
    scores, asked = answers()
    slopes = analyse(scores, asked, values={"gender": VALUES}, options=QUICK).slopes
    found = with_sensitivity(slopes, sensitivity(scores, asked, {}, {"gender": VALUES}), {})
    assert set(found["cut"]) == {"every label that was returned"}
    assert found[["slope_lower", "slope_higher"]].isna().all(axis=None)


def service(photos: int = 12, labels: int = 30) -> pd.DataFrame:
    """All that a service could say: every label with its score for every picture, and its rank there."""
    rng = np.random.default_rng(0)
    rows = [
        (f"p{photo}", "gender", step, value, "rekognition", f"l{label}", float(score))
        for photo in range(photos)
        for step, value in enumerate(VALUES)
        for label, score in enumerate(np.clip(rng.normal(0.5, 0.25, labels) + 0.1 * value, 0, 1))
    ]
    frame = pd.DataFrame(rows, columns=pd.Index(tables.SCORES.columns))
    return frame.assign(rank=frame.groupby(["photo", "step"])["score"].rank(ascending=False, method="first"))


@pytest.mark.parametrize(
    ("cut", "few", "more"),
    [
        (Cut(0.55), "score >= 0.55", "score >= 0.2"),
        (Cut(0.55), "score >= 0.55", "score >= 0"),
        (Cut(0, 10), "rank <= 10", "rank <= 20"),
        (Cut(0.4, 10), "rank <= 10 and score >= 0.4", "rank <= 30"),
    ],
)
def test_asking_for_more_never_changes_a_slope(cut, few, more):
    asked = answers()[1]
    found = []
    for returned in (few, more):
        rows = service().query(returned).drop(columns="rank")
        counted = present(tables.check(tables.SCORES, rows), {"rekognition": cut})
        slopes = analyse(counted, asked, values={"gender": VALUES}, options=QUICK).slopes
        found.append(slopes.set_index(["label", "estimator"])["slope"])
    assert (found[0].abs() > 1).any()
    pd.testing.assert_series_equal(*found)
