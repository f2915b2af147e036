"""Find the face that is edited: by MTCNN or from a table, the one nearest the centre; and align it.

Source of the choice: Joo & Kärkkäinen 2020, §4.2, "we only manipulated the face closest to the center".
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from math import floor
from pathlib import Path

import numpy as np
from PIL import ExifTags, Image

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.files import read_regular
from gslopes.core.geometry import similarity
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import BOX, POINTS, Detections, Face, FloatArray, Photo
from gslopes.faces.zoo.framing import CHIP
from gslopes.photos.decode import LARGEST_FILE
from gslopes.photos.folder import relative_name

CHIP_SIZE = 128


def choose(detections: Detections, width: int, height: int, min_face: int, size: int = CHIP_SIZE) -> Face | SkipReason:
    """The face whose box centre is nearest the photo's centre, or why there is none.

    width, height: of the photo, pixels.  min_face: the least length of the box's shorter side, pixels.
    size: side of the chip, pixels.
    """
    if len(detections.scores) == 0:
        return SkipReason(Reason.NO_FACE)
    if detections.problem:
        return SkipReason(Reason.FACE_NOT_ALIGNED, detections.problem)
    boxes = detections.boxes.astype(np.float64)
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    middle = np.array([(width - 1) / 2, (height - 1) / 2])
    index = int(np.argmin(((centres - middle) ** 2).sum(1)))
    side = float((boxes[index, 2:] - boxes[index, :2]).min())
    if not side >= min_face:
        return SkipReason(Reason.FACE_TOO_SMALL, f"{floor(side)} px, at least {min_face} wanted")
    matrix = similarity(detections.points[index], CHIP * size - 0.5)
    if matrix is None:
        return SkipReason(Reason.FACE_NOT_ALIGNED, "its five points do not span a plane")
    return Face(detections.boxes[index], detections.points[index], float(detections.scores[index]), len(boxes), matrix)


# --- Find every face of a batch of photos with MTCNN ------------------------------------------------------------------


class MtcnnFinder:
    """A records.Finder on MTCNN.

    min_face: faces smaller than this many pixels are not looked for.
    device: where the networks run, as torch names it.
    """

    def __init__(self, min_face: int = 32, device: str = "cpu") -> None:
        from gslopes.faces.networks.mtcnn import Mtcnn

        self.detector = Mtcnn(min_face).to(device)

    def __call__(self, photos: list[Photo]) -> list[Detections]:
        """All faces of each photo, the most confident first."""
        found: list[Detections] = self.detector([photo.pixels for photo in photos])
        return found


# --- Faces that are known because they are written down: a table of the photos, for drawn faces and tests -------------


REQUIRED = ("path", *BOX, *POINTS)


class KnownFinder:
    """A records.Finder that looks the faces up in a CSV file, one row a face.

    table: UTF-8, with the columns path, x0, y0, x1, y1, and left_eye_x, left_eye_y, right_eye_x, … nose, left_mouth,
        right_mouth, in pixels of the photo frame; also, if they are there, ``detection`` (the confidence, 1 otherwise)
        and ``faces`` (of the photo, which must be the number of its rows; a row of a photo with 0 faces has no
        coordinates). Other columns are ignored. The photo frame is the photo as it is seen: turned as its EXIF
        orientation says. Landmarks that cannot be of that frame (eyes outside of the photo, or above one another; in a
        photo that is turned, eyes in no face that a detector finds) are a problem of that photo.
    photos_root: the folder that ``path`` is relative to. A photo that is not in the table has no face.

    Raises: UsageError if the table cannot be read, lacks a column, or has a value that is no number.
    """

    def __init__(self, table: Path, photos_root: Path) -> None:
        self.photos_root = photos_root
        self.faces = _read(table)

    def __call__(self, photos: list[Photo]) -> list[Detections]:
        """The faces of each photo, in the order of their rows."""
        return [self._of(photo) for photo in photos]

    def _of(self, photo: Photo) -> Detections:
        found = _detections(self.faces.get(relative_name(photo.path, self.photos_root), []))
        problem = _problem(found, photo)
        if not problem and len(found.scores) and _is_turned(photo.path):
            (seen,) = self._detector([photo])
            lost = bool(len(seen.scores)) and not any(_holds(box, eyes) for eyes in found.points for box in seen.boxes)
            problem = f"its eyes lie in no face that a detector finds; {_FRAME}" if lost else ""
        return replace(found, problem=problem)

    @cached_property
    def _detector(self) -> MtcnnFinder:

        return MtcnnFinder()


def _read(table: Path) -> dict[str, list[list[float]]]:
    """Name of the photo to its faces, each as box, points and confidence in one row."""
    faces: dict[str, list[list[float]]] = {}
    counts: dict[str, float] = {}
    hint = f"A table of faces is a CSV in UTF-8 with {', '.join(REQUIRED)}."
    for line, row in read_csv(table, REQUIRED, unique=("path", *BOX), hint=hint).rows():
        where = f"line {line} of {table}"
        rows = faces.setdefault(row["path"], [])
        count = _number(row, "faces", where) if row.get("faces") else None
        if count is not None:
            counts[row["path"]] = count
        if count != 0:
            rows.append(_face(row, where))
    for path, count in counts.items():
        if count != len(faces[path]):
            raise UsageError(
                f"{table} says that {path} has {count:g} faces and has {len(faces[path])} rows for them.",
                "Write one row per face, and their number in faces.",
            )
    return faces


def _face(row: dict[str, str], where: str) -> list[float]:
    values = [_number(row, name, where) for name in (*BOX, *POINTS)]
    if not (values[2] > values[0] and values[3] > values[1]):
        raise UsageError(f"The box in {where} is empty: x1 and y1 must be greater than x0 and y0.")
    return [*values, _number(row, "detection", where) if row.get("detection") else 1.0]


def _number(row: dict[str, str], name: str, where: str) -> float:
    try:
        value = float(row[name])
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"The {name} in {where} is not a number: {row[name]!r}.", "Write it in pixels.")
    return value


_FRAME = "landmarks are of the photo as it is seen, turned as its EXIF says"


def _problem(found: Detections, photo: Photo) -> str:
    """Why landmarks cannot be of a photo's frame; empty if they can."""
    height, width = photo.pixels.shape[:2]
    for left, right in found.points[:, :2].astype(float):
        if not all(-0.5 <= x <= width - 0.5 and -0.5 <= y <= height - 0.5 for x, y in (left, right)):
            return f"its eyes lie outside of the photo; {_FRAME}"
        across, down = right - left
        if across <= 0 or abs(down) > abs(across):
            return f"its eyes stand above one another, or the wrong way round; {_FRAME}"
    return ""


def _is_turned(path: Path) -> bool:
    try:
        with Image.open(BytesIO(read_regular(path, LARGEST_FILE))) as image:
            return image.getexif().get(ExifTags.Base.Orientation, 1) not in (0, 1)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # another reader has opened it
        return False


def _holds(box: FloatArray, points: FloatArray) -> bool:
    """Whether the middle of the eyes lies in a box."""
    x, y = points[:2].mean(axis=0)
    return bool(box[0] <= x <= box[2] and box[1] <= y <= box[3])


def _detections(rows: list[list[float]]) -> Detections:
    values = np.array(rows, np.float32).reshape(-1, 15)
    return Detections(values[:, :4], values[:, 4:14].reshape(-1, 5, 2), values[:, 14])
