"""How a slope is written by its label's measure: in points, in per cent of the odds, or in the number's own unit."""

import math
from typing import Any

from gslopes.core import crossed, text
from gslopes.report.numbers import NONE, Format, points, ratio, signed

FEW = 50  # photos that are counted as they are: a share of them in 100 would promise more than there are
UNITS = {
    "presence": "percentage points per unit",
    "log-odds": "% of the odds per unit",
    "value": "of its number per unit",
}


def measure_of(row: Any) -> str:
    """The measure of a row of the slopes table; presence if the table is older than the column."""
    measure = row.get("measure")
    if isinstance(measure, str) and measure in UNITS:
        return measure
    return "presence"


def short(row: Any) -> str:
    """What is counted, without "per unit", after a number that has a per cent sign; empty if unknown.

    >>> short({}), short({"measure": "log-odds"}), short({"measure": "value", "unit": "years per unit"})
    ('points', 'of the odds', 'years')
    """
    unit = unit_of(row).removesuffix(" per unit").removeprefix("of its number")
    return {"presence": "points", "log-odds": "of the odds"}.get(measure_of(row), unit)


def after(row: Any) -> str:
    """The unit as a sentence has it after a slope or its interval.

    >>> after({}), after({"measure": "value"})
    ('points per unit', 'per unit')
    """
    return f"{short(row)} per unit{' of both' * is_crossed(row)}".lstrip()


def levels(row: Any, *shares: float) -> tuple[list[float], str]:
    """Levels of a row's label, or their changes, as sentences count them, and their unit.

    shares: of photos with it, which are counted of 100 photos, or of the row's own if these are few; of other measures
        they stay as they are.

    >>> levels({"n": 16}, 0.875), levels({"n": 50}, 0.375), levels({"measure": "log-odds"}, 0.375)
    (([14.0], 'of 16 photos'), ([37.5], 'of 100 photos'), ([0.375], ''))
    """
    if measure_of(row) != "presence":
        return list(shares), short(row).removeprefix("of the odds")
    count = int(row["n"])
    if count >= FEW:
        count = 100
    return [count * share for share in shares], f"of {text.many(count, 'photo')}"


def is_crossed(row: Any) -> bool:
    """Whether a row is of two attributes, and its slope their interaction."""
    _, second, value = crossed.split(str(row.get("attribute", "")))
    return bool(second) and not value


def unit_of(row: Any) -> str:
    """The unit of a row's slope as pages show it."""
    measure = measure_of(row)
    unit = row.get("unit")
    if measure == "value" and isinstance(unit, str) and unit:
        return unit
    return UNITS[measure]


def writer_in(unit: str) -> Format:
    """What writes a number in this unit, or an end of its interval, with the sign.

    >>> writer_in("percentage points")(1.25), writer_in("log odds")(1.25), writer_in("tags per unit")(1.25)
    ('+1.3', '+1.25', '+1.250')
    """
    if unit == "log odds":
        return ratio
    if "points" in unit:
        return points
    return signed


def odds(slope: float) -> float:
    """A slope of log-odds as a change of the odds in per cent.

    >>> round(odds(0.1823), 1), round(odds(-0.6931), 1)
    (20.0, -50.0)
    """
    if slope < 50:
        return 100 * math.expm1(slope)
    return math.inf


def writer(measure: str) -> Format:
    """What writes a slope, or an end of its interval, with the sign.

    >>> writer("presence")(-13.42), writer("log-odds")(0.1823), writer("log-odds")(0.0), writer("value")(0.847)
    ('−13.4', '+20.0 %', '0 %', '+0.847')
    """
    if measure == "presence":
        return points
    if measure == "log-odds":
        return _percent
    return signed


def writer_of(row: Any) -> Format:
    """What writes the slope of a row of the slopes table, by its measure."""
    return writer(measure_of(row))


def _percent(slope: float) -> str:
    if math.isfinite(slope):
        return f"{points(odds(slope))} %"
    return NONE
