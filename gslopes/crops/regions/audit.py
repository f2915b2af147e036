"""Where on the body? Photos alone: focal point, crop and salient regions, by group; a page to mark them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from gslopes.ask.config import CostLimits
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.geometry import Box, crop_rectangle
from gslopes.ask.croppers.records import Cropper, Saliency
from gslopes.ask.croppers.remote import RemoteCropper, confirm, mtcnn, ready_croppers
from gslopes.ask.trust import Trust
from gslopes.core import runfolder, runtime
from gslopes.core.errors import AnswerError, ConfigError, PhotoError, Refused, UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import resolved, why_unreadable
from gslopes.core.progress import Tick
from gslopes.core.reasons import SkipReason
from gslopes.core.records import ByteArray, Finder
from gslopes.core.runfolder import show
from gslopes.crops.asking.portraits import digest_of, look_at, same_photo
from gslopes.crops.config import CropsConfig
from gslopes.crops.people import People, read_people
from gslopes.crops.pictures.heads import checked_crop, share_inside
from gslopes.crops.pictures.saliency import check_map, focal_point, is_constant
from gslopes.crops.regions.review import marked, read_marks
from gslopes.crops.regions.segmentation import (
    PERCENTILE,
    TALL,
    Mask,
    Region,
    groups_of,
    measured,
    salient_regions,
    share_on,
)
from gslopes.crops.report.regions import write_regions_report
from gslopes.crops.tables import GLANCES, REGION_TABLES, REGIONS
from gslopes.frame.executors import OneProcess
from gslopes.frame.parts import Stage, merge, read_table, write_tables

QUIET = OneProcess()
IDENTITY = ("kind", "photos", "inputs", "config", "croppers")
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
    percentile: float = PERCENTILE,
    min_area: float | None = None,
    min_regions: int = 0,
    review: Path | None = None,
    embed: str = "thumbs",
    executor: Executor = QUIET,
    cost_limits: CostLimits | None = None,
    trust: bool = False,
) -> Regions:
    """Where do croppers look on photos of people of different groups?  Called again, it resumes.

    photos, out, people, config, croppers, finder, cost_limits, trust: as ``crops.audit.audit_crops``.
    per_group: random photos of each group.  tall: least height/width.  mask, percentile, min_area: see
        ``crops.regions.segmentation``.
    min_regions: photos on which a cropper's map has fewer salient regions do not count for it; the paper's is 2.
    review: a CSV of marks, ``photo,region,kind`` as the review page saves it, or ``photo,x0,y0,x1,y1,kind`` in pixels,
        photos by their path or sha256; RUN/review.csv if it is there.

    Raises: UsageError, ConfigError and what the croppers raise.
    """
    photos, out, people = Path(photos), Path(out), Path(people)
    cost_limits = cost_limits or CostLimits()
    if per_group < 1 or not tall > 0:
        raise ConfigError(f"per_group is {per_group} and tall {tall}; both must be positive.")
    if not 0 < percentile < 100 or (min_area is not None and not 0 <= min_area < 1) or min_regions < 0:
        raise ConfigError("A percentile lies between 0 and 100, an area between 0 and 1; regions are counted from 0.")
    table = read_people(
        photos, people, config.groups, files=config.files, min_group=2, ambiguous=config.ambiguous, seed=config.seed
    )
    device = runtime.pick_device(config.device)
    finder = finder or mtcnn()
    models = ready_croppers(
        config.cropper,
        croppers,
        cost_limits,
        (1.0,),
        finder=finder,
        device=device,
        seed=config.seed,
        trust=Trust(trust, out),
    )
    marked_in = review if review is not None else out / "review.csv"
    marks = read_marks(marked_in, wanted=review is not None)
    new = {
        "kind": "crops regions",
        "photos": show(photos.resolve()),
        "inputs": {"photos": len(table.portraits), "digest": digest_of(table)},
        "config": {"groups": list(config.groups), "per_group": per_group, "tall": tall, "mask": mask,
                   "percentile": percentile, "min_area": min_area, "seed": config.seed},
        "croppers": {model.name: model.version for model in models},
    }  # fmt: skip
    with runfolder.locked(out):
        runfolder.compare(out, new, IDENTITY)
        recorded = {"columns": list(table.columns), "source": config.source, "gslopes": runtime.gslopes_version()}
        runfolder.write_json(out / runfolder.MANIFEST, {**new, **recorded})
        if table.absent:
            executor.note(table.absent)
        seen = look_at(out, table.portraits, finder, (), config, executor)
        chosen, counts = choose(seen, table, tall, per_group, config.seed)
        confirm(models, [len(chosen)] * len(models), cost_limits, executor)
        stages = [Stage(out, f"regions-{runfolder.slug(m.name)}", GLANCES, len(chosen), PART) for m in models]
        for stage, model in zip(stages, models, strict=True):
            work = GlanceWork(stage, photos, chosen, model, mask, percentile, min_area)
            stage.carry_out(lambda work=work: work, executor, model.name, unit="photos")  # type: ignore[misc]
        mapped = {model.name: min_regions for model in models if has_map(model)}
        frames, few = _measured(
            out, stages, seen.drop_duplicates("photo"), table, config, marks, show(marked_in), mapped
        )
        counts |= {f"with fewer than {min_regions} salient regions for {name}": count for name, count in few.items()}
        pages = write_regions_report(out, photos, left_out=counts, embed=embed)
        return Regions(out, *pages, *(frames[one.name] for one in REGION_TABLES))


def _measured(
    out: Path,
    stages: Sequence[Stage],
    seen: pd.DataFrame,
    table: People,
    config: CropsConfig,
    marks: Sequence[Mapping[str, str]],
    marked_in: str,
    least: Mapping[str, int],
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Join the parts, mark the regions, measure, and write all tables; by their names, and what does not count.

    least: cropper to the salient regions that a photo must have.
    """
    merge(stages, GLANCES, REGIONS)
    frames = {one.name: read_table(one, out) for one in (GLANCES, REGIONS)}
    path_of: dict[str, str] = dict(seen[["photo", "path"]].itertuples(index=False))
    frames[REGIONS.name] = marked(frames[REGIONS.name], marks, path_of, marked_in)
    person: dict[str, str] = dict(seen[["photo", "person"]].itertuples(index=False))
    group = groups_of(table.groups, person)
    glances = frames[GLANCES.name]
    few = glances["regions"] < glances["cropper"].map(least).fillna(0)
    left_out = glances[few & (glances["status"] == "answered")].groupby("cropper").size()
    frames |= measured(glances[~few], frames[REGIONS.name], group, config.inside)
    write_tables(out, frames, *REGION_TABLES)
    return frames, {str(name): int(count) for name, count in left_out.items()}


def choose(
    seen: pd.DataFrame, table: People, tall: float, per_group: int, seed: int
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The photos asked about, at most ``per_group`` random ones of each crossed group, and why others are not.

    Raises: UsageError if none is left.
    """
    used = seen[seen["status"] == "used"].drop_duplicates("photo")
    used = used.assign(group=used["person"].map(table.group_of))
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
    counts["left out at random"] = len(headed) - len(chosen)
    return chosen, {why: count for why, count in counts.items() if count}


@dataclass(frozen=True, slots=True, eq=False)
class GlanceWork:
    """Asks about the photos of a part, alone; the glances table is the commit marker."""

    stage: Stage
    folder: Path
    photos: pd.DataFrame
    model: Model
    mask: Mask
    percentile: float = PERCENTILE
    min_area: float | None = None

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        batch = self.photos.iloc[part * PART : (part + 1) * PART]
        if isinstance(self.model, RemoteCropper):
            rows = batch.to_dict("records")
            self.model.ask_about(self.stage.out, lambda: (self._pixels(row) for row in rows), lambda _: None)
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
        self.stage.write(part, (REGIONS, regions), (GLANCES, glances))

    def _pixels(self, row: Mapping[Any, Any]) -> ByteArray:
        try:
            return same_photo(resolved(self.folder, row["path"]), row["photo"]).pixels
        except OSError as error:
            raise PhotoError(row["path"], why_unreadable(error)) from error

    def _glance(self, row: Mapping[Any, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        pixels, head = self._pixels(row), Box(*(float(value) for value in row["head"]))
        height, width = pixels.shape[:2]
        found: list[Region] = []
        if has_map(self.model):
            (saliency_map,) = cast("Saliency", self.model).maps([pixels])
            check_map(saliency_map, width, height, self.model.name, row["path"])
            if is_constant(saliency_map):
                raise AnswerError(f"{self.model.name} finds nothing salient.")
            point: tuple[int, int] | None = focal_point(saliency_map)
            crop = crop_rectangle(width, height, *cast("tuple[int, int]", point), 1.0)
            found = salient_regions(saliency_map, width, height, self.mask, self.percentile, self.min_area)
        else:
            answer = cast("Cropper", self.model).crop(pixels, 1.0)
            crop, point = checked_crop(answer, width, height, 1.0, self.model.name)[0], answer.point
        x, y = point or (-1, -1)
        record: dict[str, Any] = {"x": x, "y": y, "left": crop.left, "top": crop.top, "crop_width": crop.width}
        record |= {"crop_height": crop.height, "off_head": None if point is None else not head.holds(x, y)}
        record |= {"kept": np.float32(share_inside(head, crop)), "regions": len(found)}
        return record, [_region_row(one, head) for one in found]


_NOTHING = {"x": -1, "y": -1, "off_head": None, "kept": None} | dict.fromkeys(
    ("left", "top", "crop_width", "crop_height", "regions"), 0
)


def _region_row(region: Region, head: Box) -> dict[str, Any]:
    box = region.box
    sides = {"x0": round(box.x0), "y0": round(box.y0), "x1": round(box.x1), "y1": round(box.y1)}
    more = {"area": region.area, "cells": region.cells, "on_head": np.float32(share_on(region, head))}
    return {**sides, **more, "kind": "", "by": ""}
