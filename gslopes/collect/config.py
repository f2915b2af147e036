"""The configurations of a collection of photos and of a census of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gslopes.core import runtime
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.core.options import check, option

if TYPE_CHECKING:
    from gslopes.collect.fetch import FetchPolicy

READINGS = ("gender", "race", "age")


@dataclass(frozen=True, slots=True)
class CollectConfig:
    """One collection; see ``collect.photos``, ``collect.lists`` and ``collect.wikidata``."""

    source: str = option(
        "openverse",
        help="openverse, wikimedia, google (your key in the environment), urls:FILE or folder:DIR; wikidata, "
        "or wikidata:FILE with a saved answer: people of named ethnic groups, with a people.csv.",
    )
    occupations: str = option("bls-129", help="bls-129, a CSV, or jobs: chef,nurse.", metavar="LIST")
    keywords: str = option("paper", help="paper (six and none), none, a CSV, or words.", metavar="LIST")
    per_query: int = option(250, help="Photos per search.", least=1)
    near: int = option(
        4,
        help="Photos whose 64-bit hashes differ in at most this many bits are duplicates; -1: only equal files.",
        metavar="BITS",
        advanced=True,
    )
    min_side: int = option(64, help="Minimum length of the shorter side, pixels.", metavar="PX")
    gap: float = option(1.0, help="Seconds between requests to one host.", metavar="S", advanced=True, least=0)
    contact: str = option("", help="How site operators can reach you; sent in the user agent.", metavar="MAIL")
    test_servers: tuple[str, ...] = option(
        (),
        help="Allow this one server at a private address, for tests.",
        name="test_server",
        metavar="HOST:PORT",
        advanced=True,
    )
    min_ethnic: int = option(40, help="With wikidata: the fewest people of an ethnic group.", advanced=True)
    min_group: int = option(100, help="With wikidata: the fewest people of a group and gender.", advanced=True)

    def __post_init__(self) -> None:
        check(self)
        if not -1 <= self.near <= 16:
            raise ConfigError(f"near is {self.near}; it must be -1 to 16: beyond that photos that differ become one.")
        if self.gap == float("inf"):
            raise ConfigError(f"gap is {self.gap}; it must be a number of seconds.")
        if not self.contact.isprintable() or not self.contact.isascii():
            raise ConfigError("The contact holds characters that a user agent cannot.", "Use plain ASCII.")

    def policy(self) -> FetchPolicy:
        """How the network is used."""
        from gslopes.collect.fetch import FetchPolicy

        about = "; ".join(filter(None, ("audits of image classifiers", self.contact)))
        agent = f"gslopes/{runtime.gslopes_version()} ({about})"
        return FetchPolicy(gap=self.gap, agent=agent, allowed=self.test_servers)


@dataclass(frozen=True, slots=True)
class CensusConfig:
    """One census."""

    confidence: float = option(
        0.9, help="Readings less certain than this go to the review.", metavar="P", least=0.5, most=1
    )
    limit: int | None = option(None, help="At most N photos, taken from every folder in turn.")
    reader: Path | None = option(
        None, help="FairFace's ResNet-34 of seven races, a file of yours.", metavar="FILE", shown="the shipped reader"
    )
    unsure: tuple[str, ...] = option(
        ("gender",),
        help="What a reading must be sure of not to go to the review: gender, race, age; may be repeated.",
        metavar="READING",
        shown="gender",
    )
    review: Path | None = option(None, help="Answers saved by the review.", metavar="CSV", shown="CENSUS/review.csv")
    device: str = option("auto", help="Where the networks run.", metavar="auto|cpu|cuda[:N]")

    def __post_init__(self) -> None:
        check(self)
        for name in self.unsure:
            if name not in READINGS:
                raise UnknownName("reading", name, READINGS)
        if not self.unsure:
            raise ConfigError("unsure is empty.", f"Name one or more of {', '.join(READINGS)}.")
