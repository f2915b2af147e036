"""All tables of a run at once: their families of tests, what does not matter to them, and ratings of the user's own."""

import numpy as np
import pandas as pd
import pytest

from gslopes.contexts.config import ContextOptions
from gslopes.contexts.measures.analysis import adjusted, analyse
from gslopes.contexts.measures.describe import describe_all
from gslopes.contexts.measures.ratings import rated, ratings_of
from gslopes.contexts.measures.typology import read_typology
from gslopes.stats.multiplicity import benjamini_hochberg

QUICK = ContextOptions(permutations=99)
STARTER = read_typology("starter")


def test_q_is_over_the_tests_of_one_table_and_kind_of_tags():
    both_tags = pd.DataFrame({"tags": ["gross"] * 2 + ["net"], "p": [0.01, 0.04, 0.01]})
    gross = pd.DataFrame({"tags": ["gross"], "p": [0.02], "p_perm": [0.5]})
    tables = adjusted(
        {
            "inferred": both_tags,
            "congruence": gross,
            "interaction": both_tags.assign(effect_p=[0.02, 0.03, 0.5]),
        }
    )
    assert tables["interaction"]["effect_q"].tolist() == pytest.approx([0.03, 0.03, 0.5])
    assert tables["inferred"]["q"].tolist() == pytest.approx(
        [*benjamini_hochberg(np.array([0.01, 0.04])), 0.01]
    )
    assert tables["congruence"]["q"].tolist() == [0.5]  # judged by its permutations


def material(genders: list[str], tags: dict[str, dict[str, list[str]]]) -> tuple[pd.DataFrame, ...]:
    """(described, people, backgrounds) of people of these genders; tags: condition to gender to tags."""
    people = pd.DataFrame({"photo": [f"p{n:02d}" for n in range(len(genders))], "gender": genders})
    people = people.assign(person=people["photo"], group="")
    keys = [name for name in tags if name != "canvas"]
    backgrounds = pd.DataFrame(
        {"key": keys, "photo": keys, "context": [key.partition(".")[0] for key in keys]}
    )
    backgrounds = backgrounds.assign(label="none", rating=[0.0, 9.0][: len(keys)], status="used")
    answers = {
        (photo, condition, 0): frozenset(by_gender[gender])
        for condition, by_gender in tags.items()
        for photo, gender in zip(people["photo"], genders, strict=True)
    }
    described = describe_all("c", answers, backgrounds, STARTER, QUICK)
    return described, people, backgrounds


SAID = {
    "canvas": {
        "woman": ["woman"],
        "man": ["man"],
        "not said": ["man", "chair"],
        "non-binary": ["woman"],
    },
    "nursery.1": {
        "woman": ["woman", "crib"],
        "man": ["woman", "crib"],
        "not said": ["crib"],
        "non-binary": ["crib"],
    },
    "garage.1": {
        "woman": ["man", "garage"],
        "man": ["man", "garage"],
        "not said": ["garage"],
        "non-binary": ["garage"],
    },
}
TAGGED = {"c": frozenset({"nursery", "garage"})}


def test_the_order_of_people_does_not_matter():
    described, people, places = material(["woman", "man"] * 12, SAID)
    in_order = analyse(described, people, places, TAGGED, QUICK)
    lot = np.random.default_rng(0)
    shuffled = (
        described.iloc[lot.permutation(len(described))],
        people.iloc[lot.permutation(len(people))],
    )
    in_disorder = analyse(*shuffled, places, TAGGED, QUICK)
    for name in ("inferred", "recognised", "accuracy", "congruence"):
        pd.testing.assert_frame_equal(in_order[name], in_disorder[name])


def test_people_of_no_or_another_gender_are_counted_and_in_no_f1_nor_slope():
    described, people, places = material(["woman", "man", "not said", "non-binary"] * 6, SAID)
    tables = analyse(described, people, places, TAGGED, QUICK)
    counts = tables["inferred"].set_index(["tags", "context", "gender", "inferred"])["count"]
    assert counts["gross", "canvas", "not said", "man"] == 6
    assert counts["gross", "canvas", "all", "woman"] == 12
    assert set(tables["accuracy"]["gender"]) == {"woman", "man"}
    assert set(tables["accuracy"].loc[tables["accuracy"]["context"] == "canvas", "n"]) == {12}
    assert (tables["accuracy"].loc[tables["accuracy"]["context"] == "canvas", "fp"] == 0).all()
    slopes = tables["congruence"]
    slopes = slopes[
        (slopes["measure"] == "correct") & (slopes["group"] == "all") & (slopes["tags"] == "gross")
    ]
    assert slopes.set_index("gender").loc["all", "n"] == 12


def test_one_gender_alone_is_no_error_and_has_no_tests_between_genders():
    described, people, places = material(["woman"] * 24, SAID)
    tables = analyse(described, people, places, TAGGED, QUICK)
    assert set(tables["accuracy"]["gender"]) == {"woman"}
    assert tables["changes"]["p"].isna().all()
    assert "gender" not in set(tables["anova"]["term"]) if "anova" in tables else True


def test_a_context_without_a_rating_is_in_no_slope():
    described, people, places = material(["woman", "man"] * 12, SAID)
    tables = analyse(described, people, places.assign(rating=[0.0, np.nan]), TAGGED, QUICK)
    assert set(tables["congruence"].loc[tables["congruence"]["estimator"] == "person", "n"]) == {0}
    assert tables["inferred"]["context"].nunique() == 3


def test_a_picture_that_was_refused_is_left_out_of_its_pair_alone():
    described, people, places = material(["woman", "man"] * 12, SAID)
    refused = (described["photo"] == "p00") & (described["attribute"] == "garage.1")
    tables = analyse(described[~refused], people, places, TAGGED, QUICK)
    rows = tables["inferred"].set_index(["tags", "context", "gender", "inferred"])["n"]
    assert rows["gross", "garage", "woman", "woman"] == 11
    assert rows["gross", "nursery", "woman", "woman"] == 12
    assert rows["gross", "canvas", "woman", "woman"] == 12


def test_ones_own_raters_decide_over_the_file_and_other_contexts_that_they_rate_are_named(tmp_path):
    path = tmp_path / "ratings.csv"
    rows = [
        f"{context},{rater},{rating}" for context, rating in (("a", 1), ("z", 9)) for rater in "xyz"
    ]
    path.write_text("\n".join(["context,rater,rating", *rows]), "utf-8")
    backgrounds = pd.DataFrame({"context": ["a", "b", "a"], "rating": [4.0, 6.0, 4.0]})
    notes: list[str] = []
    ratings = ratings_of(ContextOptions(ratings=path), backgrounds, notes.append)
    assert rated(backgrounds, ratings)["rating"].tolist() == [1.0, 6.0, 1.0]
    assert set(ratings["context"]) == {"a", "z"}
    assert any("rates z, which is no context of this run" in note for note in notes)
