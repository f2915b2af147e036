"""Drawn faces on disk, with what is known about them next to the photos.

The layout::

    FOLDER/photos/000000.png …   the photos, and nothing else: this is the folder to audit
    FOLDER/masks/000000.png …    8-bit face masks, 255 inside, of the same names
    FOLDER/faces.csv             path, number of faces, box, five points, detection score; photo frame, pixels
    FOLDER/attributes.csv        path and every column of FaceParameters

Paths in the tables are relative to the folder of photos. ``find`` reads faces.csv as landmarks, ``compose`` the masks.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

from gslopes.core.csv_table import read_csv
from gslopes.core.errors import DataMissing, StorageError
from gslopes.core.records import BOX, POINTS
from gslopes.photos.drawn.draw import render
from gslopes.photos.drawn.parameters import COLUMNS, FaceParameters

PHOTOS, MASKS, FACES, ATTRIBUTES = "photos", "masks", "faces.csv", "attributes.csv"

FACE_COLUMNS = ("path", "faces", *BOX, *POINTS, "detection")

_BATCH_SIZE = 256  # photos rendered before they are written: memory does not grow with their number


def write_folder(parameters: FaceParameters, folder: Path, size: int = 128) -> Path:
    """Render the faces into a folder (made if missing); returns the folder of photos.

    parameters: n faces, named 000000.png onwards.  size: side of the photos in pixels.

    Raises: StorageError if the disk refuses, or if the folder holds other photos already; ConfigError as ``render``.
    """
    names = [f"{i:06}.png" for i in range(len(parameters))]
    faces: list[tuple[object, ...]] = []
    try:
        _prepare(folder, set(names))
        for start in range(0, len(names), _BATCH_SIZE):
            drawn = render(parameters.take(slice(start, start + _BATCH_SIZE)), size)
            masks = np.rint(drawn.face_mask * 255).astype(np.uint8)
            for i, name in enumerate(names[start : start + _BATCH_SIZE]):
                Image.fromarray(drawn.pixels[i]).save(folder / PHOTOS / name)
                Image.fromarray(masks[i]).save(folder / MASKS / name)
                faces.append((name, 1, *drawn.boxes[i], *drawn.points[i].ravel(), 1.0))
        _write_csv(folder / FACES, FACE_COLUMNS, faces)
        columns = [names, *(getattr(parameters, column) for column in COLUMNS)]
        _write_csv(folder / ATTRIBUTES, ("path", *COLUMNS), zip(*columns, strict=True))
    except OSError as error:
        raise StorageError(
            f"The drawn faces cannot be written to {folder}: {error}.",
            "Choose a folder that you may write to, with space left.",
        ) from error
    return folder / PHOTOS


def _prepare(folder: Path, names: set[str]) -> None:
    for part in (PHOTOS, MASKS):
        (folder / part).mkdir(parents=True, exist_ok=True)
        others = sorted(entry.name for entry in (folder / part).iterdir() if entry.name not in names)
        if others:
            raise StorageError(f"{folder / part} holds other files already, such as {others[0]}.", "Give a new folder.")


def _write_csv(path: Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        # str of a float32 is its shortest exact form
        writer.writerows([str(value) for value in row] for row in rows)


def read_parameters(folder: Path) -> FaceParameters:
    """What was drawn, to the last bit.

    Raises: DataMissing if the folder has no attributes.csv, or one of other columns.
    """
    path = folder / ATTRIBUTES
    if not path.exists():
        raise DataMissing(f"The table of drawn faces is not at {path}.", "Name a folder that drawn_faces wrote.")
    table = read_csv(path, raises=DataMissing)
    if tuple(table.columns) != ("path", *COLUMNS):
        raise DataMissing(f"{path} does not have the columns of drawn faces.", f"They are {', '.join(COLUMNS)}.")
    return FaceParameters(**{name: np.array(table.columns[name], np.float64).astype(np.float32) for name in COLUMNS})
