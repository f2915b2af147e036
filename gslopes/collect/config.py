"""The configurations of a collection of photos and of a census of one."""

from pathlib import Path

from gslopes.core import ConfigError, Names, UnknownName, frozen, read_beside

REVIEW = read_beside(__file__, "review.toml")
VALUES: dict[str, list[str]] = REVIEW["values"]  # of each reading, as people may answer
RACES = VALUES["race"][:-1]  # but for unknown
COLUMNS = ("photo", "path", "decision", *VALUES)  # of the review's answers


@frozen
class CollectConfig:
    """One collection; see ``collect.photos``, ``collect.search`` and ``collect.wikidata``."""

    source: str = "openverse"
    occupations: str = "bls-129"
    keywords: str = "paper"
    per_query: int = 250
    per_person: int | None = None
    min_side: int = 64
    gap: float = 1.0
    contact: str = ""

    def __post_init__(self) -> None:
        if not self.contact.isprintable() or not self.contact.isascii():
            raise ConfigError(
                "The contact holds characters that a user agent cannot.", "Use plain ASCII."
            )


@frozen
class CensusConfig:
    """One census."""

    confidence: float = 0.9
    reader: Path | None = None
    unsure: Names = ("gender",)
    device: str = "auto"

    def __post_init__(self) -> None:
        for name in self.unsure:
            if name not in VALUES:
                raise UnknownName("reading", name, VALUES)
        if not self.unsure:
            raise ConfigError("unsure is empty.", f"Name one or more of {', '.join(VALUES)}.")
