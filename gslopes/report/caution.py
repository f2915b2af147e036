"""When a headline may say that something does not move: where the data could have shown it.

One rule for all audits.  Nothing found counts as nothing there only if the estimate rests on ``LEAST`` photos, people
or images, and its 95 % interval stays within the size that matters on both sides: ``POINTS`` percentage points, per
unit of what is edited if anything is.  Otherwise the headline says that it cannot tell, over how many, and what size
still fits.  Log-odds: what 5 points are at a share of a half, 0.2; a score: 0.05; a number in a unit of its own: a
fifth of its standard deviation among photos, where that is known.

Source: an interval within bounds set beforehand, as in tests of equivalence, Schuirmann 1987, doi 10.1007/BF01068419.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gslopes.report import words

LEAST = 10
POINTS = 5.0
MATTERS = {"presence": POINTS, "log-odds": 0.2, "score": 0.05}
OF_SPREAD = 0.2


@dataclass(frozen=True, slots=True)
class Nothing:
    """An estimate that is not a finding.

    name: what it is of, as shown.  low, high: its 95 % interval about 0, in the unit of ``matters``; NaN for none.
    n: photos, people or images.  matters: the size that matters.  shown: the interval as the sentence has it.
    """

    name: str
    low: float
    high: float
    n: int
    matters: float
    shown: str

    @property
    def reach(self) -> float:
        """The largest size that fits, relative to the one that matters; infinite without an interval."""
        size = max(abs(self.low), abs(self.high)) / self.matters if self.matters > 0 else math.inf
        return size if math.isfinite(size) else math.inf

    @property
    def clear(self) -> bool:
        """Whether the data could have shown the size that matters.

        >>> [Nothing("a", -2, 3, n, 5, "").clear for n in (9, 10)], Nothing("a", -2, 5, 90, 5, "").clear
        ([False, True], False)
        """
        return self.n >= LEAST and self.reach < 1


def widest(found: Sequence[Nothing]) -> Nothing:
    """The one of which least is known."""
    return max(found, key=lambda one: (not one.clear, one.reach, one.name))


def fits(one: Nothing) -> str:
    """What the data leave open: the interval, or that there is none.

    >>> fits(Nothing("“a”", -3, 21, 8, 5, "−3.0 to +21.0 points per step")), fits(Nothing("“a”", math.nan, 1, 8, 5, ""))
    ('“a” may lie anywhere in −3.0 to +21.0 points per step', '“a” has no interval')
    """
    bounded = math.isfinite(one.low + one.high)
    return f"{one.name} may lie anywhere in {one.shown}" if bounded else f"{one.name} has no interval"


def cannot_tell(one: Nothing, question: str, *units: str) -> str:
    """The sentence of a run that could not tell, without its full stop.

    question: whether what.  units: what is counted, one and several.

    >>> cannot_tell(Nothing("“a”", -3, 21, 8, 5, "[−3, +21]"), "whether “a” moves", "photo")
    'Cannot tell with 8 photos whether “a” moves: “a” may lie anywhere in [−3, +21]'
    """
    return f"Cannot tell with {words.many(one.n, *units)} {question}: {fits(one)}"
