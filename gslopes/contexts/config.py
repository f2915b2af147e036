"""The settings of a context audit: of its pictures, which are a run's identity, of people.csv, and of the analysis."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gslopes.core.config import from_dict, to_dict
from gslopes.core.errors import ConfigError

KINDS = ("original", "canvas", "context", "empty", "silhouette")
Crop = Literal["both", "top", "bottom"]
Baseline = Literal["canvas", "original"]


@dataclass(frozen=True, slots=True)
class StageConfig:
    """What the pictures are.  It is a run's identity: another one needs another folder.

    people: folder of photos.  backgrounds: ``rendered``, ``packaged`` or folders.  limit: only the first photos.
    cutout: auto, alpha, eraser, studio, parser, or a folder of masks.  tolerance: of the eraser, levels.
    keep_flagged: also use cut-outs that fail a check.
    canvas: width and height.  crop: what of a background is cut away.
    person_share, share_of: size of a person, or ``max``: the largest that fits everybody;
    ``size_by`` face: every face box is ``face_height`` of the canvas instead.
    kinds: of pictures.  sweep: also K counterfactuals of each person, of gender or race; steps: K.
    gate: whether sweeps are judged, and those that fail are left out.
    editor, masks: of the sweep, instead of the attribute's own and the face parser's.  landmarks: a CSV of the people's
    faces, instead of those that the detector finds; all three as ``gslopes audit`` takes them.
    format: jpeg or png.  part: photos in a unit of work.

    Raises: ConfigError for a value out of its range.
    """

    people: Path
    backgrounds: tuple[str, ...] = ("rendered",)
    limit: int | None = None
    cutout: str = "auto"
    tolerance: int = 32
    keep_flagged: bool = False
    canvas: tuple[int, int] = (768, 512)
    crop: Crop = "both"
    person_share: float | Literal["max"] = 0.25
    share_of: Literal["canvas", "background"] = "canvas"
    size_by: Literal["share", "face"] = "share"
    face_height: float = 0.3
    kinds: tuple[str, ...] = KINDS
    sweep: Literal["", "gender", "race"] = ""
    steps: int | None = None
    gate: bool = True
    editor: str = ""
    landmarks: Path | None = None
    masks: Path | None = None
    format: Literal["jpeg", "png"] = "jpeg"
    part: int = 16

    def __post_init__(self) -> None:
        width, height = self.canvas
        if not (64 <= width <= 8192 and 64 <= height <= 8192):
            raise ConfigError(f"The canvas is {width}x{height}; its sides must be from 64 to 8192 pixels.")
        for what, share in (("person's share", self.person_share), ("face height", self.face_height)):
            if not isinstance(share, str) and not (math.isfinite(share) and 0 < share < 1):
                raise ConfigError(f"The {what} is {share:g}; it must lie between 0 and 1.")
        _between("tolerance", self.tolerance, 0, 255)
        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown:
            raise ConfigError(f"There is no kind of picture {unknown[0]!r}.", f"Known: {', '.join(KINDS)}.")
        if "context" not in self.kinds or not {"canvas", "original"} & set(self.kinds):
            raise ConfigError("Without contexts and a baseline nothing can be compared.", "Keep context and canvas.")
        if not self.backgrounds:
            raise ConfigError("No backgrounds are given.", "Name rendered, packaged, or a folder with --backgrounds.")
        _at_least_one(self, "part", "limit")

    def identity(self) -> dict[str, Any]:
        """What ``run.json`` keeps, JSON-able."""
        whole: dict[str, Any] = to_dict(self)
        if not self.sweep:
            del whole["gate"]  # nothing is judged; folders made before there was a gate stay valid
        return {name: value for name, value in whole.items() if value or name not in ("editor", "landmarks", "masks")}


@dataclass(frozen=True, slots=True)
class PeopleColumns:
    """Names of the columns of people.csv; empty for the usual ones.

    group_column: ``a + b`` crosses two.  genders: a word to woman, man or another word.
    """

    gender_column: str = ""
    group_column: str = ""
    person_column: str = ""
    genders: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """How answers become tables; where the paper is silent or contradicts itself, the defaults decide.

    typology: names or files, merged left to right; empty: ``celeba`` for celeba-tagger and ``starter`` for all others.
    ratings: a CSV of crowd answers, see ``ratings``.  baseline: what differences are taken from.
    vector: which proportions make the vector of a description.  denominator: all tags, or those in some cluster.
    zero: the distance where one vector is 0: not a number, or 1.  recognised_at: context tags needed.
    min_score: tags below it do not count.  top: only this many tags, the best; None for all.
    f1_on: F1 over pictures whose context was recognised, or over all.
    recognised_share: below it a context has no F1.
    ss: type of the sums of squares.  tukey: variance of one factor alone, or the residual one of both.
    alpha, family: of the paper's Bonferroni: alpha divided by the number of contexts, or of tests.
    strong: contexts rated further than this from 5 are strongly gendered.
    min_group: people that a cell of gender and group needs.
    bootstrap, permutations: how many draws.  mixed: also fit a mixed linear model.  seed: of everything random.

    Raises: ConfigError for a value out of its range.
    """

    typology: tuple[str, ...] = ()
    ratings: Path | None = None
    baseline: Baseline = "canvas"
    vector: Literal["super", "sub", "super+other", "both"] = "super"
    denominator: Literal["all", "assigned"] = "all"
    zero: Literal["nan", "one"] = "nan"
    recognised_at: int = 1
    min_score: float = 0.0
    top: int | None = None
    f1_on: Literal["recognised", "all"] = "recognised"
    recognised_share: float = 0.1
    ss: Literal[1, 2, 3] = 2
    tukey: Literal["one-way", "residual"] = "one-way"
    alpha: float = 0.05
    family: Literal["contexts", "tests"] = "contexts"
    strong: float = 3.0
    min_group: int = 3
    bootstrap: int = 2000
    permutations: int = 9999
    mixed: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name, most in (("min_score", 1), ("recognised_share", 1), ("alpha", 1), ("strong", 5)):
            _between(name, getattr(self, name), 0, most)
        _at_least_one(self, "recognised_at", "min_group", "bootstrap", "permutations", "top")


def _between(name: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise ConfigError(f"{name} is {value}; it must be between {low:g} and {high:g}.")


def _at_least_one(config: Any, *names: str) -> None:
    for name in names:
        value = getattr(config, name)
        if value is not None and value < 1:
            raise ConfigError(f"{name} is {value}; it must be at least 1.")


def stage_config(options: dict[str, Any]) -> StageConfig:
    """From flat options, of which None is "not given", and one background or kind is a list of one.

    Raises: ConfigError.
    """
    given = {key: value for key, value in options.items() if value is not None}
    for name in ("backgrounds", "kinds"):
        if isinstance(given.get(name), (str, Path)):
            given[name] = (given[name],)
    if isinstance(given.get("backgrounds"), (list, tuple)):
        given["backgrounds"] = tuple(map(str, given["backgrounds"]))
    return from_dict(StageConfig, given)
