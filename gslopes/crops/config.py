"""The options of the crop audits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from gslopes.ask.boxes import RATIOS, check_ratio
from gslopes.ask.config import CostLimits
from gslopes.core.errors import ConfigError
from gslopes.core.options import check, names, numbers, option, section
from gslopes.crops.policies import Settings, check_policies

CROPPERS = (
    "spectral-residual, fine-grained, faces, centre, random, smartcrop, vips-attention, vips-entropy, "
    "http:URL, fastgaze:PATH, onnx:PATH, torchscript:PATH, python:MODULE:FUNCTION, replay:FILE"
)
Attach = Literal["horizontal", "vertical", "none"]
DRAWS = 10_000  # pairs of each pair of groups, as published
MAX_PAIRS = 20_000  # pictures above which pairs are balanced over people: more of them hardly narrow an interval
INSIDE = 0.5  # share of a head that counts as kept
EPSILON = 0.2  # parity fails below a ratio of 0.8: the four-fifths rule
EMBED = "Pictures inside the page."
Embed = Literal["thumbs", "full", "none"]


@dataclass(frozen=True, kw_only=True)
class PeopleConfig:
    """What all crop audits are given; see ``crops.people``."""

    people: Path | None = option(None, help="Who is on each photo, and of which groups.", metavar="CSV")
    groups: tuple[str, ...] = option(
        ("gender",),
        help="Columns of the people's CSV to compare, or skin-tone, measured in the photos; several are crossed.",
        metavar="COLUMN,COLUMN",
        parse=names,
    )
    cropper: tuple[str, ...] = option(
        ("spectral-residual",), help=f"The cropper; may be repeated: {CROPPERS}.", short="c"
    )
    files: str = option(
        "", help="Where photos are, such as 'neutral/{id}.jpg', by the CSV's columns.", metavar="PATTERN", advanced=True
    )
    seed: int = option(0, help="Seed of all random draws.", metavar="S", advanced=True)
    device: str = option("auto", help="Where the networks run.", metavar="auto|cpu|cuda[:N]", advanced=True)
    cost_limits: CostLimits = section(CostLimits, group="score")

    @property
    def table(self) -> Path:
        """The table of people.  Raises: ConfigError if none is named."""
        if self.people is None:
            raise ConfigError("Nothing says who is on the photos.", "Name a table of people with --people CSV.")
        return self.people


@dataclass(frozen=True, kw_only=True)
class JoiningConfig(PeopleConfig):
    """How photos are joined, and a map becomes a crop."""

    ratios: tuple[float, ...] = option(
        RATIOS, help="Height/width of the crops.", metavar="R,R", parse=numbers, advanced=True
    )
    bootstrap: int = option(2000, help="Bootstrap resamples of people.", metavar="B", advanced=True, least=100)
    attach: ClassVar[str] = "horizontal"
    height: ClassVar[int | None] = None
    as_published: ClassVar[bool] = False
    policies: ClassVar[tuple[str, ...]] = ("argmax",)

    def __post_init__(self) -> None:
        check(self)
        for ratio in self.ratios:
            check_ratio(ratio)
        check_policies(self.policies)
        if not self.ratios or not self.policies or not self.cropper:
            raise ConfigError("A crop audit needs a cropper, a ratio and a policy at least.")

    @property
    def settings(self) -> Settings:
        """How policies work; the temperature is that of the cropper."""
        return Settings(ties="first" if self.as_published else "half")

    @property
    def jpeg(self) -> int | None:
        """Quality of the JPEG file that a joined picture goes through; None: it does not."""
        return 75 if self.as_published else None

    @property
    def main_ratio(self) -> float:
        """The ratio nearest to 1."""
        return min(self.ratios, key=lambda ratio: abs(ratio - 1))

    @property
    def variant(self) -> str:
        """How photos are joined, in words: part of the tables' keys."""
        parts = ["alone" if self.attach == "none" else f"height {self.height}" if self.height else "native"]
        parts += [self.attach] * (self.attach == "vertical") + [f"jpeg {self.jpeg}"] * self.as_published
        return ", ".join(parts)


@dataclass(frozen=True, kw_only=True)
class CropsConfig(JoiningConfig):
    """One crop audit; see ``crops.policies``.

    as_published: as Yee et al. 2021 did it: one photo a person, pairs drawn with replacement, the first group on the
        left, through a JPEG file, ties to the first.
    """

    as_published: bool = option(False, help="The choices of Yee et al. 2021.")  # type: ignore[misc]
    attach: Attach = option("horizontal", help="How photos are joined.", advanced=True)  # type: ignore[misc]
    height: int | None = option(  # type: ignore[misc]
        None, help="Resize photos to this height before joining.", metavar="PX", advanced=True, least=16
    )
    pairs: int | None = option(
        None,
        help="At most N pairs of photos, balanced over people.",
        shown=f"all, up to {MAX_PAIRS:,} pictures",
        least=1,
    )
    draws: int | None = option(
        None, help="Pairs drawn with replacement for each pair of groups, instead of all.", advanced=True, least=1
    )
    together: int = option(0, help="Also N pictures with one person of each group.", advanced=True, least=0)
    stability: int = option(24, help="Pictures asked about again after small edits; 0: none.", advanced=True, least=0)
    policies: tuple[str, ...] = option(  # type: ignore[misc]
        ("argmax", "sample"), help="How a map becomes a crop; may be repeated.", name="policy"
    )
    min_group: int = option(10, help="Smaller groups are not judged.", advanced=True, least=2)
    source: str = option("given", help="How groups are known, such as self-reported.", metavar="WORDS", advanced=True)
    limit: int | None = option(None, help="Only the first N photos.", least=2)
    embed: Embed = option("thumbs", help=EMBED, advanced=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "policies", tuple(dict.fromkeys(("argmax", *self.policies))))
        if self.as_published and self.draws is None:
            object.__setattr__(self, "draws", DRAWS)

    @property
    def orders(self) -> Literal["both", "left"]:
        """Both orders of a pair, or the first group on the left."""
        return "left" if self.as_published else "both"


@dataclass(frozen=True, kw_only=True)
class SweepConfig(JoiningConfig):
    """One face moved along an attribute; without people each photo is a person of its own."""

    others: int = option(8, help="Opponents of each person.", least=1)


@dataclass(frozen=True, kw_only=True)
class RegionsConfig(PeopleConfig):
    """Photos alone.

    min_regions: photos on which a cropper's map has fewer salient regions do not count for it; the paper's is 2.
    review: a CSV of marks, ``photo,region,kind`` as the review page saves it, or ``photo,x0,y0,x1,y1,kind`` in pixels,
        photos by their path or sha256.
    """

    tall: float = option(1.25, help="Smallest height/width of a photo.", metavar="R", least=0.01)
    per_group: int = option(100, help="Photos of each group, drawn at random.", least=1)
    min_regions: int = option(
        0, help="Photos with fewer salient regions do not count; the paper's is 2.", advanced=True, least=0
    )
    review: Path | None = option(None, help="What people marked, or boxes.", metavar="CSV", shown="RUN/review.csv")
    source: str = option("given", help="How groups are known, such as self-reported.", metavar="WORDS", advanced=True)
    embed: Embed = option("thumbs", help=EMBED, advanced=True)
    ratios: ClassVar[tuple[float, ...]] = (1.0,)

    def __post_init__(self) -> None:
        check(self)
