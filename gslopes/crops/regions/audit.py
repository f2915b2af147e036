"""Where on the body? Photos alone: focal point, crop and salient regions, by group; a page to mark them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from gslopes.core import runfolder, runtime, tables
from gslopes.core.errors import AnswerError, ConfigError, PhotoError, Refused, UsageError
from gslopes.core.reasons import SkipReason
from gslopes.core.records import ByteArray, Finder
from gslopes.core.runfolder import show
from gslopes.core.trust import Trust
from gslopes.crops.asking import portraits
from gslopes.crops.asking.portraits import PortraitWork
from gslopes.crops.asking.remote import Remote, confirm, opened
from gslopes.crops.config import CropsConfig
from gslopes.crops.croppers import has_map, load_cropper
from gslopes.crops.people import People, read_people
from gslopes.crops.pictures.geometry import Box, crop_rectangle
from gslopes.crops.pictures.heads import checked_crop, share_inside
from gslopes.crops.pictures.saliency import check_map, focal_point, is_constant
from gslopes.crops.records import Cropper, Saliency
from gslopes.crops.regions import shares
from gslopes.crops.regions.segmentation import TALL, Mask, Region, salient_regions, share_on
from gslopes.crops.tables import GAZE, GAZE_GAPS, GLANCES, KINDS, PEOPLE, REGIONS
from gslopes.datasets.folder import open_photo
from gslopes.executors import Executor, OneProcess, Tick
from gslopes.run.config import ScoreConfig

QUIET = OneProcess()
IDENTITY = ("kind", "photos", "inputs", "config", "croppers")
MARKS = ("text", "number", "badge", "skin", "clothing", "background", "other")
OVERLAP = 0.5  # share of a region's box that a given box must cover to name it
PART = 16
Model = Saliency | Cropper


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """What was found: the run folder, both pages, and the tables GLANCES, REGIONS, GAZE, GAZE_GAPS and KINDS."""

    out: Path
    page: Path
    review: Path
    glances: pd.DataFrame
    regions: pd.DataFrame
    gaze: pd.DataFrame
    gaps: pd.DataFrame
    kinds: pd.DataFrame


def regions_crops(
    photos: str | Path,
    out: str | Path,
    *,
    people: str | Path,
    config: CropsConfig,
    croppers: Sequence[Model | Callable[..., Any]] = (),
    finder: Finder | None = None,
    per_group: int = 100,
    tall: float = TALL,
    mask: Mask = "grid",
    review: Path | None = None,
    embed: str = "thumbs",
    executor: Executor = QUIET,
    terms: ScoreConfig | None = None,
    trust: bool = False,
) -> Regions:
    """Where do croppers look on photos of people of different groups?  Called again, it resumes.

    photos, out, people, config, croppers, finder, terms, trust: as ``crops.audit.audit_crops``.
    per_group: photos of each group, drawn by lot.  tall: least height/width.  mask: see ``crops.regions.segmentation``.
    review: a CSV of marks, ``photo,region,kind`` as the review page saves it, or ``photo,x0,y0,x1,y1,kind`` in pixels,
        photos by their path or sha256; RUN/review.csv if it is there.

    Raises: UsageError, ConfigError and what the croppers raise.
    """
    photos, out, people = Path(photos), Path(out), Path(people)
    terms = terms or ScoreConfig()
    if per_group < 1 or not tall > 0:
        raise ConfigError(f"per_group is {per_group} and tall {tall}; both must be positive.")
    table = read_people(
        photos, people, config.groups, files=config.files, min_group=2, ambiguous=config.ambiguous, seed=config.seed
    )
    device = runtime.pick_device(config.device)
    finder = finder or _mtcnn(device)
    allowed = Trust(trust, out)
    named = [
        load_cropper(name, finder=finder, device=device, seed=config.seed, trust=allowed) for name in config.cropper
    ]
    models = opened([*named, *croppers], terms, (1.0,), config.seed)
    marks = read_marks(review if review is not None else out / "review.csv", wanted=review is not None)
    new = {
        "kind": "crops regions",
        "photos": show(photos.resolve()),
        "inputs": {"photos": len(table.portraits)},
        "config": {"groups": list(config.groups), "per_group": per_group, "tall": tall, "mask": mask,
                   "seed": config.seed},
        "croppers": {model.name: model.version for model in models},
    }  # fmt: skip
    with runfolder.locked(out):
        runfolder.compare(out, new, IDENTITY)
        recorded = {"columns": list(table.columns), "source": config.source, "gslopes": runtime.gslopes_version()}
        runfolder.write_json(out / runfolder.MANIFEST, {**new, **recorded})
        seen = _look(out, table, finder, config, executor)
        chosen, counts = choose(seen, table, tall, per_group, config.seed)
        confirm(models, [len(chosen)] * len(models), terms, executor)
        for model in models:
            _ask(out, photos, chosen, model, mask, executor)
        return _finish(out, photos, table, models, config, marks, counts, embed)


def choose(
    seen: pd.DataFrame, table: People, tall: float, per_group: int, seed: int
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The photos that are looked at, so many of each crossed group by lot, and why others are not: reason to photos.

    Raises: UsageError if none is left.
    """
    group = {person: name for name, persons in table.cells.items() for person in persons}
    used = seen[seen["status"] == "used"].drop_duplicates("photo")
    used = used.assign(group=used["person"].map(group))
    known = used[used["group"].notna()]
    upright = known[known["height"] >= tall * known["width"]]
    headed = upright[upright["head"].notna()]
    counts = {
        "cannot be read": int((seen["status"] != "used").sum()),
        "of no group": len(used) - len(known),
        f"less tall than {tall:g} times their width": len(known) - len(upright),
        "without a face": len(upright) - len(headed),
    }
    if headed.empty:
        counts_text = "; ".join(f"{count} {why}" for why, count in counts.items() if count)
        raise UsageError(f"No photo is left to look at: {counts_text}.", "Lower --tall, such as --tall 1.")
    generator = np.random.default_rng([seed, 13])
    drawn = []
    for _, members in headed.groupby("group", sort=True):
        positions = np.sort(generator.permutation(len(members))[:per_group])
        drawn.append(members.iloc[positions])
    chosen = pd.concat(drawn, ignore_index=True)
    counts["left out by lot"] = len(headed) - len(chosen)
    return chosen, {why: count for why, count in counts.items() if count}


@dataclass(frozen=True, slots=True, eq=False)
class GlanceWork:
    """Asks about the photos of a part, alone; the glances table is the commit marker."""

    out: Path
    stage: str
    folder: Path
    photos: pd.DataFrame
    model: Model
    mask: Mask

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        batch = self.photos.iloc[part * PART : (part + 1) * PART]
        if isinstance(self.model, Remote):
            self.model.ask_about(self.out, lambda: (self._pixels(path) for path in batch["path"]), lambda _: None)
        glances: list[dict[str, Any]] = []
        regions: list[dict[str, Any]] = []
        for row in batch.to_dict("records"):
            key = {"cropper": self.model.name, "photo": row["photo"]}
            try:
                glance, found = self._glance(row)
                glances.append({**key, **glance, "status": "answered", **SkipReason().columns})
                regions += [{**key, "region": index, **one} for index, one in enumerate(found)]
            except (AnswerError, Refused, PhotoError) as error:
                status = "refused" if isinstance(error, Refused) else "failed"
                glances.append({**key, **_NOTHING, "status": status, **SkipReason.of(str(error), status).columns})
            tick(1)
        for table, rows in ((REGIONS, regions), (GLANCES, glances)):
            frame = pd.DataFrame(rows, columns=table.columns)
            runfolder.write_table(table, frame, runfolder.part_path(self.out, self.stage, table, part))

    def _pixels(self, path: str) -> ByteArray:
        return open_photo(self.folder / path).pixels

    def _glance(self, row: Mapping[Any, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        pixels, head = self._pixels(row["path"]), Box(*(float(value) for value in row["head"]))
        height, width = pixels.shape[:2]
        found: list[Region] = []
        if has_map(self.model):
            (saliency_map,) = cast("Saliency", self.model).maps([pixels])
            check_map(saliency_map, width, height, self.model.name, row["path"])
            if is_constant(saliency_map):
                raise AnswerError(f"{self.model.name} finds nothing salient.")
            point: tuple[int, int] | None = focal_point(saliency_map)
            crop = crop_rectangle(width, height, *cast("tuple[int, int]", point), 1.0)
            found = salient_regions(saliency_map, width, height, self.mask)
        else:
            answer = cast("Cropper", self.model).crop(pixels, 1.0)
            crop, point = checked_crop(answer, width, height, 1.0, self.model.name)[0], answer.point
        x, y = point or (-1, -1)
        record = {
            "x": x,
            "y": y,
            "left": crop.left,
            "top": crop.top,
            "crop_width": crop.width,
            "crop_height": crop.height,
            "off_head": None if point is None else not head.holds(x, y),
            "kept": np.float32(share_inside(head, crop)),
            "regions": len(found),
        }
        return record, [_region_row(one, head) for one in found]


_NOTHING = {
    "x": -1, "y": -1, "left": 0, "top": 0, "crop_width": 0, "crop_height": 0, "off_head": None, "kept": None,
    "regions": 0,
}  # fmt: skip


def _region_row(region: Region, head: Box) -> dict[str, Any]:
    box = region.box
    sides = {"x0": round(box.x0), "y0": round(box.y0), "x1": round(box.x1), "y1": round(box.y1)}
    more = {"area": region.area, "cells": region.cells, "on_head": np.float32(share_on(region, head))}
    return {**sides, **more, "kind": "", "by": ""}


# -- what people mark -------------------------------------------------------------------------------------------------


def read_marks(path: Path, *, wanted: bool) -> list[dict[str, str]]:
    """Rows of a review, or of boxes, each checked; none without a file, unless it was asked for.

    Raises: UsageError naming the line.
    """
    if not path.is_file():
        if wanted:
            raise UsageError(f"There is no review {show(path)}.", "Save one from the page review.html.")
        return []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [{str(k): str(v or "").strip() for k, v in row.items()} for row in csv.DictReader(file)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(
            f"{show(path)} is not a CSV in UTF-8: {error}.", "Save it from the page review.html."
        ) from None
    boxed = bool(rows) and "x0" in rows[0]
    needed = ("photo", "x0", "y0", "x1", "y1", "kind") if boxed else ("photo", "region", "kind")
    for line, row in enumerate(rows, start=2):
        missing = [name for name in needed if name not in row]
        if missing:
            raise UsageError(f"{show(path)} lacks the column {missing[0]!r}.", f"It needs {', '.join(needed)}.")
        if row["kind"] not in MARKS:
            raise UsageError(
                f"Line {line} of {show(path)} has the kind {row['kind']!r}.", f"One of {', '.join(MARKS)}."
            )
        try:
            [float(row[name]) for name in needed[1:-1]]
        except ValueError:
            raise UsageError(
                f"Line {line} of {show(path)} has something that is no number.", "Save it from the page review.html."
            ) from None
    return rows


def marked(regions: pd.DataFrame, marks: Sequence[Mapping[str, str]], path_of: Mapping[str, str]) -> pd.DataFrame:
    """Regions with their kinds.  path_of: photo to path, by either of which a mark may name it."""
    result = regions.copy()
    for mark in marks:
        named = (result["photo"] == mark["photo"]) | (result["photo"].map(path_of) == mark["photo"])
        if "x0" in mark:
            box = Box(*(float(mark[name]) for name in ("x0", "y0", "x1", "y1")))
            fits = (
                named & result.apply(lambda row, outline=box: _covers(outline, row), axis=1) if len(result) else named
            )
            by = "boxes"
        else:
            fits = named & (result["region"] == int(float(mark["region"])))
            if mark.get("cropper"):
                fits &= result["cropper"] == mark["cropper"]
            by = mark.get("by") or "review"
        result.loc[fits, ["kind", "by"]] = [mark["kind"], by]
    return result


def _covers(box: Box, row: pd.Series) -> bool:
    region = Box(float(row["x0"]), float(row["y0"]), float(row["x1"]), float(row["y1"]))
    return region.area > 0 and region.shared(box) >= OVERLAP * region.area


# -- order of work ----------------------------------------------------------------------------------------------------


def _look(out: Path, table: People, finder: Finder, config: CropsConfig, executor: Executor) -> pd.DataFrame:
    count = -(-len(table.portraits) // portraits.PART)
    missing = runfolder.missing_parts(out, portraits.STAGE, PEOPLE, count)
    sizes = {part: len(table.portraits[part * portraits.PART : (part + 1) * portraits.PART]) for part in missing}
    if missing:
        done = len(table.portraits) - sum(sizes.values())
        executor(PortraitWork(out, table.portraits, finder, (), config), sizes, label="look", unit="photos", done=done)
    runfolder.merge(out, PEOPLE, [portraits.STAGE], count)
    return tables.read(PEOPLE, out / f"{PEOPLE.name}.parquet")


def _stage(model: Model) -> str:
    return f"regions-{runfolder.slug(model.name)}"


def _ask(out: Path, folder: Path, chosen: pd.DataFrame, model: Model, mask: Mask, executor: Executor) -> None:
    count = -(-len(chosen) // PART)
    missing = runfolder.missing_parts(out, _stage(model), GLANCES, count)
    todo = {part: min(PART, len(chosen) - part * PART) for part in missing}
    if todo:
        work = GlanceWork(out, _stage(model), folder, chosen, model, mask)
        executor(work, todo, label=model.name[:10], unit="photos", done=len(chosen) - sum(todo.values()))


def _finish(
    out: Path,
    folder: Path,
    table: People,
    models: Sequence[Model],
    config: CropsConfig,
    marks: Sequence[Mapping[str, str]],
    counts: Mapping[str, int],
    embed: str,
) -> Regions:
    from gslopes.crops.report.regions import write_regions_report

    frames: dict[str, pd.DataFrame] = {}
    for schema in (GLANCES, REGIONS):
        rows = [
            tables.read(schema, path)
            for model in models
            for path in sorted((out / "parts" / _stage(model)).glob(f"{schema.name}-*.parquet"))
        ]
        frames[schema.name] = pd.concat(rows, ignore_index=True)
    seen = tables.read(PEOPLE, out / f"{PEOPLE.name}.parquet").drop_duplicates("photo")
    frames[REGIONS.name] = marked(frames[REGIONS.name], marks, dict(seen[["photo", "path"]].itertuples(index=False)))
    person: dict[str, str] = dict(seen[["photo", "person"]].itertuples(index=False))
    group = shares.groups_of(table.groups, person)
    frames |= shares.measured(frames[GLANCES.name], frames[REGIONS.name], group, config.inside)
    for schema in (GLANCES, REGIONS, GAZE, GAZE_GAPS, KINDS):
        runfolder.write_table(schema, frames[schema.name], out / f"{schema.name}.parquet")
    pages = write_regions_report(out, folder, left_out=counts, embed=embed)
    return Regions(out, *pages, *(frames[one.name] for one in (GLANCES, REGIONS, GAZE, GAZE_GAPS, KINDS)))


def _mtcnn(device: str) -> Finder:
    from gslopes.find.detect import MtcnnFinder

    return MtcnnFinder(32, device)
