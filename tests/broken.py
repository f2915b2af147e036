"""What no page, table or sentence may contain: missing numbers, plurals of one, units of nothing, words twice."""

import html
import re

_THINGS = (
    "labels|photos|sweeps|pairs|values|pictures|images|captions|cases|classifiers|groups|steps|rooms|contexts|crops"
    "|faces|answers|people|persons|tags|words|units|findings"
)
BROKEN = {
    "not a number": r"(?i)(?<!\bzero )\b(?:nan|inf)\b",  # --zero nan is an option of contexts
    "a value of a program": r"\bundefined\b|\[object|\bNaN\b|\{\{|\}\}|\{%|%\}",
    "a plural of one": rf"(?<![\d.,−-])(?<!\bto )(?<!\band )\b1 (?:{_THINGS})\b(?! a\b)",
    "a unit of nothing": r"– (?:percentage )?points|– %|\d – percentage",
    "minus nothing": r"−0(?:\.0+)?(?![\d.])",
    "digits of a program": r"(?<![\d./,])(?<!,[-−])\d{1,3}\.\d{6,}",  # cells of a CSV have all of theirs
    "words twice": r"(?i)\b(too rare|percentage points|the|a|of|is|are|in|to|and|with) \1\b",
    "ends of an axis": r"from less \w+-light|to more \w+-light",
}
_TAGS = re.compile(r"<(script|style|svg)\b.*?</\1>|<!--.*?-->|<[^>]*>", re.DOTALL)


def shown(page: str) -> str:
    """The text of a page, without its scripts."""
    return re.sub(r"\s+", " ", html.unescape(_TAGS.sub(" ", page)))


def broken(text: str) -> list[str]:
    """What is wrong with a text, each with the text around it."""
    return [
        f"{name}: …{text[max(0, item.start() - 60) : item.end() + 40]}…"
        for name, pattern in BROKEN.items()
        for item in re.finditer(pattern, text)
    ]
