"""A contact sheet: the faces of a set, chosen by seed, at the values of a sweep, as an audit composites them."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from gslopes.core.records import ByteArray
from gslopes.edit.editors import FaceEditor
from training.evaluation.composites import HeldOut, Way, swept, ways

FACES = 12
MARGIN = 0.9  # around the box of the five points, in units of its longer side


def contact_sheet(
    held: HeldOut, editor: FaceEditor, path: Path, *, side: int = 256, seed: int = 0, way: Way | None = None
) -> Path:
    """Write a picture with a row a face: the photo, then its composites at -2, -1, 0, 1, 2; returns the path.

    side: of a cell, pixels.  seed: chooses the faces; never the eye.  way: one of ``ways(editor)``, the first if None.
    """
    way = way or ways(editor)[0]
    few = held.take(np.sort(np.random.default_rng(seed).permutation(len(held))[:FACES]))
    rows: list[ByteArray] = []
    for batch in swept(few, editor, str(editor.device)):
        pictures = batch.pictures[way]
        for photo, face, row in zip(few.photos[batch.rows], few.faces[batch.rows], pictures, strict=True):
            cells = [_cut(picture, face.points, side) for picture in (photo.pixels, *row)]
            rows.append(np.concatenate(cells, 1))
    Image.fromarray(np.concatenate(rows)).save(path)
    return path


def _cut(picture: ByteArray, points: np.ndarray[tuple[int, ...], np.dtype[np.float32]], side: int) -> ByteArray:
    """The square around the face, (side, side, 3)."""
    middle, half = points.mean(0), float(np.ptp(points, axis=0).max()) * (0.5 + MARGIN)
    x0, y0 = np.maximum(np.floor(middle - half), 0).astype(int)
    x1, y1 = np.ceil(middle + half).astype(int)
    part = picture[y0:y1, x0:x1]
    longest = max(part.shape[:2])
    square = cv2.copyMakeBorder(part, 0, longest - part.shape[0], 0, longest - part.shape[1], cv2.BORDER_REPLICATE)
    return np.asarray(cv2.resize(square, (side, side), interpolation=cv2.INTER_AREA), np.uint8)
