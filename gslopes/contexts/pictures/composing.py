"""Cut-out people in front of every background, at one size and place; rows of the edits table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gslopes.contexts.config import StageConfig
from gslopes.contexts.pictures.backgrounds import BackgroundPicture
from gslopes.contexts.pictures.canvas import DoesNotFit, Placement, box, largest_share, paste, place, resample, to_srgb
from gslopes.contexts.pictures.cutting import REPLACED, face_of, read_cutout, same_photo
from gslopes.contexts.pictures.sweeping import Sweeper
from gslopes.core import runfolder
from gslopes.core.errors import PhotoError
from gslopes.core.progress import Tick
from gslopes.core.reasons import VALUES, Reason, SkipReason
from gslopes.core.records import ByteArray, FloatArray, Photo
from gslopes.faces.compose.encode import SUFFIX, Variants, encode
from gslopes.photos.folder import PhotoFile, open_photo, photo_bytes

Row = dict[str, Any]
GRAY = 128
FORMAT: Literal["jpeg"] = "jpeg"  # what services take, and a tenth of the size


@dataclass(frozen=True, slots=True)
class Composing:
    """People, then backgrounds, to pictures and rows of the tables photos, edits and composites.

    backgrounds: that are used.  cutouts: photo to its row of that table.
    names: relative name of a file to its photo, of those that are used.  backdrop: the plain canvas' colour.
    share: of the canvas that a person is.  outline: a photo whose cut-out is of median size, for the silhouettes; empty
    if there is none.  sweeper: makes counterfactuals, if there is a sweep.  known: names in people.csv.
    """

    run: Path
    backgrounds: tuple[BackgroundPicture, ...]
    cutouts: dict[str, Row]
    names: dict[str, str]
    config: StageConfig
    backdrop: tuple[int, int, int]
    share: float = 0.25
    outline: str = ""
    sweeper: Sweeper | None = None
    known: frozenset[str] = frozenset()

    def part(self, items: Iterable[PhotoFile | BackgroundPicture], tick: Tick) -> Part:
        """The rows of some people and backgrounds.  Raises: StorageError."""
        made = Part(self)
        for item in items:
            if isinstance(item, BackgroundPicture):
                made.background(item)
            else:
                made.person(item)
            tick(1)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class _Cutout:
    """A cut-out: colour (H, W, 3) and alpha (H, W) in the photo's frame, its box, and its place on the canvas."""

    colour: ByteArray
    alpha: FloatArray
    crop: tuple[slice, slice]
    face: FloatArray
    where: Placement

    def layer(self, colour: ByteArray) -> tuple[FloatArray, FloatArray]:
        """Colour and opacity at the size on the canvas, see ``canvas.resample``."""
        return resample(colour[self.crop], self.alpha[self.crop], self.where)


class Part:
    """Rows of one part, and the pictures that they name."""

    def __init__(self, work: Composing) -> None:
        self.work, self.config = work, work.config
        self.photos: list[Row] = []
        self.edits: list[Row] = []
        self.composites: list[Row] = []
        self.verdicts: list[Row] = []

    def person(self, file: PhotoFile) -> None:
        """The baselines and composites of one photo."""
        work, photo_id = self.work, self.work.names.get(file.relative, "")
        row = work.cutouts.get(photo_id)
        if row is None:
            self._photo(photo_id, file.relative, *self._without_cutout(file))
            return
        if row["status"] == "skipped" or (row["status"] == "flagged" and not self.config.keep_flagged):
            self._photo(photo_id, file.relative, *_why(row))
            return
        try:
            cutout, original = self._placed(row), photo_bytes(file.path)
            photo = same_photo(original, file.path, photo_id)
        except DoesNotFit as error:
            self._photo(photo_id, file.relative, Reason.DOES_NOT_FIT, error.message)
            return
        except PhotoError as error:
            self._photo(photo_id, file.relative, *_parts(error.reason))
            return
        height, width = photo.pixels.shape[:2]
        self._photo(photo_id, file.relative, width=width, height=height, box=cutout.face.tolist())
        tall = float(cutout.face[3] - cutout.face[1])
        if "original" in self.config.kinds:
            more: Row = {"face_height": tall / height, "person_share": 0.0}
            self._add(photo_id, "original", "original", original, suffix=file.path.suffix.lower(), **more)
        layer, opacity = cutout.layer(cutout.colour)
        face_height = cutout.where.scale * tall / self.config.canvas[1]
        for key, context, background in self._conditions():
            picture = paste(background, layer, opacity, cutout.where)
            kind = "context" if context else "canvas"
            self._add(photo_id, key, kind, self._encoded(picture), context, cutout.where, face_height=face_height)
        if work.sweeper is not None:
            self._sweep(photo_id, photo, cutout, face_height)

    def _sweep(self, photo_id: str, photo: Photo, cutout: _Cutout, face_height: float) -> None:
        """K counterfactuals by one mask: within a background they differ only where the face was edited."""
        sweeper = self.work.sweeper
        assert sweeper is not None
        swept = sweeper(photo)
        if swept is None:
            return
        composite, judged = swept
        x0, y0, x1, y1 = composite.box
        base = to_srgb(photo.pixels, photo.icc)[y0:y1, x0:x1].astype(np.int16)
        layers, opacity = [], np.zeros(0, np.float32)
        for patch in composite.patches:
            edited = cutout.colour.copy()
            change = to_srgb(np.ascontiguousarray(patch), photo.icc).astype(np.int16) - base
            edited[y0:y1, x0:x1] = np.clip(edited[y0:y1, x0:x1].astype(np.int16) + change, 0, 255).astype(np.uint8)
            layer, opacity = cutout.layer(edited)
            layers.append(layer)
        x0, y0, x1, y1 = _varying(layers)
        cut, where = (slice(y0, y1), slice(x0, x1)), cutout.where
        inner = replace(where, x=where.x + x0, y=where.y + y0, width=x1 - x0, height=y1 - y0)
        at = (inner.x, inner.y, inner.x + inner.width, inner.y + inner.height)
        for key, context, background in self._conditions():
            attribute, kind = f"{key}~{self.config.sweep}", "context" if context else "canvas"
            if judged is not None:
                self.verdicts.append({"photo": photo_id, "attribute": attribute, **judged})
            start = paste(background, layers[0], opacity, where)
            files = Variants(start, False, None, FORMAT)
            for step, (layer, value) in enumerate(zip(layers, sweeper.values, strict=True)):
                picture = paste(background, layer[cut], opacity[cut], inner)
                data = files.encode(picture[at[1] : at[3], at[0] : at[2]], at)
                self._add(
                    *(photo_id, attribute, kind, data, context, where), step=step, value=value, face_height=face_height
                )

    def background(self, background: BackgroundPicture) -> None:
        """The background alone, and behind a gray silhouette."""
        assert background.pixels is not None
        photo, context = background.photo, background.context
        self._photo(photo, f"background {background.key}", width=background.width, height=background.height)
        if "empty" in self.config.kinds:
            self._add(photo, "empty", "empty", self._encoded(background.pixels), context)
        if "silhouette" in self.config.kinds and self.work.outline:
            try:
                cutout = self._placed(self.work.cutouts[self.work.outline])
            except DoesNotFit:
                return  # the person of median size has no composite either
            layer, opacity = cutout.layer(np.full_like(cutout.colour, GRAY))
            picture = paste(background.pixels, layer, opacity, cutout.where)
            self._add(photo, "silhouette", "silhouette", self._encoded(picture), context, cutout.where)

    # -- helpers ------------------------------------------------------------------------------------------------------

    def _without_cutout(self, file: PhotoFile) -> tuple[Reason, str]:
        """Why a photo has no cut-out: of no known person, unreadable, replaced meanwhile, or the same as another."""
        if file.relative not in self.work.known:
            return Reason.UNKNOWN_PERSON, ""
        try:
            open_photo(file.path)
        except PhotoError as error:
            return _parts(error.reason)
        return (Reason.GONE, REPLACED) if self.work.names.get(file.relative) else (Reason.DUPLICATE, "")

    def _conditions(self) -> list[tuple[str, str, ByteArray]]:
        """(attribute, context, pixels) of the plain canvas and every background."""
        width, height = self.config.canvas
        plain = np.full((height, width, 3), self.work.backdrop, np.uint8)
        shown = "canvas" in self.config.kinds or self.config.sweep
        return [*([("canvas", "", plain)] if shown else []), *(
            (background.key, background.context, background.pixels)
            for background in self.work.backgrounds
            if background.pixels is not None
        )]  # fmt: skip

    def _placed(self, row: Row) -> _Cutout:
        """A cut-out with its place.  row: of the ``cutouts`` table.  Raises: DoesNotFit."""
        colour, alpha = read_cutout(self.work.run, row["file"])
        x0, y0, x1, y1 = box(alpha)
        crop, face = (slice(y0, y1), slice(x0, x1)), face_of(row["face"])
        return _Cutout(colour, alpha, crop, face, place(alpha[crop], *self.config.canvas, self.work.share))

    def _encoded(self, picture: ByteArray) -> bytes:
        return encode(picture, False, None, FORMAT)

    def _add(
        self,
        photo: str,
        attribute: str,
        kind: str,
        data: bytes,
        context: str = "",
        where: Placement | None = None,
        *,
        suffix: str = "",
        value: float = 0.0,
        **more: Any,
    ) -> None:
        """Write one picture and its rows.  more: columns of the ``composites`` table."""
        name = f"edits/{attribute}/{photo[:16]}-{more.get('step', 0)}{suffix or SUFFIX[FORMAT]}"
        path = self.work.run / name
        runfolder.make_folder(path.parent)
        runfolder.write_changed(path, data)
        row = {
            "photo": photo,
            "attribute": attribute,
            "step": 0,
            "file": name,
            "kind": kind,
            "context": context,
            **more,
        }
        if where is not None:
            width, height = self.config.canvas
            row |= {"scale": where.scale, "x": where.x, "y": where.y, "person_share": where.opaque / (width * height)}
        self.composites.append(row)
        head = {column: row[column] for column in ("photo", "attribute", "step", "file")}
        self.edits.append({**head, "value": value, "mask_area": 0.0})

    def _photo(self, photo: str, path: str, reason: Reason = Reason.NONE, detail: str = "", **more: Any) -> None:
        """A row of the ``photos`` table.  more: width, height and, of a person, the face's box."""
        row: Row = {"photo": photo, "path": path, "reason": reason.value, "detail": detail, "width": 0, "height": 0}
        row |= {"status": "skipped" if reason else "used", "faces": int("box" in more)}
        self.photos.append({**row, **dict.fromkeys(("box", "points", "detection")), **more})


def _parts(why: str) -> tuple[Reason, str]:
    reason = SkipReason.of(why)
    return reason.reason, reason.detail


def _why(row: Row) -> tuple[Reason, str]:
    """Why a person has no composite: the reason and its detail."""
    reason, detail = str(row["reason"]), str(row["detail"])
    return (Reason(reason), detail) if reason and reason in VALUES else (Reason.UNREADABLE, reason)


def largest_common_share(run: Path, cutouts: Iterable[Row], canvas: tuple[int, int]) -> float:
    """The largest share of the canvas that everybody's cut-out can have, rounded down to a thousandth.

    run: the run folder.  cutouts: rows of that table, of people who are used.
    """
    shares = []
    for row in cutouts:
        _, alpha = read_cutout(run, row["file"])
        x0, y0, x1, y1 = box(alpha)
        shares.append(largest_share(alpha[y0:y1, x0:x1], *canvas))
    return math.floor(1000 * min(shares)) / 1000 if shares else 0.25


def _varying(layers: list[FloatArray]) -> tuple[int, int, int, int]:
    """x0 y0 x1 y1 (exclusive) of where the layers differ; one pixel if they do not."""
    differ = np.ptp(np.stack(layers), axis=0).max(axis=2)
    return box(differ, 0) if differ.any() else (0, 0, 1, 1)
