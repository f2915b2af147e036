"""What could make answers look alike or different for other reasons than the context."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.measures.checks import (
    HIDDEN,
    background_flags,
    balance_table,
    confusion_table,
    known_share,
    unassigned,
)
from gslopes.contexts.typology import read_typology

STARTER = read_typology("starter")
PLACES = pd.DataFrame(
    [("nursery.1", "bg1", "nursery"), ("garage.1", "bg2", "garage")], columns=["key", "photo", "context"]
)


def test_a_context_that_the_silhouette_hides_is_flagged():
    tags = {
        ("bg1", "empty", 0): frozenset({"crib", "wall"}),
        ("bg1", "silhouette", 0): frozenset({"wall"}),
        ("bg2", "empty", 0): frozenset({"garage"}),
        ("bg2", "silhouette", 0): frozenset({"garage", "wall"}),
    }
    assert background_flags(tags, PLACES, STARTER) == {"nursery.1": [HIDDEN]}


def test_an_empty_picture_in_which_a_person_is_seen_or_that_nothing_names_is_flagged():
    tags = {("bg1", "empty", 0): frozenset({"crib", "bride", "person"}), ("bg2", "empty", 0): frozenset({"wall"})}
    found = background_flags(tags, PLACES, STARTER)
    assert found["nursery.1"] == ["the empty picture is called bride, person"]
    assert found["garage.1"] == ["not recognised when empty"]


def test_a_dictionary_that_names_everything_is_shown_to_be_unspecific():
    mine = STARTER.with_contexts({"nursery": ("crib", "wall")})
    tags = {
        ("p1", "canvas", 0): frozenset({"wall"}),
        ("p1", "nursery.1", 0): frozenset({"crib"}),
        ("p1", "garage.1", 0): frozenset({"garage", "wall"}),
        ("p2", "garage.1", 0): frozenset({"garage"}),
    }
    found = confusion_table("c", tags, PLACES, mine).set_index(["dictionary", "shown"])
    assert found.loc[("nursery", "canvas"), "share"] == 1
    assert (found.loc[("nursery", "garage"), "count"], found.loc[("nursery", "garage"), "n"]) == (1, 2)
    assert found.loc[("garage", "nursery"), "share"] == 0


def test_tags_in_no_cluster_are_counted_by_kind_of_picture():
    tags = {
        ("p1", "canvas", 0): frozenset({"bokeh", "woman"}),
        ("p1", "garage.1", 0): frozenset({"bokeh", "lens"}),
        ("bg2", "empty", 0): frozenset({"bokeh"}),
    }
    rows = unassigned(tags, STARTER, "c", {"garage.1"}).set_index("tag")
    assert list(rows.index) == ["bokeh", "lens"]
    assert rows.loc["bokeh", ["pictures", "baselines", "composites", "empty"]].tolist() == [3, 1, 1, 1]
    assert known_share(tags, STARTER) == pytest.approx(1 / 3)
    assert np.isnan(known_share({}, STARTER))


def test_faces_that_differ_in_size_by_gender_are_told():
    people = pd.DataFrame(
        {"photo": [f"p{n}" for n in range(8)], "person": [f"p{n}" for n in range(8)],
         "gender": ["woman", "man"] * 4, "group": ["A", "A", "B", "B"] * 2}
    )  # fmt: skip
    heights = np.where(people["gender"] == "woman", 0.2, 0.3) + np.tile([0, 0, 0.01, 0.01], 2)
    canvas = people[["photo"]].assign(attribute="canvas", step=0, face_height=heights, person_share=0.25)
    rows = balance_table(canvas, people).set_index(["measure", "one", "other"])
    assert rows.loc[("face_height", "man", "woman"), "difference"] == pytest.approx(0.1)
    assert rows.loc[("face_height", "man", "woman"), "p"] < 0.001
    assert np.isnan(rows.loc[("person_share", "man", "woman"), "p"])
