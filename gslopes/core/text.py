"""What others wrote, safe to print and plain to compare: it decides neither colour, nor line, nor shape of letter."""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence

_COLOUR = re.compile(
    r"(\x1b\[[0-9;]*m)"
)  # as rich writes it; the cells of its tables are printable already
_BLANK = {"\n", "\xa0", "\u2009", "\u202f"}  # of our own lines; a table's cell has none
_UNSEEN = re.compile(  # Unicode's Default_Ignorable_Code_Point: joiners, direction marks, soft hyphens, variations
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MARKS = str.maketrans("\xb4\u2122\u2120\u2116", "'   ")  # NFKC would spell them: Nike and TM
_TWINS = 5  # groups of labels that are nearly the same, that are named
_STRAIGHT = str.maketrans("\u2018\u2019\u201b\u02bc\u2032`\u2010\u2011", "''''''--")


def printable(text: object) -> str:
    r"""Untrusted text made safe for a terminal, a figure or a page: one line, no control characters, valid Unicode.

    >>> printable("a line\n\x1b[31m in red \udc80")
    'a line\\n\\x1b[31m in red \\udc80'
    """
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in str(text)
    )


def printable_lines(text: str, *, colours: bool = False) -> str:
    r"""The same for a text in lines.  colours: whether sequences that choose one stay.

    >>> printable_lines("two\nlines \x1b]0;title\x07")
    'two\nlines \\x1b]0;title\\x07'
    """
    if colours:
        parts = _COLOUR.split(text)
        return "".join(
            part if index % 2 else printable_lines(part) for index, part in enumerate(parts)
        )
    return "".join(char if char in _BLANK else printable(char) for char in text)


def many(count: int, noun: str, plural: str = "") -> str:
    """A number and what it counts, in the singular or the plural.  plural: if it is not the noun with an s.

    >>> many(1, "label"), many(1234, "label"), many(0, "person", "people")
    ('1 label', '1,234 labels', '0 people')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def some_of(texts: Sequence[str], most: int = 3) -> str:
    """The first of some texts, and how many more there are.

    >>> some_of(["a", "b", "c", "d"]), some_of(["a", "b"])
    ('a, b, c and 1 more', 'a, b')
    """
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def nudged(number: float) -> float:
    """A number a millionth further from 0, so that what is half of a digit but for rounding is rounded up everywhere.

    >>> [f"{nudged(number):.2f}" for number in (0.125, 0.125 - 1e-17, 0.124)]
    ['0.13', '0.13', '0.12']
    """
    return number + math.copysign(min(abs(number), 1e3) * 2.0**-20, number)


def two_digits(number: float, sign: str = "+") -> str:
    """A number as sentences write it: two digits, or all before the point; what sums leave of a 0 is 0.

    >>> two_digits(-0.0456), two_digits(1234.5), two_digits(-3e-16), two_digits(5, "")
    ('-0.046', '+1,235', '0', '5')
    """
    if abs(number) < 1e-9:
        return "0"
    return format(nudged(number), f"{sign},.0f" if abs(number) >= 100 else f"{sign}.2g")


def plain(text: str) -> str:
    """A text as its words are compared: NFKC, which makes letters of fullwidth ones and ligatures, without the unseen.

    Apostrophes and hyphens become ASCII. Letters of other alphabets that look alike stay what they are.

    Source: Unicode Standard Annex 15, and the property Default_Ignorable_Code_Point of Annex 44.

    >>> plain("\uff37oman\u2019s o\ufb03ce, wo\u200bman")
    "Woman's office, woman"
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _UNSEEN.sub("", text).translate(_MARKS))
    return text.translate(_STRAIGHT)


def twins(labels: Iterable[str]) -> str:
    """A sentence that names labels which differ only in blanks, case or Unicode form; empty if none do.

    >>> twins(["Smiling", "Bald", "smiling "])
    "These labels differ only in blanks, case or Unicode form, and count apart: 'Smiling' and 'smiling '."
    """
    alike: dict[str, list[str]] = {}
    for label in sorted(set(labels)):
        alike.setdefault(" ".join(plain(label).split()).casefold(), []).append(label)
    groups = []
    for group in (group for group in alike.values() if len(group) > 1):
        composed = {unicodedata.normalize("NFC", label) for label in group}
        groups.append(" and ".join(map(repr if len(composed) == len(group) else ascii, group)))
    if len(groups) > _TWINS:
        groups[_TWINS:] = [f"and {len(groups) - _TWINS:,} more"]
    sentence = "These labels differ only in blanks, case or Unicode form, and count apart"
    if groups:
        return f"{sentence}: {'; '.join(groups)}."
    return ""
