"""Faces that are known because they are written down: a table of the photos, for drawn faces and tests."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import UsageError
from gslopes.core.records import Detections, Photo
from gslopes.datasets.folder import relative_name

BOX = ("x0", "y0", "x1", "y1")
POINTS = tuple(
    f"{name}_{axis}" for name in ("left_eye", "right_eye", "nose", "left_mouth", "right_mouth") for axis in "xy"
)
REQUIRED = ("path", *BOX, *POINTS)


class KnownFinder:
    """A records.Finder that looks the faces up in a CSV file, one row a face.

    table: UTF-8, with the columns path, x0, y0, x1, y1, and left_eye_x, left_eye_y, right_eye_x, … nose, left_mouth,
        right_mouth, in pixels of the photo frame; also, if they are there, ``detection`` (the confidence, 1 otherwise)
        and ``faces`` (of the photo, which must be the number of its rows; a row of a photo with 0 faces has no
        coordinates). Other columns are ignored.
    photos_root: the folder that ``path`` is relative to. A photo that is not in the table has no face.

    Raises: UsageError if the table cannot be read, lacks a column, or has a value that is no number.
    """

    def __init__(self, table: Path, photos_root: Path) -> None:
        self.photos_root = photos_root
        self.faces = _read(table)

    def __call__(self, photos: list[Photo]) -> list[Detections]:
        """The faces of each photo, in the order of their rows."""
        return [_detections(self.faces.get(relative_name(photo.path, self.photos_root), [])) for photo in photos]


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


def _detections(rows: list[list[float]]) -> Detections:
    values = np.array(rows, np.float32).reshape(-1, 15)
    return Detections(values[:, :4], values[:, 4:14].reshape(-1, 5, 2), values[:, 14])
