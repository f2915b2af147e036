"""Find the face that is edited: by MTCNN or from a table, the one nearest the centre; and align it.

Source of the choice: Joo & Kärkkäinen 2020, §4.2: of several faces the one nearest the centre.
"""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.geometry import similarity
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import BOX, POINTS, Detections, Face, Photo
from gslopes.faces.zoo.framing import CHIP
from gslopes.photos.folder import relative_name

CHIP_SIZE = 128


def choose(
    detections: Detections, width: int, height: int, min_face: int, size: int = CHIP_SIZE
) -> Face | SkipReason:
    """The face whose box centre is nearest the photo's centre, or why there is none.

    width, height: of the photo.  min_face: of the box's shorter side.  size: side of the chip; all in pixels.
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
        return SkipReason(
            Reason.FACE_TOO_SMALL, f"{math.floor(side)} px, at least {min_face} wanted"
        )
    if why := tilted(detections, index):
        return why
    matrix = similarity(detections.points[index], CHIP * size - 0.5)
    if matrix is None:
        return SkipReason(Reason.FACE_NOT_ALIGNED, "its five points do not span a plane")
    return Face(
        detections.boxes[index],
        detections.points[index],
        float(detections.scores[index]),
        len(boxes),
        matrix,
    )


def tilted(detections: Detections, index: int) -> SkipReason | None:
    """Why one of the faces is not upright: then MTCNN's points are off, mouth corners may be eyes."""
    if detections.upright is None or detections.upright[index]:
        return None
    return SkipReason(Reason.FACE_NOT_UPRIGHT, "turn the photo")


# --- Find every face of a batch of photos with MTCNN ------------------------------------------------------------------


class MtcnnFinder:
    """A records.Finder on MTCNN.

    min_face: faces smaller than this many pixels are not looked for.
    """

    def __init__(self, min_face: int = 32) -> None:
        from gslopes.faces.networks.mtcnn import Mtcnn

        self.detector = Mtcnn(min_face)

    def __call__(self, photos: list[Photo]) -> list[Detections]:
        """All faces of each photo, the most confident first."""
        return self.detector([photo.pixels for photo in photos], upright=True)


# --- Faces that are known because they are written down: a table of the photos, for drawn faces and tests -------------


REQUIRED = ("path", *BOX, *POINTS)


class KnownFinder:
    """A records.Finder that looks the faces up in a CSV file, one row a face.

    table: UTF-8, with the columns path, x0, y0, x1, y1, and left_eye_x, left_eye_y, right_eye_x, … nose, left_mouth,
        right_mouth, in pixels of the photo frame; also, if they are there, ``detection`` (the confidence, 1 otherwise)
        and ``faces`` (of the photo; a row with 0 faces has no coordinates). Other columns are ignored. The photo frame
        is the photo as seen: turned as its EXIF orientation says. Eyes outside of the photo, or above one
        another, are a problem of that photo.
    photos_root: the folder that ``path`` is relative to. A photo that is not in the table has no face.

    Raises: UsageError if the table cannot be read, lacks a column, or has a value that is not a number.
    """

    def __init__(self, table: Path, photos_root: Path) -> None:
        self.photos_root = photos_root
        rows: dict[str, list[list[float]]] = {}
        hint = f"A table of faces is a CSV in UTF-8 with {', '.join(REQUIRED)}."
        for line, row in read_csv(table, REQUIRED, hint=hint).checked(("path", *BOX)).rows():
            faces = rows.setdefault(row["path"], [])
            if row.get("faces") != "0":
                faces.append(_face(row, f"line {line} of {table}"))
        self.faces = {path: _detections(faces) for path, faces in rows.items()}

    def __call__(self, photos: list[Photo]) -> list[Detections]:
        """The faces of each photo, in the order of their rows."""
        return [self._of(photo) for photo in photos]

    def _of(self, photo: Photo) -> Detections:
        faces = self.faces.get(relative_name(photo.path, self.photos_root), _detections([]))
        height, width = photo.pixels.shape[:2]
        problem = ""
        for left, right in faces.points[:, :2].astype(float):
            across, down = right - left
            if not all(
                -0.5 <= x <= width - 0.5 and -0.5 <= y <= height - 0.5 for x, y in (left, right)
            ):
                problem = "its eyes lie outside of the photo"
            elif across <= 0 or abs(down) > abs(across):
                problem = "its eyes stand above one another, or the wrong way round"
        problem += "; landmarks are of the photo as seen, turned as its EXIF says" * bool(problem)
        return replace(faces, problem=problem)


def _face(row: dict[str, str], where: str) -> list[float]:
    """Box, points and confidence of one row."""
    values = []
    for name in (*BOX, *POINTS, *(["detection"] if row.get("detection") else [])):
        try:
            values.append(float(row[name]))
        except ValueError:
            values.append(math.nan)
        if not math.isfinite(values[-1]):
            raise UsageError(
                f"The {name} in {where} is not a number: {row[name]!r}.", "Write it in pixels."
            )
    if not (values[2] > values[0] and values[3] > values[1]):
        raise UsageError(f"The box in {where} is empty: x1 and y1 must be greater than x0 and y0.")
    if row.get("detection"):
        return values
    return [*values, 1.0]


def _detections(rows: list[list[float]]) -> Detections:
    values = np.array(rows, np.float32).reshape(-1, 15)
    return Detections(values[:, :4], values[:, 4:14].reshape(-1, 5, 2), values[:, 14])
