"""The configurations of a collection of photos and of a census of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gslopes.core import frozen, runtime
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.core.options import option

if TYPE_CHECKING:
    from gslopes.collect.fetch import FetchPolicy

RACES = ("white", "black", "asian", "indian", "other")
VALUES = {  # of each reading, as people may answer
    "gender": ("female", "male", "non-binary", "unknown"),
    "race": (*RACES, "unknown"),
    "age": ("under 35", "35 or older", "unknown"),
}
DECISIONS = ("accept", "correct", "exclude", "undecided")
COLUMNS = ("photo", "path", "decision", *VALUES)  # of the review's answers


@frozen
class CollectConfig:
    """One collection; see ``collect.photos``, ``collect.search`` and ``collect.wikidata``."""

    source: str = option(
        "openverse",
        help="openverse or urls:FILE; wikidata, or wikidata:groups=Q-IDS with / between: people of "
        "named ethnic groups, with a people.csv.",
    )
    occupations: str = option(
        "bls-129", help="bls-129, a CSV, or jobs: chef,nurse.", metavar="LIST"
    )
    keywords: str = option(
        "paper", help="paper (six and none), none, a CSV, or words.", metavar="LIST"
    )
    per_query: int = option(250, help="Photos per search.", least=1)
    per_person: int | None = option(
        None,
        help="Photos of each person, at most: further ones are files of Commons that are said to show the person; "
        "of wikidata.",
        shown="those that Wikidata names",
        least=1,
        most=50,
    )
    min_side: int = option(
        64, help="Minimum length of the shorter side, pixels.", metavar="PX", least=1
    )
    gap: float = option(
        1.0, help="Seconds between requests to one host.", metavar="S", advanced=True, least=0
    )
    contact: str = option(
        "", help="How site operators can reach you; sent in the user agent.", metavar="MAIL"
    )

    def __post_init__(self) -> None:
        if not self.contact.isprintable() or not self.contact.isascii():
            raise ConfigError(
                "The contact holds characters that a user agent cannot.", "Use plain ASCII."
            )

    def policy(self) -> FetchPolicy:
        """How the network is used."""
        from gslopes.collect.fetch import FetchPolicy

        about = "; ".join(filter(None, ("audits of image classifiers", self.contact)))
        return FetchPolicy(gap=self.gap, agent=f"gslopes/{runtime.gslopes_version()} ({about})")


@frozen
class CensusConfig:
    """One census."""

    confidence: float = option(
        0.9,
        help="Readings less certain than this go to the review.",
        metavar="P",
        least=0.5,
        most=1,
    )
    reader: Path | None = option(
        None,
        help="FairFace's ResNet-34 of seven races, a file of yours.",
        metavar="FILE",
        shown="the shipped reader",
    )
    unsure: tuple[str, ...] = option(
        ("gender",),
        help="What a reading must be sure of not to go to the review: gender, race, age; may be repeated.",
        metavar="READING",
        shown="gender",
    )
    device: str = option("auto", help="Where the networks run.", metavar="auto|cpu|cuda[:N]")

    def __post_init__(self) -> None:
        for name in self.unsure:
            if name not in VALUES:
                raise UnknownName("reading", name, VALUES)
        if not self.unsure:
            raise ConfigError("unsure is empty.", f"Name one or more of {', '.join(VALUES)}.")
