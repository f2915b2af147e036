import sys
import unicodedata

import pytest

from gslopes.core.text import plain, printable, printable_lines


def test_what_outsiders_wrote_moves_no_cursor_and_turns_no_text_round():
    hostile = "a\x1b]0;title\x07\x1b[2J\u202eb\u2066c\u200bd\x9b1me\r\x08\udc80"
    for shown in (
        printable(hostile),
        printable_lines(hostile),
        printable_lines(hostile, colours=True),
    ):
        assert shown.isprintable()
        assert shown.isascii()
    assert printable("Ärztin 医者 👩‍⚕️".replace("\u200d", "")).startswith("Ärztin 医者 👩")


def test_lines_stay_lines_and_only_our_colours_are_colours():
    assert printable_lines("95\u202f%\ntwo") == "95\u202f%\ntwo"
    assert (
        printable_lines("\x1b[1;31mred\x1b[0m \x1b[2J", colours=True)
        == "\x1b[1;31mred\x1b[0m \\x1b[2J"
    )
    assert printable_lines("\x1b[31mred") == "\\x1b[31mred"


@pytest.mark.parametrize(
    "written",
    [
        "Ｗｏｍａｎ＇ｓ ｏｆｆｉｃｅ",
        "Ⓦⓞⓜⓐⓝʼs office",
        "Wo\u200bman\u2060's of\u00adfice",
        "\u202eWoman\u202c´s office",
    ],
)
def test_one_text_however_it_is_encoded_is_plain_alike(written: str):
    assert plain(written) == "Woman's office"


def test_no_format_character_is_left_but_those_that_are_seen():
    seen = {
        chr(code)
        for code in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)
    }
    seen |= {chr(code) for code in (*range(0xFFF9, 0xFFFC), *range(0x13430, 0x13440))}
    every = (chr(code) for code in range(sys.maxunicode + 1))
    assert {char for char in every if unicodedata.category(char) == "Cf" and plain(char)} <= seen
