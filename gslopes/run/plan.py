"""What a run will do, before it does anything: the configuration, the plan, what goes into ``run.json``.

The configuration's sections are the rooms of the walk; the same words are the command line's options and the keys of a
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

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

from gslopes.core import placebo, runfolder, tables
from gslopes.core.config import from_dict, read_toml, to_dict
from gslopes.core.errors import ConfigError, UsageError
from gslopes.core.runfolder import show
from gslopes.core.runtime import check_device, pick_device
from gslopes.datasets.folder import PhotoFile, list_photos
from gslopes.run.conditions import ScoreConfig as ScoreConfig
from gslopes.run.fitting import FitConfig
from gslopes.run.thresholds import GateConfig

# What makes two runs the same run. The device does not: it moves numbers by rounding alone. Classifiers do not either:
# any number of them can be asked about the same pictures, and each is recorded with its own version.
IDENTITY = ("config", "values", "models", "inputs", "seed")
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
    model: the editor's name; ``fader-<attribute>`` if empty.
    """

    attributes: tuple[str, ...] = ("gender",)
    steps: int | None = None
    range: tuple[float, float] | None = None
    model: str = ""

    def __post_init__(self) -> None:
        if not self.attributes:
            raise ConfigError("No attribute is given.", "Name one, such as gender.")
        if len(set(self.attributes)) < len(self.attributes):
            raise ConfigError(f"An attribute is given twice: {', '.join(self.attributes)}.")
        if self.steps is not None and (self.steps < 3 or self.steps % 2 == 0):
            hint = "Use an odd number of 3 or more: the middle step is the centre that the others are compared with."
            raise ConfigError(f"The number of steps is {self.steps}.", hint)
        if self.range is not None and not (all(map(math.isfinite, self.range)) and self.range[0] < self.range[1]):
            raise ConfigError(f"The range {self.range} does not go from a smaller to a greater number.", "Try -2,2.")


@dataclass(frozen=True, slots=True)
class ComposeConfig:
    """How the edited face goes back into the photo, and how the photo is written.

    region: ``face`` (skin, nose, brows, eyes, lips, mouth) or ``skin`` (skin and nose).
    blend: ``difference`` (the photo plus the editor's change) or ``paste`` (the editor's picture, as in the paper).
    format: ``jpeg`` (quality 95, 4:4:4) or ``png``.  masks: a folder of known masks instead of the parser's.
    skin_weights: a file with a public face parser instead of the shipped one; see ``zoo.load_parser``.
    placebo: also make two sweeps of each photo that should move nothing; see ``compose.placebo``.
    """

    region: Literal["face", "skin"] = "face"
    blend: Literal["difference", "paste"] = "difference"
    format: Literal["jpeg", "png"] = "jpeg"
    masks: Path | None = None
    skin_weights: Path | None = None
    placebo: bool = False

    def __post_init__(self) -> None:
        if self.masks is not None and self.skin_weights is not None:
            raise ConfigError("Both known masks and a parser's weights are given.", "Use --masks or --skin-weights.")


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One run.

    photos: the folder.  limit: only the first so many photos.  seed: of everything that is drawn by lot.
    part: photos in a part, the unit of work and of resuming.  device: auto, cpu, cuda or cuda:N.
    engine, workers: who carries out the parts, and how many of them; see ``run.executors.engines``.
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
    known = {**_HOMES, "config": ()}
    for name, value in options.items():
        if name not in known:
            from_dict(RunConfig, {"photos": "", name: value})  # raises, with the nearest name
            raise ConfigError(f"The option {name!r} belongs into a file.", "Pass that file as config.")
        if name != "config" and value is not None and value != ():
            single = name in ("attribute", "classifier") and isinstance(value, str)
            _put(mapping, _HOMES[name], (value,) if single else value)
    if photos is not None:
        mapping["photos"] = str(photos)
    if "photos" not in mapping:
        raise ConfigError("No folder of photos is given.", "Name the folder that holds the photos.")
    return from_dict(RunConfig, _absolute(mapping, Path()))


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


# -- the plan ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked configuration with what it means in numbers.

    run: the run folder.  files: the photos, in order.  values: attribute to its K values.
    inputs: a digest of what is read.  classifiers: canonical names.
    done: how many parts the run folder has already; of how many: ``parts``.
    """

    config: RunConfig
    run: Path
    files: tuple[PhotoFile, ...]
    values: dict[str, list[float]]
    inputs: dict[str, Any]
    classifiers: tuple[str, ...]
    done: int

    @property
    def parts(self) -> int:
        """How many parts the photos are cut into."""
        return count_parts(len(self.files), self.config.part)

    @property
    def device(self) -> str:
        """A real one, never ``auto``; torch is imported to find it, so it is found when somebody needs it."""
        return pick_device(self.config.device)

    @property
    def images(self) -> int:
        """Counterfactual photos if every photo has a usable face."""
        return len(self.files) * sum(len(values) for values in self.values.values())

    @property
    def calls(self) -> int:
        """Pictures that classifiers are asked about, at most."""
        return self.images * len(self.classifiers)

    def files_of(self, part: int) -> tuple[PhotoFile, ...]:
        """The photos of one part."""
        size = self.config.part
        return self.files[part * size : (part + 1) * size]


def make_plan(config: RunConfig, run: Path) -> Plan:
    """Check everything that can be checked without loading a model, and count.

    Raises: UsageError (device, names, folders, no photos), RunFolderMismatch.
    """
    check_device(config.device)
    values = sweep_values(config.edit, config.compose.placebo)
    classifiers = canonical_names(config.score.classifiers)
    files = _photos(config, run)
    plan = Plan(config, run, files, values, digest(config, files), classifiers, 0)
    runfolder.compare(run, manifest(plan, {}), [key for key in IDENTITY if key != "models"])
    missing = runfolder.missing_parts(run, "synthesise", tables.PHOTOS, plan.parts)
    if missing:
        pick_device(config.device)  # raises if it is not there
    return Plan(config, run, files, values, plan.inputs, classifiers, plan.parts - len(missing))


def count_parts(photos: int, part: int) -> int:
    """How many parts so many photos are cut into."""
    return -(-photos // part)


def sweep_values(config: EditConfig, with_placebo: bool = False) -> dict[str, list[float]]:
    """Attribute to its K values; its placebo sweeps after it, if asked for.

    Raises: UnknownName for an attribute that no editor knows; ConfigError for a bad number of steps or range.
    """
    from gslopes.edit.steps import values_for
    from gslopes.zoo import editor_for

    if not config.model:
        for attribute in config.attributes:
            editor_for(attribute)
    # the shortest decimal of each float32: what is printed is what is meant
    values: dict[str, list[float]] = {}
    for name in config.attributes:
        sweep = [float(str(value)) for value in values_for(name, steps=config.steps, extent=config.range)]
        values |= dict.fromkeys((name, *(placebo.names(name) if with_placebo else ())), sweep)
    return values


def canonical_names(classifiers: tuple[str, ...]) -> tuple[str, ...]:
    """Classifier names as the tables have them, each once.

    Raises: UnknownName with the nearest name, ConfigError for a bad parameter.
    """
    from gslopes.score.classifiers import canonical_name

    return tuple(dict.fromkeys(canonical_name(name) for name in classifiers))


def _photos(config: RunConfig, run: Path) -> tuple[PhotoFile, ...]:
    try:
        str(run).encode()
    except UnicodeEncodeError:  # Parquet files can only be opened by names that are text
        raise UsageError(
            f"The run folder's name {show(run)} is not valid UTF-8.", "Choose another with --out."
        ) from None
    root, inside = config.photos.resolve(), run.resolve()
    if inside == root or inside.is_relative_to(root):
        hint = "Choose a folder outside of it with --out."
        raise UsageError(f"The run folder {show(run)} lies inside the photos folder {show(config.photos)}.", hint)
    files = tuple(list_photos(config.photos, config.limit))
    if not files:
        hint = "Name a folder with .jpg, .jpeg, .png, .webp, .bmp, .tif or .tiff files in it or in its sub-folders."
        raise UsageError(f"There are no photos in {show(config.photos)}.", hint)
    return files


def digest(config: RunConfig, files: tuple[PhotoFile, ...]) -> dict[str, Any]:
    """What is read, in one line each: the photos' names and sizes, and the contents of the file of landmarks.

    Sizes, not contents: half a million photos are listed in seconds and read once. Each photo's own sha256 is in the
    photos table.
    """
    lines = hashlib.sha256()
    for file in files:
        lines.update(f"{file.relative}\0{size_of(file.path)}\n".encode())
    found = {"photos": len(files), "digest": lines.hexdigest()}
    if config.find.landmarks is not None:
        if not config.find.landmarks.is_file():
            raise UsageError(f"There is no file {show(config.find.landmarks)}.", "Name the CSV of known landmarks.")
        found["landmarks"] = hashlib.sha256(config.find.landmarks.read_bytes()).hexdigest()
    if config.compose.masks is not None and not config.compose.masks.is_dir():
        raise UsageError(f"There is no folder {show(config.compose.masks)}.", "Name the folder of known masks.")
    if config.compose.skin_weights is not None and not config.compose.skin_weights.is_file():
        raise UsageError(f"There is no file {show(config.compose.skin_weights)}.", "Name a face parser's .pth file.")
    return found


def size_of(path: Path) -> int:
    """Bytes; -1 for what cannot be read, which then has its reason in the photos table."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return -1


def manifest(plan: Plan, models: dict[str, dict[str, str]]) -> dict[str, Any]:
    """The parts of ``run.json`` that say what the run is; see IDENTITY."""
    return {
        "config": plan.config.identity(),
        "seed": plan.config.seed,
        "values": plan.values,
        "models": models,
        "inputs": plan.inputs,
    }
