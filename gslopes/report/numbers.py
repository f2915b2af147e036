"""How numbers are written in every table, figure and page: with a true minus, and a dash for a missing one.

The scripts of the pages write them alike, see templates/page-base.js.
"""

import math
from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core import nudged
from gslopes.stats.rounding import STORED, settled

NONE = "–"
Format = Callable[[float], str]


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _half_up(number: float | Decimal, digits: int) -> Decimal:
    """Rounded, halves away from 0, as the pages' scripts round them."""
    return Decimal(nudged(float(number))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def signed(number: float | None) -> str:
    """A slope that is not in percentage points (the paper's, log odds), with its sign.

    >>> signed(0.12345), signed(-12.3), signed(-0.0004), signed(0.0), signed(1234.5), signed(float("nan"))
    ('+0.123', '−12.300', '0.000', '0', '+1,235', '–')
    """
    if pd.isna(number):
        return NONE
    if abs(number) < 0.0005:
        if number:
            return "0.000"
        return "0"
    number = nudged(number)
    if abs(number) < 100:
        return _minus(f"{number:+.3f}")
    if abs(number) < 1e9:
        return _minus(f"{number:+,.0f}")
    return _minus(f"{number:+.3g}")


def points(number: float | None, digits: int = 1) -> str:
    """Percentage points, per unit or not, with the sign.

    >>> points(17.46), points(-24.197), points(-0.04), points(0.0), points(2.25), points(float("nan"))
    ('+17.5', '−24.2', '0.0', '0', '+2.3', '–')
    """
    if pd.isna(number):
        return NONE
    if math.isinf(number):
        return _minus(f"{number:+}")
    rounded = _half_up(float(number), digits)
    if rounded:
        return _minus(f"{rounded:+}")
    if number:
        return f"{abs(rounded)}"
    return "0"


def size(number: float | None, digits: int = 1) -> str:
    """Percentage points without the sign.

    >>> size(-24.197)
    '24.2'
    """
    return points(number, digits).lstrip("+−")


def ratio(number: float | None) -> str:
    """A change of a probability, a cosine or a share of another slope, with its sign.

    >>> ratio(0.694), ratio(-0.0049), ratio(-1.0774), ratio(float("nan")), ratio(float("inf"))
    ('+0.69', '0.00', '−1.08', '–', '+∞')
    """
    if pd.isna(number):
        return NONE
    if abs(number) >= 0.005:
        return _minus(f"{nudged(number):+.2f}".replace("inf", "∞"))
    if number:
        return "0.00"
    return "0"


def interval(low: float | None, high: float | None, write: Format = points) -> str:
    """Both ends in brackets; 0 if both are written as 0; a dash if one is unknown.

    >>> interval(-14.94, 20.16), interval(-0.01, 0.04), interval(0.1, float("nan"))
    ('[−14.9, +20.2]', '0', '–')
    """
    if pd.isna(low) or pd.isna(high):
        return NONE
    text = f"[{write(low)}, {write(high)}]"
    if text.strip("[0., %]"):
        return text
    return write(0.0)


def with_interval(number: float, low: float, high: float, write: Format = points) -> str:
    """A number and, if it is known, its interval.

    >>> with_interval(0.694, -0.001, 0.73, ratio), with_interval(2, float("nan"), float("nan"))
    ('+0.69 [0.00, +0.73]', '+2.0')
    """
    ends = interval(low, high, write)
    if "[" in ends:
        return f"{write(number)} {ends}"
    return write(number)


def of_row(row: Any, name: str, write: Format = points, ends: str = "ci") -> str:
    """A number of a row with its interval, as ``with_interval``.  ends: what the columns of both ends begin with."""
    return with_interval(row[name], row[f"{ends}_low"], row[f"{ends}_high"], write)


def ends_of(row: Any, write: Format = points) -> str:
    """The interval of a row, from ci_low to ci_high, as ``interval``."""
    return interval(row["ci_low"], row["ci_high"], write)


def share(number: float | None, digits: int = 1) -> str:
    """A share in [0, 1] in per cent.

    >>> share(0.8235), share(0.0), share(0.5, 0), share(float("nan"))
    ('82.4 %', '0.0 %', '50 %', '–')
    """
    if pd.isna(number):
        return NONE
    rounded = _half_up(100 * float(number), digits)
    return _minus(f"{rounded if rounded else abs(rounded)} %")


per_cent = partial(share, digits=0)  # without decimals


def fraction(number: float | None) -> str:
    """A share in [0, 1] as Joo & Kärkkäinen (2020) print it, Table 3.

    >>> fraction(0.9214), fraction(1.0), fraction(float("nan"))
    ('.921', '1.000', '–')
    """
    return decimal(number, 3).removeprefix("0")


def share_range(low: float, high: float) -> str:
    """Both ends of a share's interval in per cent; empty if one is unknown.

    >>> share_range(0.123, 0.4567)
    '12.3 to 45.7 %'
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"{share(low).removesuffix(' %')} to {share(high)}"


def decimal(number: float | None, digits: int = 2) -> str:
    """A plain number with ``digits`` decimals.

    >>> decimal(-0.1234), decimal(2, 3), decimal(None)
    ('−0.12', '2.000', '–')
    """
    if pd.isna(number):
        return NONE
    text = f"{nudged(number):,.{digits}f}"
    if text.strip("-0."):
        return _minus(text)
    return text.lstrip("-")


def span_of(first: float, last: float) -> float:
    """How far two numbers lie apart; 0 if that is nothing but rounding."""
    return float(settled(abs(last - first), max(abs(first), abs(last)), STORED))


def apart(values: Iterable[float]) -> list[str]:
    """Numbers of one row, with as many decimals as it takes to see how they differ: none to five.

    >>> apart([0.9935, 0.9947]), apart([0.1, 0.9, float("nan")]), apart([34.21, 41.5]), apart([40811, 88000])
    (['0.9935', '0.9947'], ['0.10', '0.90', '–'], ['34.2', '41.5'], ['40,811', '88,000'])
    """
    row = [float(number) for number in values]
    finite = [number for number in row if not math.isnan(number)]
    span = nudged(span_of(max(finite, default=0.0), min(finite, default=0.0)))
    digits = 2
    if span >= 5:
        digits = int(span < 500)
    elif 0 < span < 0.02:
        digits = min(5, 1 - math.floor(math.log10(span)))
    return [decimal(number, digits) for number in row]


def change(first: float, last: float) -> tuple[str, str]:
    """Two levels with as few decimals as show by how much they differ, to two digits or so; equal if they hardly do.

    >>> change(94.4, 5.6), change(0.0225, 0.985), change(31.2, 31.9), change(0.5, 0.5), change(0.5, 0.500001)
    (('94', '6'), ('0.02', '0.99'), ('31.2', '31.9'), ('0.50', '0.50'), ('0.5000', '0.5000'))
    >>> change(1.0, 0.0)
    ('1', '0')
    """
    span = nudged(span_of(first, last))
    if math.isnan(span):
        return NONE, NONE
    least = 2 if max(abs(first), abs(last)) <= 1 else 0
    digits = least
    if round(first, 9) % 1 == round(last, 9) % 1 == 0:
        digits = 0
    elif span > 0:
        digits = min(max(math.ceil(-math.log10(span / 2)), least), 4)
    return _minus(f"{_half_up(first, digits) + 0:,}"), _minus(f"{_half_up(last, digits) + 0:,}")


def value(number: float, sign: bool = False) -> str:
    """A value of the attribute, or another setting: three digits, no zeros at the end.

    >>> value(-0.6667), value(2.0), value(1.3333, sign=True)
    ('−0.667', '2', '+1.33')
    """
    number = nudged(number)
    return _minus(f"{number:+.3g}" if sign and number else f"{number:.3g}")


def probability(number: float | None) -> str:
    """A p- or q-value.

    >>> probability(0.04321), probability(3.21e-5), probability(1e-40), probability(0.0)
    ('0.043', '3.2e−05', '<1e−15', '0')
    """
    if pd.isna(number):
        return NONE
    if 0 < number < 1e-15:
        return "<1e−15"
    return _minus(f"{nudged(number):.2g}")


def rounded(column: Iterable[float], digits: int = 5) -> list[float | None]:
    """Numbers for the pages' scripts, to ``digits`` significant digits; None for a missing one."""
    return [float(f"{x:.{digits}g}") if np.isfinite(x) else None for x in column]
