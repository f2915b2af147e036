"""People compared by an embedding, on pictures whose embedding is their mean colour."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.core import tables
from gslopes.run.likeness import likeness


def by_colour(pictures, points):
    """An embedding: the mean colour less gray."""
    assert points.shape == (len(pictures), 5, 2)
    return np.stack([picture.mean((0, 1)) - 128 for picture in pictures]).astype(np.float32)


@pytest.fixture
def run(tmp_path):
    """Two people, one red and one green, whose last value turns each a little towards blue."""
    ids = ["a" * 64, "b" * 64]
    (tmp_path / "edits").mkdir()
    rows = []
    for photo, colour in zip(ids, ([200, 60, 60], [60, 200, 60]), strict=True):
        for step, blue in enumerate((0, 0, 60)):
            file = f"edits/{photo[0]}-{step}.png"
            Image.new("RGB", (8, 8), (*colour[:2], colour[2] + blue)).save(tmp_path / file)
            rows.append((photo, "gender", step, step - 1.0, file, 0.1))
    frame = pd.DataFrame(rows, columns=tables.EDITS.columns)
    tables.write(tables.EDITS, frame, tmp_path / "edits.parquet")
    plain = {"width": 8, "height": 8, "status": "used", "reason": "", "faces": 1}
    where = {"box": [[0.0, 0, 8, 8]] * 2, "points": [list(map(float, range(10)))] * 2, "detection": 1.0}
    photos = pd.DataFrame({"photo": ids, "path": ["a.jpg", "b.jpg"], **plain, **where})
    tables.write(tables.PHOTOS, photos, tmp_path / "photos.parquet")
    return tmp_path


def test_an_unchanged_face_is_the_same_person_and_others_are_not(run):
    found = likeness(run, "gender", by_colour)
    assert found["first value and centre"].value == pytest.approx(1)
    assert found["two people"].value < 0 < found["last value and centre"].value < 1


def test_one_photo_alone_cannot_be_compared(run):
    assert likeness(run, "gender", by_colour, most=1) == {}
