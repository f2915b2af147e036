"""Each photo by itself: decoded, its face found, each saliency model asked about it; then who is of which group."""

import copy
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from pandas import DataFrame

from gslopes.ask.boxes import Box, Saliency, crop_rectangle, resized
from gslopes.ask.croppers import has_map, joining
from gslopes.core import (
    AnswerError,
    PhotoError,
    Reason,
    Record,
    Row,
    SkipReason,
    UsageError,
    explained,
    files,
    runfolder,
)
from gslopes.core.records import ByteArray, Finder, Photo
from gslopes.core.tables import records
from gslopes.crops.config import TABLES, CropsConfig
from gslopes.crops.stimuli.people import Groups, People, Portrait
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.frame.spec import Made, Run, Tables
from gslopes.photos import decode, folder

STILL = "out of what is kept, still in who is favoured"  # who has no face
_MEMORY = 768 << 20  # bytes of decoded photos that are kept


def reader_of(
    paths: Sequence[Path], sizes: Sequence[tuple[int, int]], config: CropsConfig
) -> Callable[[int], ByteArray]:
    """Number to the photo as joined, (H, W, 3) uint8 RGB; those read last are kept.

    sizes: (width, height) as joined.  What it gives raises: PhotoError.
    """
    most = max(2, _MEMORY // max((3 * wide * tall for wide, tall in sizes), default=1))
    return lru_cache(most)(lambda index: scaled(folder.open_srgb(paths[index]), config))


def digest_of(people: People) -> str:
    """The sha256 over the bytes of all photos that can be read, and who is on them."""
    lines = hashlib.sha256()
    for portrait in people.portraits:
        try:
            photo = files.sha256_of(portrait.path)
        except OSError:
            photo = ""
        lines.update(
            f"{portrait.relative}\0{portrait.person}\0{photo}\0{sorted(portrait.traits.items())}\n".encode()
        )
    return lines.hexdigest()


def scaled(photo: ByteArray, config: CropsConfig) -> ByteArray:
    """The photo at the size in which it is joined."""
    return resized(photo, *scaled_size(photo.shape[1], photo.shape[0], config))


def scaled_size(width: int, height: int, config: CropsConfig) -> tuple[int, int]:
    """(width, height) of the photo as joined; with a height its width is truncated, as published."""
    if config.height:
        return (max(1, width * config.height // height), config.height)
    return (width, height)


def as_joined(used: DataFrame, config: CropsConfig) -> tuple[list[tuple[int, int]], dict[int, Box]]:
    """Sizes of the photos when joined, and heads in them.  used: rows of PEOPLE."""
    sizes = []
    heads = {}
    for index, row in enumerate(records(used)):
        size = scaled_size(row["width"], row["height"], config)
        sizes.append(size)
        if row["head"] is not None:
            scale = np.divide(size, (row["width"], row["height"]))
            heads[index] = Box(*(row["head"] * np.tile(scale, 2)).tolist())
    return sizes, heads


def finder_of(run: Run) -> Finder:
    """Of faces: the one that was given, or MTCNN."""
    return getattr(run.plan and run.plan.given, "finder", None) or MtcnnFinder()


def look(run: Run, portraits: Sequence[Portrait]) -> Made:
    """Each photo by itself: decoded, its face found, and each saliency model asked about it."""
    finder = run.once(finder_of)
    models = list(filter(has_map, run.models.values()))
    saliency = []
    people = []
    for portrait in portraits:
        row = {
            **TABLES["people"].blank,
            "person": portrait.person,
            "path": portrait.relative,
            "status": "used",
        }
        people.append(row)
        run.tick(1)
        try:
            photo = folder.open_photo(portrait.path)
        except PhotoError as error:
            row |= {"status": "skipped", **SkipReason.of(error.reason).columns}
            continue
        height, width = photo.shape
        faces = finder([photo])[0]
        row |= {
            "photo": photo.id,
            "width": width,
            "height": height,
            "faces": len(faces.scores),
        }
        face = choose(faces, width, height, 1)
        if isinstance(face, SkipReason):
            detail = "; ".join(filter(None, (face.detail, STILL)))
            row |= SkipReason(face.reason, detail).columns
        else:
            head = joining.head_box(face.box.tolist(), width, height)
            row |= {"box": face.box, "head": np.array(astuple(head), np.float32)}
        for model in models:
            saliency += _alone(model, photo, row, run.config)
    return {
        "saliency": saliency,
        "traits": [],
        "people": [*people, *_repeated(portraits, people)],
    }


def _repeated(portraits: Sequence[Portrait], people: Sequence[Row]) -> Iterator[Row]:
    """Rows of other files with the same bytes."""
    for portrait, row in zip(portraits, people, strict=True):
        why = SkipReason(Reason.DUPLICATE, portrait.relative)
        for name in portrait.repeats:
            yield {**row, "path": name, "status": "skipped", **why.columns}


def _alone(
    model: Saliency,
    photo: Photo,
    row: Record,
    config: CropsConfig,
) -> list[Row]:
    """A photo's map in numbers, at the photo's scale and, of a model of one size, reduced as when joined."""
    pixels = scaled(decode.in_srgb(photo.pixels, photo.icc), config)
    height, width = photo.shape
    factor = height / pixels.shape[0]
    scales = {"own": model}
    if size := getattr(model, "size", 0):
        matched: Any = copy.copy(model)
        matched.size = max(32, size // 2)
        scales["matched"] = matched
    rows = []
    for scale, scaled_model in scales.items():
        try:
            saliency = scaled_model.maps([pixels])[0]
            joining.check_map(saliency, pixels.shape[1], pixels.shape[0], model.name, row["path"])
        except AnswerError:
            continue  # the pairs of this photo have the reason
        x, y = (int(value * factor) for value in joining.focal_point(saliency))
        regions = joining.salient_regions(saliency, width, height)
        facts = {
            **TABLES["saliency"].blank,
            "cropper": model.name,
            "photo": photo.id,
            "scale": scale,
            "x": x,
            "y": y,
            "max": saliency.scores.max(),
            "median": np.median(saliency.scores),
            "regions": len(regions),
        }
        if row["head"] is not None and np.ptp(saliency.scores) > 0:
            head = Box(*row["head"].tolist())
            crop = crop_rectangle(width, height, min(x, width - 1), min(y, height - 1), 1.0)
            facts["on_head"] = head.holds(x, y)
            facts["kept"] = np.float32(joining.share_inside(head, crop))
            facts["regions_off"] = sum(box.shared(head) < box.area / 2 for box in regions)
        rows.append(facts)
    return rows


def with_groups(run: Run, tables: Tables) -> Made:
    """Who is of which group, in the order of the table, and who is left out.

    Raises: UsageError if no photo can be read.
    """
    groups: Groups = run.inputs.groups
    looked_at = tables["people"]
    if not (looked_at["status"] == "used").any():
        first = looked_at.iloc[0]
        reason = explained(first["reason"], first["detail"])
        raise UsageError("No photo could be read.", f"The first reason: {reason}.")
    content = {"groups": groups, "left_out": run.inputs.left_out}
    runfolder.write_json(run.folder / "groups.json", content)
    traits = [
        {
            "person": person,
            "column": column,
            "value": value,
            "source": run.config.source,
        }
        for column, members in groups.items()
        for value, persons in members.items()
        for person in persons
    ]
    return {**tables, "traits": traits}
