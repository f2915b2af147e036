"""Slopes beside those at a lower and a higher cut."""

from __future__ import annotations

import pandas as pd
import pytest

from gslopes.core import tables
from gslopes.fit.presence import ALL, Cut
from gslopes.fit.sensitivity import sensitivity

VALUES = (-1.0, 0.0, 1.0)


def answers() -> tuple:
    """A label whose score rises along the sweep through 0.5, and one that is always sure."""
    scores = [
        (f"p{photo}", "gender", step, value, "rekognition", label, score)
        for photo in range(12)
        for step, value in enumerate(VALUES)
        for label, score in (("edge", 0.55 + 0.1 * value), ("sure", 0.9))
    ]
    asked = [(f"p{photo}", "gender", step, "rekognition", "answered", "") for photo in range(12) for step in range(3)]
    return (
        tables.check(tables.SCORES, pd.DataFrame(scores, columns=pd.Index(tables.SCORES.columns))),
        tables.check(tables.ASKED, pd.DataFrame(asked, columns=pd.Index(tables.ASKED.columns))),
    )


def test_a_label_at_the_edge_of_the_cut_moves_and_a_sure_one_does_not():
    found = sensitivity(*answers(), {"rekognition": Cut(0.5)}, {"gender": VALUES}).set_index("label")
    edge, sure = found.loc["edge"], found.loc["sure"]
    assert edge["slope"] == pytest.approx(50)  # present at 0 and 1, not at -1
    assert edge["slope_lower"] == pytest.approx(0)
    assert edge["slope_higher"] == pytest.approx(50)  # at 1 alone
    assert [sure[name] for name in ("slope_lower", "slope", "slope_higher")] == pytest.approx([0, 0, 0])
    assert edge["cut"] == "score at least 0.5"


def test_what_is_not_cut_has_no_row():
    assert sensitivity(*answers(), {"rekognition": ALL}, {"gender": VALUES}).empty
