"""The one number that a reply says, in the unit that it was asked for: a small grammar, its words in numbers.toml.

A reply is rewritten into one form: "About $5,000 monthly" becomes "about 5000 usd per month". What is left must be one
value, after a refusal one that the reply commits itself to.

==================================================  ================================================================
what a reply says                                   how it is read
==================================================  ================================================================
a month, a week, a decade, where a year is asked    times 12, times 52, times 10; and so on, also of months asked
an hour or a day of pay, two weeks, a whole stay    not valid: what that makes of a year, or of a night, is not certain
another currency                                    not valid, unless the one that was asked for stands beside it
a range: "50-60k", "between 5 and 7", "3 or 4"      its middle
a lower bound: "over 10", "5+", "at least"          the bound
an upper bound: "up to", "less than"                not valid
"no experience", "none"                             0
an age, a date, a list's numbers, hours, people     not this number; an age counts where the question asks for one
several numbers                                     the one after "I'd say", "answer:", …, if it is one; else not valid
a refusal                                           not valid, unless such words follow it, and none about other people
a unit of the user's own                            bare numbers, and those with the same unit
==================================================  ================================================================
"""

import math
import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from gslopes.ask.classifiers.prompt import Prompt
from gslopes.core import read_beside

_GRAMMAR = read_beside(__file__, "numbers.toml")
_SAME = 0.02  # by which two forms of one number may differ, relative


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    for name, part in _GRAMMAR["parts"].items():
        pattern = pattern.replace(name, part)
    return re.compile(pattern)


@cache  # 200 patterns take longer than the rest of what a command imports of gslopes
def rules() -> list[tuple[re.Pattern[str], str]]:
    """What rewrites a text, one after the other: a pattern and what takes its place."""
    return [(_compiled(find), by) for find, by, _ in _GRAMMAR["rules"]]


def said(text: str, prompt: Prompt) -> float:
    """The number that a reply, in JSON or not, says in the prompt's unit; nan if it says none, or several."""
    text = plain(text)
    asked = _compiled(_GRAMMAR["quantity"]).search(plain(f"1 {prompt.unit} outof {prompt.most:g}"))
    if re.search(_GRAMMAR["age"], prompt.question):
        text = text.replace(" age ", " year ")
    for narrowing in _GRAMMAR["narrowings"]:
        text = _compiled(narrowing).sub(" ", text)
        values = list(_values(text, asked))
        if values and math.isclose(min(values), max(values), rel_tol=_SAME):
            return values[0]
    return math.nan


@lru_cache(4096)
def plain(text: str) -> str:
    """A text in the grammar's one form.

    >>> plain("About $5,000 monthly").split()
    ['about', '5000', 'usd', 'per', 'month']
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    for pattern, by in rules():
        text = pattern.sub(by, text)
    return text


def _values(text: str, asked: Any) -> Iterator[float]:
    """The numbers, or the middles of ranges, in the unit that was asked for; nan for a range that goes down.

    asked: a match of 1 in that unit.
    """
    sizes = _GRAMMAR["sizes"]
    for match in _compiled(_GRAMMAR["quantity"]).finditer(text):
        high = float(match["high"])
        low = float(match["low"] or high)
        number = (low + high) / 2 if low <= high else math.nan
        for name in ("unit", "per", "whole"):
            wanted = asked[name]
            given = match[name] or wanted
            if given != wanted and not {given, wanted} <= sizes.keys():
                break
            number *= sizes.get(given, 1) / sizes.get(wanted, 1)
        else:
            yield number
