import pytest

from gslopes.report import words


@pytest.mark.parametrize("text", ["a\nb", "\x1b[31mred", "\udc80", "\u202eright to left", "\x00", "tab\t", "\u2028"])
def test_printable_text_is_one_line_without_control_characters_and_valid(text: str) -> None:
    shown = words.printable(text)
    assert shown.isprintable()
    assert shown.encode("utf-8")
    assert len(shown) > len(text)


def test_attributes_are_named_as_perceived_with_both_ends() -> None:
    assert words.perceived("gender") == "perceived gender"
    assert words.ends("race") == ("Black", "White")
    assert words.perceived("beard\n") == "perceived beard\\n"
    assert [words.shorten("abcdefg", length) for length in (6, 7)] == ["abcde…", "abcdefg"]
    assert [words.printable(text) for text in ("口紅", "a b", "")] == ["口紅", "a b", ""]
