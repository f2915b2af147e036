"""Find the face that is edited: by MTCNN or from a table, the one nearest the centre; and align it.

Source of the choice: Joo & Kärkkäinen 2020, §4.2: of several faces the one nearest the centre.
"""

import math
from collections import defaultdict
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.core import Reason, SkipReason, UsageError, serving
from gslopes.core.csv_table import read_csv
from gslopes.core.geometry import similarity
from gslopes.core.records import BOX, POINTS, Detections, Face, Photo, doubles, floats
from gslopes.faces.zoo.framing import CHIP
from gslopes.photos.folder import relative_name

CHIP_SIZE = 128


def choose(
    detections: Detections, width: int, height: int, min_face: int, size: int = CHIP_SIZE
) -> Face | SkipReason:
    """The face whose box centre is nearest the photo's centre, or why none is.

    width, height: of the photo.  min_face: of the box's shorter side.  size: side of the chip; all in pixels.
    """
    if len(detections.scores) == 0:
        return SkipReason(Reason.NO_FACE)
    if detections.problem:
        return SkipReason(Reason.FACE_NOT_ALIGNED, detections.problem)
    boxes = doubles(detections.boxes)
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
        self._min_face = min_face

    @cached_property
    def detector(self) -> Any:
        """The network, built when it is first asked, or moved."""
        from gslopes.faces.networks.mtcnn import Mtcnn

        return Mtcnn(self._min_face)

    def __call__(self, photos: list[Photo]) -> list[Detections]:
        """All faces of each photo, the most confident first."""
        pictures = [photo.pixels for photo in photos]
        if serving.line:
            return serving.ask(pictures, (detecting, self._min_face))
        return self.detector(pictures, upright=True)


def detecting(device: str, min_face: int) -> Any:
    """For ``core.serving``: pictures to their faces."""
    return partial(MtcnnFinder(min_face).detector.to(device), upright=True)


# --- Faces that are known because they are written down: a table of the photos, for drawn faces and tests -------------


REQUIRED = ("path", *BOX, *POINTS)


class KnownFinder:
    """A records.Finder that looks the faces up in a CSV file, one row a face.

    table: UTF-8, with the columns path, x0, y0, x1, y1, and left_eye_x, left_eye_y, right_eye_x, … nose, left_mouth,
        right_mouth, in pixels of the photo frame; if the table has them, ``detection`` (the confidence, 1 otherwise)
        and ``faces`` (of the photo; a row with 0 faces has no coordinates). Other columns are ignored. The photo frame
        is the photo as seen: turned by its EXIF orientation. Eyes outside of the photo, or above one
        another, are a problem of that photo.
    photos_root: the folder that ``path`` is relative to. A photo that is not in the table has no face.

    Raises: UsageError if the table cannot be read, lacks a column, or has a value that is not a number.
    """

    def __init__(self, table: Path, photos_root: Path) -> None:
        self.photos_root = photos_root
        rows: defaultdict[str, list[list[float]]] = defaultdict(list)
        hint = f"A table of faces is a CSV in UTF-8 with {', '.join(REQUIRED)}."
        for line, row in read_csv(table, REQUIRED, hint=hint).checked(("path", *BOX)).rows():
            faces = rows[row["path"]]
            if row.get("faces") != "0":
                faces.append(_face(row, f"line {line} of {table}"))
        self.faces = {path: _detections(faces) for path, faces in rows.items()}

    def __call__(self, photos: list[Photo]) -> list[Detections]:
        """The faces of each photo, in the order of their rows."""
        return [self._of(photo) for photo in photos]

    def _of(self, photo: Photo) -> Detections:
        faces = self.faces.get(relative_name(photo.path, self.photos_root), _detections([]))
        height, width = photo.shape
        problem = ""
        for eyes in doubles(faces.points[:, :2]):
            across, down = eyes[1] - eyes[0]
            if (eyes < -0.5).any() or (eyes > (width - 0.5, height - 0.5)).any():
                problem = "its eyes lie outside of the photo"
            elif across <= 0 or abs(down) > abs(across):
                problem = "its eyes lie above one another, or the wrong way round"
        if problem:
            problem += "; landmarks are of the photo as seen, turned as its EXIF says"
        return replace(faces, problem=problem)


def _face(row: dict[str, str], where: str) -> list[float]:
    """Box, points and confidence of one row."""
    row = row | {"detection": row.get("detection") or "1"}
    values = []
    for name in (*BOX, *POINTS, "detection"):
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
    return values


def _detections(rows: list[list[float]]) -> Detections:
    values = floats(rows).reshape(-1, 15)
    return Detections(values[:, :4], values[:, 4:14].reshape(-1, 5, 2), values[:, 14])
