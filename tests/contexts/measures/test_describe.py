"""One answer: counts, proportions, distance; Table 4 of the paper."""

import math

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.describe import (
    VECTOR,
    answered_tags,
    cosine_distances,
    describe,
    describe_all,
)
from gslopes.contexts.measures.typology import normalise, read_typology

STARTER = read_typology("starter")
PORTRAIT = [
    "soul_patch_facial_hair",
    "stubble",
    "actor",
    "person",
    "young_man",
    "juvenile_person",
    "ash_grey_color",
    "light_brown_color",
]
COMPOSITE = [
    "person",
    "dressing_room",
    "indoors",
    "mantelet_(women's_cape)",
    "cloak",
    "overgarment",
    "garment",
    "mantilla_(women's_scarf)",
    "scarf",
    "clothing",
    "fabric",
    "ivory_color",
    "ash_grey_color",
]


@pytest.mark.row(
    "contexts-4.4-tags",
    "contexts-4.5.1-super",
    "contexts-4.5.2-recognised",
    "contexts-4.5.2-inferred",
    "contexts-4.5.1-context",
    "contexts-5.4-cosine",
)
def test_the_answers_of_table_4():
    rows_of = [
        describe(frozenset(map(normalise, tags)), STARTER, STARTER.contexts["wedding-shop"])
        for tags in (PORTRAIT, COMPOSITE)
    ]
    assert [row["n_tags"] for row in rows_of] == [8, 13]
    assert [row["demographics"] for row in rows_of] == [2 / 8, 0]
    assert [row["concrete"] for row in rows_of] == [4 / 8, 12 / 13]
    assert [row["abstract"] for row in rows_of] == [1 / 8, 0]
    assert [row["inferred"] for row in rows_of] == ["man", "neutral"]
    assert [row["recognised"] for row in rows_of] == [False, True]
    assert [row["context_tags"] for row in rows_of] == [0, 1]  # dressing_room, of 13
    first, second = ([[row[name] for name in VECTOR]] for row in rows_of)
    assert cosine_distances(np.array(first), np.array(second))[0] == pytest.approx(
        0.127128, abs=5e-7
    )


@pytest.mark.row("contexts-4.5.2-inferred", "contexts-4.5.1-sub")
def test_as_many_feminine_as_masculine_words_are_neutral():
    row = describe({"bride", "groom"}, STARTER)
    assert (row["inferred"], row["feminine"], row["masculine"]) == ("neutral", 1, 1)


def test_an_answer_without_tags_is_neutral_and_its_shares_are_no_numbers():
    row = describe(frozenset(), STARTER, {"veil"})
    assert (row["inferred"], row["recognised"], row["n_tags"]) == ("neutral", False, 0)
    assert math.isnan(row["concrete"])


@pytest.mark.row("contexts-5.4-cosine")
def test_a_vector_of_length_0():
    distances = cosine_distances(
        np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 0.0], [2.0, 4.0]])
    )
    assert math.isnan(distances[0])
    assert distances[1] == pytest.approx(0)


@pytest.mark.row("contexts-4.4-overlap")
def test_a_tag_in_two_clusters_of_one_super_counts_once():
    assert describe({"girl"}, STARTER)["demographics"] == 1  # feminine and age


def test_a_tag_that_names_part_of_another_does_not_count():
    assert describe({"women's_cape", "mantelet_(women's_cape)"}, STARTER)["inferred"] == "neutral"


BACKGROUNDS = pd.DataFrame([{"key": "wedding-shop.1", "photo": "bg", "context": "wedding-shop"}])


def _described(tags_of: dict[tuple[str, str], list[str]]) -> pd.DataFrame:
    answers = {(*key, 0): frozenset(tags) for key, tags in tags_of.items()}
    return describe_all("c", answers, BACKGROUNDS, STARTER, ContextOptions())


@pytest.mark.row("contexts-4.5.2-recognised")
def test_net_is_without_what_the_empty_background_is_called():
    answers = {
        ("p", "canvas"): ["man", "shirt"],
        ("p", "wedding-shop.1"): ["bride", "veil", "man"],
        ("bg", "empty"): ["bride", "veil"],
    }
    rows = _described(answers).set_index(["attribute", "tags"])
    assert rows.loc[("wedding-shop.1", "gross"), "inferred"] == "neutral"
    assert rows.loc[("wedding-shop.1", "net"), "inferred"] == "man"
    assert rows.loc[("wedding-shop.1", "net"), "n_tags"] == 1
    assert rows.loc[("canvas", "net"), "n_tags"] == 2
    assert rows.loc[("wedding-shop.1", "gross"), "recognised"]
    assert not rows.loc[("wedding-shop.1", "net"), "recognised"]


def test_an_empty_background_that_is_called_bride_leaves_no_effect_net():
    """A tagger that calls the shop bride, whoever is in it."""
    people = [f"p{index}" for index in range(12)]
    answers = {(person, "canvas"): ["man"] for person in people}
    answers |= {(person, "wedding-shop.1"): ["bride", "woman", "man"] for person in people}
    answers[("bg", "empty")] = ["bride", "woman"]
    rows = _described(answers)
    share = (
        rows[rows["attribute"] == "wedding-shop.1"]
        .groupby("tags")["inferred"]
        .agg(lambda inferred: set(inferred))
    )
    assert share.to_dict() == {"gross": {"woman"}, "net": {"man"}}


def test_an_answered_picture_without_tags_is_there_and_a_refused_one_is_not():
    keys = ["photo", "attribute", "step"]
    scores = pd.DataFrame(
        [("p", "canvas", 0, "A b"), ("p", "canvas", 0, "c")], columns=[*keys, "label"]
    )
    rows = [
        ("p", "canvas", 0, "answered"),
        ("q", "canvas", 0, "answered"),
        ("r", "canvas", 0, "refused"),
    ]
    tags = answered_tags(scores, pd.DataFrame(rows, columns=[*keys, "status"]))
    assert tags == {("p", "canvas", 0): {"a_b", "c"}, ("q", "canvas", 0): frozenset()}
