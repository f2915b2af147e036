"""The configuration of a context audit: who stands where, how; the analysis has its own, ``contexts.options``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from gslopes.contexts.pictures.canvas import check_canvas, check_share
from gslopes.contexts.pictures.cutout import ERASER
from gslopes.core.config import from_dict, to_dict
from gslopes.core.errors import ConfigError

KINDS = ("original", "canvas", "context", "empty", "silhouette")
CUTOUTS = ("auto", "alpha", "eraser", "studio", "parser")


@dataclass(frozen=True, slots=True)
class StageConfig:
    """What the pictures are.  It is a run's identity: another one needs another folder.

    people: folder of photos.  backgrounds: ``rendered``, ``packaged`` or folders.  limit: only so many people.
    cutout: auto, alpha, eraser, studio, or a folder of masks.  tolerance: of the eraser, levels.
    keep_flagged: also use cut-outs that fail a check.
    canvas: width and height.  crop: what of a background is cut away.
    person_share, share_of: size of a person, or ``max``: the largest that fits everybody;
    ``size_by`` face: every face box is ``face_height`` of the canvas instead.
    kinds: of pictures.  sweep: also K counterfactuals of each person, of gender or race; steps: K.
    gate: whether sweeps are judged, and those that fail are asked about nobody.
    editor, masks: of the sweep, instead of the attribute's own and the parser's.  landmarks: a CSV of the people's
    faces, instead of those that the detector finds; all three as ``gslopes audit`` takes them.
    format: jpeg or png.  part: photos in a unit of work.
    """

    people: Path
    backgrounds: tuple[str, ...] = ("rendered",)
    limit: int | None = None
    cutout: str = "auto"
    tolerance: int = ERASER
    keep_flagged: bool = False
    canvas: tuple[int, int] = (768, 512)
    crop: Literal["both", "top", "bottom"] = "both"
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
        check_canvas(*self.canvas)
        if not isinstance(self.person_share, str):
            check_share(self.person_share)
        if not (math.isfinite(self.face_height) and 0 < self.face_height < 1):
            raise ConfigError(f"The face height is {self.face_height:g}; it must lie between 0 and 1.")
        if not 0 <= self.tolerance <= 255:
            raise ConfigError(f"The tolerance is {self.tolerance}; it must be between 0 and 255.")
        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown:
            raise ConfigError(f"There is no kind of picture {unknown[0]!r}.", f"Known: {', '.join(KINDS)}.")
        if "context" not in self.kinds or not {"canvas", "original"} & set(self.kinds):
            raise ConfigError("Without contexts and a baseline nothing can be compared.", "Keep context and canvas.")
        if not self.backgrounds:
            raise ConfigError("No backgrounds are given.", "Name rendered, packaged, or a folder with --backgrounds.")
        for name, least in (("part", 1), ("limit", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ConfigError(f"{name} is {value}; it must be at least {least}.")

    def identity(self) -> dict[str, Any]:
        """What ``run.json`` keeps, JSON-able."""
        whole: dict[str, Any] = to_dict(self)
        if not self.sweep:
            del whole["gate"]  # nothing is judged; folders made before there was a gate go on
        for name in ("editor", "landmarks", "masks"):
            if not whole[name]:
                del whole[name]
        return whole


@dataclass(frozen=True, slots=True)
class PeopleColumns:
    """Which columns of people.csv say what; empty for the usual names."""

    gender_column: str = ""
    group_column: str = ""
    person_column: str = ""
    genders: dict[str, str] = field(default_factory=dict)


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


STAGE_OPTIONS = tuple(one.name for one in fields(StageConfig))
