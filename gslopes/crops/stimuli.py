"""Each photo alone: decoded, its face found, and each saliency model asked about it; then who is of which group."""

import copy
import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from gslopes.ask.boxes import Box, Saliency, crop_rectangle, resized
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.joining import (
    check_map,
    focal_point,
    head_box,
    salient_regions,
    share_inside,
)
from gslopes.ask.croppers.remote import mtcnn
from gslopes.core import runfolder
from gslopes.core.errors import AnswerError, PhotoError, UsageError
from gslopes.core.files import sha256_of
from gslopes.core.reasons import Reason, SkipReason, explained
from gslopes.core.records import ByteArray, Finder, Photo
from gslopes.core.tables import Record, Row
from gslopes.crops.config import CropsConfig
from gslopes.crops.people import People, Portrait
from gslopes.faces.find import choose
from gslopes.frame.spec import Made, Run, Tables
from gslopes.photos.decode import in_srgb
from gslopes.photos.folder import open_photo, open_srgb

_MEMORY = 768 << 20  # bytes of decoded photos that are kept


def reader_of(
    paths: Sequence[Path], sizes: Sequence[tuple[int, int]], config: CropsConfig
) -> Callable[[int], ByteArray]:
    """Number to the photo as joined, (H, W, 3) uint8 RGB; those read last are kept.

    sizes: (width, height) as joined.  What it gives raises: PhotoError.
    """
    most = max(2, _MEMORY // max((3 * wide * tall for wide, tall in sizes), default=1))
    return lru_cache(most)(lambda index: scaled(open_srgb(paths[index]), config))


def digest_of(people: People) -> str:
    """The sha256 over the bytes of all photos that can be read, and who is on them."""
    lines = hashlib.sha256()
    for portrait in people.portraits:
        try:
            photo = sha256_of(portrait.path)
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


def as_joined(
    used: pd.DataFrame, config: CropsConfig
) -> tuple[list[tuple[int, int]], dict[int, Box]]:
    """Sizes of the photos as they are joined, and heads in them.  used: rows of PEOPLE."""
    sizes = []
    heads = {}
    for index, row in enumerate(used.to_dict("records")):
        wide = int(row["width"])
        tall = int(row["height"])
        sizes.append(scaled_size(wide, tall, config))
        if row["head"] is not None:
            across = sizes[-1][0] / wide
            down = sizes[-1][1] / tall
            x0, y0, x1, y1 = (float(value) for value in row["head"])
            heads[index] = Box(x0 * across, y0 * down, x1 * across, y1 * down)
    return sizes, heads


def finder_of(run: Run) -> Finder:
    """Of faces: the one that was given, or MTCNN."""
    assert run.plan is not None
    return getattr(run.plan.given, "finder", None) or mtcnn()


def look(run: Run, portraits: Sequence[Portrait]) -> Made:
    """Each photo alone: decoded, its face found, and each saliency model asked about it."""
    assert run.plan is not None
    finder = run.once(finder_of)
    models = [cast("Saliency", model) for model in run.plan.models.values() if has_map(model)]
    saliency: list[Row] = []
    people: list[Row] = []
    for portrait in portraits:
        row: Row = {"photo": "", "person": portrait.person, "path": portrait.relative, "width": 0}
        row |= {
            "height": 0,
            "status": "used",
            "faces": 0,
            "box": None,
            "head": None,
            **SkipReason().columns,
        }
        people.append(row)
        run.tick(1)
        try:
            photo = open_photo(portrait.path)
        except PhotoError as error:
            row |= {"status": "skipped", **SkipReason.of(error.reason).columns}
            continue
        height, width = photo.pixels.shape[:2]
        faces = finder([photo])[0]
        row |= {"photo": photo.id, "width": width, "height": height, "faces": len(faces.scores)}
        face = choose(faces, width, height, 1)
        if isinstance(face, SkipReason):
            detail = "out of what is kept, still in who is favoured"
            row |= SkipReason(
                face.reason, f"{face.detail}; {detail}" if face.detail else detail
            ).columns
        else:
            head = head_box(face.box.tolist(), width, height)
            sides = np.array([head.x0, head.y0, head.x1, head.y1], np.float32)
            row |= {"box": face.box.astype(np.float32), "head": sides}
        for model in models:
            saliency += _alone(model, photo, row, run.config)
    return {"saliency": saliency, "traits": [], "people": people + _repeated(portraits, people)}


def _repeated(portraits: Sequence[Portrait], people: Sequence[Row]) -> list[Row]:
    """Rows of other files with the same bytes."""
    rows = []
    for portrait, row in zip(portraits, people, strict=True):
        why = SkipReason(Reason.DUPLICATE, portrait.relative)
        rows += [
            {**row, "path": name, "status": "skipped", **why.columns} for name in portrait.repeats
        ]
    return rows


def _alone(model: Saliency, photo: Photo, row: Record, config: CropsConfig) -> list[Row]:
    """A photo's own map in numbers, at its own scale and, of a model of one size, reduced as when joined."""
    pixels, (height, width) = (
        scaled(in_srgb(photo.pixels, photo.icc), config),
        photo.pixels.shape[:2],
    )
    factor = height / pixels.shape[0]
    scales = {"own": model}
    if size := int(getattr(model, "size", 0)):
        matched: Any = copy.copy(model)
        matched.size = max(32, size // 2)
        scales["matched"] = matched
    rows = []
    for scale, scaled_model in scales.items():
        try:
            (saliency,) = scaled_model.maps([pixels])
            check_map(saliency, pixels.shape[1], pixels.shape[0], model.name, row["path"])
        except AnswerError:
            continue  # the pairs of this photo say why
        x, y = (int(value * factor) for value in focal_point(saliency))
        regions = salient_regions(saliency, width, height)
        facts: Row = {"on_head": None, "kept": None, "regions": len(regions), "regions_off": 0}
        if row["head"] is not None and np.ptp(saliency.scores) > 0:
            head = Box(*(float(value) for value in row["head"]))
            crop = crop_rectangle(width, height, min(x, width - 1), min(y, height - 1), 1.0)
            facts |= {"on_head": head.holds(x, y), "kept": np.float32(share_inside(head, crop))}
            facts["regions_off"] = sum(box.shared(head) < box.area / 2 for box in regions)
        facts |= {
            "max": np.float32(saliency.scores.max()),
            "median": np.float32(np.median(saliency.scores)),
        }
        rows.append(
            {"cropper": model.name, "photo": photo.id, "scale": scale, "x": x, "y": y, **facts}
        )
    return rows


def with_groups(run: Run, made: Tables) -> Made:
    """Who is of which group, in the order of the table, and who is left out.

    Raises: UsageError if no photo can be read.
    """
    people: People = run.inputs
    used = made["people"][made["people"]["status"] == "used"]
    if used.empty:
        first = made["people"].iloc[0]
        raise UsageError(
            "No photo could be read.",
            f"The first reason: {explained(first['reason'], first['detail'])}.",
        )
    runfolder.write_json(
        run.folder / "groups.json", {"groups": people.groups, "left_out": people.left_out}
    )
    traits = [
        {"person": person, "column": column, "value": value, "source": run.config.source}
        for column, groups in people.groups.items()
        for value, persons in groups.items()
        for person in persons
    ]
    return {"saliency": made["saliency"], "people": made["people"], "traits": traits}
