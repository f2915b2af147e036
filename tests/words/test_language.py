"""Which language captions are in: one by one, and by the set that they are from."""

import tomllib
from pathlib import Path

import pytest

from gslopes.words.language import language, other_languages

CAPTIONS = tomllib.loads(Path(__file__).with_name("captions.toml").read_text("utf-8"))
OTHERS = [name for name in CAPTIONS if name != "English"]
ALIKE = {
    "Danish": "Norwegian",
    "Bulgarian": "Russian",
    "Malay": "Indonesian",
}  # to two or three words
SHORT = {"to barn spiller fotball"}  # each of whose words is an English one, too


def test_no_english_caption_is_taken_for_another_language() -> None:
    assert other_languages(CAPTIONS["English"]) == [""] * len(CAPTIONS["English"])
    assert {language(text) for text in CAPTIONS["English"]} <= {"", "English"}


@pytest.mark.parametrize("name", OTHERS)
def test_captions_in_another_language_are_known_as_such_with_its_name(name: str) -> None:
    captions = [text for text in CAPTIONS[name] if text not in SHORT]
    names = other_languages(captions)
    assert all(names)
    assert name in {*names, *(ALIKE.get(near, near) for near in names)}
    assert max(set(names), key=names.count) in {
        name,
        *(near for near in ALIKE if ALIKE[near] == name),
    }


@pytest.mark.parametrize("name", ["German", "French", "Polish", "Chinese", "Arabic"])
def test_a_few_captions_in_another_language_are_found_among_english_ones(name: str) -> None:
    english, few = CAPTIONS["English"], CAPTIONS[name][:3]
    assert other_languages([*english, *few]) == [""] * len(english) + [name] * len(few)


def test_words_that_are_of_both_languages_go_with_the_others_of_the_set() -> None:
    assert language("Kind mit Ball") == language("Bank") == ""
    assert other_languages(["Frau", "Mann", "Kind mit Ball", "Eine Frau im Park."]) == 4 * [
        "German"
    ]
    assert other_languages(["man", "woman", "cat"]) == ["", "", ""]
    assert other_languages(["A man.", "Bank"]) == ["", ""]


@pytest.mark.parametrize("texts", [[], [""], ["…", "12"], ["asdf"], ["Beyoncé"], ["a selfie"] * 9])
def test_what_has_no_language_is_left_in(texts: list[str]) -> None:
    assert not any(other_languages(texts))
