"""When a headline may say that something does not move: where the data have shown it.

One rule for all audits.  Nothing found counts as nothing there only if the estimate rests on ``LEAST`` units (photos,
people, images, or clusters of them), and its 95 % interval holds 0 and stays within the size that matters on both
sides, per unit of what is edited if anything is.  Otherwise the headline says that it cannot tell, over how many, and
what size still fits.  What matters of log-odds: 0.2; of a share: as many points as these are there, 5 at a half, 0.4
where 2 % have it; of a score: 0.05; of a number in a unit of its own: a fifth of its standard deviation among photos,
where that is known.

Source: an interval within bounds set beforehand, as in tests of equivalence, Schuirmann 1987, doi 10.1007/BF01068419.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gslopes.core.text import two_digits
from gslopes.report import words
from gslopes.stats.rounding import places

LEAST = 10
MATTERS = {"log-odds": 0.2, "score": 0.05}
OF_SPREAD = 0.2


def points(share: float) -> float:
    """The percentage points that matter of a share that lies about here; 0 and 1 count as a thousandth from them.

    >>> [round(points(share), 2) for share in (0.5, 0.02, 0)]
    [5.0, 0.39, 0.02]
    """
    share = min(max(share, 0.001), 0.999)
    return 100 * MATTERS["log-odds"] * share * (1 - share)


@dataclass(frozen=True, slots=True)
class Nothing:
    """An estimate that is not a finding.

    name: what it is of, as shown.  low, high: its 95 % interval, in the unit of ``matters``; NaN for none.
    n: units.  matters: the size that matters.  shown: the interval as the sentence has it.
    note: what stands in brackets: why it may be nothing though the interval leaves out 0; else what would matter.
    """

    name: str
    low: float
    high: float
    n: int
    matters: float
    shown: str
    note: str = ""

    @property
    def holds_zero(self) -> bool:
        """Whether the interval does not leave out 0; so it is where there is none."""
        return not (self.low > 0 or self.high < 0)

    @property
    def reach(self) -> float:
        """The largest size that fits, relative to the one that matters; infinite without an interval."""
        size = max(abs(self.low), abs(self.high)) / self.matters if self.matters > 0 else math.inf
        if math.isfinite(size):
            return size
        return math.inf

    @property
    def clear(self) -> bool:
        """Whether the data have shown that it is less than what matters.

        >>> [Nothing("a", low, 3, n, 5, "").clear for low, n in ((-2, 9), (-2, 10), (1, 10), (-5, 10))]
        [False, True, False, False]
        """
        return self.n >= LEAST and self.reach < 1 and self.holds_zero


def widest(found: Sequence[Nothing]) -> Nothing:
    """The one that says least of nothing: whose interval leaves out 0, then of which least is known."""
    far = zip(places([one.reach for one in found]).tolist(), found, strict=True)
    return max(
        far, key=lambda pair: (not pair[1].clear, not pair[1].holds_zero, pair[0], pair[1].name)
    )[1]


def fits(one: Nothing) -> str:
    """What the data leave open: the interval, or that there is none.

    >>> fits(Nothing("“a”", -3, 21, 8, 5, "[−3, +21] points per unit")), fits(Nothing("“a”", math.nan, 1, 8, 5, ""))
    ('“a” may lie anywhere in [−3, +21] points per unit (5 would matter)', '“a” has no interval')
    >>> fits(Nothing("“a”", 1, 4, 80, 5, "[+1, +4] points per unit", "q 0.07 is not below 0.05"))
    '“a” lies in [+1, +4] points per unit (q 0.07 is not below 0.05)'
    """
    if not math.isfinite(one.low + one.high):
        return f"{one.name} has no interval"
    where = f"may lie anywhere in {one.shown}" if one.holds_zero else f"lies in {one.shown}"
    return f"{one.name} {where} ({_noted(one)})"


def undecided(found: Sequence[Nothing]) -> str:
    """Of how many it is not known whether they move, and of the one of which least is known, what is.

    >>> undecided([Nothing("“a”", -3, 21, 8, 5, "[−3, +21]"), Nothing("“b”", -1, 1, 80, 5, "[−1, +1]")])
    '“a” is undecided: it may lie anywhere in [−3, +21] (5 would matter)'
    """
    one = widest(found)
    number = sum(not each.clear for each in found)
    if number == 1:
        return f"{one.name} is undecided: {fits(replace(one, name='it'))}"
    return f"{number:,} are undecided: {fits(one)}"


def cannot_tell(one: Nothing, question: str, *units: str) -> str:
    """The sentence of a run that could not tell, without its full stop.

    question: whether what.  units: what is counted, one and several.

    >>> cannot_tell(Nothing("“a”", -3, 21, 8, 5, "[−3, +21]"), "whether “a” moves", "photo")
    'Cannot tell with 8 photos whether “a” moves: “a” may lie anywhere in [−3, +21] (5 would matter)'
    """
    return f"Cannot tell with {words.many(one.n, *units)} {question}: {fits(one)}"


def widely(one: Nothing, *units: str) -> str:
    """How surely there is nothing: over how many, and the interval next to what would matter."""
    return f"{words.many(one.n, *units)}; widest: {one.shown}, {_noted(one)}"


def _noted(one: Nothing) -> str:
    known = f"{two_digits(one.matters, '')} would matter"
    return one.note or (known if one.matters > 0 else "what would matter is not known")
