"""Charts of a context audit: what they show is what the table has."""

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.page import tables
from gslopes.contexts.page.tables import charts_of


def inferred(change: float) -> pd.DataFrame:
    row = {
        "classifier": "<b>$x_{",
        "tags": "gross",
        "gender": "woman",
        "inferred": "woman",
        "context": "nursery",
    }
    row |= {
        "change": change,
        "change_low": 0.1,
        "change_high": 0.3,
        "share": 0.9,
        "ci_low": 0.8,
        "ci_high": 0.95,
    }
    return pd.DataFrame([row])


def test_what_changes_and_what_is_right_are_on_scales_of_their_own():
    backgrounds = pd.DataFrame({"context": ["nursery"], "rating": [1.0]})
    drawn = charts_of({"inferred": inferred(0.2), "backgrounds": backgrounds})
    (change,), (right,) = drawn["changes"], drawn["congruence"]
    (mark, position), (share, _) = change["rows"][0], right["rows"][0]
    assert change["title"] == "<b>$x_{: self-reported women"
    assert (mark.name, mark.text, mark.colour) == (
        "nursery: inferred woman",
        "+20.0 [+10.0, +30.0]",
        "neg",
    )
    assert 60 < position["low"] < position["at"] < position["high"]
    assert (share.name, right["middle"]) == ("nursery (1): woman", 50)


@pytest.mark.row("contexts-table-14-rq1", "contexts-table-14-rq3")
def test_what_table_14_counts_is_drawn_with_its_intervals():
    changes = inferred(0.2).assign(gender="all")
    row = {"classifier": "a", "tags": "gross", "gender": "man", "context": "canvas", "f1": 0.5}
    rows = pd.DataFrame([{**row, "ci_low": 0.4, "ci_high": 0.6}])
    rooms = pd.DataFrame({"context": [], "rating": []})
    drawn = charts_of({"inferred": changes, "accuracy": rows, "backgrounds": rooms})
    assert drawn["changes"][0]["title"] == "<b>$x_{: everybody"
    (panel,) = drawn["f1"]
    assert (panel["title"], panel["rows"][0][0].name) == ("a: F1 of man", "canvas")
    assert panel["rows"][0][0].text == "50.0 [40.0, 60.0]"


def test_without_a_known_value_there_is_no_chart():
    drawn = charts_of(
        {"inferred": inferred(np.nan), "backgrounds": pd.DataFrame({"context": [], "rating": []})}
    )
    assert drawn == {"changes": [], "congruence": []}


def test_context_and_face_are_drawn_with_both_intervals():
    row = {"classifier": "a", "tags": "gross", "label": "inferred woman", "background": "nursery.1"}
    row |= {
        "effect": 4.0,
        "effect_low": 1.0,
        "effect_high": 7.0,
        "face": -6.0,
        "face_low": -8.0,
        "face_high": -4.0,
    }
    drawn = charts_of({"interaction": pd.DataFrame([row])})
    assert set(drawn) == {"interaction"}
    texts = [mark.text for mark, _ in drawn["interaction"][0]["rows"]]
    assert texts == ["+4.0 [+1.0, +7.0]", "−6.0 [−8.0, −4.0]"]


@pytest.mark.row("contexts-figs-4-7")
def test_figures_4_to_7_are_mean_changes_of_each_kind_of_tags_by_group(monkeypatch):
    drawn = []
    monkeypatch.setattr(tables, "render", lambda figure, form: drawn.append(figure) or b"")
    shares = {"w": (0.5, 0.2, 0.1), "x": (0.3, 0.2, 0.1), "m": (0.1, 0.2, 0.4)}
    rows = [
        {"classifier": "a", "tags": "gross", "step": 0, "photo": photo, "attribute": condition}
        | dict(
            zip(
                ("demographics", "abstract", "concrete"),
                (np.zeros(3) if condition == "canvas" else kinds),
                strict=True,
            )
        )
        for photo, kinds in shares.items()
        for condition in ("canvas", "garage.1")
    ]
    people = pd.DataFrame(
        {"photo": [*shares], "gender": ["woman", "woman", "man"], "group": "Black"}
    )
    backgrounds = pd.DataFrame({"key": ["garage.1"], "context": ["garage"]})
    tables.draw_shares(
        {"described": pd.DataFrame(rows), "people": people, "backgrounds": backgrounds}
    )
    panel = drawn[0].axes[0]
    assert (panel.get_title(), [tick.get_text() for tick in panel.get_xticklabels()]) == (
        "garage", ["woman Black", "man Black"],
    )  # fmt: skip
    heights = [[bar.get_height() for bar in bars] for bars in panel.containers]
    assert heights == [pytest.approx(means) for means in ([0.4, 0.1], [0.2, 0.2], [0.1, 0.4])]
