"""Checks that every interval can be: ends in order, around their number, within what the number can be.

For tables ``Bound`` and ``faults``; ``bare`` finds ends of intervals that no bound was declared for.  For pages
``told`` and ``impossible``.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

_SLACK = 1e-9  # of the bounds: what adding in another order may leave
_ENDS = re.compile(r"(?:(?P<base>.+)_)?(?:low|high)")


@dataclass(frozen=True)
class Bound:
    """The columns of one interval, and what its number can be.

    value: the number's column; empty if the table has none.  ends: what the columns of both ends begin with.
    least, most: a number, or one for each row.
    """

    value: str
    ends: str = "ci"
    least: Any = -np.inf
    most: Any = np.inf

    @property
    def columns(self) -> tuple[str, str]:
        """Of both ends."""
        return f"{self.ends}_low", f"{self.ends}_high"


def faults(frame: pd.DataFrame, bounds: Sequence[Bound]) -> list[str]:
    """What cannot be, a line an interval: one end without the other, ends in the wrong order, not around the number,
    or beyond what it can be.  An interval that is missing is no fault."""
    found = []
    for bound in bounds:
        low, high = (frame[name].to_numpy(float) for name in bound.columns)
        value = frame[bound.value].to_numpy(float) if bound.value else np.full(len(low), np.nan)
        least, most = (
            np.broadcast_to(np.asarray(end, float), low.shape) for end in (bound.least, bound.most)
        )
        slack = _SLACK * np.maximum(1, np.nanmax(np.abs([low, high]), axis=0, initial=1))
        wrong = {
            "has one end only": np.isnan(low) != np.isnan(high),
            "ends before it begins": low > high + slack,
            "is not around its number": (value < low - slack) | (value > high + slack),
            "goes too low": low < least - slack,
            "goes too high": high > most + slack,
        }
        for why, rows in wrong.items():
            for row in np.flatnonzero(rows):
                text = f"{value[row]:g} [{low[row]:g}, {high[row]:g}] of [{least[row]:g}, {most[row]:g}]"
                found.append(f"{bound.value or bound.ends}, row {row}: {text} {why}")
    return found


def bare(columns: Collection[str], bounds: Sequence[Bound]) -> list[str]:
    """Columns that are ends of an interval for which no bound is declared."""
    declared = {name for bound in bounds for name in bound.columns}
    return sorted(name for name in columns if _ENDS.fullmatch(name) and name not in declared)


def check(frames: Mapping[str, pd.DataFrame], bounds: Mapping[str, Sequence[Bound]]) -> None:
    """That no table has an interval that cannot be, nor one without a bound.  frames: by the name of the table."""
    for name, frame in frames.items():
        of_table = bounds.get(name, ())
        assert not bare(list(frame.columns), of_table), (name, bare(list(frame.columns), of_table))
        assert not faults(frame, of_table), (name, faults(frame, of_table))


# -- pages ------------------------------------------------------------------------------------------------------------

_NUMBER = r"[+−-]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
_VALUE = rf"(?:(?P<value>{_NUMBER}) ?(?:%|points?)? ?)?"
_INTERVALS = [
    re.compile(rf"{_VALUE}{ends}(?=(?P<after>.{{0,40}}))")
    for ends in (
        rf"\[(?P<low>{_NUMBER})(?: ?%)?, (?P<high>{_NUMBER})(?P<inside> ?%)?\]",
        rf"\((?P<low>{_NUMBER}) to (?P<high>{_NUMBER})(?P<inside> ?%)\)",
    )
]


@dataclass(frozen=True)
class Told:
    """An interval as a page has it.  value: NaN without one before it.  after: the text that follows."""

    value: float
    low: float
    high: float
    after: str
    text: str


def told(text: str) -> list[Told]:
    """The intervals in the text of a page, without its tags: “+80.0 [+43.6, +100.0] points”, “30 % (12 to 46 %)”."""
    found = []
    matches = (match for pattern in _INTERVALS for match in pattern.finditer(text))
    for match in sorted(matches, key=lambda match: match.start()):
        value, low, high = (
            float((match[name] or "nan").replace("−", "-").replace(",", ""))
            for name in ("value", "low", "high")
        )
        after = (match["inside"] or "") + match["after"]
        found.append(Told(value, low, high, after, match[0]))
    return found


def impossible(text: str, most: float = 100.0) -> list[str]:
    """The intervals of a page that cannot be: those around no number of theirs; shares and points beyond ±100.

    most: points per unit that a slope of presence can have.
    """
    found = []
    for one in told(text):
        far = max(abs(one.low), abs(one.high))
        after = one.after.lstrip()
        ordered = one.low <= one.high and not (one.value < one.low or one.value > one.high)
        limit = np.inf
        if after.startswith(("%", "points", "percentage points")):
            limit = most if "per unit" in after else 100.0
        if not ordered or far > limit:
            found.append(one.text)
    return found
