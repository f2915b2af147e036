"""The configuration of a run.

Its sections are the rooms of the walk; the same words are the command line's options and the keys of a
TOML file:

    photos = "photos"
    limit = 100

    [find]
    min_face = 20

    [edit]
    attributes = ["gender", "race"]

    [score]
    classifiers = ["celeba-tagger"]
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

from gslopes.core.config import from_dict, read_toml, to_dict
from gslopes.core.errors import ConfigError
from gslopes.fit.options import DEFAULT, Correction, FitOptions
from gslopes.validate.gate import Thresholds

# Not part of what makes two runs the same. The device moves numbers by rounding alone; any number of classifiers can be
# asked about the same pictures, and each is recorded with its own version.
_CONDITIONS = ("device", "engine", "workers", "seed", "gate", "score", "fit")


@dataclass(frozen=True, slots=True)
class FindConfig:
    """min_face: shorter side of the smallest usable face, pixels.  landmarks: a CSV of known faces instead of MTCNN."""

    min_face: int = 32
    landmarks: Path | None = None

    def __post_init__(self) -> None:
        _at_least("min_face", self.min_face, 1)


@dataclass(frozen=True, slots=True)
class EditConfig:
    """What is changed, and how far.

    attributes: what to edit, one sweep each.
    steps: how many values (K, odd); the attribute's own default if None.
    range: the least and the greatest value; the attribute's own default if None.
    model: the editor's name; the attribute's default editor if empty.
    """

    attributes: tuple[str, ...] = ("gender",)
    steps: int | None = None
    range: tuple[float, float] | None = None
    model: str = ""

    def __post_init__(self) -> None:
        if not self.attributes:
            raise ConfigError("No attribute is given.", "Name one, such as gender.")
        if len(set(self.attributes)) < len(self.attributes):
            raise ConfigError(f"An attribute is given twice: {', '.join(self.attributes)}.", "Name each once.")
        if self.steps is not None and (self.steps < 3 or self.steps % 2 == 0):
            hint = "Use an odd number of 3 or more: the middle step is the centre that the others are compared with."
            raise ConfigError(f"The number of steps cannot be {self.steps}.", hint)
        if self.range is not None and not (all(map(math.isfinite, self.range)) and self.range[0] < self.range[1]):
            raise ConfigError(f"The range {self.range} must go from a smaller to a larger number.", "Try -2,2.")


@dataclass(frozen=True, slots=True)
class ComposeConfig:
    """How the edited face goes back into the photo, and how the photo is written.

    region: ``face`` (skin, nose, brows, eyes, lips, mouth), ``skin`` (skin and nose) or ``head`` (face, ears, neck).
    blend: ``auto`` (the editor's own), ``difference`` (the photo plus the editor's change), ``ratio`` (the photo times
        the editor's ratio) or ``paste`` (the editor's picture, as in the paper).
    format: ``jpeg`` (quality 95, 4:4:4) or ``png``.  masks: a folder of known masks instead of the parser's.
    skin_weights: a file with a public face parser instead of the shipped one; see ``zoo.load_parser``.
    placebo: also make three sweeps of each photo that should move nothing; see ``compose.placebo``. Findings stand
        against them: without them a slope that differs from 0 stays open.
    """

    region: Literal["face", "skin", "head"] = "face"
    blend: Literal["auto", "difference", "ratio", "paste"] = "auto"
    format: Literal["jpeg", "png"] = "jpeg"
    masks: Path | None = None
    skin_weights: Path | None = None
    placebo: bool = True

    def __post_init__(self) -> None:
        if self.masks is not None and self.skin_weights is not None:
            raise ConfigError("Both known masks and a parser's weights are given.", "Use --masks or --skin-weights.")


@dataclass(frozen=True, slots=True)
class GateConfig(Thresholds):
    """Whether sweeps are judged, and by which thresholds; see ``validate.gate.Thresholds``.

    on: None judges unless the faces come from a table of landmarks, since of drawn faces neither the detector nor the
        reader is a measurer.
    look: where the face is looked for: at the first, middle and last value (``ends``), or at ``all`` of them.
    """

    on: bool | None = None
    look: Literal["ends", "all"] = "ends"

    def judges(self, landmarks: Path | str | None) -> bool:
        """Whether an audit judges.  landmarks: the run's table of known faces, if it has one."""
        return landmarks is None if self.on is None else self.on


@dataclass(frozen=True, slots=True)
class ScoreConfig:
    """Which classifiers are asked, and what that may cost.

    classifiers: names with parameters, such as ``celeba-tagger:threshold=0.3``.
    cache: the folder that keeps answers; the user's cache folder if None.
    budget: USD that one command may spend, None for no stop.  max_calls: requests that it may send, None for no stop.
    confirm_above: USD from which on the user is asked first.  yes: do not ask.
    retry_failed: ask again about pictures that failed.
    placebo_sample: of how many photos an attribute's placebo sweeps are asked about where asking costs money; all of
        them where it does not.
    dropped_sample: about how many of an attribute's sweeps that the gate dropped is asked nevertheless: their answers
        stay out of the tables, and say what the gate does to the slopes.
    """

    classifiers: tuple[str, ...] = ()
    cache: Path | None = None
    budget: float | None = None
    max_calls: int | None = None
    confirm_above: float = 10.0
    yes: bool = False
    retry_failed: bool = False
    placebo_sample: int = 200
    dropped_sample: int = 50

    def __post_init__(self) -> None:
        for name in ("budget", "max_calls", "confirm_above", "placebo_sample", "dropped_sample"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ConfigError(f"{name} is {value}; it must be at least 0.")


@dataclass(frozen=True, slots=True)
class FitConfig:
    """What the fit computes; see ``fit.options.FitOptions``.

    presence: which labels count, see ``run.presence``.
    photos_csv: a row a photo, with a first column named photo (sha256), path, file, filename, name or id.
    groups: its columns to fit by; ``"a + b"`` crosses two.  cluster: its column that says which photos belong together.
    seed: of resamples and permutations; the run's own if None.
    """

    estimators: tuple[str, ...] = DEFAULT
    bootstrap: int = 2000
    permutations: int = 10_000
    correction: Correction = "bh"
    presence: str = "vendor"
    min_varying: int = 10
    photos_csv: Path | None = None
    groups: tuple[str, ...] = ()
    cluster: str = ""
    seed: int | None = None

    def __post_init__(self) -> None:
        from gslopes.run.presence import parse

        self.options(0)
        parse(self.presence)
        if (self.groups or self.cluster) and self.photos_csv is None:
            raise ConfigError("Groups and clusters are columns of a table of photos.", "Name it with --photos-csv.")

    def options(self, seed: int) -> FitOptions:
        """The pure part.  Raises: ConfigError, UnknownName.  seed: of the run."""
        return FitOptions(
            estimators=self.estimators,
            bootstrap=self.bootstrap,
            permutations=self.permutations,
            correction=self.correction,
            min_varying=self.min_varying,
            seed=seed if self.seed is None else self.seed,
        )


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One run.

    photos: the folder.  limit: only the first so many photos.  seed: of everything that is drawn by lot.
    part: photos in a part, the unit of work and of resuming.  device: auto, cpu, cuda or cuda:N.
    engine, workers: who carries out the parts, and how many of them; see ``executors.engines``.
    """

    photos: Path
    limit: int | None = None
    seed: int = 0
    part: int = 32
    device: str = "auto"
    engine: Literal["auto", "one", "processes", "ray"] = "auto"
    workers: int | None = None
    find: FindConfig = field(default_factory=FindConfig)
    edit: EditConfig = field(default_factory=EditConfig)
    compose: ComposeConfig = field(default_factory=ComposeConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    score: ScoreConfig = field(default_factory=ScoreConfig)
    fit: FitConfig = field(default_factory=FitConfig)

    def __post_init__(self) -> None:
        _at_least("part", self.part, 1)
        _at_least("seed", self.seed, 0)
        if self.limit is not None:
            _at_least("limit", self.limit, 1)

    def identity(self) -> dict[str, Any]:
        """The part of the configuration that ``run.json`` keeps: what must be the same when a run is resumed."""
        whole: dict[str, Any] = to_dict(self)
        return {key: value for key, value in whole.items() if key not in _CONDITIONS}


class Options(TypedDict, total=False):
    """Options of the walk under their flat names, as the command line and the Python functions have them."""

    attribute: str | tuple[str, ...] | list[str] | None
    classifier: str | tuple[str, ...] | list[str] | None
    steps: int | None
    range: tuple[float, float] | None
    editor: str | None
    min_face: int | None
    landmarks: str | Path | None
    region: str | None
    blend: str | None
    format: str | None
    masks: str | Path | None
    skin_weights: str | Path | None
    placebo: bool | None
    gate: bool | None
    limit: int | None
    seed: int | None
    device: str | None
    engine: str | None
    workers: int | None
    config: str | Path | None
    cache: str | Path | None
    budget: float | None
    max_calls: int | None
    confirm_above: float | None
    yes: bool | None
    retry_failed: bool | None
    as_published: bool | None


# What can be set as Joo & Kärkkäinen (2020) have it; see ``report.method``.
PUBLISHED: Mapping[tuple[str, ...], Any] = {
    ("compose", "region"): "skin",
    ("compose", "blend"): "paste",
    ("compose", "placebo"): False,
    ("gate", "on"): False,
    ("fit", "estimators"): ("paper",),
    ("fit", "presence"): "vendor",
}
_HOMES = {
    "attribute": ("edit", "attributes"),
    "classifier": ("score", "classifiers"),
    "steps": ("edit", "steps"),
    "range": ("edit", "range"),
    "editor": ("edit", "model"),
    "min_face": ("find", "min_face"),
    "landmarks": ("find", "landmarks"),
    "region": ("compose", "region"),
    "blend": ("compose", "blend"),
    "format": ("compose", "format"),
    "masks": ("compose", "masks"),
    "skin_weights": ("compose", "skin_weights"),
    "placebo": ("compose", "placebo"),
    "gate": ("gate", "on"),
    **{name: (name,) for name in ("limit", "seed", "device", "engine", "workers")},
    "cache": ("score", "cache"),
    "budget": ("score", "budget"),
    "max_calls": ("score", "max_calls"),
    "confirm_above": ("score", "confirm_above"),
    "yes": ("score", "yes"),
    "retry_failed": ("score", "retry_failed"),
}


def configure(photos: str | Path | None, options: Mapping[str, Any]) -> RunConfig:
    """The configuration from flat options over those of a TOML file (``options["config"]``) over the defaults.

    photos: the folder; None if the file names it.
    options: as ``Options``; None and empty mean "not given".

    Raises: ConfigError for an unknown option or a value out of its range.
    """
    path = options.get("config")
    mapping = _absolute(read_toml(Path(path)), Path(path).parent) if path else {}
    known = {**_HOMES, "config": (), "as_published": ()}
    for name, value in options.items():
        if name not in known:
            from_dict(RunConfig, {"photos": "", name: value})  # raises, with the nearest name
            raise ConfigError(f"The option {name!r} can only be set in a file.", "Pass that file as config.")
        if name not in ("config", "as_published") and value is not None and value != ():
            single = name in ("attribute", "classifier") and isinstance(value, str)
            _put(mapping, _HOMES[name], (value,) if single else value)
    if options.get("as_published"):
        _publish(mapping)
    if photos is not None:
        mapping["photos"] = str(photos)
    if "photos" not in mapping:
        raise ConfigError("No folder of photos is given.", "Name the folder that holds the photos.")
    return from_dict(RunConfig, _absolute(mapping, Path()))


def _publish(mapping: dict[str, Any]) -> None:
    """Set what the paper sets.  Raises: ConfigError if something else was asked for."""
    for (section, key), value in PUBLISHED.items():
        inner = mapping.get(section)
        given = inner.get(key) if isinstance(inner, dict) else None
        if given is not None and given != value:
            hint = "Leave one of the two out: gslopes method lists what --as-published sets."
            raise ConfigError(f"As published, {section}.{key} is {value}, not {given}.", hint)
        _put(mapping, (section, key), value)
    for key in ("steps", "range"):
        if (mapping.get("edit") or {}).get(key) is not None:
            raise ConfigError(f"As published, {key} is the paper's.", f"Leave --{key} out, or --as-published.")


def _put(mapping: dict[str, Any], home: tuple[str, ...], value: Any) -> None:
    for key in home[:-1]:
        inner = mapping.setdefault(key, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"The configuration's {key} must be a section [{key}], not {inner!r}.")
        mapping = inner
    mapping[home[-1]] = str(value) if isinstance(value, Path) else value


def _absolute(mapping: dict[str, Any], base: Path) -> dict[str, Any]:
    """Paths in a file are relative to that file, so that it works from any folder."""
    homes = [_HOMES.get(name, (name,)) for name in ("photos", "landmarks", "masks", "skin_weights", "cache")]
    for *sections, key in [*homes, ("fit", "photos_csv")]:
        section = mapping.get(sections[0]) if sections else mapping
        if isinstance(section, dict) and isinstance(section.get(key), (str, Path)):
            section[key] = os.path.abspath(base / section[key])
    return mapping


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ConfigError(f"{name} is {value}; it must be at least {least}.")
