"""Which labels name the attribute: whole words, in any case, never a part of another word."""

import doctest
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from gslopes.slopes import expected
from gslopes.slopes.expected import is_expected, marked, words_of

LISTS = tomllib.loads(
    (Path(expected.__file__).parent / "data" / "expected.toml").read_text("utf-8")
)


def test_the_examples_hold() -> None:
    assert not doctest.testmod(expected).failed


GENDER = """Male MALE Man woman Young-man FACE_FEMALE FACE_MALE FEMALE-face girl,smiling Boys gender Gender:masculine
ｍａｌｅ"""
NOT_GENDER = "Mandarin Womanizer Manager Human Boycott Girlfriend Heavy_Makeup No_Beard Beauty"
RACE = "Pale_Skin skin-tone Black White Asian black-woman Latino_Hispanic East-Asian Middle_Eastern ethnicity:other"
NOT_RACE = (
    "Black_Hair White-wine race_car Asian-food sheepskin African_elephant blackboard East woman"
)


@pytest.mark.parametrize("label", GENDER.split())
def test_what_names_gender_is_expected_along_gender_and_along_its_placebos(label: str) -> None:
    assert is_expected(label, "gender")
    assert is_expected(label, "gender-light")
    assert not is_expected(label, "beard"), "of another attribute"


@pytest.mark.parametrize("label", [*NOT_GENDER.split(), ""])
def test_a_part_of_a_word_is_no_name_of_gender(label: str) -> None:
    assert not is_expected(label, "gender")


def test_a_colour_names_race_only_next_to_words_for_people() -> None:
    assert [label for label in RACE.split() if not is_expected(label, "race")] == []
    assert [label for label in NOT_RACE.split() if is_expected(label, "race")] == []


def test_every_row_of_a_table_is_marked() -> None:
    frame = pd.DataFrame({"label": ["Male", "Hat"], "attribute": ["gender", "gender-same"]})
    assert marked(frame)["expected"].tolist() == [True, False]


def test_the_lists_are_written_as_they_are_compared() -> None:
    kinds = [value for name, value in LISTS.items() if name != "people"]
    texts = [
        *LISTS["people"],
        *(text for kind in kinds for texts in kind.values() for text in texts),
    ]
    assert [text for text in texts if " ".join(words_of(text)) != text] == []
    assert [text for kind in kinds for text in kind.get("alone", ()) if " " in text] == [], (
        "these are single words"
    )
