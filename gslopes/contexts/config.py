"""Settings of a context audit: its pictures, the columns of people.csv, and how answers become tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gslopes.core.config import to_dict
from gslopes.core.errors import ConfigError, UnknownName
from gslopes.core.options import check, option

_OPTIONAL = ("editor", "landmarks", "masks", "palettes")  # not in the identity of a run that does not use them
Crop = Literal["both", "top", "bottom"]
Baseline = Literal["canvas", "original"]
KINDS = ("original", "canvas", "context", "empty", "silhouette")
PALETTES = ("pink", "blue", "yellow", "gray")


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

    people: Path = option(help="The folder of portraits before a plain backdrop.", name="photos", positional=True)
    backgrounds: tuple[str, ...] = option(
        ("rendered",), help="rendered, packaged or a folder; may be repeated.", metavar="DIR", short="b"
    )
    limit: int | None = option(None, help="Only the first N photos.", least=1)
    cutout: str = option(
        "auto", help="How people are cut out.", metavar="auto|alpha|eraser|studio|parser|DIR", advanced=True
    )
    tolerance: int = option(32, help="Tolerance of the eraser.", metavar="LEVELS", advanced=True, least=0, most=255)
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
    crop: Crop = option("both", help="Which part of a background is cut away.", advanced=True)
    person_share: float | Literal["max"] = option(
        0.25, help="Size of a person; max: all that fits.", metavar="S|max", parse=share, advanced=True
    )
    share_of: Literal["canvas", "background"] = option("canvas", help="What that share refers to.", advanced=True)
    size_by: Literal["share", "face"] = option(
        "share", help="Give all people one share, or all faces one height.", advanced=True
    )
    face_height: float = option(
        0.3, help="Height of a face as a share of the canvas, with --size-by face.", metavar="H", advanced=True
    )
    kinds: tuple[str, ...] = option(
        KINDS,
        help="A kind of picture: original, canvas, context, empty, silhouette; may be repeated.",
        metavar="KIND",
        shown="all; without silhouettes where asking costs money",
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
    format: Literal["jpeg", "png"] = option("jpeg", help="File format of the pictures.", advanced=True)
    part: int = option(16, help="Photos in a part, the unit of work and of resuming.", advanced=True, least=1)

    def __post_init__(self) -> None:
        check(self)
        width, height = self.canvas
        if not (64 <= width <= 8192 and 64 <= height <= 8192):
            raise ConfigError(f"The canvas is {width}x{height}; its sides must be from 64 to 8192 pixels.")
        for what, value in (("person's share", self.person_share), ("face height", self.face_height)):
            if not isinstance(value, str) and not 0 < value < 1:
                raise ConfigError(f"The {what} is {value:g}; it must lie between 0 and 1.")
        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown:
            raise ConfigError(f"There is no kind of picture {unknown[0]!r}.", f"Known: {', '.join(KINDS)}.")
        if "context" not in self.kinds or not {"canvas", "original"} & set(self.kinds):
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

    def identity(self) -> dict[str, Any]:
        """What ``run.json`` keeps, JSON-able."""
        whole: dict[str, Any] = to_dict(self)
        if not self.sweep:
            del whole["gate"]  # nothing is judged; folders made before there was a gate stay valid
        return {key: value for key, value in whole.items() if value or key not in _OPTIONAL}


@dataclass(frozen=True, slots=True)
class PeopleColumns:
    """Which columns of people.csv say what; empty for the usual names."""

    gender_column: str = option("", help="Column of the people's CSV with the gender.", shown="gender", advanced=True)
    group_column: str = option("", help="Column with the group; a + b crosses two.", shown="ethnicity", advanced=True)
    person_column: str = option("", help="Who is on several photos.", shown="each photo is a person", advanced=True)
    genders: dict[str, str] = option(dict, help="What a word of the CSV means, such as frau=woman.", advanced=True)


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """How answers become tables.  None of it needs a classifier to be asked again.

    typology: if empty, ``celeba`` for celeba-tagger and ``starter`` for all others.
    alpha, family: of the paper's Bonferroni: alpha divided by the number of contexts, or of tests.
    seed: of everything drawn at random, the audit's own.

    Raises: ConfigError for a value out of its range.
    """

    typology: tuple[str, ...] = option((), help="Dictionaries of tags, merged left to right.", metavar="NAME|FILE")
    ratings: Path | None = option(None, help="Crowd ratings of the contexts.", metavar="CSV")
    baseline: Baseline = option("canvas", help="What changes are measured from.", advanced=True)
    vector: Literal["super", "sub", "super+other", "both"] = option(
        "super", help="Vectors between which distances are measured.", advanced=True
    )
    denominator: Literal["all", "assigned"] = option("all", help="Tags that shares are taken of.", advanced=True)
    zero: Literal["nan", "one"] = option("nan", help="Distance from a vector of length 0.", advanced=True)
    recognised_at: int = option(
        1, help="A context counts as recognised from this number of its tags.", advanced=True, least=1
    )
    min_score: float = option(
        0.0, help="Tags below it do not count.", metavar="S", shown="0", advanced=True, least=0, most=1
    )
    top: int | None = option(None, help="Only the best N tags.", advanced=True, least=1)
    f1_on: Literal["recognised", "all"] = option("recognised", help="Pictures on which F1 is computed.", advanced=True)
    recognised_share: float = option(
        0.1, help="A context recognised less often has no F1.", metavar="S", advanced=True, least=0, most=1
    )
    ss: Literal[1, 2, 3] = option(2, help="Type of the sums of squares.", advanced=True)
    tukey: Literal["one-way", "residual"] = option(
        "one-way", help="The variance that Tukey's test uses.", advanced=True
    )
    alpha: float = option(
        0.05, help="Level of the paper's Bonferroni correction.", metavar="A", advanced=True, least=0, most=1
    )
    family: Literal["contexts", "tests"] = option("contexts", help="Family of that correction.", advanced=True)
    strong: float = option(
        3.0, help="Ratings this far from 5 are strongly gendered.", metavar="D", advanced=True, least=0, most=5
    )
    min_group: int = option(3, help="Minimum people per cell.", advanced=True, least=1)
    bootstrap: int = option(2000, help="Bootstrap resamples.", advanced=True, least=1)
    permutations: int = option(9999, help="Permutations.", advanced=True, least=1)
    seed: int = 0

    def __post_init__(self) -> None:
        check(self)
