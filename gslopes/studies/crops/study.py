"""The crop audit from photos to page: look, pairs, measure, report; each stage can be stopped and resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.audits.crops.croppers import has_map, load_cropper
from gslopes.audits.crops.design import all_pairs, balanced_pairs, ordered, published_draws
from gslopes.audits.crops.geometry import Box
from gslopes.audits.crops.policies import temperature_for
from gslopes.core import runfolder, runtime, tables
from gslopes.core.errors import AnswerError, UnknownName, UsageError
from gslopes.core.records import Cropper, Finder, Saliency
from gslopes.core.runfolder import show
from gslopes.core.tables.crops import COVARIATES, CROPS, OUTCOMES, PAIRS, PEOPLE, SALIENCY, TRAITS
from gslopes.datasets.folder import open_photo
from gslopes.executors import Executor, OneProcess
from gslopes.studies.crops import look
from gslopes.studies.crops.asking import Asker
from gslopes.studies.crops.config import CropsConfig
from gslopes.studies.crops.look import LookWork, Shelf, scaled
from gslopes.studies.crops.pairs import PART, PairsWork
from gslopes.studies.crops.people import CROSS, People, read_people

IDENTITY = ("kind", "photos", "inputs", "config", "croppers")
QUIET = OneProcess()
Models = Sequence[Saliency | Cropper]


@dataclass(frozen=True, slots=True, eq=False)
class Crops:
    """What a crop audit found; tables as in ``core.tables.crops``.

    out: the run folder.  page: the report.  skipped: photos that could not be read.
    """

    out: Path
    page: Path
    people: pd.DataFrame
    parity: pd.DataFrame
    aggregates: pd.DataFrame
    positions: pd.DataFrame
    policies: pd.DataFrame
    skipped: int


@dataclass(frozen=True, slots=True)
class CropsPlan:
    """What an audit would do: persons, pairs of photos and pictures asked of each cropper, and size of the groups."""

    persons: int
    photos: int
    pairs: int
    pictures: int
    croppers: tuple[str, ...]
    groups: dict[str, dict[str, int]]
    left_out: dict[str, dict[str, int]]


def plan_crops(photos: Path, people: Path, config: CropsConfig) -> CropsPlan:
    """Read the table and count; no photo is opened.  Raises: UsageError."""
    table = _people(photos, people, config)
    numbers = _by_person(table, range(len(table.portraits)))
    pairs = _pairs(table, numbers, config)
    persons = {portrait.person for portrait in table.portraits}
    return CropsPlan(
        len(persons),
        len(table.portraits),
        len(pairs),
        len(ordered(pairs, config.orders)) if config.attach != "none" else 0,
        config.cropper,
        {column: {name: len(own) for name, own in groups.items()} for column, groups in table.groups.items()},
        {column: dict(why) for column, why in table.left_out.items() if why},
    )


def crops(
    photos: str | Path,
    out: str | Path,
    *,
    people: str | Path,
    config: CropsConfig | None = None,
    croppers: Models = (),
    finder: Finder | None = None,
    executor: Executor = QUIET,
    embed: str = "thumbs",
    **options: Any,
) -> Crops:
    """Whom do croppers favour and keep, of two people side by side?  Called again, it resumes.

    photos: the folder of portraits, one person each.  out: the run folder, made if missing.
    people: a CSV of their groups, see ``studies.crops.people``.  config: the whole of it; else ``options`` make one:
        fields of CropsConfig, such as ``groups=["gender"]`` and ``cropper="spectral-residual"``.
    croppers: ready objects beside those that ``config`` names.  finder: instead of MTCNN.

    Raises: UsageError, ConfigError, ModelError, AnswerError, RunFolderMismatch, StorageError; all that can be known
        beforehand before any work.
    """
    photos, out, people = Path(photos), Path(out), Path(people)
    config = config or _configured(options)
    table = _people(photos, people, config)
    device = runtime.pick_device(config.device)
    finder = finder or _mtcnn(device)
    models = [
        *(load_cropper(name, finder=finder, device=device, seed=config.seed) for name in config.cropper),
        *croppers,
    ]
    if config.attach == "none" and not all(has_map(model) for model in models):
        names = ", ".join(model.name for model in models if not has_map(model))
        raise UsageError(
            f"Photos that are not joined need a map: {names} gives rectangles.", "Leave out --attach none."
        )
    _refuse_inside(photos, out)
    new = _manifest(photos, table, config, models)
    with runfolder.locked(out):
        runfolder.compare(out, new, IDENTITY)
        told = {"source": config.source, "epsilon": config.epsilon, "gslopes": runtime.gslopes_version()}
        told |= {"people": show(people), "left_out": table.left_out, "min_group": config.min_group}
        runfolder.write_json(out / runfolder.MANIFEST, {**new, **told})
        _look(out, table, models, finder, config, executor)
        seen = tables.read(PEOPLE, out / f"{PEOPLE.name}.parquet")
        _check_bytes(seen, table)
        if config.attach != "none":
            for model in models:
                _ask(out, seen, table, model, config, executor)
        return _finish(out, table, models, config, embed)


def _configured(options: dict[str, Any]) -> CropsConfig:
    """Fields as users of Python write them: one name for a tuple of one, lists for tuples."""
    known = {name for name, own in CropsConfig.__dataclass_fields__.items() if own.init}
    for name in options:
        if name not in known:
            raise UnknownName("option of a crop audit", name, known)
    several = {"groups", "cropper", "ratios", "policies"}
    made: dict[str, Any] = {
        name: ((value,) if isinstance(value, (str, float)) else tuple(value)) if name in several else value
        for name, value in options.items()
    }
    return CropsConfig(**made)


# -- look -------------------------------------------------------------------------------------------------------------


def _look(out: Path, table: People, models: Models, finder: Finder, config: CropsConfig, executor: Executor) -> None:
    count = -(-len(table.portraits) // look.PART)
    missing = runfolder.missing_parts(out, look.STAGE, PEOPLE, count)
    sizes = {part: len(table.portraits[part * look.PART : (part + 1) * look.PART]) for part in missing}
    maps = tuple(cast("Saliency", model) for model in models if has_map(model))
    if missing:
        done = len(table.portraits) - sum(sizes.values())
        executor(LookWork(out, table.portraits, finder, maps, config), sizes, label="look", unit="photos", done=done)
    runfolder.merge(out, PEOPLE, [look.STAGE], count)
    runfolder.merge(out, SALIENCY, [look.STAGE], count)
    runfolder.merge(out, COVARIATES, [look.STAGE], count)
    rows = [
        {"person": person, "column": column, "value": value, "source": config.source}
        for column, groups in table.groups.items()
        for value, persons in groups.items()
        for person in persons
    ]
    runfolder.write_table(TRAITS, pd.DataFrame(rows, columns=TRAITS.columns), out / f"{TRAITS.name}.parquet")


def _check_bytes(seen: pd.DataFrame, table: People) -> None:
    """The same bytes under two persons of different groups make no comparison."""
    used = seen[seen["status"] == "used"]
    if used.empty:
        raise UsageError("No photo could be read.", f"The first reason: {seen['reason'].iloc[0]}.")
    group = {person: name for name, persons in table.cells.items() for person in persons}
    for photo, own in used.groupby("photo"):
        names = {group.get(person) for person in own["person"]} - {None}
        if len(names) > 1:
            files = " and ".join(own["path"].head(2))
            raise UsageError(f"{files} are the same picture in the groups {' and '.join(sorted(map(str, names)))}.")
        del photo


# -- pairs ------------------------------------------------------------------------------------------------------------


def _ask(
    out: Path, seen: pd.DataFrame, table: People, model: Saliency | Cropper, config: CropsConfig, executor: Executor
) -> None:
    used = seen[seen["status"] == "used"].drop_duplicates("photo").reset_index(drop=True)
    path = {portrait.relative: portrait.path for portrait in table.portraits}
    shelf = Shelf([path[name] for name in used["path"]], config.height, config.max_side)
    numbers: dict[str, list[int]] = {}
    for index, person in enumerate(used["person"]):
        numbers.setdefault(person, []).append(index)
    pictures = ordered(_pairs(table, numbers, config), config.orders)
    sizes, heads = _as_joined(used, config)
    stage = f"pairs-{runfolder.slug(f'{model.name} {config.variant}')}"
    count = max(1, -(-len(pictures) // PART))
    missing = runfolder.missing_parts(out, stage, PAIRS, count)
    todo = {part: len(pictures[part * PART : (part + 1) * PART]) for part in missing}
    if missing:
        asker = Asker(cast("Saliency", model), shelf.__getitem__, sizes, config, note=executor.note)
        own = None if has_map(model) else cast("Cropper", model)
        settings = replace(config.settings, temperature=temperature(model, asker, len(used), config))
        work = PairsWork(out, stage, model.name, pictures, used["photo"].tolist(), heads, asker, own, config, settings)
        executor(work, todo, label=model.name[:10], unit="pictures", done=len(pictures) - sum(todo.values()))
        told = _temperatures(out) | {model.name: settings.temperature}
        runfolder.write_json(out / "temperatures.json", told)


def temperature(model: Saliency | Cropper, asker: Asker, photos: int, config: CropsConfig) -> float:
    """The temperature of the softmax: given, 1 where scores are log densities, else by the rule of entropy.

    The rule: over the maps of the first photos joined with their neighbours, the median of the temperatures at which a
    map spreads over a tenth of its cells.
    """
    if config.temperature is not None:
        return config.temperature
    if not has_map(model) or getattr(model, "log", False) or model.name.startswith("fastgaze"):
        return 1.0
    first = min(photos, 8)
    some = np.array([[index, (index + 1) % photos] for index in range(first)])
    found = [batch.scores for batch in asker.maps(some) if not isinstance(batch, tuple)]
    known = [temperature_for(own.astype(np.float64)) for scores in found for own in scores]
    return float(np.float32(np.median(known))) if known else 1.0


def _temperatures(out: Path) -> dict[str, float]:
    path = out / "temperatures.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


def _as_joined(used: pd.DataFrame, config: CropsConfig) -> tuple[list[tuple[int, int]], dict[int, Box]]:
    """Sizes of the photos as they are joined, and heads in them."""
    sizes, heads = [], {}
    for index, row in enumerate(used.to_dict("records")):
        wide, tall = int(row["width"]), int(row["height"])
        new = scaled_size(wide, tall, config)
        sizes.append(new)
        if row["head"] is not None:
            x0, y0, x1, y1 = (float(value) for value in row["head"])
            across, down = new[0] / wide, new[1] / tall
            heads[index] = Box(x0 * across, y0 * down, x1 * across, y1 * down)
    return sizes, heads


def scaled_size(width: int, height: int, config: CropsConfig) -> tuple[int, int]:
    """(width, height) of ``look.scaled`` without any pixel."""
    if config.height:
        return max(1, width * config.height // height), config.height
    longer = max(width, height)
    if config.max_side and longer > config.max_side:
        across, down = (max(1, round(side * config.max_side / longer)) for side in (width, height))
        return across, down
    return width, height


def _pairs(table: People, numbers: dict[str, list[int]], config: CropsConfig) -> NDArray[np.int64]:
    groups = {
        name: [number for person in persons for number in numbers.get(person, [])]
        for name, persons in table.cells.items()
    }
    groups = {name: own for name, own in groups.items() if own}
    if config.draws:
        large = {name: own for name, own in groups.items() if len(own) >= config.min_group}
        return published_draws(large, config.draws, config.seed)
    most = config.pairs or config.max_pairs // (2 if config.orders == "both" else 1)
    whole = all_pairs(groups)
    return whole if len(whole) <= most else balanced_pairs(groups, most, config.seed)


# -- measure and report -----------------------------------------------------------------------------------------------


def _finish(out: Path, table: People, models: Models, config: CropsConfig, embed: str) -> Crops:
    from gslopes.report.crops import write_crops_report
    from gslopes.studies.crops.measuring import measure_run

    stages = [f"pairs-{runfolder.slug(f'{model.name} {config.variant}')}" for model in models]
    if config.attach != "none":
        for kind in (PAIRS, OUTCOMES, CROPS):
            _merge_all(out, kind, stages)
    found = measure_run(out, table, config)
    page = write_crops_report(out, embed=embed, photos={p.relative: p.path for p in table.portraits})
    people = tables.read(PEOPLE, out / f"{PEOPLE.name}.parquet")
    return Crops(
        out,
        page,
        people,
        found["parity"],
        found["aggregates"],
        found["positions"],
        found["policies"],
        int((people["status"] != "used").sum()),
    )


def _merge_all(out: Path, kind: tables.Table, stages: Sequence[str]) -> None:
    """Parts of all croppers as one table; their numbers of parts are the same, as are their pictures."""
    count = len(list((out / "parts" / stages[0]).glob(f"{PAIRS.name}-*.parquet")))
    runfolder.merge(out, kind, stages, count)


# -- what is there ----------------------------------------------------------------------------------------------------


def _people(photos: Path, people: Path, config: CropsConfig) -> People:
    found = read_people(
        photos, people, config.groups, files=config.files, min_group=config.min_group, ambiguous=config.ambiguous
    )
    if config.limit is None:
        return found
    if config.limit < 2:
        raise UsageError(f"A limit of {config.limit} photos leaves nobody to compare.", "Give 2 or more.")
    return replace(found, portraits=found.portraits[: config.limit])


def _by_person(table: People, numbers: range) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number in numbers:
        found.setdefault(table.portraits[number].person, []).append(number)
    return found


def _refuse_inside(photos: Path, out: Path) -> None:
    root, inside = photos.resolve(), out.resolve()
    if inside == root or inside.is_relative_to(root):
        hint = "Choose a folder outside of it with --out."
        raise UsageError(f"The run folder {show(out)} lies inside the photos folder {show(photos)}.", hint)


def _manifest(photos: Path, table: People, config: CropsConfig, models: Models) -> dict[str, Any]:
    lines = hashlib.sha256()
    for portrait in table.portraits:
        size = portrait.path.stat().st_size
        lines.update(f"{portrait.relative}\0{portrait.person}\0{size}\0{sorted(portrait.traits.items())}\n".encode())
    return {
        "kind": "crops",
        "photos": show(photos.resolve()),
        "inputs": {"photos": len(table.portraits), "digest": lines.hexdigest()},
        "config": config.identity(),
        "croppers": {model.name: model.version for model in models},
        "columns": [*table.columns, *([CROSS.join(table.columns)] if len(table.columns) > 1 else [])],
    }


def _mtcnn(device: str) -> Finder:
    from gslopes.find.detect import MtcnnFinder

    return MtcnnFinder(32, device)


def joined_again(paths: Sequence[Path], config: CropsConfig) -> NDArray[np.uint8]:
    """The joined picture of photos, as it was asked about.  Raises: PhotoError."""
    from gslopes.audits.crops.joining import join

    own = [scaled(open_photo(path).pixels, config.height, config.max_side) for path in paths]
    if config.attach == "none":
        raise AnswerError("Photos that are not joined make no picture.")
    return join(own, config.attach, gap=config.gap, jpeg=config.jpeg)[0]
