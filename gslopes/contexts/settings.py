"""All settings of a context audit, as options of the command line, of a TOML file and of ``gslopes.audit_contexts``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypedDict

from gslopes.ask.config import CostLimits, CostOptions, ScoreConfig
from gslopes.contexts.config import KINDS, ContextOptions, PeopleColumns, StageConfig
from gslopes.core.config import from_dict
from gslopes.core.errors import ConfigError
from gslopes.core.options import merged, option, section

# What Barlas et al. 2020 chose, by section and name; see data/method.toml.
PUBLISHED: Mapping[tuple[str, str], Any] = {
    ("pictures", "kinds"): ["original", "context", "empty"],
    ("pictures", "cutout"): "eraser",
    ("analysis", "baseline"): "original",
    ("analysis", "vector"): "super",
    ("analysis", "recognised_at"): 1,
    ("analysis", "recognised_share"): 0.1,
    ("analysis", "f1_on"): "recognised",
    ("analysis", "min_score"): 0.0,
    ("analysis", "alpha"): 0.05,
    ("analysis", "family"): "contexts",
    ("analysis", "tukey"): "one-way",
    ("analysis", "strong"): 3.0,
}


@dataclass(frozen=True, slots=True)
class ContextsConfig:
    """One context audit."""

    table: str | Path = option(
        "", help="Self-reported gender of each photo's person, a CSV; or cfd.", name="people", metavar="CSV"
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
    embed: Literal["thumbs", "full", "none"] = option("thumbs", help="Pictures inside the page.", advanced=True)
    seed: int = option(0, help="Seed of all random draws.", advanced=True)
    device: str = option("auto", help="Where the networks run.", metavar="auto|cpu|cuda[:N]", advanced=True)
    pictures: StageConfig = section(StageConfig)
    columns: PeopleColumns = section(PeopleColumns)
    analysis: ContextOptions = section(ContextOptions)
    score: ScoreConfig = section(ScoreConfig, flat=("classifiers", *CostLimits.__dataclass_fields__))


class ContextsOptions(CostOptions, TypedDict, total=False):
    """The options of ``ContextsConfig`` as keywords, except ``classifier``; ``config`` is a TOML file with more."""

    people: str | Path
    review: str | Path | None
    preset: Literal["default", "published"]
    embed: Literal["thumbs", "full", "none"]
    seed: int
    device: str
    backgrounds: str | Sequence[str]
    limit: int | None
    cutout: str
    tolerance: int
    keep_flagged: bool
    canvas: tuple[int, int]
    palettes: str | Sequence[str]
    crop: Literal["both", "top", "bottom"]
    person_share: float | Literal["max"]
    share_of: Literal["canvas", "background"]
    size_by: Literal["share", "face"]
    face_height: float
    kinds: str | Sequence[str]
    sweep: Literal["", "gender", "race"]
    steps: int | None
    gate: bool
    editor: str
    landmarks: str | Path | None
    masks: str | Path | None
    format: Literal["jpeg", "png"]
    part: int
    gender_column: str
    group_column: str
    person_column: str
    genders: dict[str, str]
    typology: str | Sequence[str]
    ratings: str | Path | None
    baseline: Literal["canvas", "original"]
    vector: Literal["super", "sub", "super+other", "both"]
    denominator: Literal["all", "assigned"]
    zero: Literal["nan", "one"]
    recognised_at: int
    min_score: float
    top: int | None
    f1_on: Literal["recognised", "all"]
    recognised_share: float
    ss: Literal[1, 2, 3]
    tukey: Literal["one-way", "residual"]
    alpha: float
    family: Literal["contexts", "tests"]
    strong: float
    min_group: int
    bootstrap: int
    permutations: int
    config: str | Path | None


def configure(photos: str | Path, options: Mapping[str, Any], kinds: tuple[str, ...] = KINDS) -> ContextsConfig:
    """The configuration of a context audit from options, see ``core.options.build``.

    kinds: of pictures, unless the options name them.

    Raises: ConfigError.
    """
    mapping = merged(ContextsConfig, {"photos": photos, **options})
    if mapping.get("preset") == "published":
        _publish(mapping)
    if isinstance(mapping["pictures"], dict):
        mapping["pictures"].setdefault("kinds", list(kinds))
    made = from_dict(ContextsConfig, mapping)
    return replace(made, analysis=replace(made.analysis, seed=made.seed))


def _publish(mapping: dict[str, Any]) -> None:
    """Set what Barlas et al. 2020 chose.  Raises: ConfigError where an option says something else."""
    for (part, key), value in PUBLISHED.items():
        settings = mapping.setdefault(part, {})
        if not isinstance(settings, dict):
            raise ConfigError("A preset and a whole section of settings are given.", "Leave out one of the two.")
        given = settings.get(key)
        if given is not None and (list(given) if isinstance(given, (list, tuple)) else given) != value:
            raise ConfigError(f"As published, {key} is {value}, not {given}.", "Leave out one of the two.")
        settings[key] = value
