"""Figures of a context audit: what they show is what the table says, and untrusted names are no markup."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.report import figures
from gslopes.contexts.report.figures import by_context

NAMES = ["a", "$x_{"]


def recognised() -> pd.DataFrame:
    rows = [
        {"classifier": name, "context": context, "given": given, "share": share, "ci_low": share - 0.1, "ci_high": 1.0}
        for name in NAMES
        for context, share in (("nursery", 0.5), ("$y_{", 0.9))
        for given in ("all", "woman", "man", "neutral")
    ]
    return pd.DataFrame(rows)


def test_contexts_stand_across_and_taggers_below_one_another():
    drawn = by_context(recognised(), "share")
    assert drawn is not None
    figure, parts = drawn
    assert [panel.get_title() for panel, _, _ in parts] == NAMES
    assert [contexts for _, _, contexts in parts] == [["nursery", "$y_{"]] * 2
    assert len(figure.axes) == 2
    assert by_context(recognised().assign(share=np.nan), "share") is None
    assert by_context(pd.DataFrame(), "share") is None


def test_what_is_drawn_is_what_the_table_says():
    figure = figures.recognised(recognised())
    assert figure is not None
    heights = [line.get_ydata().tolist() for line in figure.axes[0].lines]
    assert heights == [[0.5, 0.9]] * 4


@pytest.mark.figures
def test_untrusted_names_are_no_formulas():
    rows = recognised().assign(tags="gross")
    nothing = {"described": pd.DataFrame(columns=["classifier", "tags", "attribute", "step", "photo"]),
               "people": pd.DataFrame(columns=["photo", "gender", "group"]),
               "backgrounds": pd.DataFrame(columns=["key", "context", "rating"])}  # fmt: skip
    drawn = figures.draw_all({"recognised": rows, **nothing})
    assert set(drawn) == {"recognised"}
    assert drawn["recognised"]["png"].startswith(b"\x89PNG")


def test_context_and_face_are_drawn_with_both_intervals():
    row = {"classifier": "a", "tags": "gross", "label": "inferred woman", "background": "nursery.1"}
    row |= {"effect": 4.0, "effect_low": 1.0, "effect_high": 7.0, "face": -6.0, "face_low": -8.0, "face_high": -4.0}
    figure = figures.interaction(pd.DataFrame([row]))
    assert figure is not None
    (panel,) = figure.axes
    points = [float(line.get_xdata()[0]) for line in panel.lines if line.get_marker() == "o"]
    assert points == [4.0, -6.0]
    spans = [segments.get_segments()[0][:, 0].tolist() for segments in panel.collections]
    assert spans == [[1.0, 7.0], [-8.0, -4.0]]
