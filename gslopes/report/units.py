"""How a slope is written by its label's measure: in points, in per cent of the odds, or in the number's own unit."""

from __future__ import annotations

import math
from typing import Any

from gslopes.report import numbers
from gslopes.report.numbers import Format

UNITS = {
    "presence": "percentage points per unit",
    "log-odds": "% of the odds per unit",
    "score": "score per unit",
    "value": "of its number per unit",
}


def measure_of(row: Any) -> str:
    """The measure of a row of the slopes table; presence where the table is older than the column."""
    measure = row.get("measure")
    return measure if isinstance(measure, str) and measure in UNITS else "presence"


def after(row: Any) -> str:
    """The unit as a sentence has it after a slope or its interval, which have their own per cent signs.

    >>> after({}), after({"measure": "log-odds"}), after({"measure": "value", "unit": "years per unit"})
    ('points per unit', 'of the odds per unit', 'years per unit')
    """
    short = {"presence": "points per unit", "log-odds": "of the odds per unit"}
    return short.get(measure_of(row), unit_of(row).removeprefix("of its number "))


def own(row: Any) -> str:
    """The unit of a row's number itself, after a blank; empty where it is not known.

    >>> own({"measure": "value", "unit": "years per unit"}), own({"measure": "value"})
    (' years', '')
    """
    return f" {unit_of(row)}".removesuffix(" per unit").replace(" of its number", "")


def unit_of(row: Any) -> str:
    """The unit of a row's slope as pages show it."""
    measure, unit = measure_of(row), row.get("unit")
    return unit if measure == "value" and isinstance(unit, str) and unit else UNITS[measure]


def writer_in(unit: str) -> Format:
    """What writes a slope in this unit, or an end of its interval, with the sign."""
    return numbers.points if unit.startswith("percentage points") else numbers.signed


def odds(slope: float) -> float:
    """A slope of log-odds as a change of the odds in per cent.

    >>> round(odds(0.1823), 1), round(odds(-0.6931), 1)
    (20.0, -50.0)
    """
    return 100 * math.expm1(slope)


def writer(measure: str) -> Format:
    """What writes a slope, or an end of its interval, with the sign.

    >>> writer("presence")(-13.42), writer("log-odds")(0.1823), writer("log-odds")(0.0), writer("value")(0.847)
    ('−13.4', '+20.0 %', '0', '+0.847')
    """
    if measure == "presence":
        return numbers.points
    return _percent if measure == "log-odds" else numbers.signed


def _percent(slope: float) -> str:
    known = math.isfinite(slope)
    return f"{numbers.points(odds(slope))} %" if known and slope else "0" if known else numbers.NONE
