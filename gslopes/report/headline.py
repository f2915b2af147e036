"""The one writer of headlines: an audit states the case, ``sentences.toml`` has the words.

The section ``headline`` of an audit's ``sentences.toml`` has a sentence for each case. A sentence with two forms is a
list: for one thing, and for several. ``{names}`` in it are facts that the audit gives, or of ``Sentences.nothing``.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, Self

from gslopes.core import Facts, config, frozen, many, two_digits
from gslopes.core.tables import Record, Row
from gslopes.report.caution import Nothing, widest
from gslopes.stats.rounding import highest


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

        rows: with difference, and what ``caution.judged`` adds.  estimates: of the rows.  describe: gives the facts of
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
    if not isfinite(estimate.low + estimate.high):
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
