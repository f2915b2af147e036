"""Every person cut out of the backdrop, checked, and kept as a PNG with an alpha channel."""

import io
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from PIL import Image

from gslopes.contexts.stimuli.cutout import Person, eraser, flaws, measure, studio, unseen
from gslopes.contexts.stimuli.matting import own_colours
from gslopes.core import PhotoError, Reason, SkipReason, Texts, runfolder
from gslopes.core.arrays import floats
from gslopes.core.records import ByteArray, Finder, FloatArray, Photo
from gslopes.core.tables import Row
from gslopes.faces.find import tilted
from gslopes.photos.decode import in_srgb, named_picture
from gslopes.photos.folder import PhotoFile, photo_bytes, photo_of

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
