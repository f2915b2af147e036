"""Every person cut out of the backdrop, checked, and kept as a PNG with an alpha channel."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image

from gslopes.contexts.pictures.canvas import to_srgb
from gslopes.contexts.pictures.cutout import (
    FLAT,
    Person,
    behind,
    corners_agree,
    eraser,
    flaws,
    given_alpha,
    measure,
    studio,
)
from gslopes.contexts.pictures.matte import Matte, edge_error, halo, matte
from gslopes.contexts.pictures.parsing import PersonMask
from gslopes.core import runfolder
from gslopes.core.errors import PhotoError
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import ByteArray, Finder, FloatArray, Photo
from gslopes.photos.decode import named_picture
from gslopes.photos.folder import PhotoFile, photo_bytes, photo_of

TOLERANCE = 32  # of the eraser, levels; that of the published script
REPLACED = "another picture has its name"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cutting:
    """Photos to cut-outs and rows of the ``cutouts`` table.

    run: the run folder.  photos: relative name of each file to its photo.  method: of ``--cutout``.  finder: of faces.
    parser: for ``--cutout parser`` and, with ``auto``, for photos on which everything else fails.
    """

    run: Path
    photos: Mapping[str, str]
    method: str
    finder: Finder
    parser: PersonMask

    def row(self, file: PhotoFile) -> Row:
        """Cut out one person, and the row about it."""
        try:
            data = photo_bytes(file.path)
            photo = same_photo(data, file.path, self.photos[file.relative])
        except PhotoError as error:
            return _skipped(self.photos[file.relative], SkipReason.of(error.reason))
        pixels = to_srgb(photo.pixels, photo.icc)
        face, points = largest_face(self.finder, photo)
        if face is None or points is None:
            return _skipped(photo.id, SkipReason(Reason.NO_FACE))
        person = self._cut(photo, data, pixels, face, points)
        if person is None:
            reason = Reason.NO_ALPHA if self.method == "alpha" else Reason.NO_MASK
            return _skipped(photo.id, SkipReason(reason), self.method)
        cut = matte(pixels, person) if 0 < person.mask.mean() < 1 else Matte(person.mask.astype(np.float32), pixels)
        numbers = measure(person, face)
        numbers |= {"edge": edge_error(cut, person), "halo": halo(cut, person, min(pixels.shape[:2]))}
        wrong = "; ".join(flaws(numbers))
        name = f"cutouts/{photo.id[:16]}.png"
        runfolder.write_changed(self.run / name, _rgba(cut))
        behind_it = (pixels if person.backdrop is None else person.backdrop.colour)[~person.mask]
        middle = np.median(behind_it, axis=0) if len(behind_it) else np.full(3, 128)
        why = SkipReason(Reason.CUTOUT_FLAGGED, wrong) if wrong else SkipReason()
        row = {"photo": photo.id, "method": person.method, "status": "flagged" if wrong else "used", "file": name}
        return {
            **row,
            **why.columns,
            **numbers,
            "backdrop": "#" + "".join(f"{round(float(level)):02x}" for level in middle),
            "face": ",".join(f"{number:.1f}" for number in face),
        }

    def _cut(self, photo: Photo, data: bytes, pixels: ByteArray, face: FloatArray, points: FloatArray) -> Person | None:
        """By the method that was asked for; ``auto`` takes the alpha channel, else the first whose checks pass."""
        wanted = self.method
        alpha = _alpha_of(data) if wanted in ("auto", "alpha") else None
        if alpha is not None:
            return given_alpha(alpha)
        if wanted == "alpha":
            return None

        def cut(method: str) -> Person:
            if method == "eraser":
                return eraser(pixels, TOLERANCE, face)
            probable = self.parser(photo, points, face) if method == "parser" else None
            return studio(pixels, face, int(photo.id[:8], 16), probable=probable)

        if wanted in ("eraser", "studio", "parser"):
            return cut(wanted)
        if wanted != "auto":
            return _given_mask(Path(wanted) / f"{photo.path.stem}.png", pixels)
        flat = behind(pixels, face).spread <= FLAT and corners_agree(pixels, TOLERANCE)
        tried = {}
        for method in ("eraser", "studio", "parser")[0 if flat else 1 :]:
            tried[method] = cut(method)
            if not flaws(measure(tried[method], face)):
                return tried[method]
        return tried["studio"]


def _given_mask(path: Path, pixels: ByteArray) -> Person | None:
    """A mask of the user's own; None if there is none of that name.  Raises: UsageError for one that is no picture."""
    if not path.is_file():
        return None
    picture = named_picture(path, hint="Save the mask again, as an 8-bit gray PNG.")
    levels = np.asarray(picture.convert("L").resize((pixels.shape[1], pixels.shape[0])), np.uint8)
    return given_alpha(levels, "folder")


def largest_face(finder: Finder, photo: Photo) -> tuple[FloatArray | None, FloatArray | None]:
    """(4,) box and (5, 2) points of the largest face; None and None if there is none."""
    faces = finder([photo])[0]
    if not len(faces.boxes):
        return None, None
    areas = (faces.boxes[:, 2] - faces.boxes[:, 0]) * (faces.boxes[:, 3] - faces.boxes[:, 1])
    largest = int(np.argmax(areas))
    return np.asarray(faces.boxes[largest], np.float32), np.asarray(faces.points[largest], np.float32)


def same_photo(data: bytes, path: Path, photo: str) -> Photo:
    """The photo of these bytes.  Raises: PhotoError, also if they are not those of ``photo``, its sha256."""
    found = photo_of(data, path)
    if found.id != photo:
        raise PhotoError(path, SkipReason(Reason.GONE, REPLACED))
    return found


def read_cutout(run: Path, file: str) -> tuple[ByteArray, FloatArray]:
    """(colour (H, W, 3) uint8, alpha (H, W) float32) of a kept cut-out, in the photo's frame.

    Raises: UsageError if it is no picture in the run folder.
    """
    picture = named_picture(file, folder=run, hint="Cut the people out again, in a new folder.")
    whole = np.asarray(picture.convert("RGBA"))
    return np.ascontiguousarray(whole[..., :3], np.uint8), (whole[..., 3] / 255).astype(np.float32)


def face_of(text: str) -> FloatArray:
    """A face box as the table keeps it."""
    return np.array([float(part) for part in text.split(",")], np.float32)


def median_backdrop(colours: Iterable[str]) -> tuple[int, int, int]:
    """The median of all backdrops' colours, #rrggbb or empty; gray if none is known."""
    known = [[int(text[i : i + 2], 16) for i in (1, 3, 5)] for text in colours if text]
    red, green, blue = np.median(known, axis=0) if known else (128, 128, 128)
    return int(red), int(green), int(blue)


def _alpha_of(data: bytes) -> ByteArray | None:
    """The alpha channel of a picture that has one and uses it."""
    with Image.open(io.BytesIO(data)) as picture:
        if "A" not in picture.getbands():
            return None
        alpha = np.asarray(picture.getchannel("A"), np.uint8)
    return alpha if alpha.min() < 255 else None


def _rgba(cut: Matte) -> bytes:
    """A PNG; pixels that are transparent are black."""
    alpha = np.rint(255 * cut.alpha).astype(np.uint8)
    colour = np.where((alpha > 0)[..., None], cut.colour, 0).astype(np.uint8)
    bgra = cv2.cvtColor(np.dstack([colour, alpha]), cv2.COLOR_RGBA2BGRA)
    return cv2.imencode(".png", bgra, [cv2.IMWRITE_PNG_COMPRESSION, 3])[1].tobytes()


def _skipped(photo: str, why: SkipReason, method: str = "") -> Row:
    return {"photo": photo, "method": method, "status": "skipped", **why.columns}
