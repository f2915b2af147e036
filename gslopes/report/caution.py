"""When a headline may tell that something does not move: if the data have shown it.

One rule for all audits.  Only an estimate that rests on ``LEAST`` units (photos, people, images, or clusters of them)
counts as nothing, and only if its 95 % interval holds 0 and stays within the size that matters on both sides, per unit
of what is edited if anything is.  Otherwise the headline tells that the run cannot tell, over how many units, and what
size still fits; see ``report.headline``.  What matters of log-odds: 0.2; of a share: as many points as these are at
that share, 5 at a half, 0.4 at 2 %; of a score: 0.05; of a number in another unit: a fifth of its standard deviation
among photos, if that is known.

Source: an interval within bounds set beforehand, as in tests of equivalence, Schuirmann 1987, doi 10.1007/BF01068419.
"""

import math
from collections.abc import Sequence

import numpy as np
from pandas import DataFrame

from gslopes.core import frozen
from gslopes.stats import multiplicity, rounding

LEAST = 10
MATTERS = {"log-odds": 0.2, "score": 0.05}
OF_SPREAD = 0.2


def points(share: float) -> float:
    """The percentage points that matter of a share; 0 and 1 count as a thousandth from them.

    >>> [round(points(share), 2) for share in (0.5, 0.02, 0)]
    [5.0, 0.39, 0.02]
    """
    share = min(max(share, 0.001), 0.999)
    return 100 * MATTERS["log-odds"] * share * (1 - share)


@frozen
class Nothing:
    """An estimate that is not a finding.

    name: of what it is, as shown.  low, high: its 95 % interval, in the unit of ``matters``; NaN if it is missing.
    n: units.  matters: the size that matters.  shown: the interval as the sentence has it.
    note: in brackets: why it may be nothing though the interval leaves out 0; if empty, what would matter.
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
        """Whether the interval does not leave out 0; true without an interval."""
        return not (self.low > 0 or self.high < 0)

    @property
    def reach(self) -> float:
        """The largest size that fits, relative to the one that matters; infinite without an interval."""
        size = max(abs(self.low), abs(self.high)) / self.matters if self.matters > 0 else math.inf
        if math.isfinite(size):
            return size
        return math.inf

    @property
    def small(self) -> bool:
        """Whether the data have shown that it is less than what matters, be it something or nothing."""
        return self.n >= LEAST and self.reach < 1

    @property
    def clear(self) -> bool:
        """Whether the data have shown that it is nothing, or less than what matters.

        >>> [Nothing("a", low, 3, n, 5, "").clear for low, n in ((-2, 9), (-2, 10), (1, 10), (-5, 10))]
        [False, True, False, False]
        """
        return self.small and self.holds_zero


def judged(changes: DataFrame, estimates: Sequence[Nothing]) -> DataFrame:
    """Changes with the columns matters, changed and small.

    changed: whether each is a finding, and not shown to be less than what matters.  small: whether it is shown.

    changes: with q, ci_low and ci_high.  estimates: of the changes.
    """
    small = np.array([estimate.small for estimate in estimates], bool)
    sure = multiplicity.are_findings(changes)
    matters = [estimate.matters for estimate in estimates]
    return changes.assign(matters=matters, changed=sure & ~small, small=sure & small)


def verdicts(changes: DataFrame) -> list[str]:
    """Whether each has changed, as a table has it."""
    texts = np.select([changes["changed"], changes["small"]], ["yes", "too little"], "no")
    return [str(text) for text in texts]


def widest(estimates: Sequence[Nothing]) -> Nothing:
    """The estimate of which least is known: one whose interval leaves out 0, else the one with the largest reach."""
    reach = rounding.places([estimate.reach for estimate in estimates]).tolist()
    _, least = max(
        zip(reach, estimates, strict=True),
        key=lambda pair: (not pair[1].clear, not pair[1].holds_zero, pair[0], pair[1].name),
    )
    return least
