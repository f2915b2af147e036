"""The one number that a reply says, in the unit that it was asked for: a small grammar, with its words in numbers.toml.

A reply is rewritten into one form: "About $5,000 monthly" becomes "about 5000 usd per month". Quantities of another kind
(ages, dates, hours, another currency) drop out; a unit and a period are converted where that is certain; a range counts
as its middle, and a lower bound as itself. What is left must be one value, after a refusal one that the reply commits
itself to.
"""

import math
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gslopes.ask.classifiers.prompt import Prompt
from gslopes.core.config import read_beside

_GRAMMAR = read_beside(__file__, "numbers.toml")
_SAME = 0.02  # by which two forms of one number may differ, relative
_KNOWN = 4096  # replies whose form is kept


def _compiled(pattern: str) -> re.Pattern[str]:
    for name, part in _GRAMMAR["parts"].items():
        pattern = pattern.replace(name, part)
    return re.compile(pattern, re.DOTALL)


_WORDS = [(rf"\b{word}\b", f"{number}") for word, number in _GRAMMAR["words"].items()]
RULES = [rule[:2] for rules in _GRAMMAR["rules"].values() for rule in rules]
_RULES = [(_compiled(pattern), by) for pattern, by in [*_WORDS, *RULES]]
_NARROWINGS = [_compiled(pattern) for pattern in _GRAMMAR["narrowings"]]
_QUANTITY = _compiled(_GRAMMAR["quantity"])


def said(value: object, prompt: Prompt, key: str) -> float | None:
    """The number that a value of JSON or a text says in the prompt's unit; None if it says none, or several.

    key: of the answer in JSON.
    """
    text = plain(_text(value, key))
    asked: Any = _QUANTITY.search(plain(f"1 {prompt.unit}"))
    if re.search(_GRAMMAR["age"], prompt.question.casefold()):
        text = text.replace(" age ", " year ")
    for narrowing in _NARROWINGS:
        text = narrowing.sub(" ", text)
        found = [
            (match["unit"] or match["per"], _converted(match, asked, prompt.most))
            for match in _QUANTITY.finditer(text)
        ]
        fitting = [(named, value) for named, value in found if value is not None]
        values = [value for named, value in fitting if named] or [value for _, value in fitting]
        if values and math.isclose(min(values), max(values), rel_tol=_SAME):
            return values[0]
    return None


@lru_cache(_KNOWN)
def plain(text: str) -> str:
    """A text in the grammar's one form.

    >>> plain("About $5,000 monthly").split()
    ['about', '5000', 'usd', 'per', 'month']
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    for pattern, by in _RULES:
        text = pattern.sub(by, text)
    return text


def _text(value: object, key: str) -> str:
    """A value of JSON as a text; of an object the answer with its unit, or all of it without an answer."""
    if not isinstance(value, Mapping):
        return str(value)
    names = [key, *_GRAMMAR["units"]] if key in value else value
    return " ".join(f"{name}: {_text(value[name], key)}" for name in names if name in value)


def _converted(match: re.Match[str], asked: re.Match[str], most: float) -> float | None:
    """A number, or the middle of a range, in the unit that was asked for; nan for a range that goes down.

    Returns: None for a quantity of another kind.
    """
    high = match["high"]
    low = match["low"] or high
    if "e" not in low:  # 50-60k
        low += "".join(high.partition("e")[1:])
    number = (float(low) + float(high)) / 2
    if float(low) > float(high):
        return math.nan
    if match["whole"] and float(match["whole"]) != most:
        return None
    for name in ("unit", "per"):
        kinds = _GRAMMAR[name]
        kind, size = kinds.get(asked[name], (asked[name], 1))
        given = match[name] or asked[name]
        its_kind, its_size = kinds.get(given, (given, 1))
        if its_kind != kind:
            return None
        number *= its_size / size
    return number
