"""Labels that name the edited attribute: a slope of “Male” along gender shows that the edit is seen, and no more.

A label is expected if a word of a list is in it.  Words are runs of letters and digits: a label is split at ``_``,
``,``, ``-``, blanks and whatever else is neither; case does not matter.  Whole words count, so that "Man" is in "Young
man" and ``FACE_MAN`` and not in "Mandarin"; several words count if they follow one another.  The list of each
attribute is in ``data/expected.toml``.  It orders and words what is shown: no number depends on it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from gslopes.core import Names, config, crossed, placebo

if TYPE_CHECKING:
    from pandas import DataFrame

WORD = "expected, names the attribute"


def words_of(text: str) -> Names:
    """The words of a label in the form in which they are compared.

    >>> words_of("FACE_FEMALE, covered"), words_of("T-shirt")
    (('face', 'female', 'covered'), ('t', 'shirt'))
    """
    return tuple(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold()))


@lru_cache(100_000)
def is_expected(label: str, attribute: str) -> bool:
    """Whether a label names the attribute.  attribute: or the name of one of its placebo sweeps.

    >>> is_expected("Male", "gender"), is_expected("Mandarin", "gender"), is_expected("Black_Hair", "race")
    (True, False, False)
    """
    attribute, second, value = crossed.split(attribute)
    if second and not value and is_expected(label, second):
        return True
    words = words_of(label)
    named, *_ = placebo.ends_of(attribute) or (placebo.split(attribute)[0],)
    anywhere, alone, people = _lists(named)
    runs = {
        words[start:end] for start in range(len(words)) for end in range(start + 1, len(words) + 1)
    }
    if not runs.isdisjoint(anywhere):
        return True
    return bool(set(words) & alone) and set(words) <= alone | people


def marked(slopes: DataFrame) -> DataFrame:
    """A table of labels along attributes with the column ``expected``."""
    pairs = zip(slopes["label"], slopes["attribute"], strict=True)
    return slopes.assign(expected=[is_expected(label, attribute) for label, attribute in pairs])


@cache
def _lists(attribute: str) -> tuple[tuple[Names, ...], frozenset[str], frozenset[str]]:
    """(rows of words that count anywhere, words that count by themselves, words of people) of an attribute."""
    content = config.read_beside(__file__, "data/expected.toml")
    lists = content.get(attribute, {})
    rows = tuple(words_of(text) for text in lists.get("anywhere", ()))
    return rows, frozenset(lists.get("alone", ())), frozenset(content["people"])
