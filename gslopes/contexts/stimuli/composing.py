"""Cut-out people in front of every background, at one size and place; rows of the edits table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from gslopes.contexts.config import StageConfig
from gslopes.contexts.stimuli.backgrounds import BackgroundPicture
from gslopes.contexts.stimuli.canvas import DoesNotFit, Placement, box, paste, place, resample
from gslopes.contexts.stimuli.cutting import REPLACED, read_cutout, same_photo
from gslopes.core import runfolder
from gslopes.core.errors import PhotoError
from gslopes.core.geometry import warp
from gslopes.core.progress import Tick
from gslopes.core.reasons import VALUES, Reason, SkipReason
from gslopes.core.records import ByteArray, Face, FloatArray, Photo
from gslopes.core.tables import Row
from gslopes.faces.components import Components
from gslopes.faces.compose.composite import Composite
from gslopes.faces.compose.encode import SUFFIX, Variants, encode
from gslopes.faces.compose.masks import heads_of, mask_is_degenerate
from gslopes.faces.compose.paste import compose_all
from gslopes.faces.find import choose
from gslopes.faces.gate.verdict import GateConfig, Measured, verdict
from gslopes.photos.decode import in_srgb
from gslopes.photos.folder import PhotoFile, open_photo, photo_bytes

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
    device: str
    measurer: SweepMeasurer

    def __call__(self, photo: Photo) -> tuple[Composite, Row] | None:
        """(the counterfactuals, the gate's verdict as columns); None if the photo has no usable face.

        Such a photo stays in the plain part.  The gate judges whole edited photos, once for all backgrounds.
        """
        editor = self.components.editors[self.attribute]
        height, width = photo.pixels.shape[:2]
        face = choose(self.components.finder([photo])[0], width, height, self.min_face, editor.size)
        if not isinstance(face, Face):
            return None
        chip = warp(photo.pixels, face.matrix, editor.size)[None]
        mask = self.components.masker([photo], [face], chip, editor.border)[0]
        whole = editor.region == "head"
        head = (
            heads_of(self.components.masker, [photo], [face], chip, editor.border)[0]
            if whole
            else None
        )
        if mask_is_degenerate(mask):
            return None
        swept = editor.sweep(chip, np.asarray(self.values, np.float32))
        (composite,) = compose_all(
            [photo], [face], swept, [mask], editor.blend, self.device, [head]
        )
        from gslopes.faces.gate.sweep_measurer import Sweep

        pictures = [composite.picture(step) for step in range(len(composite))]
        box = np.asarray(face.box, np.float64)
        points = np.asarray(face.points, np.float64).reshape(5, 2)
        sweep = Sweep(
            self.attribute, self.values, pictures, photo.pixels, box, points, composite.mask_area
        )
        measured: Measured = self.measurer(sweep)[0]
        why = verdict(measured, GateConfig())
        return composite, {
            **asdict(measured),
            "mask_area": composite.mask_area,
            "kept": not why,
            **why.columns,
        }


FORMAT: Literal["jpeg"] = "jpeg"  # what services take, and a tenth of the size


class Composing(NamedTuple):
    """What all parts need.

    backgrounds: that are used.  cutouts: photo to its row of that table.
    names: relative name of a file to its photo, of those that are used.  backdrop: the plain canvas' colour.
    sweeper: makes counterfactuals, if there is a sweep.  known: names in people.csv.
    """

    run: Path
    backgrounds: tuple[BackgroundPicture, ...]
    cutouts: dict[str, Row]
    names: dict[str, str]
    config: StageConfig
    backdrop: tuple[int, int, int]
    sweeper: Sweeper | None = None
    known: frozenset[str] = frozenset()


class _Cutout(NamedTuple):
    """A cut-out: colour (H, W, 3) and alpha (H, W) in the photo's frame, its box, and its place on the canvas."""

    colour: ByteArray
    alpha: FloatArray
    crop: tuple[slice, slice]
    where: Placement

    def layer(self, colour: ByteArray) -> tuple[FloatArray, FloatArray]:
        """Colour and opacity at the size on the canvas, see ``canvas.resample``."""
        return resample(colour[self.crop], self.alpha[self.crop], self.where)


class Part:
    """Rows of the tables photos, edits, composites and verdicts of some people and backgrounds, and their pictures."""

    def __init__(
        self, work: Composing, items: Iterable[PhotoFile | BackgroundPicture], tick: Tick
    ) -> None:
        """Make them.  Raises: StorageError."""
        self.work = work
        self.config = work.config
        self.photos: list[Row] = []
        self.edits: list[Row] = []
        self.composites: list[Row] = []
        self.verdicts: list[Row] = []
        plain = np.full((self.config.canvas[1], self.config.canvas[0], 3), work.backdrop, np.uint8)
        shown = "canvas" in self.config.kinds or work.sweeper is not None
        # attribute, context and pixels of the plain canvas and every background
        self.conditions = [("canvas", "", plain)] if shown else []
        self.conditions += [
            (one.key, one.context, one.pixels) for one in work.backgrounds if one.pixels is not None
        ]
        for item in items:
            if isinstance(item, BackgroundPicture):
                self._background(item)
            else:
                self._person(item)
            tick(1)

    def _person(self, file: PhotoFile) -> None:
        """The baselines and composites of one photo."""
        work = self.work
        photo_id = self.work.names.get(file.relative, "")
        for name in file.repeats:
            self._photo(photo_id, name, SkipReason(Reason.DUPLICATE, file.relative))
        row = work.cutouts.get(photo_id)
        try:
            if row is None or row["status"] != "used":
                self._photo(photo_id, file.relative, self._why_not(file, row))
                return
            cutout = self._placed(row)
            original = photo_bytes(file.path)
            photo = same_photo(original, file.path, photo_id)
        except DoesNotFit as error:
            self._photo(photo_id, file.relative, SkipReason(Reason.DOES_NOT_FIT, error.message))
            return
        except PhotoError as error:
            self._photo(photo_id, file.relative, SkipReason.of(error.reason))
            return
        height, width = photo.pixels.shape[:2]
        face = [float(number) for number in row["face"].split(",")]
        self._photo(photo_id, file.relative, width=width, height=height, box=face)
        if "original" in self.config.kinds:
            self._add(photo_id, "original", "original", original, suffix=file.path.suffix.lower())
        layer, opacity = cutout.layer(cutout.colour)
        for key, context, background in self.conditions:
            data = encode(paste(background, layer, opacity, cutout.where), False, None, FORMAT)
            self._add(
                photo_id, key, "context" if context else "canvas", data, context, cutout.where
            )
        if work.sweeper is not None:
            self._sweep(work.sweeper, photo_id, photo, cutout)

    def _sweep(self, sweeper: Sweeper, photo_id: str, photo: Photo, cutout: _Cutout) -> None:
        """K counterfactuals by one mask: within a background they differ only where the face was edited."""
        swept = sweeper(photo)
        if swept is None:
            return
        composite, judged = swept
        x0, y0, x1, y1 = composite.box
        base = in_srgb(photo.pixels, photo.icc)[y0:y1, x0:x1].astype(np.int16)
        layers = []
        opacity = np.zeros(0, np.float32)
        for patch in composite.patches:
            edited = cutout.colour.copy()
            change = in_srgb(np.ascontiguousarray(patch), photo.icc).astype(np.int16) - base
            edited[y0:y1, x0:x1] = np.clip(
                edited[y0:y1, x0:x1].astype(np.int16) + change, 0, 255
            ).astype(np.uint8)
            layer, opacity = cutout.layer(edited)
            layers.append(layer)
        differ = np.ptp(np.stack(layers), axis=0).max(axis=2)
        x0, y0, x1, y1 = box(differ, 0) if differ.any() else (0, 0, 1, 1)
        cut = (slice(y0, y1), slice(x0, x1))
        where = cutout.where
        inner = where._replace(x=where.x + x0, y=where.y + y0, width=x1 - x0, height=y1 - y0)
        at = (inner.x, inner.y, inner.x + inner.width, inner.y + inner.height)
        for key, context, background in self.conditions:
            attribute = f"{key}~{self.config.sweep}"
            kind = "context" if context else "canvas"
            self.verdicts.append({"photo": photo_id, "attribute": attribute, **judged})
            start = paste(background, layers[0], opacity, where)
            files = Variants(start, False, None, FORMAT)
            for step, (layer, value) in enumerate(zip(layers, sweeper.values, strict=True)):
                picture = paste(background, layer[cut], opacity[cut], inner)
                data = files.encode(picture[at[1] : at[3], at[0] : at[2]], at)
                self._add(photo_id, attribute, kind, data, context, where, step=step, value=value)

    def _background(self, background: BackgroundPicture) -> None:
        """The background alone."""
        assert background.pixels is not None
        height, width = background.pixels.shape[:2]
        self._photo(background.photo, f"background {background.key}", width=width, height=height)
        data = encode(background.pixels, False, None, FORMAT)
        self._add(background.photo, "empty", "empty", data, background.context)

    def _why_not(self, file: PhotoFile, row: Row | None) -> SkipReason:
        """Why a photo is not used: its cut-out was skipped or flagged, it is of no known person, or was replaced
        meanwhile.  Raises: PhotoError if it cannot be read.
        """
        if row is not None:
            reason = Reason(row["reason"]) if row["reason"] in VALUES else Reason.UNREADABLE
            return SkipReason(reason, str(row["detail"]))
        if file.relative not in self.work.known:
            return SkipReason(Reason.UNKNOWN_PERSON)
        open_photo(file.path)
        return SkipReason(Reason.GONE, REPLACED)

    def _placed(self, row: Row) -> _Cutout:
        """A cut-out with its place.  row: of the ``cutouts`` table.  Raises: DoesNotFit."""
        colour, alpha = read_cutout(self.work.run, row["file"])
        x0, y0, x1, y1 = box(alpha)
        crop = (slice(y0, y1), slice(x0, x1))
        return _Cutout(
            colour, alpha, crop, place(alpha[crop], *self.config.canvas, self.config.person_share)
        )

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
        step: int = 0,
        value: float = 0.0,
    ) -> None:
        """Write one picture and its rows."""
        head: Row = {"photo": photo, "attribute": attribute, "step": step}
        head["file"] = f"edits/{attribute}/{photo[:16]}-{step}{suffix or SUFFIX[FORMAT]}"
        path = self.work.run / head["file"]
        runfolder.make_folder(path.parent)
        runfolder.write_changed(path, data)
        share = (
            0.0 if where is None else where.opaque / (self.config.canvas[0] * self.config.canvas[1])
        )
        self.composites.append({**head, "kind": kind, "context": context, "person_share": share})
        self.edits.append({**head, "value": value, "mask_area": 0.0})

    def _photo(self, photo: str, path: str, why: SkipReason | None = None, **more: Any) -> None:
        """A row of the ``photos`` table.  more: width, height and, of a person, the face's box."""
        row: Row = {
            "photo": photo,
            "path": path,
            **(why or SkipReason()).columns,
            "width": 0,
            "height": 0,
        }
        row |= {"status": "skipped" if why else "used", "faces": int("box" in more)}
        self.photos.append({**row, **dict.fromkeys(("box", "points", "detection")), **more})
