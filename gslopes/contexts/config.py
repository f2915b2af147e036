"""Settings of a context audit: its pictures, the columns of people.csv, and how answers become tables."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from gslopes.ask.config import AskingConfig
from gslopes.core import ConfigError, Names, frozen, option, section

KINDS = ("original", "canvas", "context", "empty")
PUBLISHED_KINDS = ("original", "context", "empty")  # Barlas et al. 2020, section 4.3


def size(text: str) -> tuple[int, int]:
    """``768x512`` as a pair."""
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdigit() for part in parts):
        raise ValueError(f"{text!r} is not a size such as 768x512.")
    return int(parts[0]), int(parts[1])


@frozen
class StageConfig:
    """What the pictures are.  It is a run's identity: another one needs another folder.

    kinds: of pictures, as the preset has them.

    Raises: ConfigError for a value out of its range.
    """

    backgrounds: Names = ("rendered",)
    cutout: Literal["auto", "alpha", "eraser", "studio"] = "auto"
    canvas: tuple[int, int] = option((768, 512), parse=size)
    person_share: float = 0.25
    sweep: Literal["", "gender", "race"] = ""
    steps: int | None = None
    landmarks: Path | None = None
    kinds: Names = KINDS

    def __post_init__(self) -> None:
        if not self.backgrounds:
            raise ConfigError(
                "No backgrounds are given.", "Name rendered, or a folder with --backgrounds."
            )


@frozen
class ContextOptions:
    """How answers become tables.  None of it needs a tagger to be asked again.

    typology: if empty, ``celeba`` for celeba-tagger and ``starter`` for all others.
    baseline: from which changes are measured, as the preset has it.  permutations: of each test by permutation.
    seed: of everything drawn at random, the audit's own.
    """

    typology: Names = ()
    ratings: Path | None = None
    baseline: Literal["canvas", "original"] = "canvas"
    permutations: int = 9999
    seed: int = 0


@frozen
class ContextsConfig:
    """One context audit.

    Raises: ConfigError if the preset is ``published`` and an option differs from the paper.
    """

    table: str | Path = ""
    group_column: str = ""
    classifiers: Names = ()
    review: Path | None = None
    preset: Literal["default", "published"] = "default"
    seed: int = 0
    device: str = "auto"
    pictures: StageConfig = section(StageConfig)
    analysis: ContextOptions = section(ContextOptions)
    score: AskingConfig = section(AskingConfig)

    def __post_init__(self) -> None:
        pictures = self.pictures
        analysis = replace(self.analysis, seed=self.seed)
        if self.preset == "published":
            if pictures.cutout not in ("auto", "eraser"):
                raise ConfigError(
                    f"As published, cutout is eraser, not {pictures.cutout}.",
                    "Leave out one of the two.",
                )
            pictures = replace(pictures, cutout="eraser", kinds=PUBLISHED_KINDS)
            analysis = replace(analysis, baseline="original")
        object.__setattr__(self, "pictures", pictures)
        object.__setattr__(self, "analysis", analysis)
