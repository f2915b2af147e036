"""Every person cut out of the backdrop, checked, and kept as a PNG with an alpha channel; then put in front of every
background, at one size and place; rows of the edits table.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import cv2
import numpy as np
from PIL import Image

from gslopes.contexts.config import KINDS, StageConfig
from gslopes.contexts.stimuli.backgrounds import USED, BackgroundPicture
from gslopes.contexts.stimuli.canvas import Placement, box, paste, place, resample
from gslopes.contexts.stimuli.cutout import Person, eraser, flaws, measure, studio, unseen
from gslopes.contexts.stimuli.matting import own_colours
from gslopes.core import PhotoError, Reason, Row, SkipReason, Texts, Tick, runfolder
from gslopes.core.geometry import warp
from gslopes.core.reasons import VALUES
from gslopes.core.records import ByteArray, Face, Finder, FloatArray, Photo, doubles, floats
from gslopes.core.tables import PHOTOS, records
from gslopes.faces.components import Components
from gslopes.faces.compose.composite import Composite
from gslopes.faces.compose.encode import SUFFIX, Variants, encode
from gslopes.faces.compose.masks import heads_of, mask_is_degenerate
from gslopes.faces.compose.paste import compose
from gslopes.faces.find import choose, tilted
from gslopes.faces.gate.verdict import GateConfig, Measured, verdict
from gslopes.frame.spec import Run
from gslopes.photos.decode import in_srgb, named_picture
from gslopes.photos.folder import PhotoFile, open_photo, photo_bytes, photo_of

REPLACED = "another picture has its name"
LARGEST = (
    1024  # pixels: the longer side at which people are cut out; their colours are the whole photo's
)


class Cutting(NamedTuple):
    """Photos to cut-outs and rows of the ``cutouts`` table.

    run: the run folder.  photos: relative name of each file to its photo.  method: of ``--cutout``.  finder: of faces.
    """

    run: Path
    photos: Texts
    method: str
    finder: Finder

    def row(self, file: PhotoFile) -> Row:
        """Cut out one person, and the row about it."""
        try:
            data = photo_bytes(file.path)
            photo = same_photo(data, file.path, self.photos[file.relative])
        except PhotoError as error:
            return _skipped(self.photos[file.relative], SkipReason.of(error.reason))
        pixels = in_srgb(photo.pixels, photo.icc)
        found = largest_face(self.finder, photo)
        if isinstance(found, SkipReason):
            return _skipped(photo.id, found)
        face, points = found
        person = self._cut(data, pixels, face, points)
        if person is None:
            return _skipped(photo.id, SkipReason(Reason.NO_ALPHA), self.method)
        colour = own_colours(pixels, person.alpha)
        numbers = measure(pixels, person, face)
        if person.method == "studio":
            numbers["unseen"] = unseen(colour, person, face, points)
        wrong = "; ".join(flaws(numbers))
        name = f"cutouts/{photo.id[:16]}.png"
        alpha = np.rint(255 * person.alpha).astype(np.uint8)
        visible = colour * (alpha > 0)[..., None]  # what is transparent is black
        bgra = np.dstack([visible[..., ::-1], alpha])
        png = cv2.imencode(".png", bgra, [cv2.IMWRITE_PNG_COMPRESSION, 3])[1].tobytes()
        runfolder.write_changed(self.run / name, png)
        behind = pixels[alpha == 0]
        middle = np.median(behind, 0).tolist() if len(behind) else [128] * 3
        why = SkipReason(Reason.CUTOUT_FLAGGED, wrong) if wrong else SkipReason()
        return {
            "photo": photo.id,
            "method": person.method,
            "status": "flagged" if wrong else "used",
            "file": name,
            **why.columns,
            **numbers,
            "backdrop": f"#{bytes(map(round, middle)).hex()}",
            "face": ",".join(map("{:.1f}".format, face)),
        }

    def _cut(
        self, data: bytes, pixels: ByteArray, face: FloatArray, points: FloatArray
    ) -> Person | None:
        """By the method that was asked for; ``auto``: the alpha channel, else studio.

        None without an alpha channel that was asked for.  A photo with a longer side than ``LARGEST`` is cut at that.
        """
        if self.method in ("auto", "alpha"):
            with Image.open(io.BytesIO(data)) as picture:
                alpha = np.asarray(picture.getchannel("A") if "A" in picture.getbands() else 255)
            if alpha.min() < 255:
                return Person(floats(alpha / 255), "alpha")
        if self.method == "alpha":
            return None
        scale = min(1.0, LARGEST / max(pixels.shape))
        resized = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        small = np.asarray(resized, np.uint8)
        if self.method == "eraser":
            person = eraser(small)
        else:
            person = studio(small, face * scale, points * scale)
        return replace(person, alpha=floats(cv2.resize(person.alpha, pixels.shape[1::-1])))


def largest_face(finder: Finder, photo: Photo) -> tuple[FloatArray, FloatArray] | SkipReason:
    """Box (4,) and points (5, 2) of the largest face; or why no upright face was found."""
    detections = finder([photo])[0]
    boxes = detections.boxes
    if not len(boxes):
        return SkipReason(Reason.NO_FACE)
    sides = boxes[:, 2:] - boxes[:, :2]
    index = int(sides.prod(1).argmax())
    return tilted(detections, index) or (floats(boxes[index]), floats(detections.points[index]))


def same_photo(data: bytes, path: Path, photo: str) -> Photo:
    """The photo of these bytes.  Raises: PhotoError, also if another photo has these bytes.  photo: its sha256."""
    photo_read = photo_of(data, path)
    if photo_read.id != photo:
        raise PhotoError(path, SkipReason(Reason.GONE, REPLACED))
    return photo_read


def read_cutout(run: Path, file: str) -> tuple[ByteArray, FloatArray]:
    """(colour (H, W, 3) uint8, alpha (H, W) float32) of a kept cut-out, in the photo's frame.

    Raises: UsageError if it is not a picture in the run folder.
    """
    picture = named_picture(file, folder=run, hint="Cut the people out again, in a new folder.")
    rgba = np.asarray(picture.convert("RGBA"))
    return np.ascontiguousarray(rgba[..., :3], np.uint8), floats(rgba[..., 3] / 255)


def _skipped(photo: str, why: SkipReason, method: str = "") -> Row:
    return {
        "photo": photo,
        "method": method,
        "status": "skipped",
        **why.columns,
    }


if TYPE_CHECKING:
    from gslopes.faces.gate.sweep_measurer import SweepMeasurer


class Sweeper(NamedTuple):
    """A photo to its counterfactuals, as the walk makes them.

    components: finder, masker and one editor.  values: (K,).  min_face: see ``faces.find``.  measurer: of the gate.
    """

    components: Components
    attribute: str
    values: tuple[float, ...]
    min_face: int
    measurer: SweepMeasurer

    def __call__(self, photo: Photo) -> tuple[Composite, Row] | None:
        """(the counterfactuals, the gate's verdict as columns); None if the photo has no usable face.

        Such a photo stays in the plain part.  The gate judges whole edited photos, once for all backgrounds.
        """
        editor = self.components.editors[self.attribute]
        masker = self.components.masker
        height, width = photo.shape
        face = choose(self.components.finder([photo])[0], width, height, self.min_face, editor.size)
        if not isinstance(face, Face):
            return None
        chip = warp(photo.pixels, face.matrix, editor.size)[None]
        masks = masker([photo], [face], chip, editor.border)
        if mask_is_degenerate(masks[0]):
            return None
        heads: Any = [None]
        if editor.region == "head":
            heads = heads_of(masker, [photo], [face], chip, editor.border)
        swept = editor.sweep(chip, floats(self.values))
        place = masks[0], face.matrix, editor.blend, heads[0]
        composite = compose(photo.pixels, photo.gray, swept.of(0), *place)
        from gslopes.faces.gate.sweep_measurer import Sweep

        sweep = Sweep(
            self.attribute,
            self.values,
            [composite.picture(step) for step in range(len(composite))],
            photo.pixels,
            doubles(face.box),
            doubles(face.points).reshape(5, 2),
            composite.mask_area,
        )
        measured: Measured = self.measurer(sweep)[0]
        why = verdict(measured, GateConfig())
        judged = {"mask_area": composite.mask_area, "kept": not why, **why.columns}
        return composite, asdict(measured) | judged


FORMAT: Literal["jpeg"] = "jpeg"  # what services take, and a tenth of the size


class Composing:
    """What all parts need.

    sweeper: makes counterfactuals, if there is a sweep.  cutouts: photo to its row of that table.
    names: relative name of a file in people.csv to its photo.
    conditions: attribute, context and pixels of the plain canvas and every background.
    """

    def __init__(self, run: Run, sweeper: Sweeper | None) -> None:
        material = run.inputs
        self.run = run.folder
        self.config: StageConfig = run.config.pictures
        self.sweeper = sweeper
        self.names = {name: material.photos[name] for name in material.who}
        self.cutouts = {row["photo"]: row for row in records(run.table("cutouts"))}
        self.conditions = [(room.key, room.context, room.pixels) for room in material.used]
        if "canvas" in self.config.kinds or sweeper:
            behind = [row["backdrop"] for row in self.cutouts.values() if row["backdrop"]]
            colours = [list(bytes.fromhex(colour[1:])) for colour in behind or ["#808080"]]
            width, height = self.config.canvas
            plain = np.full((height, width, 3), np.median(colours, 0), np.uint8)
            self.conditions.insert(0, ("canvas", "", plain))


class _Cutout(NamedTuple):
    """A cut-out: colour (H, W, 3) and alpha (H, W) in the photo's frame, its box, and its place on the canvas."""

    colour: ByteArray
    alpha: FloatArray
    crop: tuple[slice, slice]
    where: Placement

    def layer(self, colour: ByteArray) -> tuple[FloatArray, FloatArray]:
        """Colour and opacity at the size on the canvas, see ``canvas.resample``."""
        return resample(colour[self.crop], self.alpha[self.crop], self.where)


def _inside(box: tuple[int, int, int, int]) -> tuple[slice, slice]:
    """Rows and columns of a box, x0 y0 x1 y1."""
    return slice(box[1], box[3]), slice(box[0], box[2])


class Part:
    """The pictures of some people and backgrounds, and their rows.

    rows: of the tables photos, edits, composites and verdicts.
    """

    def __init__(
        self, work: Composing, items: Iterable[PhotoFile | BackgroundPicture], tick: Tick
    ) -> None:
        """Make them.  Raises: StorageError."""
        self.work = work
        self.config = work.config
        self.rows = {name: list[Row]() for name in ("photos", "edits", "composites", "verdicts")}
        for item in items:
            if isinstance(item, BackgroundPicture):
                self._background(item)
            else:
                self._person(item)
            tick(1)

    def _person(self, file: PhotoFile) -> None:
        """The baselines and composites of one photo."""
        photo_id = self.work.names.get(file.relative, "")
        for name in file.repeats:
            self._photo(photo_id, name, SkipReason(Reason.DUPLICATE, file.relative))
        try:
            row = self._usable(file, photo_id)
            cutout = self._placed(row)
            original = photo_bytes(file.path)
            photo = same_photo(original, file.path, photo_id)
        except PhotoError as error:
            self._photo(photo_id, file.relative, SkipReason.of(error.reason))
            return
        height, width = photo.shape
        face = [float(number) for number in row["face"].split(",")]
        self._photo(photo_id, file.relative, width=width, height=height, box=face)
        if "original" in self.config.kinds:
            self._add(photo_id, "original", original, suffix=file.path.suffix.lower())
        layer, opacity = cutout.layer(cutout.colour)
        for key, context, background in self.work.conditions:
            data = encode(paste(background, layer, opacity, cutout.where), False, None, FORMAT)
            self._add(photo_id, key, data, context, cutout.where.opaque)
        if self.work.sweeper:
            self._sweep(self.work.sweeper, photo_id, photo, cutout)

    def _sweep(self, sweeper: Sweeper, photo_id: str, photo: Photo, cutout: _Cutout) -> None:
        """K counterfactuals by one mask: within a background they differ only in the edited part of the face."""
        swept = sweeper(photo)
        if swept is None:
            return
        composite, judged = swept
        face = _inside(composite.box)
        base = in_srgb(photo.pixels, photo.icc)[face].astype(np.int16)
        layers = []
        for patch in composite.patches:
            edited = cutout.colour.copy()
            change = in_srgb(np.ascontiguousarray(patch), photo.icc) - base
            edited[face] = np.clip(edited[face] + change, 0, 255)
            layers.append(cutout.layer(edited)[0])
        opacity = cutout.layer(cutout.colour)[1]
        differ = np.ptp(layers, 0).max(2)
        x0, y0, x1, y1 = box(differ, 0) if differ.any() else (0, 0, 1, 1)
        where = cutout.where
        corners = (where.x + x0, where.y + y0, where.x + x1, where.y + y1)
        for key, context, background in self.work.conditions:
            attribute = f"{key}~{self.config.sweep}"
            self.rows["verdicts"].append({"photo": photo_id, "attribute": attribute, **judged})
            files = Variants(paste(background, layers[0], opacity, where), False, None, FORMAT)
            for step, layer in enumerate(layers):
                picture = paste(background, layer, opacity, where)
                data = files.encode(picture[_inside(corners)], corners)
                self._add(photo_id, attribute, data, context, where.opaque, step)

    def _background(self, background: BackgroundPicture) -> None:
        """The background without a person."""
        assert background.pixels is not None
        height, width = background.pixels.shape[:2]
        self._photo(background.photo, f"background {background.key}", width=width, height=height)
        data = encode(background.pixels, False, None, FORMAT)
        self._add(background.photo, "empty", data, background.context)

    def _usable(self, file: PhotoFile, photo_id: str) -> Row:
        """The photo's row of the ``cutouts`` table.

        Raises: PhotoError if the cut-out was skipped or flagged, or if the photo is of no known person, cannot be read,
            or was replaced meanwhile.
        """
        row = self.work.cutouts.get(photo_id)
        why = SkipReason(Reason.UNKNOWN_PERSON)
        if row:
            if row["status"] == "used":
                return row
            reason = Reason(row["reason"]) if row["reason"] in VALUES else Reason.UNREADABLE
            why = SkipReason(reason, row["detail"])
        elif file.relative in self.work.names:
            open_photo(file.path)
            why = SkipReason(Reason.GONE, REPLACED)
        raise PhotoError(file.path, why)

    def _placed(self, row: Row) -> _Cutout:
        """A cut-out with its place.  row: of the ``cutouts`` table.  Raises: DoesNotFit."""
        colour, alpha = read_cutout(self.work.run, row["file"])
        crop = _inside(box(alpha))
        where = place(alpha[crop], *self.config.canvas, self.config.person_share)
        return _Cutout(colour, alpha, crop, where)

    def _add(
        self,
        photo: str,
        attribute: str,
        data: bytes,
        context: str = "",
        opaque: int = 0,
        step: int = 0,
        suffix: str = "",
    ) -> None:
        """Write one picture and its rows.  opaque: pixels of the person on the canvas."""
        condition, _, sweep = attribute.partition("~")
        file = f"edits/{attribute}/{photo[:16]}-{step}{suffix or SUFFIX[FORMAT]}"
        runfolder.write_changed(self.work.run / file, data)
        head: Row = {"photo": photo, "attribute": attribute, "step": step, "file": file}
        kind = condition if condition in KINDS else "context"
        share = opaque / math.prod(self.config.canvas)
        self.rows["composites"].append(
            head | {"kind": kind, "context": context, "person_share": share}
        )
        value = self.work.sweeper.values[step] if self.work.sweeper and sweep else 0.0
        self.rows["edits"].append(head | {"value": value, "mask_area": 0.0})

    def _photo(self, photo: str, path: str, why: SkipReason = USED, **more: Any) -> None:
        """A row of the ``photos`` table.  more: width, height and, of a person, the face's box."""
        self.rows["photos"].append(
            {
                **PHOTOS.blank,
                "photo": photo,
                "path": path,
                "status": "skipped" if why else "used",
                **why.columns,
                "faces": int("box" in more),
                **more,
            }
        )
