"""The words and number formats of every table, figure and page: they are part of being correct."""

from __future__ import annotations

import math
import unicodedata
from decimal import ROUND_HALF_UP, Decimal

# What the two ends of an attribute look like: (negative, positive).
_ENDS = {
    "gender": ("feminine", "masculine"),
    "race": ("Black", "White"),
    "young": ("older", "younger"),
    "smiling": ("not smiling", "smiling"),
}
_NAMES = {"gender": "perceived gender", "race": "perceived race", "young": "perceived age", "smiling": "smiling"}

ESTIMATOR = (
    "Estimator: paper (least squares line through z_k = y_k / y_centre at the K values; y_k is the share of photos\n"
    "with the label, over photos answered at all K). Interval: 95 %, from t. p: two-sided t test with K-2 degrees of\n"
    "freedom, null hypothesis: the slope is 0. q: p after Benjamini and Hochberg over the classifier's labels."
)


def ends(attribute: str) -> tuple[str, str]:
    """What the negative and the positive end of an attribute look like.

    >>> ends("gender"), ends("beard")
    (('feminine', 'masculine'), ('less beard', 'more beard'))
    """
    return _ENDS.get(attribute, (f"less {printable(attribute)}", f"more {printable(attribute)}"))


def perceived(attribute: str) -> str:
    """The attribute as a thing that is seen in a picture, never as a fact about a person."""
    return _NAMES.get(attribute, f"perceived {printable(attribute)}")


def printable(text: object) -> str:
    r"""Text of a stranger made safe for a terminal, a figure or a page: one line, no control characters, valid Unicode.

    >>> printable("a line\n\x1b[31m in red \udc80")
    'a line\\n\\x1b[31m in red \\udc80'
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in str(text))


def both(first: str, second: str) -> str:
    """Two classifiers that are compared, or the one that is in both runs, fit to be shown.

    >>> both("tagger:v=1", "tagger:v=2"), both("tagger", "tagger")
    ('tagger:v=1 → tagger:v=2', 'tagger')
    """
    return " → ".join(printable(name) for name in dict.fromkeys((first, second)))


def shorten(text: str, length: int) -> str:
    """At most ``length`` characters, the last one an ellipsis if something was cut."""
    return text if len(text) <= length else text[: length - 1] + "…"


def signed(number: float | None) -> str:
    """A slope that is not in percentage points (the paper's, log odds), with its sign; a dash where there is none.

    >>> signed(0.12345), signed(-12.3), signed(-0.0004), signed(1234.5), signed(float("nan"))
    ('+0.123', '-12.300', '0.000', '+1.23e+03', '-')
    """
    if number is None or math.isnan(number):
        return "-"
    if abs(number) < 0.0005:
        return "0.000"
    return f"{number:+.3f}" if abs(number) < 100 else f"{number:+.3g}"


def points(number: float | None) -> str:
    """Percentage points, per unit or not: one decimal, with the sign; a dash where there is none.

    Halves are rounded away from 0, as the page's scripts round them, so that both print the same.

    >>> points(17.46), points(-24.197), points(-0.04), points(2.25), points(float("nan"))
    ('+17.5', '-24.2', '0.0', '+2.3', '-')
    """
    if number is None or math.isnan(number):
        return "-"
    if math.isinf(number):
        return "+inf" if number > 0 else "-inf"
    rounded = Decimal(float(number)).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{rounded:+}" if rounded else "0.0"


def points_interval(low: float, high: float) -> str:
    """The interval of a number in percentage points.

    >>> points_interval(14.94, 20.16)
    '[+14.9, +20.2]'
    """
    return f"[{points(low)}, {points(high)}]"


def ratio(number: float | None) -> str:
    """A change of a probability, a cosine or a share of another slope, with its sign; a dash where there is none.

    >>> ratio(0.694), ratio(-0.0049), ratio(-1.0774), ratio(float("nan"))
    ('+0.69', '0.00', '-1.08', '-')
    """
    if number is None or math.isnan(number):
        return "-"
    return f"{number:+.2f}" if abs(number) >= 0.005 else "0.00"


def ratio_interval(number: float, low: float, high: float) -> str:
    """A number as ``ratio`` prints it, with its interval.

    >>> ratio_interval(0.694, -0.001, 0.73)
    '+0.69 [0.00, +0.73]'
    """
    return f"{ratio(number)} [{ratio(low)}, {ratio(high)}]"


def share(number: float | None) -> str:
    """A share in [0, 1] in per cent, one decimal; a dash where there is none.

    >>> share(0.8235), share(0.0), share(float("nan"))
    ('82.4 %', '0.0 %', '-')
    """
    if number is None or math.isnan(number):
        return "-"
    return f"{(Decimal(float(number)) * 100).quantize(Decimal('0.1'), ROUND_HALF_UP)} %"


def probability(number: float | None) -> str:
    """A p- or q-value; a dash where there is none.

    >>> probability(0.04321), probability(3.21e-5), probability(1e-40), probability(0.0)
    ('0.043', '3.2e-05', '<1e-15', '0')
    """
    if number is None or math.isnan(number):
        return "-"
    return "<1e-15" if 0 < number < 1e-15 else f"{number:.2g}"


def width(text: str) -> int:
    """Columns that a text takes in a terminal."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)
