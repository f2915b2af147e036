"""The one door for words of others, of captions and of labels: what tokenizers, pages and encodings left is taken out,
emoji of people are read as their names say, and letters are made plain.

What is done is a table, ``data/reading.toml``.
"""

import html
import re
from functools import lru_cache
from typing import Any

from gslopes.core import plain, read_toml
from gslopes.words.wordnet import DATA

READING = read_toml(DATA / "reading.toml")


def _step(pattern: str, to: str, note: str, table: str = "", **_: Any) -> Any:
    """A step of the table as what ``re`` takes, and its note."""
    names = READING.get(table, {})
    found = re.compile(pattern.replace("SIGN", "|".join(names)))
    return found, (lambda sign: to.format(names[sign[0]])) if names else to, note


_STEPS = [_step(**step) for step in READING["step"]]


@lru_cache(100_000)
def read_words(text: str) -> tuple[str, frozenset[str]]:
    r"""The text whose words are read, as ``plain`` writes it; and what it held besides, as ends of sentences.

    >>> read_words("<s> A \U0001f469\U0001f3fd with Tom &amp; Jerry")[0].split()
    ['A', '.', 'woman', 'with', 'Tom', '&', 'Jerry']
    """
    notes = set()
    text = html.unescape(text)
    for pattern, to, note in _STEPS:
        text, count = pattern.subn(to, text)
        if count and note:
            notes.add(note)
    return plain(text).strip(), frozenset(notes)


def label_of(text: object) -> str:
    """The words of a label, in lower case and with single blanks."""
    return " ".join(read_words(str(text))[0].lower().split())
