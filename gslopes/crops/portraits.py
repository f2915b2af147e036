"""Each photo alone: decoded, its face found, and each saliency model asked about it; then who is of which group."""

from __future__ import annotations

import copy
import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from gslopes.ask.boxes import Box, Saliency, SaliencyMap, resized
from gslopes.ask.croppers import has_map
from gslopes.ask.croppers.remote import mtcnn
from gslopes.core import runfolder
from gslopes.core.errors import AnswerError, PhotoError, UsageError
from gslopes.core.files import sha256_of, show
from gslopes.core.reasons import Reason, SkipReason, explained
from gslopes.core.records import ByteArray, Finder, Photo
from gslopes.core.tables import frame_of
from gslopes.crops.config import JoiningConfig
from gslopes.crops.covariates import covariates, is_symmetric
from gslopes.crops.people import COLUMN, SOURCE, People, Portrait, groups_of_run
from gslopes.crops.pictures import check_map, focal_point, head_box
from gslopes.crops.tables import TABLES
from gslopes.frame.run import Run
from gslopes.frame.spec import Made
from gslopes.photos.folder import open_photo

_MEMORY = 768 << 20  # bytes of decoded photos that are kept


@dataclass(slots=True, eq=False)
class ScaledPhotos:
    """Decoded photos at the size in which they are joined; the least recently used are dropped first.

    paths: of the photos, in the order of their numbers.  ids: their sha256, if it is known.
    """

    paths: Sequence[Path]
    config: JoiningConfig
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


def scaled(photo: ByteArray, config: JoiningConfig) -> ByteArray:
    """The photo at the size in which it is joined."""
    return resized(photo, *scaled_size(photo.shape[1], photo.shape[0], config))


def as_joined(used: pd.DataFrame, config: JoiningConfig) -> tuple[list[tuple[int, int]], dict[int, Box]]:
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


def scaled_size(width: int, height: int, config: JoiningConfig) -> tuple[int, int]:
    """(width, height) of the photo as joined; with a height its width is truncated, as published."""
    return (max(1, width * config.height // height), config.height) if config.height else (width, height)


def finder_of(run: Run) -> Finder:
    """Of faces: the one that was given, or MTCNN."""
    assert run.plan is not None
    return getattr(run.plan.given, "finder", None) or mtcnn()


def look(run: Run, portraits: Sequence[Portrait]) -> Made:
    """Each photo alone: decoded, its face found, and each saliency model asked about it."""
    finder = run.once(finder_of)
    assert run.plan is not None
    models = [cast("Saliency", model) for model in run.plan.models.values() if has_map(model)]
    rows: dict[str, list[dict[str, Any]]] = {"saliency": [], "covariates": [], "people": []}
    for portrait in portraits:
        try:
            photo = open_photo(portrait.path)
        except PhotoError as error:
            rows["people"].append(_row(portrait, "", status="skipped", **SkipReason.of(error.reason).columns))
            run.tick(1)
            continue
        row, face = _find(finder, portrait, photo)
        rows["people"].append(row)
        if "saliency" in run.audit.tables:
            for model in models:
                rows["saliency"] += _maps(model, photo, row, run.config)
        if face is not None:
            values = covariates(photo.pixels, Box(*row["head"]), face)
            rows["covariates"] += [{"photo": photo.id, "name": name, "value": value} for name, value in values.items()]
        run.tick(1)
    return {name: first_of(name, of_table) for name, of_table in rows.items()}


def first_of(name: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Of rows with one key the first: photos of the same bytes, or pairs drawn with replacement, count once."""
    return frame_of(TABLES[name], rows).drop_duplicates([*TABLES[name].key])


def _find(finder: Finder, portrait: Portrait, photo: Photo) -> tuple[dict[str, Any], np.ndarray | None]:
    height, width = photo.pixels.shape[:2]
    found = finder([photo])[0]
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


def _maps(model: Saliency, photo: Photo, row: dict[str, Any], config: JoiningConfig) -> list[dict[str, Any]]:
    pixels = scaled(photo.pixels, config)
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
        rows.append(key | _summary(found, photo, row["head"], photo.pixels.shape[0] / pixels.shape[0]))
    return rows


def _summary(found: SaliencyMap, photo: Photo, head: Any, factor: float) -> dict[str, Any]:
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


# -- groups -----------------------------------------------------------------------------------------------------------


def portraits_of(run: Run) -> Sequence[Portrait]:
    """The photos to look at."""
    people: People = run.inputs
    return people.portraits


def write_groups(run: Run) -> Made:
    """Who is of which group, in the order of the table of people, and who is left out.

    Raises: UsageError if no photo can be read, or one picture is in two groups.
    """
    people, seen = groups_of_run(run), run.table("people")
    check_bytes(seen, people)
    content = {"groups": people.groups, "left_out": people.left_out}
    runfolder.write_json(run.folder / "groups.json", content)
    rows = [
        {
            "person": person,
            "column": column,
            "value": value,
            "source": SOURCE if column == COLUMN else run.config.source,
        }
        for column, groups in people.groups.items()
        for value, persons in groups.items()
        for person in persons
    ]
    return {"traits": rows}


def check_bytes(seen: pd.DataFrame, people: People) -> None:
    """The same bytes under two persons of different groups make no comparison.  Raises: UsageError."""
    used = seen[seen["status"] == "used"]
    if used.empty:
        first = seen.iloc[0]
        raise UsageError("No photo could be read.", f"The first reason: {explained(first['reason'], first['detail'])}.")
    group = people.group_of
    for _, rows in used.groupby("photo"):
        names = {group.get(person) for person in rows["person"]} - {None}
        if len(names) > 1:
            files = " and ".join(rows["path"].head(2))
            raise UsageError(
                f"{files} are the same picture in the groups {' and '.join(sorted(map(str, names)))}.",
                "Correct the table of people, or leave one out.",
            )
