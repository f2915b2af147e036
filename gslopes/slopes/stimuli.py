"""One part of the walk from photos to counterfactual photos: find, edit, compose, in batches, chips never on the disk.

What a part writes depends only on the configuration and on its own photos: not on the other parts, their order, or
what was done before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from gslopes.core import (
    ModelError,
    PhotoError,
    Reason,
    Row,
    SkipReason,
    Texts,
    Tick,
    frozen,
    placebo,
    runfolder,
    runtime,
)
from gslopes.core.geometry import warp
from gslopes.core.records import ByteArray, Detections, Editor, Face, FloatArray, Photo
from gslopes.core.tables import PHOTOS
from gslopes.faces.components import Components
from gslopes.faces.compose.composite import Composite, crossed, crossed_placebo
from gslopes.faces.compose.encode import ENDINGS, Variants, encode, ending
from gslopes.faces.compose.masks import heads_of, mask_is_degenerate
from gslopes.faces.compose.paste import compose
from gslopes.faces.compose.placebo import lightened, qualities, randomised
from gslopes.faces.find import choose
from gslopes.frame.spec import Run
from gslopes.photos.folder import (
    BATCH_PIXELS,
    PhotoFile,
    digest_of,
    open_photo,
    photo_batches,
    photo_of,
)
from gslopes.slopes.pairs import PairSet, file_name
from gslopes.slopes.plan import Walk

Rows = list[Row]
# Faces that are masked and edited together: few enough that what the parser saw of them is still at hand for
# the edit, see ``faces.compose.skin``.
TOGETHER = 32


def synthesis(run: Run) -> Synthesis:
    """The work of a run, its models loaded.  Raises: ModelError, also if ``run.json`` has others."""
    walk: Walk = run.inputs
    of_run = runfolder.read_manifest(run.folder)["models"]
    walk_here = replace(walk, config=replace(walk.config, device=run.config.device))
    components = walk_here.ready()
    if components.models != of_run:
        differing = "; ".join(runfolder.differences(of_run, components.models))
        raise ModelError(
            f"A worker has other models: {differing}.", "Install the same models on every machine."
        )
    kind = Synthesis if walk.pairs is None else Reading
    return kind(run.folder, walk_here, components, walk.same)


class Faces(NamedTuple):
    """Faces that are edited together.

    photos, faces, chips: of each.  masks, heads: border to the mask of the face, or of the head, of each.
    """

    photos: Sequence[Photo]
    faces: Sequence[Face]
    chips: ByteArray
    masks: Mapping[float | None, Sequence[FloatArray]]
    heads: Mapping[float | None, Sequence[Any]]


@frozen
class Synthesis:
    """What makes the pictures of a part.

    run: the run folder.  plan, components: what and with what.
    same: relative name to the name of the earlier photo with the same bytes.
    """

    run: Path
    plan: Walk
    components: Components
    same: Texts

    def __call__(self, files: Sequence[PhotoFile], tick: Tick) -> dict[str, Rows]:
        """Make the pictures of some photos; rows of both tables.  Raises: StorageError."""
        photos: Rows = []
        edits: Rows = []
        read = partial(self._open, photos, tick)
        for batch in photo_batches(files, read, BATCH_PIXELS):
            self._walk_within_memory(
                [(file.relative, photo) for file, photo in batch], photos, edits
            )
            tick(len(batch))
        return {"edits": edits, "photos": photos}

    def _open(self, photos: Rows, tick: Tick, file: PhotoFile) -> Photo | None:
        """The photo; one that is skipped gets its row right away."""
        if file.relative in self.same:
            why = SkipReason(Reason.DUPLICATE, self.same[file.relative])
        else:
            try:
                return open_photo(file.path)
            except PhotoError as error:
                why = cast("SkipReason", error.reason)  # as of every photo
        photos.append(_skipped(file.relative, why, photo=digest_of(file.path)))
        tick(1)
        return None

    def _walk_within_memory(
        self, batch: list[tuple[str, Photo]], photos: Rows, edits: Rows
    ) -> None:
        """As ``_walk``; a batch that does not fit the memory is halved until it does, down to one photo."""
        made: tuple[Rows, Rows] = ([], [])
        try:
            self._walk(batch, *made)
        except Exception as error:
            if not runtime.is_out_of_memory(error) or len(batch) == 1:
                raise
        else:
            photos += made[0]
            edits += made[1]
            return
        # out of the except clause: the error holds on to what filled the memory
        runtime.release_memory(self.plan.device)
        middle = len(batch) // 2
        for half in (batch[:middle], batch[middle:]):
            self._walk_within_memory(half, photos, edits)

    def _walk(self, batch: list[tuple[str, Photo]], photos: Rows, edits: Rows) -> None:
        """Find, edit and compose one batch; adds to both tables and writes the pictures."""
        usable = []
        size = next(iter(self.components.editors.values())).size
        faces = self.components.finder([photo for _, photo in batch])
        for (name, photo), detections in zip(batch, faces, strict=True):
            height, width = photo.shape
            face = choose(detections, width, height, self.plan.config.find.min_face, size)
            if isinstance(face, SkipReason):
                photos.append(_seen(name, photo, face, detections))
            else:
                usable.append((name, photo, face))
        for start in range(0, len(usable), TOGETHER):
            self._edit(usable[start : start + TOGETHER], size, photos, edits)

    def _edit(
        self,
        usable: list[tuple[str, Photo, Face]],
        size: int,
        photos: Rows,
        edits: Rows,
    ) -> None:
        """Mask, edit and compose a few photos; adds to both tables and writes the pictures."""
        chips = np.stack([warp(photo.pixels, face.matrix, size) for _, photo, face in usable])
        columns = [photo for _, photo, _ in usable], [face for _, _, face in usable], chips
        borders = {editor.border for editor in self.components.editors.values()}
        masks = {border: self.components.masker(*columns, border) for border in borders}
        headed = {
            editor.border
            for editor in self.components.editors.values()
            if self._region(editor) == "head"
        }
        heads = {border: heads_of(self.components.masker, *columns, border) for border in headed}
        # a face is used by all editors or by none
        reasons = [
            mask_is_degenerate(min(face_masks, key=np.sum)) or SkipReason()
            for face_masks in zip(*masks.values(), strict=True)
        ]
        photos += [
            _seen(name, photo, why, face)
            for (name, photo, face), why in zip(usable, reasons, strict=True)
        ]
        rows = [index for index, why in enumerate(reasons) if not why]
        if rows:
            faces = Faces(
                [usable[row][1] for row in rows],
                [usable[row][2] for row in rows],
                chips[rows],
                {border: [of_all[row] for row in rows] for border, of_all in masks.items()},
                {border: [of_all[row] for row in rows] for border, of_all in heads.items()},
            )
            edits += self._compose(faces)

    def _compose(self, faces: Faces) -> Rows:
        """Edit and compose the photos along all attributes, write the pictures; their rows."""
        grid = self.plan.grid
        every = range(len(faces.photos))
        edits = []
        for attribute in self.components.editors if grid is None else grid.names[:1]:
            composites = self._composed(faces, attribute, every, faces.photos, faces.chips)
            for row, composite in enumerate(composites):
                photo = faces.photos[row]
                if grid is not None:
                    matrix = faces.faces[row].matrix
                    size = faces.chips.shape[1]
                    again = np.stack([warp(pixels, matrix, size) for pixels in composite.pictures])
                    pictures = [replace(photo, pixels=pixels) for pixels in composite.pictures]
                    rows = [row] * len(pictures)
                    second = self._composed(faces, grid.names[1], rows, pictures, again)
                    composite = crossed(composite, [*second])
                files = self._files(photo)
                encoded = (files.encode(patch, composite.box) for patch in composite.patches)
                about = grid.name if grid else attribute, photo.id, composite
                edits += self._write(*about, encoded)
                edits += self._placebos(*about, files)
        return edits

    def _composed(
        self,
        faces: Faces,
        attribute: str,
        rows: Sequence[int],
        photos: Sequence[Photo],
        chips: ByteArray,
    ) -> Iterator[Composite]:
        """Along one attribute.  rows: of the faces that these photos have."""
        editor = self.components.editors[attribute]
        grid = self.plan.grid
        known = dict(zip(grid.names, grid.values, strict=True)) if grid else self.plan.values
        values = np.asarray(known[attribute], np.float32)
        swept = getattr(editor, "sweep_ends", editor.sweep)(chips, values)
        blend = self.plan.config.compose.blend_of_ours() or editor.blend
        masks = faces.masks[editor.border]
        heads: Sequence[Any] = [None] * len(masks)
        if self._region(editor) == "head":
            heads = faces.heads[editor.border]
        for index, (row, photo) in enumerate(zip(rows, photos, strict=True)):
            place = masks[row], faces.faces[row].matrix, blend, heads[row]
            yield compose(photo.pixels, photo.gray, swept.of(index), *place)

    def _region(self, editor: Editor) -> str:
        """Which part of the face an editor may change."""
        region = self.plan.config.compose.region
        if region == "auto":
            return editor.region
        return region

    def _files(self, photo: Photo) -> Variants:
        return Variants(photo.pixels, photo.gray, photo.icc, self.plan.config.compose.format)

    def _placebos(
        self,
        attribute: str,
        photo: str,
        composite: Composite,
        files: Variants,
        present: Collection[str] = (),
    ) -> Rows:
        """Write the pictures of a photo's placebos, but for known ones; their rows."""
        values = self.plan.values[attribute]
        seed = self.plan.config.seed
        rows = []
        grid = self.plan.grid

        along = (
            zip(composite.axes, grid.values, grid.names, strict=True)
            if grid
            else [(composite, values, "")]
        )
        axes = [(part, axis_values, photo + name) for part, axis_values, name in along]
        same, light, random = placebo.names(attribute)
        for sweep in (same, light, random) if self.plan.config.compose.placebo else ():
            if sweep in present:
                continue
            if sweep == same:
                centre = composite.patches[len(values) // 2]
                packed = qualities(photo, len(values), seed)
                encoded = (files.encode(centre, composite.box, quality) for quality in packed)
            else:
                parts = [
                    lightened(*axis_values[:2])
                    if sweep == light
                    else randomised(*axis_values, seed)
                    for axis_values in axes
                ]
                fake = crossed_placebo(composite, *parts) if grid else parts[0]
                encoded = (files.encode(patch, fake.box) for patch in fake.patches)
            rows += self._write(sweep, photo, composite, encoded)
        return rows

    def _write(
        self,
        sweep: str,
        photo: str,
        composite: Composite,
        pictures: Iterable[bytes],
    ) -> Rows:
        """Write K pictures of the photo of this id, which may change only within the box of ``whole``; their rows."""
        rows = []
        for step, (value, data) in enumerate(zip(self.plan.values[sweep], pictures, strict=True)):
            file = ending(f"edits/{sweep}/{photo[:16]}-{step}", data)
            runfolder.write_changed(self.run / file, data)
            row = {"photo": photo, "attribute": sweep, "step": step, "value": value}
            rows.append(row | {"file": file, "mask_area": composite.mask_area})
        return rows


# -- a set that others made ------------------------------------------------------------------------------------------


class Reading(Synthesis):
    """In place of editing: the pictures of a set, copied, and placebo sweeps of the kinds that it lacks.

    JPEG and PNG are copied unchanged, others become PNG. Our placebos are made of the whole picture, by as much as the
    unit's pictures differ.
    """

    def __call__(self, files: Sequence[PhotoFile], tick: Tick) -> dict[str, Rows]:
        """Copy the pictures of some units; rows of both tables.  Raises: StorageError."""
        photos = []
        edits = []
        for file in files:
            try:
                photo_row, edit_rows = self._unit(file.relative)
            except PhotoError as error:
                unit: Any = cast("PairSet", self.plan.pairs).units.loc[file.relative]
                photo_row = _skipped(unit["shown"], cast("SkipReason", error.reason), unit["photo"])
                edit_rows = []
            photos.append(photo_row)
            edits += edit_rows
            tick(1)
        return {"edits": edits, "photos": photos}

    def _unit(self, name: str) -> tuple[Row, Rows]:
        """Its row of the table photos, and the rows of its pictures.  Raises: PhotoError."""
        pairs = cast("PairSet", self.plan.pairs)
        unit_rows = pairs.edits.loc[name:name]
        unit = cast("Any", pairs.units.loc[name])  # edits are sorted
        if unit_rows.empty:
            raise PhotoError(name, SkipReason(Reason.VALUES_MISSING, unit["lacks"]))
        data = {picture: picture.read() for picture in {unit["picture"], *unit_rows["picture"]}}
        opened = {picture: photo_of(read, picture.path) for picture, read in data.items()}
        if len({photo.pixels.shape for photo in opened.values()}) > 1:
            raise PhotoError(name, SkipReason(Reason.SIZES_DIFFER))
        for picture, photo in opened.items():
            if not data[picture].startswith(tuple(ENDINGS)):
                data[picture] = encode(photo.pixels, photo.gray, photo.icc, "png")
        photo = replace(opened[unit["picture"]], id=unit["photo"])
        height, width = photo.shape
        detections = self.components.finder([photo])[0]
        face = choose(detections, width, height, self.plan.config.find.min_face)
        own_file = ending(file_name(unit["shown"]), data[unit["picture"]])
        runfolder.write_changed(self.run / runfolder.GIVEN / own_file, data[unit["picture"]])
        row = _seen(own_file, photo, SkipReason(), face if isinstance(face, Face) else detections)
        rows = []
        everywhere = np.ones((height, width), np.float32)
        files = self._files(photo)
        for attribute, part in unit_rows.groupby("attribute", sort=False):
            sweep = str(attribute)
            patches = np.stack([opened[picture].pixels for picture in part["picture"]])
            whole = everywhere, (0, 0, width, height), 1.0
            axes: tuple[Composite, ...] = ()
            if self.plan.grid:  # along each attribute, with the other at its centre
                count, other_count = map(len, self.plan.grid.values)
                cells = patches.reshape(other_count, count, *patches.shape[1:])
                along = cells[other_count // 2], cells[:, count // 2]
                axes = tuple(Composite(photo.pixels, part, *whole) for part in along)
            composite = Composite(photo.pixels, patches, *whole, axes=axes)
            rows += self._write(
                sweep, photo.id, composite, [data[picture] for picture in part["picture"]]
            )
            if not placebo.is_placebo(sweep):
                rows += self._placebos(sweep, photo.id, composite, files, {*unit_rows["attribute"]})
        return row | {"status": "used"}, rows


def _skipped(name: str, why: SkipReason, photo: str) -> Row:
    """The row of a photo that was not decoded."""
    return {**PHOTOS.blank, "photo": photo, "path": name, "status": "skipped", **why.columns}


def _seen(name: str, photo: Photo, why: SkipReason, face: Face | Detections) -> Row:
    """The row of a decoded photo; skipped if there is a reason."""
    height, width = photo.shape
    row = _skipped(name, why, photo.id) | {"width": width, "height": height}
    if isinstance(face, Detections):
        return row | {"faces": len(face.scores)}
    return row | {
        "box": face.box.ravel().tolist(),
        "points": face.points.ravel().tolist(),
        "detection": face.score,
        "faces": face.faces,
        "status": "skipped" if why else "used",
    }
