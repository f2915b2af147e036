"""The one writer of headlines: an audit states the case, ``sentences.toml`` has the words.

The section ``headline`` of an audit's ``sentences.toml`` has a sentence for each case. A sentence with two forms is a
list: for one thing, and for several. ``{names}`` in it are facts that the audit gives, or of ``Sentences.nothing``.

A headline may tell that something does not move only if the data have shown it, by one rule for all audits.  Only an
estimate that rests on ``LEAST`` units (photos, people, images, or clusters of them) counts as nothing, and only if its
95 % interval holds 0 and stays within the size that matters on both sides, per unit of what is edited if anything is.
Otherwise the headline tells that the run cannot tell, over how many units, and what size still fits.  What matters of
log-odds: 0.2; of a share: as many points as these are at that share, 5 at a half, 0.4 at 2 %; of a score: 0.05; of a
number in another unit: a fifth of its standard deviation among photos, if that is known.

Source: an interval within bounds set beforehand, as in tests of equivalence, Schuirmann 1987, doi 10.1007/BF01068419.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from pandas import DataFrame

from gslopes.core import Facts, Record, Row, config, frozen, many, two_digits
from gslopes.stats import multiplicity, rounding
from gslopes.stats.rounding import highest

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


@frozen
class Sentences:
    """The sentences of one kind of headline.  texts: case to its sentence, or to both forms of it."""

    texts: Facts

    @classmethod
    def read(cls, home: Path, section: str = "headline") -> Self:
        """A section of the ``sentences.toml`` of an audit.  home: its folder."""
        return cls(config.read_toml(home / "sentences.toml")[section])

    def say(self, case: str, count: int = 1, **facts: Any) -> str:
        """The sentence of a case.  count: chooses the form, and may be named; facts: what else may be named.

        >>> texts = Sentences({"lost": ["{who} lost one.", "{who} lost {count}."]})
        >>> texts.say("lost", who="A"), texts.say("lost", 2000, who="A")
        ('A lost one.', 'A lost 2,000.')
        """
        text = self.texts[case]
        if not isinstance(text, str):
            text = text[int(count > 1)]
        return text.format(count=f"{count:,}", **facts)

    def nothing(
        self, estimates: Sequence[Nothing], *units: str, count: int = 0, **facts: Any
    ) -> str:
        """The sentence if no estimate is a finding.

        It has the case ``none`` if the data have shown that nothing is there; ``some`` if they have shown it of some
        estimates, and the audit has that case; else ``unknown``. It may name: ``n``, how many units; ``open``, of how
        many estimates it is not known; ``name``, ``interval`` and ``fits``, of the one of which least is known; and
        ``undecided``.

        units: what is counted, one and several.  count: as of ``say``; by default the number of estimates.

        >>> texts = Sentences({"none": "Nothing ({n}; {interval}).", "unknown": "Cannot tell with {n}: {fits}."})
        >>> texts.nothing([Nothing("“a”", -3, 4, 80, 5, "[−3, +4]")], "photo")
        'Nothing (80 photos; [−3, +4], 5 or more would matter).'
        >>> texts.nothing([Nothing("“a”", -3, 21, 8, 5, "[−3, +21]")], "photo")
        'Cannot tell with 8 photos: “a” has the 95 % interval [−3, +21] (5 or more would matter).'
        """
        unclear = sum(not estimate.clear for estimate in estimates)
        case = "unknown" if unclear else "none"
        if 0 < unclear < len(estimates) and "some" in self.texts:
            case = "some"
        least = widest(estimates)
        return self.say(
            case,
            count or len(estimates),
            n=many(least.n, *units),
            open=f"{unclear:,}",
            name=least.name,
            interval=f"{least.shown}, {_noted(least)}",
            fits=fits(least),
            undecided=undecided(estimates),
            **facts,
        )

    def changes(
        self,
        rows: Sequence[Record],
        estimates: Sequence[Nothing],
        describe: Callable[[Any], Row],
        *units: str,
        **facts: Any,
    ) -> str:
        """The sentence about changes: the case ``changed``; ``small``, if no sure one would matter; or ``nothing``.

        rows: with difference, and what ``judged`` adds.  estimates: of the rows.  describe: gives the facts of
        the row that changed most.  units, facts: as of ``nothing``.
        """
        case = "changed" if any(row["changed"] for row in rows) else "small"
        named = [row for row in rows if row[case]]
        if not named:
            return self.nothing(estimates, *units, **facts)
        first = named[highest([abs(row["difference"]) for row in named])]
        text = self.say(case, len(rows), changed=f"{len(named):,}", **(facts | describe(first)))
        rest = [estimate for row, estimate in zip(rows, estimates, strict=True) if not row["small"]]
        if case == "small" and not all(estimate.clear for estimate in rest):
            text += self.say("others", undecided=undecided(rest))
        return text


def fits(estimate: Nothing) -> str:
    """What the data leave open: the interval, or that it is missing.

    >>> fits(Nothing("“a”", -3, 21, 8, 5, "[−3, +21] points per unit")), fits(Nothing("“a”", float("nan"), 1, 8, 5, ""))
    ('“a” has the 95 % interval [−3, +21] points per unit (5 or more would matter)', '“a” has no interval')
    """
    if not math.isfinite(estimate.low + estimate.high):
        return f"{estimate.name} has no interval"
    return f"{estimate.name} has the 95 % interval {estimate.shown} ({_noted(estimate)})"


def undecided(estimates: Sequence[Nothing]) -> str:
    """How many estimates may be something or nothing, and the interval of the one of which least is known.

    >>> undecided([Nothing("“a”", -3, 21, 8, 5, "[−3, +21]"), Nothing("“b”", -1, 1, 80, 5, "[−1, +1]")])
    '“a” is undecided: it has the 95 % interval [−3, +21] (5 or more would matter)'
    """
    least = widest(estimates)
    number = sum(not estimate.clear for estimate in estimates)
    known = fits(replace(least, name="it"))
    if number == 1:
        return f"{least.name} is undecided: {known}"
    return f"{number:,} are undecided, most of all {least.name}: {known}"


def _noted(estimate: Nothing) -> str:
    if estimate.note:
        return estimate.note
    if estimate.matters > 0:
        return f"{two_digits(estimate.matters, '')} or more would matter"
    return "what would matter is not known"
