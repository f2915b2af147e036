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

    source: str = option("openverse")
    occupations: str = option("bls-129")
    keywords: str = option("paper")
    per_query: int = option(250, least=1)
    per_person: int | None = option(None, least=1, most=50)
    min_side: int = option(64, least=1)
    gap: float = option(1.0, least=0)
    contact: str = option("")

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

    confidence: float = option(0.9, least=0.5, most=1)
    reader: Path | None = option(None)
    unsure: tuple[str, ...] = option(("gender",))
    device: str = option("auto")

    def __post_init__(self) -> None:
        for name in self.unsure:
            if name not in VALUES:
                raise UnknownName("reading", name, VALUES)
        if not self.unsure:
            raise ConfigError("unsure is empty.", f"Name one or more of {', '.join(VALUES)}.")
