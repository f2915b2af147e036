"""The first stage: each photo is decoded, its face found, and each saliency model asked about it alone.

The maps of the few pairs that the page draws are kept, so that the page can be made again without the model.
"""

from __future__ import annotations

import copy
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.geometry import Box
from gslopes.ask.croppers.records import Cropper, Saliency, SaliencyMap
from gslopes.ask.croppers.resizing import resized
from gslopes.core.errors import AnswerError, PhotoError, UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import sha256_of, show
from gslopes.core.progress import Tick
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import ByteArray, Finder, Photo
from gslopes.core.tables import Table
from gslopes.crops.asking.asker import Asker
from gslopes.crops.config import CropsConfig
from gslopes.crops.people import People, Portrait
from gslopes.crops.pictures.covariates import covariates, is_symmetric
from gslopes.crops.pictures.heads import head_box
from gslopes.crops.pictures.saliency import check_map, focal_point
from gslopes.crops.policies import find_peaks
from gslopes.crops.tables import COVARIATES, DRAWN_MAPS, PAIRS, PEOPLE, SALIENCY
from gslopes.frame.parts import Stage, read_table, write_tables
from gslopes.photos.folder import open_photo

PART = 32
_MEMORY = 768 << 20  # bytes of decoded photos that are kept


@dataclass(slots=True, eq=False)
class ScaledPhotos:
    """Decoded photos at the size in which they are joined; the least recently used are dropped first.

    paths: of the photos, in the order of their numbers.  ids: their sha256, if it is known.
    """

    paths: Sequence[Path]
    config: CropsConfig
    ids: Sequence[str] = ()
    _held: OrderedDict[int, ByteArray] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def __getitem__(self, index: int) -> ByteArray:
        """(H, W, 3) uint8 RGB.  Raises: PhotoError; UsageError if the file holds another photo by now."""
        if index in self._held:
            self._held.move_to_end(index)
            return self._held[index]
        photo = same_photo(self.paths[index], self.ids[index]) if self.ids else open_photo(self.paths[index])
        pixels = scaled(photo.pixels, self.config)
        self._held[index] = pixels
        self._bytes += pixels.nbytes
        while self._bytes > _MEMORY and len(self._held) > 2:
            _, old = self._held.popitem(last=False)
            self._bytes -= old.nbytes
        return pixels


def same_photo(path: Path, photo: str) -> Photo:
    """The photo of this sha256.  Raises: PhotoError; UsageError if the file holds another one by now."""
    found = open_photo(path)
    if found.id != photo:
        raise UsageError(f"{show(path)} is another photo than when the audit began.", "Choose another --out.")
    return found


def digest_of(people: People) -> str:
    """The sha256 over the bytes of all photos that can be read, and who is on them."""
    lines = hashlib.sha256()
    for portrait in people.portraits:
        try:
            photo = sha256_of(portrait.path)
        except OSError:
            photo = ""
        lines.update(f"{portrait.relative}\0{portrait.person}\0{photo}\0{sorted(portrait.traits.items())}\n".encode())
    return lines.hexdigest()


def scaled(photo: ByteArray, config: CropsConfig) -> ByteArray:
    """The photo at the size in which it is joined."""
    return resized(photo, *scaled_size(photo.shape[1], photo.shape[0], config))


def as_joined(used: pd.DataFrame, config: CropsConfig) -> tuple[list[tuple[int, int]], dict[int, Box]]:
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
    """(width, height) of the photo as joined; with a height its width is truncated, as published."""
    if config.height:
        return max(1, width * config.height // height), config.height
    longer = max(width, height)
    if config.max_side and longer > config.max_side:
        across, down = (max(1, round(side * config.max_side / longer)) for side in (width, height))
        return across, down
    return width, height


@dataclass(frozen=True, slots=True)
class PortraitWork:
    """Finds faces in the photos of a part, and asks about each; the people table is the commit marker."""

    stage: Stage
    portraits: tuple[Portrait, ...]
    finder: Finder
    models: tuple[Saliency, ...]
    config: CropsConfig

    def __call__(self, part: int, tick: Tick) -> None:
        """As ``executors.Work``."""
        people: list[dict[str, Any]] = []
        maps: list[dict[str, Any]] = []
        more: list[dict[str, Any]] = []
        for portrait in self.portraits[part * PART : (part + 1) * PART]:
            try:
                photo = open_photo(portrait.path)
            except PhotoError as error:
                people.append(_row(portrait, "", status="skipped", **SkipReason.of(error.reason).columns))
                tick(1)
                continue
            row, face = self._find(portrait, photo)
            people.append(row)
            for model in self.models:
                maps += self._maps(model, photo, row)
            if face is not None:
                found = covariates(photo.pixels, Box(*row["head"]), face)
                more += [{"photo": photo.id, "name": name, "value": value} for name, value in found.items()]
            tick(1)
        self.stage.write(part, (SALIENCY, maps), (COVARIATES, more), (PEOPLE, people))

    def _find(self, portrait: Portrait, photo: Photo) -> tuple[dict[str, Any], np.ndarray | None]:
        height, width = photo.pixels.shape[:2]
        found = self.finder([photo])[0]
        row = _row(portrait, photo.id, width=width, height=height, faces=len(found.scores))
        if not len(found.scores):
            return {**row, **SkipReason(Reason.NO_FACE, "out of what is kept, still in who is favoured").columns}, None
        middle = np.array([width / 2, height / 2])
        best = int(np.argmin(np.square((found.boxes[:, :2] + found.boxes[:, 2:]) / 2 - middle).sum(axis=1)))
        head = head_box(found.boxes[best].tolist(), width, height)
        known = {
            "box": found.boxes[best].astype(np.float32),
            "head": np.array([head.x0, head.y0, head.x1, head.y1], np.float32),
            "points": found.points[best].ravel().astype(np.float32),
        }
        return {**row, **known}, found.points[best]

    def _maps(self, model: Saliency, photo: Photo, row: dict[str, Any]) -> list[dict[str, Any]]:
        pixels = scaled(photo.pixels, self.config)
        rows = []
        for scale, scaled_model in (("own", model), ("matched", matched(model))):
            if scaled_model is None:
                continue
            try:
                (found,) = scaled_model.maps([pixels])
                check_map(found, pixels.shape[1], pixels.shape[0], model.name, row["path"])
            except AnswerError:
                continue  # the pairs of this photo say why
            key = {"cropper": model.name, "photo": photo.id, "scale": scale}
            rows.append(key | self._summary(found, photo, row["head"], photo.pixels.shape[0] / pixels.shape[0]))
        return rows

    def _summary(self, found: SaliencyMap, photo: Photo, head: Any, factor: float) -> dict[str, Any]:
        """A photo's own map in numbers.  factor: pixels of the photo for one of the picture that was asked about."""
        x, y = focal_point(found)
        names = ("max", "p95", "p90", "p75", "median", "p25")
        ends = np.percentile(found.scores, [100, 95, 90, 75, 50, 25]).astype(np.float32)
        return {
            **dict(zip(("rows", "columns"), found.scores.shape, strict=True)),
            "x": int(x * factor),
            "y": int(y * factor),
            **dict(zip(names, ends, strict=True)),
            "mean": np.float32(found.scores.mean()),
            "symmetric": is_symmetric(photo.pixels),
            "on_head": None if head is None else Box(*head).holds(x * factor, y * factor),
            "values": found.scores.ravel().astype(np.float32) if self.config.keep_maps else None,
        }


def matched(model: Saliency) -> Saliency | None:
    """The model on a photo reduced by as much as when two of its shape are joined; None if it has no fixed size."""
    size = int(getattr(model, "size", 0))
    if not size:
        return None
    copied: Any = copy.copy(model)
    copied.size = max(32, size // 2)
    return copied


def _row(portrait: Portrait, photo: str, **known: Any) -> dict[str, Any]:
    row = {"photo": photo, "person": portrait.person, "path": portrait.relative, "width": 0, "height": 0}
    row |= {"status": "used", "faces": 0, "box": None, "head": None, "points": None}
    return row | SkipReason().columns | known


def look_at(
    out: Path,
    portraits: tuple[Portrait, ...],
    finder: Finder,
    models: Sequence[Saliency | Cropper],
    config: CropsConfig,
    executor: Executor,
    kinds: Sequence[Table] = (PEOPLE,),
) -> pd.DataFrame:
    """Find faces, ask the saliency models about each photo alone, and merge ``kinds``; the people table.  Resumes."""
    stage = Stage(out, "look", PEOPLE, len(portraits), PART)
    maps = tuple(cast("Saliency", model) for model in models if has_map(model))
    stage.carry_out(lambda: PortraitWork(stage, portraits, finder, maps, config), executor, "look", unit="photos")
    stage.merge(*kinds)
    return read_table(PEOPLE, out)


Key = tuple[str, str, str]
LONGEST = 96  # cells a side that are kept; of a larger map the highest of each block
PEAKS, MIN_DISTANCE = 3, 0.2  # as the policy choose-k has them


def keep_drawn_maps(out: Path, askers: Sequence[Asker], ids: Sequence[str]) -> None:
    """Ask each cropper with a map about the pairs that its part of the page draws; those that are kept are not asked.

    ids: number of a photo to its id.
    """
    from gslopes.crops.report.pictures import chosen

    before = read_table(DRAWN_MAPS, out, optional=True)
    kept: dict[Key, dict[Any, Any]] = {
        (row["cropper"], row["left"], row["right"]): row for row in before.to_dict("records")
    }
    number = {photo: index for index, photo in enumerate(ids)}
    pairs = read_table(PAIRS, out)
    rows: list[dict[Any, Any]] = []
    for asker in askers:
        name = asker.model.name
        if not has_map(asker.model):
            continue
        drawn = pd.concat(chosen(pairs[pairs["cropper"] == name])).drop_duplicates(["left", "right"])
        for left, right in drawn[["left", "right"]].itertuples(index=False):
            if (name, left, right) not in kept:
                picture, plan = asker.picture([number[left], number[right]])
                try:
                    (found,) = cast("Saliency", asker.model).maps([picture])
                    check_map(found, plan.width, plan.height, name, "a joined picture")
                except AnswerError:
                    continue
                key = {"cropper": name, "left": left, "right": right}
                kept[name, left, right] = key | _cells(found, plan.width, plan.height)
            rows.append(kept[name, left, right])
    write_tables(out, {DRAWN_MAPS.name: pd.DataFrame(rows, columns=DRAWN_MAPS.columns)}, DRAWN_MAPS)


def _cells(found: SaliencyMap, width: int, height: int) -> dict[str, Any]:
    scores = found.scores.astype(np.float64)
    peaks = find_peaks(scores, found.x, found.y, PEAKS, MIN_DISTANCE * min(width, height))
    for axis in (0, 1):
        step = -(-scores.shape[axis] // LONGEST)
        scores = np.maximum.reduceat(scores, np.arange(0, scores.shape[axis], step), axis=axis)
    return {
        "rows": scores.shape[0],
        "columns": scores.shape[1],
        "peaks": np.array([(x / width, y / height) for x, y, _ in peaks], np.float32).ravel(),
        "values": scores.astype(np.float32).ravel(),
    }
