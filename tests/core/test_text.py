from __future__ import annotations

from gslopes.core.text import printable, printable_lines


def test_what_outsiders_wrote_moves_no_cursor_and_turns_no_text_round():
    hostile = "a\x1b]0;title\x07\x1b[2J\u202eb\u2066c\u200bd\x9b1me\r\x08\udc80"
    for shown in (printable(hostile), printable_lines(hostile), printable_lines(hostile, colours=True)):
        assert shown.isprintable()
        assert shown.isascii()
    assert printable("Ärztin 医者 👩‍⚕️".replace("\u200d", "")).startswith("Ärztin 医者 👩")


def test_lines_stay_lines_and_only_our_colours_are_colours():
    assert printable_lines("95\u202f%\ntwo") == "95\u202f%\ntwo"
    assert printable_lines("\x1b[1;31mred\x1b[0m \x1b[2J", colours=True) == "\x1b[1;31mred\x1b[0m \\x1b[2J"
    assert printable_lines("\x1b[31mred") == "\\x1b[31mred"
