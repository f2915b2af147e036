"""The second stage: cut-out people in front of every background, at one size and place; rows of the edits table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gslopes.compose.encode import QUALITY, SUFFIX, Variants
from gslopes.contexts.config import StageConfig
from gslopes.contexts.pictures.backgrounds import BackgroundPicture
from gslopes.contexts.pictures.canvas import DoesNotFit, Placement, box, largest_share, paste, place, resample
from gslopes.contexts.pictures.colour import to_srgb
from gslopes.contexts.pictures.cutting import face_of, read_cutout
from gslopes.contexts.pictures.sweeping import Sweeper
from gslopes.contexts.tables import COMPOSITES
from gslopes.core import runfolder, tables
from gslopes.core.reasons import VALUES, Reason
from gslopes.core.records import ByteArray, FloatArray
from gslopes.datasets.folder import PhotoFile, open_photo
from gslopes.executors import Tick
from gslopes.run.plan import SYNTHESIS

Row = dict[str, Any]
GRAY = 128


@dataclass(frozen=True, slots=True)
class Composing:
    """The work: parts of people, then of backgrounds, to pictures and the tables photos, edits and composites.

    files: of people.  backgrounds: that are used.  cutouts: photo to its row of that table.
    names: relative name of a file to its photo.  backdrop: the plain canvas' colour.  share: of the canvas that a
    person is.  outline: a photo whose cut-out is of median size, for the silhouettes; empty before it is known.
    sweeper: makes counterfactuals, if there is a sweep.
    """

    run: Path
    files: tuple[PhotoFile, ...]
    backgrounds: tuple[BackgroundPicture, ...]
    cutouts: dict[str, Row]
    names: dict[str, str]
    config: StageConfig
    backdrop: tuple[int, int, int]
    share: float = 0.25
    outline: str = ""
    sweeper: Sweeper | None = None
    _plain: list[Any] = field(default_factory=list, repr=False)

    @property
    def in_threads(self) -> bool:
        """Nothing is kept between two calls."""
        return True

    def __call__(self, part: int, tick: Tick) -> None:
        """Raises: StorageError."""
        made = _Made(self)
        size = self.config.part
        for index in range(part * size, min((part + 1) * size, len(self.files) + len(self.backgrounds))):
            if index < len(self.files):
                made.person(self.files[index])
            else:
                made.background(self.backgrounds[index - len(self.files)])
            tick(1)
        runfolder.settle(self.run / row["file"] for row in made.edits if not row["file"].startswith("/"))
        written = [(tables.EDITS, made.edits), (COMPOSITES, made.composites)]
        written += [(tables.VERDICTS, made.verdicts)] if self.sweeper is not None else []
        written.append((tables.PHOTOS, made.photos))  # the last one says that the part is done
        for table, rows in written:
            frame = pd.DataFrame(rows, columns=table.columns) if rows else table.empty()
            runfolder.write_table(table, frame, runfolder.part_path(self.run, SYNTHESIS, table, part))


class _Made:
    """Rows of one part, and the pictures that they name."""

    def __init__(self, work: Composing) -> None:
        self.work, self.config = work, work.config
        self.photos: list[Row] = []
        self.edits: list[Row] = []
        self.composites: list[Row] = []
        self.verdicts: list[Row] = []
        self.size = work.config.canvas

    def person(self, file: PhotoFile) -> None:
        """The baselines and composites of one photo."""
        photo_id = self.work.names.get(file.relative, "")
        row = self.work.cutouts.get(photo_id)
        if row is None or row["status"] == "skipped" or (row["status"] == "flagged" and not self.config.keep_flagged):
            self._photo(photo_id, file.relative, *_why(row))
            return
        colour, alpha = read_cutout(self.work.run / row["file"])
        x0, y0, x1, y1 = box(alpha)
        face = face_of(row["face"])
        try:
            where = self._placement(alpha[y0:y1, x0:x1], float(face[3] - face[1]))
        except DoesNotFit as error:
            self._photo(photo_id, file.relative, Reason.DOES_NOT_FIT, error.message)
            return
        photo = open_photo(file.path)
        height, width = photo.pixels.shape[:2]
        self._photo(photo_id, file.relative, Reason.NONE, "", width, height, face)
        high = float(face[3] - face[1])
        if "original" in self.config.kinds:
            data = file.path.read_bytes()
            name = self._write(photo_id, "original", 0, data, file.path.suffix.lower())
            self._add(photo_id, "original", 0, 0.0, "original", "", name, None, high / height, 0.0)
        crop = (slice(y0, y1), slice(x0, x1))
        layer, opacity = resample(colour[crop], alpha[crop], where)
        tall = where.scale * high / self.size[1]
        for key, context, background in self._conditions():
            picture = paste(background, layer, opacity, where)
            form = self.config.format
            files = Variants(picture, False, None, form)
            whole = files.encode(picture[:0, :0], (0, 0, 0, 0), QUALITY)
            name = self._write(photo_id, key, 0, whole, SUFFIX[form])
            kind = "context" if context else "canvas"
            self._add(photo_id, key, 0, 0.0, kind, context, name, where, tall, where.opaque / np.prod(self.size))
        if self.work.sweeper is not None:
            self._sweep(photo_id, file, colour, alpha, crop, where, tall)

    def _sweep(
        self,
        photo_id: str,
        file: PhotoFile,
        colour: ByteArray,
        alpha: FloatArray,
        crop: tuple[slice, slice],
        where: Placement,
        tall: float,
    ) -> None:
        """K counterfactuals by one mask: within a background they differ only where the face was edited."""
        sweeper = self.work.sweeper
        assert sweeper is not None
        photo = open_photo(file.path)
        swept = sweeper(photo)
        if swept is None:
            return
        found, judged = swept
        x0, y0, x1, y1 = found.box
        base = to_srgb(photo.pixels, photo.icc)[y0:y1, x0:x1].astype(np.int16)
        layers, opacity = [], np.zeros(0, np.float32)
        for patch in found.patches:
            edited = colour.copy()
            change = to_srgb(np.ascontiguousarray(patch), photo.icc).astype(np.int16) - base
            edited[y0:y1, x0:x1] = np.clip(edited[y0:y1, x0:x1].astype(np.int16) + change, 0, 255).astype(np.uint8)
            layer, opacity = resample(edited[crop], alpha[crop], where)
            layers.append(layer)
        rows, columns = _varying(layers)
        cut = (slice(rows[0], rows[1]), slice(columns[0], columns[1]))
        inner = Placement(where.scale, where.x + columns[0], where.y + rows[0], columns[1] - columns[0],
                          rows[1] - rows[0], 0)  # fmt: skip
        form = self.config.format
        for key, context, background in self._conditions():
            attribute = f"{key}~{self.config.sweep}"
            if judged is not None:
                self.verdicts.append({"photo": photo_id, "attribute": attribute, **judged})
            start = paste(background, layers[0], opacity, where)
            files = Variants(start, False, None, form)
            at = (inner.x, inner.y, inner.x + inner.width, inner.y + inner.height)
            for step, (layer, value) in enumerate(zip(layers, sweeper.values, strict=True)):
                picture = paste(background, layer[cut], opacity[cut], inner)
                data = files.encode(picture[at[1] : at[3], at[0] : at[2]], at)
                name = self._write(photo_id, attribute, step, data, SUFFIX[form])
                kind = "context" if context else "canvas"
                share = where.opaque / np.prod(self.size)
                self._add(photo_id, attribute, step, value, kind, context, name, where, tall, share)

    def background(self, background: BackgroundPicture) -> None:
        """The background alone, and behind a gray silhouette."""
        assert background.pixels is not None
        self._photo(
            background.photo, f"background {background.key}", Reason.NONE, "", background.width, background.height
        )
        form = self.config.format
        if "empty" in self.config.kinds:
            data = Variants(background.pixels, False, None, form).encode(
                background.pixels[:0, :0], (0, 0, 0, 0), QUALITY
            )
            name = self._write(background.photo, "empty", 0, data, SUFFIX[form])
            self._add(background.photo, "empty", 0, 0.0, "empty", background.context, name, None, np.nan, np.nan)
        if "silhouette" in self.config.kinds and self.work.outline:
            _, alpha = read_cutout(self.work.run / self.work.cutouts[self.work.outline]["file"])
            x0, y0, x1, y1 = box(alpha)
            silhouette = alpha[y0:y1, x0:x1]
            face = face_of(self.work.cutouts[self.work.outline]["face"])
            try:
                where = self._placement(silhouette, float(face[3] - face[1]))
            except DoesNotFit:
                return  # the person of median size has no composite either
            layer, opacity = resample(np.full((*silhouette.shape, 3), GRAY, np.uint8), silhouette, where)
            picture = paste(background.pixels, layer, opacity, where)
            data = Variants(picture, False, None, form).encode(picture[:0, :0], (0, 0, 0, 0), QUALITY)
            name = self._write(background.photo, "silhouette", 0, data, SUFFIX[form])
            share = where.opaque / np.prod(self.size)
            self._add(
                background.photo, "silhouette", 0, 0.0, "silhouette", background.context, name, where, np.nan, share
            )

    # -- helpers ------------------------------------------------------------------------------------------------------

    def _conditions(self) -> Sequence[tuple[str, str, ByteArray]]:
        """(attribute, context, pixels) of the plain canvas and every background."""
        plain = np.empty((self.size[1], self.size[0], 3), np.uint8)
        plain[:] = self.work.backdrop
        found: list[tuple[str, str, ByteArray]] = []
        if "canvas" in self.config.kinds or self.config.sweep:
            found.append(("canvas", "", plain))
        return found + [
            (background.key, background.context, background.pixels)
            for background in self.work.backgrounds
            if background.pixels is not None
        ]

    def _placement(self, alpha: FloatArray, face: float) -> Placement:
        if self.config.size_by == "face":
            return place(alpha, *self.size, share=None, face=face, face_height=self.config.face_height)
        return place(alpha, *self.size, share=self.work.share)

    def _write(self, photo: str, attribute: str, step: int, data: bytes, suffix: str) -> str:
        name = f"edits/{attribute}/{photo[:16]}-{step}{suffix}"
        path = self.work.run / name
        with runfolder.storage(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        runfolder.write_bytes(path, data)
        return name

    def _add(
        self,
        photo: str,
        attribute: str,
        step: int,
        value: float,
        kind: str,
        context: str,
        file: str,
        where: Placement | None,
        face_height: float,
        share: float | np.floating[Any],
    ) -> None:
        head = {"photo": photo, "attribute": attribute, "step": step, "file": file}
        self.edits.append({**head, "value": value, "mask_area": 0.0})
        spot = {"scale": where.scale, "x": where.x, "y": where.y} if where else {"scale": np.nan, "x": 0, "y": 0}
        more = {"kind": kind, "context": context, "person_share": float(share), "face_height": face_height}
        self.composites.append({**head, **spot, **more})

    def _photo(
        self,
        photo: str,
        path: str,
        reason: Reason,
        detail: str = "",
        width: int = 0,
        height: int = 0,
        face: FloatArray | None = None,
    ) -> None:
        known = face.tolist() if face is not None else None
        row = {"photo": photo, "path": path, "width": width, "height": height, "reason": reason.value, "detail": detail}
        row |= {"status": "skipped" if reason else "used", "faces": int(face is not None), "box": known}
        self.photos.append({**row, "points": None, "detection": None})


def _why(row: Row | None) -> tuple[Reason, str]:
    """Why a person without a composite has none: the reason and its detail."""
    if row is None:
        return Reason.UNKNOWN_PERSON, ""
    reason, detail = str(row["reason"]), str(row["detail"])
    return (Reason(reason), detail) if reason and reason in VALUES else (Reason.UNREADABLE, reason)


def largest_common_share(run: Path, cutouts: Iterable[Row], canvas: tuple[int, int]) -> float:
    """The largest share of the canvas that everybody's cut-out can have, rounded down to a thousandth.

    run: the run folder.  cutouts: rows of that table; of people who are used.
    """
    shares = []
    for row in cutouts:
        _, alpha = read_cutout(run / row["file"])
        x0, y0, x1, y1 = box(alpha)
        shares.append(largest_share(alpha[y0:y1, x0:x1], *canvas))
    return math.floor(1000 * min(shares)) / 1000 if shares else 0.25


def _varying(layers: list[FloatArray]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Rows and columns (first, end) in which the layers differ; one pixel if they do not."""
    differ = np.zeros(layers[0].shape[:2], bool)
    for layer in layers[1:]:
        differ |= np.abs(layer - layers[0]).max(axis=2) > 0
    if not differ.any():
        return (0, 1), (0, 1)
    rows, columns = np.flatnonzero(differ.any(axis=1)), np.flatnonzero(differ.any(axis=0))
    return (int(rows[0]), int(rows[-1]) + 1), (int(columns[0]), int(columns[-1]) + 1)
