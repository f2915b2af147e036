"""What a run will do, before it does anything: the plan, and what goes into ``run.json``."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gslopes.core import placebo, runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show
from gslopes.core.runtime import check_device, pick_device
from gslopes.datasets.folder import PhotoFile, count_parts, list_photos, size_of
from gslopes.run.config import EditConfig, RunConfig

SYNTHESIS = "synthesise"  # the stage, whose parts hold the photos and their pictures

# What makes two runs the same run; ``RunConfig.identity`` says what of the configuration.
IDENTITY = ("config", "values", "models", "inputs", "seed")


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

    def pictures_asked(self, sample: int) -> tuple[int, int]:
        """(pictures that a paid classifier is asked about at most, those of placebo sweeps among them).

        sample: of how many photos its placebo sweeps are.
        """
        beside = min(sample, len(self.files)) * sum(
            len(values) for name, values in self.values.items() if placebo.split(name)[1]
        )
        swept = len(self.files) * sum(len(v) for name, v in self.values.items() if not placebo.split(name)[1])
        return swept + beside, beside

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
    runfolder.compare(run, identity(plan, {}), [key for key in IDENTITY if key != "models"])
    missing = runfolder.missing_parts(run, SYNTHESIS, tables.PHOTOS, plan.parts)
    if missing:
        pick_device(config.device)  # raises if it is not there
    return Plan(config, run, files, values, plan.inputs, classifiers, plan.parts - len(missing))


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


def identity(plan: Plan, models: dict[str, dict[str, str]]) -> dict[str, Any]:
    """The parts of ``run.json`` that say what the run is; see IDENTITY."""
    return {
        "config": plan.config.identity(),
        "seed": plan.config.seed,
        "values": plan.values,
        "models": models,
        "inputs": plan.inputs,
    }
