"""Settings of a context audit: its pictures, the columns of people.csv, and how answers become tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from gslopes.ask.config import CostLimits
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.core.options import check, option, section

KINDS = ("original", "canvas", "context", "empty", "silhouette")
PALETTES = ("pink", "blue", "yellow", "gray")
PRESETS: Mapping[str, Mapping[tuple[str, str], Any]] = {
    "default": {
        ("pictures", "kinds"): KINDS,
        ("pictures", "cutout"): "auto",
        ("analysis", "baseline"): "canvas",
    },
    "published": {
        ("pictures", "kinds"): ("original", "context", "empty"),
        ("pictures", "cutout"): "eraser",
        ("analysis", "baseline"): "original",
    },
}
"""Section and name to what we chose, and what Barlas et al. 2020 chose, see method.toml."""


def share(text: str) -> float | str:
    """A number, or ``max``."""
    try:
        return text if text == "max" else float(text)
    except ValueError:
        raise ValueError(f"{text!r} is neither a number such as 0.25 nor max.") from None


def size(text: str) -> tuple[int, int]:
    """``768x512`` as a pair."""
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdigit() for part in parts):
        raise ValueError(f"{text!r} is not a size such as 768x512.")
    return int(parts[0]), int(parts[1])


@dataclass(frozen=True, slots=True)
class StageConfig:
    """What the pictures are.  It is a run's identity: another one needs another folder."""

    backgrounds: tuple[str, ...] = option(
        ("rendered",), help="rendered, packaged or a folder; may be repeated.", metavar="DIR", short="b"
    )
    limit: int | None = option(None, help="Only the first N photos.", least=1)
    cutout: str = option(
        "",
        help="How people are cut out.",
        metavar="auto|alpha|eraser|studio|parser|DIR",
        shown="auto; as published eraser",
        advanced=True,
    )
    keep_flagged: bool = option(False, help="Also use cut-outs that fail a check.", advanced=True)
    canvas: tuple[int, int] = option(
        (768, 512), help="Size of the pictures.", metavar="WxH", shown="768x512", parse=size, advanced=True
    )
    palettes: tuple[str, ...] = option(
        (),
        help="A colour of the rendered rooms, each of which is drawn in all that are given: pink, blue, yellow, gray.",
        metavar="COLOUR",
        shown="two of each room's own",
        advanced=True,
    )
    person_share: float | Literal["max"] = option(
        0.25, help="Size of a person; max: all that fits.", metavar="S|max", parse=share, advanced=True
    )
    kinds: tuple[str, ...] = option(
        (),
        help="A kind of picture: original, canvas, context, empty, silhouette; may be repeated.",
        metavar="KIND",
        shown="all; as published original, context and empty",
        advanced=True,
    )
    sweep: Literal["", "gender", "race"] = option("", help="Also K counterfactuals of each person in each context.")
    steps: int | None = option(None, help="Number of values in the sweep, odd.", metavar="K", advanced=True)
    gate: bool = option(True, help="Leave out sweeps that the gate drops.", advanced=True)
    editor: str = option("", help="The model that edits.", shown="the attribute's own", advanced=True)
    landmarks: Path | None = option(None, help="Known faces instead of a face detector.", metavar="CSV", advanced=True)
    masks: Path | None = option(
        None, help="Known masks of the sweep instead of a face parser.", metavar="DIR", advanced=True
    )

    def __post_init__(self) -> None:
        check(self)
        width, height = self.canvas
        if not (64 <= width <= 8192 and 64 <= height <= 8192):
            raise ConfigError(f"The canvas is {width}x{height}; its sides must be from 64 to 8192 pixels.")
        if not isinstance(self.person_share, str) and not 0 < self.person_share < 1:
            raise ConfigError(f"The person's share is {self.person_share:g}; it must lie between 0 and 1.")
        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown:
            raise ConfigError(f"There is no kind of picture {unknown[0]!r}.", f"Known: {', '.join(KINDS)}.")
        if self.kinds and ("context" not in self.kinds or not {"canvas", "original"} & set(self.kinds)):
            raise ConfigError("Without contexts and a baseline nothing can be compared.", "Keep context and canvas.")
        if not self.backgrounds:
            raise ConfigError("No backgrounds are given.", "Name rendered, packaged, or a folder with --backgrounds.")
        self._check_palettes()

    def _check_palettes(self) -> None:
        for palette in self.palettes:
            if palette not in PALETTES:
                raise UnknownName("palette", palette, PALETTES)
        if self.palettes and len(set(self.palettes)) < max(2, len(self.palettes)):
            raise ConfigError("A palette is compared with another one.", f"Name two or more of {', '.join(PALETTES)}.")
        if self.palettes and "rendered" not in self.backgrounds:
            raise ConfigError("Palettes are of rendered rooms, and there are none.", "Add --backgrounds rendered.")


@dataclass(frozen=True, slots=True)
class PeopleColumns:
    """Which columns of people.csv say what; empty for the usual names."""

    gender_column: str = option("", help="Column of the people's CSV with the gender.", shown="gender", advanced=True)
    group_column: str = option("", help="Column with the group; a + b crosses two.", shown="ethnicity", advanced=True)
    person_column: str = option("", help="Who is on several photos.", shown="each photo is a person", advanced=True)


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """How answers become tables.  None of it needs a tagger to be asked again.

    typology: if empty, ``celeba`` for celeba-tagger and ``starter`` for all others.
    seed: of everything drawn at random, the audit's own.

    Raises: ConfigError for a value out of its range.
    """

    typology: tuple[str, ...] = option((), help="Dictionaries of tags, merged left to right.", metavar="NAME|FILE")
    ratings: Path | None = option(None, help="Crowd ratings of the contexts.", metavar="CSV", advanced=True)
    baseline: Literal["", "canvas", "original"] = option(
        "", help="What changes are measured from.", shown="canvas; as published original", advanced=True
    )
    min_score: float = option(
        0.0, help="Tags below it do not count.", metavar="S", shown="0", advanced=True, least=0, most=1
    )
    bootstrap: int = option(2000, help="Bootstrap resamples.", advanced=True, least=1)
    permutations: int = option(9999, help="Permutations.", advanced=True, least=1)
    seed: int = 0

    def __post_init__(self) -> None:
        check(self)

    @property
    def start(self) -> str:
        """The baseline."""
        return self.baseline or "canvas"


@dataclass(frozen=True, slots=True)
class ContextsConfig:
    """One context audit; what is not given is as the preset says.

    Raises: ConfigError where an option says otherwise than the paper and the preset is ``published``.
    """

    table: str | Path = option(
        "", help="Self-reported gender of each photo's person, a CSV; or cfd.", name="people", metavar="CSV"
    )
    classifiers: tuple[str, ...] = option(
        (), help="The tagger to audit; may be repeated.", name="classifier", short="c", shown="celeba-tagger"
    )
    review: Path | None = option(
        None,
        help="Your decisions about cut-outs: a photo and accept or exclude in each row.",
        metavar="CSV",
        advanced=True,
    )
    preset: Literal["default", "published"] = option(
        "default",
        help="Defaults of gslopes, or the choices of Barlas et al. 2020, which need a folder of one photo a context.",
    )
    seed: int = option(0, help="Seed of all random draws.", advanced=True)
    device: str = option("auto", help="Where the networks run.", metavar="auto|cpu|cuda[:N]", advanced=True)
    pictures: StageConfig = section(StageConfig)
    columns: PeopleColumns = section(PeopleColumns)
    analysis: ContextOptions = section(ContextOptions)
    score: CostLimits = section(CostLimits)

    def __post_init__(self) -> None:
        check(self)
        chosen: dict[str, Any] = {"pictures": self.pictures, "analysis": replace(self.analysis, seed=self.seed)}
        for (part, name), value in PRESETS[self.preset].items():
            given = getattr(chosen[part], name)
            if given and given != value and self.preset == "published":
                raise ConfigError(f"As published, {name} is {value}, not {given}.", "Leave out one of the two.")
            chosen[part] = replace(chosen[part], **{name: given or value})
        for part, options in chosen.items():
            object.__setattr__(self, part, options)
