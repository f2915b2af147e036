"""What others wrote, made safe to print: a server, a model's file or a table decides neither colour nor line."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")  # as rich writes it; the cells of its tables are printable already
_BLANK = {"\n", "\xa0", "\u2009", "\u202f"}  # of our own lines; a table's cell has none


def printable(text: object) -> str:
    r"""Untrusted text made safe for a terminal, a figure or a page: one line, no control characters, valid Unicode.

    >>> printable("a line\n\x1b[31m in red \udc80")
    'a line\\n\\x1b[31m in red \\udc80'
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in str(text))


def printable_lines(text: str, *, colours: bool = False) -> str:
    r"""The same for a text in lines.  colours: whether sequences that choose one stay.

    >>> printable_lines("two\nlines \x1b]0;title\x07")
    'two\nlines \\x1b]0;title\\x07'
    """
    if colours:
        parts = _COLOUR.split(text)
        return "".join(part if place % 2 else printable_lines(part) for place, part in enumerate(parts))
    return "".join(char if char in _BLANK else printable(char) for char in text)
