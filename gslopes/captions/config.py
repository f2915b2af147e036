"""The configuration of a captions audit, and the techniques that techniques.toml declares.

Of a technique: what it needs, how it is to be read, what it assumes.
"""

from pathlib import Path
from typing import NamedTuple

from gslopes.core import Names, Row, UnknownName, frozen, option, read_toml, section
from gslopes.core.tables import read_tables
from gslopes.words.graph import Rule
from gslopes.words.wordlists import Lists

STAGES = ("human-labels", "system-labels", "human-captions", "system-captions")
HARMS = {
    "I": "identity",
    "R": "reifying",
    "S": "stereotyping",
    "E": "erasing",
    "D": "demeaning",
}
HOME = Path(__file__).parent
TABLES = read_tables(HOME / "tables.toml")
SENTENCES = read_toml(HOME / "sentences.toml")


class Technique(NamedTuple):
    """One technique; fields as in techniques.toml.  unjudged: what it leaves out without its first list."""

    name: str
    title: str
    measure: str
    needs: list[str]
    reading: str
    origin: str
    lists: list[str]
    assumptions: str
    unjudged: str = ""

    @property
    def harm(self) -> str:
        """The harm that it measures."""
        return HARMS[self.name[0]]

    def describe(
        self,
        target: str,
        truth: str,
        why: str,
        lists: Lists,
    ) -> Row:
        """Its row of the techniques table.  why: it cannot run; empty if it can."""
        truth = truth if "truth" in self.needs else ""
        excluded = SENTENCES["excluded"].get(target, {})
        ran = "no" if why else "yes"
        if self.unjudged and not lists[self.lists[0]].entries:
            why = why or self.unjudged
        return {
            **{
                name: getattr(self, name)
                for name in ("harm", "title", "reading", "origin", "assumptions")
            },
            "technique": self.name,
            "stage": target,
            "truth": truth,
            "needs": ", ".join(self.needs),
            "ran": ran,
            "why": why,
            "not_the_fault_of": excluded.get(truth, "nothing is excluded") if truth else "",
        }


TECHNIQUES = {
    name: Technique(name=name, **facts)
    for name, facts in read_toml(HOME / "techniques.toml").items()
}


@frozen
class AuditOptions:
    """What techniques take.

    min_active: concepts in fewer images are not tested.  splits, seed: of S2 as published; the paper has 1,000 splits.
    """

    types: int = 100
    as_published: bool = False
    min_active: int = 10
    splits: int = 1000
    seed: int = 0


@frozen
class CaptionsConfig:
    """One audit.  truth: ``auto`` is stage 1, else 3; what lies above it is audited."""

    groups: Path | None = None
    columns: Names = ()
    truth: str = "auto"
    techniques: Names = ()
    lists: dict[str, Path] = option(dict)
    senses: Rule = "overrides"
    tuples: Path | None = None
    limit: int | None = None
    images: Path | None = None
    review: Path | None = None
    options: AuditOptions = section(AuditOptions, group="measures")

    @property
    def files(self) -> list[Path]:
        """The files that it names."""
        return [
            path
            for path in (self.groups, self.tuples, self.images, self.review, *self.lists.values())
            if path
        ]

    def __post_init__(self) -> None:
        object.__setattr__(self, "techniques", tuple(dict.fromkeys(self.techniques)))
        for name in self.techniques:
            if name not in TECHNIQUES:
                raise UnknownName("technique", name, TECHNIQUES)
        if self.truth not in ("auto", *STAGES):
            raise UnknownName("stage", self.truth, STAGES)
