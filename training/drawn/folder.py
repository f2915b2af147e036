"""Drawn faces as a folder of photos with what is known about them.

python -m training.drawn.folder    # writes the faces that ship, in gslopes/photos/data/drawn
"""

from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from gslopes.core.records import BOX, POINTS, slices
from gslopes.core.runfolder import storage
from gslopes.photos.drawn import ATTRIBUTES, FACES, MASKS, PHOTOS, prepare
from training.drawn.draw import render
from training.drawn.parameters import COLUMNS, FaceParameters, sample

_BATCH_SIZE = 256  # photos rendered before they are written: memory does not grow with their number


def write_folder(parameters: FaceParameters, folder: Path, size: int = 128) -> Path:
    """Render the faces into a folder (made if missing); returns the folder of photos.

    parameters: n faces, named 000000.png onwards.  size: side of the photos in pixels.

    Raises: StorageError if the disk refuses, or if the folder holds other photos already; ConfigError as ``render``.
    """
    names = [f"{i:06}.png" for i in range(len(parameters))]
    faces: list[tuple[object, ...]] = []
    prepare(folder, names)
    with storage(folder):
        for rows in slices(len(names), _BATCH_SIZE):
            drawn = render(parameters.take(rows), size)
            masks = np.rint(drawn.face_mask * 255).astype(np.uint8)
            for i, name in enumerate(names[rows]):
                Image.fromarray(drawn.pixels[i]).save(folder / PHOTOS / name)
                Image.fromarray(masks[i]).save(folder / MASKS / name)
                faces.append((name, 1, *drawn.boxes[i], *drawn.points[i].ravel(), 1.0))
        columns = ["path", "faces", *BOX, *POINTS, "detection"]
        exact = pd.DataFrame(faces, columns=columns, dtype=object)
        exact.to_csv(folder / FACES, index=False)
        attributes = {"path": names, **{column: getattr(parameters, column) for column in COLUMNS}}
        pd.DataFrame(attributes).to_csv(folder / ATTRIBUTES, index=False)
    return folder / PHOTOS


def drawn_in_place(
    faces: int, seed: int, confound: dict[str, float] | None = None
) -> FaceParameters:
    """Faces to audit: all in one place, the cue within (-1, 1), the range of the editor's training."""
    parameters = sample(faces, seed, confound=confound, pose=0)
    return parameters.replace(
        gender=(parameters.gender / 2).astype(np.float32), width=0.0, eye_size=0.0
    )
