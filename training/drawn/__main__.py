"""``python -m training.drawn`` draws the faces that ship, in gslopes/photos/data/drawn; it takes two minutes."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from gslopes.core.records import FloatArray
from gslopes.faces.config import values_for
from gslopes.photos.drawn import ATTRIBUTES, DATA, FACES, MASKS, PHOTOS, READINGS, SHIPPED, SIZE
from gslopes.slopes.demo import PlantedClassifier
from training.drawn import FaceParameters, drawn_in_place, render, write_folder


def shipped() -> FaceParameters:
    """The faces that ship."""
    return drawn_in_place(SHIPPED, 100)


def main(data: Path = DATA) -> None:
    """Draw the faces that ship: sheets of their photos and masks, their tables, and what is read in them."""
    faces = shipped()
    with TemporaryDirectory() as folder:
        drawn = Path(folder)
        write_folder(faces, drawn, SIZE)
        for part in (PHOTOS, MASKS):
            sheet(drawn / part).save(data / f"{part}.webp", lossless=True, quality=100, method=6)
        for table in (FACES, ATTRIBUTES):
            (data / table).write_bytes((drawn / table).read_bytes())
    np.save(data / READINGS, readings(faces))


def sheet(folder: Path) -> Image.Image:
    """The pictures of a folder as one, 16 in a row, by name."""
    pictures = np.stack([np.asarray(Image.open(file)) for file in sorted(folder.iterdir())])
    rows = pictures.reshape(-1, 16, *pictures.shape[1:]).swapaxes(1, 2)
    return Image.fromarray(rows.reshape(len(rows) * SIZE, 16 * SIZE, *pictures.shape[3:]))


def readings(faces: FaceParameters) -> FloatArray:
    """What the demo's classifier reads in each face, drawn again at each value: cue and tone, (n, K, 2) float32."""
    classifier = PlantedClassifier(render(faces, SIZE).points.mean(0))
    again = [render(faces.replace(gender=float(v)), SIZE).pixels for v in values_for("gender")]
    return np.stack([classifier.read(pixels) for pixels in again], 1).astype(np.float32)


if __name__ == "__main__":
    main()
