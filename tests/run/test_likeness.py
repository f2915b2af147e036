"""People compared by an embedding, on pictures whose embedding is their mean colour."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from gslopes.core import tables
from gslopes.executors import OneProcess
from gslopes.run.likeness import compare_faces, likeness


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
    compare_faces(run, by_colour, OneProcess())
    found = likeness(run, "gender")
    assert found["first value and centre"].value == pytest.approx(1)
    assert found["two people"].value < 0 < found["last value and centre"].value < 1


def test_table_has_each_face_beside_its_own_centre_and_each_centre_beside_the_next_persons(run):
    table = tables.read(tables.LIKENESS, compare_faces(run, by_colour, OneProcess()))
    same = table[table["photo"] == table["other"]]
    assert same.groupby("photo")["step"].apply(list).tolist() == [[0, 1, 2]] * 2
    assert same.loc[same["step"] == 1, "cosine"].tolist() == pytest.approx([1, 1])
    others = table[table["photo"] != table["other"]]
    assert others[["photo", "other", "step"]].to_numpy().tolist() == [["a" * 64, "b" * 64, 1], ["b" * 64, "a" * 64, 1]]


def test_what_was_compared_is_not_compared_again(run, monkeypatch):
    monkeypatch.setattr("gslopes.run.likeness._PART", 1)
    asked = []

    def stopped(pictures, points):
        asked.append(len(pictures))
        if len(asked) == 4:  # the second photo's centre; the first one's part took three
            raise KeyboardInterrupt
        return by_colour(pictures, points)

    with pytest.raises(KeyboardInterrupt):
        compare_faces(run, stopped, OneProcess())
    assert not (run / "likeness.parquet").exists()
    asked.clear()
    again = tables.read(tables.LIKENESS, compare_faces(run, lambda *given: by_colour(*given), OneProcess()))
    whole = again.copy()
    for part in (run / "parts").rglob("*.parquet"):
        part.unlink()
    fresh = tables.read(tables.LIKENESS, compare_faces(run, by_colour, OneProcess()))
    pd.testing.assert_frame_equal(whole, fresh)

    def never(pictures, points):
        raise AssertionError

    compare_faces(run, never, OneProcess())


def test_a_face_without_an_embedding_has_no_row(run):
    def half(pictures, points):
        found = by_colour(pictures, points)
        return np.where(found[:, :1] > found[:, 1:2], np.nan, found)  # the red one has none

    table = tables.read(tables.LIKENESS, compare_faces(run, half, OneProcess()))
    assert set(table["photo"]) == {"b" * 64}
    assert "two people" not in likeness(run, "gender")


def test_one_photo_alone_cannot_be_compared(run):
    assert compare_faces(run, by_colour, OneProcess(), most=1) is None
    assert likeness(run, "gender") == {}
