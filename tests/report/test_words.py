import doctest

import pytest

from gslopes.report import words


def test_examples_in_the_docstrings_hold() -> None:
    result = doctest.testmod(words)
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize("text", ["a\nb", "\x1b[31mred", "\udc80", "\u202eright to left", "\x00", "tab\t", "\u2028"])
def test_printable_text_is_one_line_without_control_characters_and_valid(text: str) -> None:
    shown = words.printable(text)
    assert shown.isprintable()
    assert shown.encode("utf-8")
    assert len(shown) > len(text)


@pytest.mark.parametrize("text", ["Lipstick", "口紅", "café", "a b", ""])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert words.printable(text) == text


def test_attributes_are_named_as_perceived_with_both_ends() -> None:
    assert words.perceived("gender") == "perceived gender"
    assert words.ends("race") == ("Black", "White")
    assert words.perceived("beard\n") == "perceived beard\\n"


def test_shortened_text_never_exceeds_its_length() -> None:
    assert words.shorten("abcdef", 6) == "abcdef"
    assert words.shorten("abcdefg", 6) == "abcde…"
