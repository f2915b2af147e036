"""Charts of a context audit: what they show is what the table says, and untrusted names are text."""

import xml.etree.ElementTree as ElementTree

import pandas as pd

from gslopes.contexts.report.charts import Dot, chart, charts_of

NAME = "<b>$x_{"


def texts(drawn: str) -> list[str]:
    return [str(one.text) for one in ElementTree.fromstring(drawn).iter() if one.tag.endswith("text")]


def test_rows_lie_in_panels_in_the_order_of_the_dots_and_names_are_text():
    dots = [Dot(panel, row, "all", "ink", 5.0, 1.0, 9.0) for panel in (NAME, "a") for row in ("nursery", "garage")]
    drawn = chart(dots, "a title")
    assert [text for text in texts(drawn) if text in (NAME, "a", "nursery", "garage")] == [
        *(NAME, "nursery", "garage"),
        *("a", "nursery", "garage"),
    ]
    assert drawn.count("<circle") == 4


def test_without_a_known_value_there_is_no_chart():
    assert chart([], "a title") == ""
    assert chart([Dot("a", "b", "c", "ink", float("nan"), 0.0, 1.0)], "a title") == ""


def test_context_and_face_are_drawn_with_both_intervals():
    row = {"classifier": "a", "tags": "gross", "label": "inferred woman", "background": "nursery.1"}
    row |= {"effect": 4.0, "effect_low": 1.0, "effect_high": 7.0, "face": -6.0, "face_low": -8.0, "face_high": -4.0}
    drawn = charts_of({"interaction": pd.DataFrame([row])})
    assert set(drawn) == {"interaction"}
    assert {"+4.0 [+1.0, +7.0]", "−6.0 [−8.0, −4.0]"} <= set(texts(drawn["interaction"]))
