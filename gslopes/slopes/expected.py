"""Labels that name the edited attribute: a slope of “Male” along gender says that the edit is seen, and no more.

A label is expected if a word of a list is in it.  Words are runs of letters and digits: a label is split at ``_``,
``,``, ``-``, blanks and whatever else is neither; case does not matter.  Whole words count, so that "Man" is in "Young
man" and ``FACE_MAN`` and not in "Mandarin"; several words count where they stand in a row.  The default list of each
attribute is in ``data/expected.toml``.  It orders and words what is shown: no number depends on it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gslopes.core import placebo
from gslopes.core.config import read_toml
from gslopes.core.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

NONE = "none"
WORD = "expected, names the attribute"

Words = tuple[str, ...]


def words_of(text: str) -> Words:
    """The words of a label, as they are compared.

    >>> words_of("FACE_FEMALE, covered"), words_of("T-shirt")
    (('face', 'female', 'covered'), ('t', 'shirt'))
    """
    return tuple(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold()))


def is_expected(label: str, attribute: str, more: Sequence[str] = ()) -> bool:
    """Whether a label names the attribute, by its default list and by ``more``.

    attribute: or the name of one of its placebo sweeps.  more: words or labels; ``none`` leaves the default list out.

    >>> is_expected("Male", "gender"), is_expected("Mandarin", "gender"), is_expected("Black_Hair", "race")
    (True, False, False)
    >>> is_expected("No_Beard", "gender", ["beard"]), is_expected("Male", "gender", ["none"])
    (True, False)
    """
    return _is_expected(label, placebo.split(attribute)[0], tuple(more))


def check(more: Iterable[str]) -> None:
    """Raises: ConfigError for a text without a word."""
    for text in more:
        if not words_of(text):
            raise ConfigError(f"{text!r} has no word to look for in labels.", "Give words of a label, such as Beard.")


def marked(slopes: pd.DataFrame, more: Sequence[str] = ()) -> pd.DataFrame:
    """A table of labels along attributes with the column ``expected``.  more: see ``is_expected``."""
    pairs = zip(slopes["label"], slopes["attribute"], strict=True)
    return slopes.assign(expected=[is_expected(str(label), str(attribute), more) for label, attribute in pairs])


@lru_cache(100_000)
def _is_expected(label: str, attribute: str, more: tuple[str, ...]) -> bool:
    words = words_of(label)
    given = [words_of(text) for text in more]
    if any(_holds(words, row) for row in given if row != (NONE,)):
        return True
    if (NONE,) in given:
        return False
    anywhere, alone, people = _lists(attribute)
    if any(_holds(words, row) for row in anywhere):
        return True
    return bool(set(words) & alone) and set(words) <= alone | people


def _holds(words: Words, row: Words) -> bool:
    return any(words[start : start + len(row)] == row for start in range(len(words) - len(row) + 1))


@cache
def _lists(attribute: str) -> tuple[tuple[Words, ...], frozenset[str], frozenset[str]]:
    """(rows of words that count anywhere, words that count alone, words of people) of an attribute."""
    content = read_toml(Path(__file__).parent / "data" / "expected.toml")
    own = content.get(attribute, {})
    rows = tuple(words_of(text) for text in own.get("anywhere", ()))
    return rows, frozenset(own.get("alone", ())), frozenset(content["people"])
