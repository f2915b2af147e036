"""Charts of a context audit: what they show is what the table says."""

import numpy as np
import pandas as pd

from gslopes.contexts.report.charts import charts_of


def inferred(change: float) -> pd.DataFrame:
    row = {"classifier": "<b>$x_{", "tags": "gross", "gender": "woman", "inferred": "woman", "context": "nursery"}
    row |= {"change": change, "change_low": 0.1, "change_high": 0.3, "share": 0.9, "ci_low": 0.8, "ci_high": 0.95}
    return pd.DataFrame([row])


def test_what_changes_and_what_is_right_are_on_scales_of_their_own():
    backgrounds = pd.DataFrame({"context": ["nursery"], "rating": [1.0]})
    drawn = charts_of({"inferred": inferred(0.2), "backgrounds": backgrounds})
    (change,), (right,) = drawn["changes"], drawn["congruence"]
    (mark, place), (share, _) = change["rows"][0], right["rows"][0]
    assert change["title"] == "<b>$x_{: people who say they are woman"
    assert (mark.name, mark.text, mark.colour) == ("nursery: inferred woman", "+20.0 [+10.0, +30.0]", "neg")
    assert 60 < place["low"] < place["at"] < place["high"]
    assert (share.name, right["middle"]) == ("nursery (1): woman", 50)


def test_without_a_known_value_there_is_no_chart():
    drawn = charts_of({"inferred": inferred(np.nan), "backgrounds": pd.DataFrame({"context": [], "rating": []})})
    assert drawn == {"changes": [], "congruence": []}


def test_context_and_face_are_drawn_with_both_intervals():
    row = {"classifier": "a", "tags": "gross", "label": "inferred woman", "background": "nursery.1"}
    row |= {"effect": 4.0, "effect_low": 1.0, "effect_high": 7.0, "face": -6.0, "face_low": -8.0, "face_high": -4.0}
    drawn = charts_of({"interaction": pd.DataFrame([row])})
    assert set(drawn) == {"interaction"}
    texts = [mark.text for mark, _ in drawn["interaction"][0]["rows"]]
    assert texts == ["+4.0 [+1.0, +7.0]", "−6.0 [−8.0, −4.0]"]
