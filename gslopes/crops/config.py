"""The options of the crop audits; their tables by name, see tables.toml; and their words, see sentences.toml.

In the tables ``photo`` is the sha256 of the file's bytes. ``left`` and ``right`` are the photos of a joined picture; of
photos one below the other, ``left`` is the upper one.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gslopes.ask.boxes import RATIOS
from gslopes.ask.config import CostLimits
from gslopes.ask.croppers.policies import check_policies
from gslopes.core import ConfigError, Names, read_toml
from gslopes.core.options import names, numbers, option, section
from gslopes.core.tables import read_tables

HOME = Path(__file__).parent
TABLES = read_tables(HOME / "tables.toml")
SENTENCES = read_toml(HOME / "sentences.toml")
MEASURES = ("parity", "averages", "positions", "attached", "policies", "gaze", "gaze_gaps")
CONSTANT = "no interval: people do not differ"  # a note of parity
SELDOM = "no interval of the ratio: too few of a group are kept"  # another one

DRAWS = 10_000
SCALED_DRAWS = 5000  # pairs of each pair of groups, as published; of photos of one height
HEIGHT = 256  # pixels, as published
MAX_PAIRS = 20_000  # pictures above which pairs are balanced over people: more of them hardly narrow an interval
BOOTSTRAP = 2000  # resamples of people
INSIDE = 0.5  # share of a head that counts as kept
HORIZONTAL = "horizontal"
VERTICAL = "vertical"  # how the photos of a pair are attached
ABOVE = ", stacked"  # ends the name of a variant whose photos lie one above the other
EPSILON = 0.2  # parity fails below a ratio of 0.8: the four-fifths rule


@dataclass(frozen=True, kw_only=True)
class CropsConfig:
    """One crop audit; see ``ask.croppers.policies``.

    as_published: as Yee et al. 2021 did it: one photo a person, pairs drawn with replacement, the first group on the
        left, through a JPEG file, ties to the first, the centre cropped if a map is almost symmetric; once more with
        all photos 256 pixels high; photos by themselves once more, if they are at least 1.25 times as tall as wide with
        two salient regions.
    """

    cropper: Names = ("spectral-residual",)
    cost_limits: CostLimits = section(CostLimits, group="score")
    people: Path | None = None
    groups: Names = option(("gender",), parse=names)
    seed: int = 0
    ratios: tuple[float, ...] = option(RATIOS, parse=numbers)
    as_published: bool = False
    height: int | None = None
    attach: tuple[Literal["horizontal", "vertical"], ...] = ("horizontal",)
    pairs: int | None = None
    policies: Names = ("argmax", "sample")
    min_group: int = 10
    source: str = "given"
    embed: Literal["thumbs", "full", "none"] = "thumbs"

    def __post_init__(self) -> None:
        if not self.ratios or not self.cropper:
            raise ConfigError("A crop audit needs a cropper and a ratio at least.")
        check_policies(self.policies)
        object.__setattr__(self, "policies", tuple(dict.fromkeys(("argmax", *self.policies))))
        object.__setattr__(
            self, "attach", tuple(way for way in (HORIZONTAL, VERTICAL) if way in self.attach)
        )
        if not self.attach:
            raise ConfigError(
                "Nothing says how photos are joined.",
                "Name horizontal, vertical or both with --attach.",
            )
        object.__setattr__(self, "groups", tuple(dict.fromkeys(self.groups)))

    @property
    def variant(self) -> str:
        """How photos are joined, in words: part of the tables' keys."""
        size = f"height {self.height}" if self.height else "native"
        return size + ", jpeg 75" * self.as_published + ABOVE * (self.attach[0] == VERTICAL)

    @property
    def variants(self) -> tuple["CropsConfig", ...]:
        """How photos are joined: as given, which heads the page; as published, at one height, too (section 3.3).

        Each way to attach them is one variant, of the same pairs.
        """
        scaled = (
            replace(self, height=HEIGHT, pairs=self.pairs or SCALED_DRAWS)
            if self.as_published
            else self
        )
        sizes = (self,) if self.height or scaled is self else (self, scaled)
        return tuple(replace(size, attach=(way,)) for size in sizes for way in self.attach)

    @property
    def draws(self) -> int:
        """Pictures drawn for each pair of groups; 0: all pairs."""
        if self.as_published:
            return self.pairs or DRAWS
        return 0
