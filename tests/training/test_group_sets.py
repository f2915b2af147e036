"""Photos of named ends: from a folder, from a CSV, and how often each is drawn."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import DataMissing
from training.group_sets import bounded, evenly, read_groups, read_labelled, tones_of


def photo(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8)).save(path)
    return path


def test_each_folder_is_a_label(tmp_path):
    for name in ("white/1.png", "black/1.png", "black/more/2.png", ".cache/3.png"):
        photo(tmp_path / name)
    photos = read_labelled(tmp_path)
    assert photos.names == ("black", "white")
    assert photos.values.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert read_groups(tmp_path)[0].paths == photos.paths


def test_a_csv_names_photos_and_labels_and_those_that_are_not_there_are_left_out(tmp_path):
    photo(tmp_path / "a/1.png")
    photo(tmp_path / "a/2.png")
    rows = ["path,label", "a/1.png,old", "a/2.png, young", "a/3.png,old"]
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    photos = read_labelled(tmp_path)
    assert [path.name for path in photos.paths] == ["1.png", "2.png"]
    assert photos.names == ("old", "young")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (None, "holds photos of 1 label"),
        (["path,label", "b/9.png,old"], "names none of the photos"),
        (["path,kind", "a/1.png,old"], "label"),
    ],
)
def test_too_few_labels_and_tables_that_name_nothing_are_told(tmp_path, rows, says):
    photo(tmp_path / "a/1.png")
    if rows:
        (tmp_path / "labels.csv").write_text("\n".join(rows))
    with pytest.raises(DataMissing, match=says):
        read_labelled(tmp_path)


def test_men_and_women_of_an_end_are_drawn_as_often_but_no_photo_too_often():
    ends = np.repeat([0, 1], [100, 4])
    men = np.array([[True]] * 98 + [[False]] * 2 + [[True]] * 2 + [[False]] * 2)
    weights = evenly(ends, men)
    for end in (0, 1):
        assert weights[ends == end].sum() == pytest.approx(1)
    assert weights[100:] == pytest.approx(0.25)
    assert weights[98] > weights[0]
    assert weights[98] < 25 * weights[0]  # not as often as all of 98 together
    assert bounded(weights, ends).sum() == pytest.approx(2)


def test_tones_are_medians_of_faces_and_gray_photos_do_not_count():
    light = (
        np.full((3, 4, 4, 3), (200, 160, 140), np.uint8)
        + np.array([0, 10, 20], np.uint8)[:, None, None, None]
    )
    dark = light - 90
    gray = np.full((1, 4, 4, 3), 20, np.uint8)
    pixels = np.concatenate([dark, light, gray])
    skin = np.ones((7, 4, 4), bool)
    tones = tones_of(pixels, skin, np.array([0, 0, 0, 1, 1, 1, 1]))
    assert [len(tone) for tone in tones] == [6, 6]
    assert tones[0][0] < 45 < 65 < tones[1][0]
    assert tones[1][1] > 5
