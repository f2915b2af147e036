from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import DataMissing
from gslopes.datasets import fairface

HEAD = "file,age,gender,race,service_test\n"
TRAIN = "train/1.jpg,50-59,Male,East Asian,True\ntrain/2.jpg,more than 70,Female,Latino_Hispanic,False\n"
VAL = "val/1.jpg,0-2,Female,Middle Eastern,True\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The set in its official layout, three photos of it."""
    folder = tmp_path / "FairFace"
    for name, lines in (("train", TRAIN), ("val", VAL)):
        (folder / name).mkdir(parents=True)
        (folder / f"fairface_label_{name}.csv").write_text(HEAD + lines)
        for line in lines.splitlines():
            Image.new("RGB", (4, 4)).save(folder / line.split(",")[0])
    return tmp_path


def test_labels_are_perceived_gender_race_and_the_ends_of_the_age(data: Path) -> None:
    photos = fairface.read(data)
    assert [path.relative_to(data / "FairFace").as_posix() for path in photos.paths] == [
        "train/1.jpg", "train/2.jpg", "val/1.jpg",
    ]  # fmt: skip
    assert photos.column("masculine").tolist() == [1, 0, 0]
    assert photos.column("age").tolist() == [54.5, 84.5, 1]
    assert photos.column("age_low").tolist() == [50, 70, 0]
    assert photos.column("east_asian").tolist() == [1, 0, 0]
    assert photos.column("latino_hispanic").tolist() == [0, 1, 0]
    assert photos.column("middle_eastern").tolist() == [0, 0, 1]
    assert photos.column("service_test").tolist() == [1, 0, 1]
    assert photos.values.dtype == np.float32
    assert photos.values[:, 4:11].sum(1).tolist() == [1, 1, 1]


def test_the_sets_own_splits_can_be_read_alone(data: Path) -> None:
    assert len(fairface.read(data, "train")) == 2
    assert len(fairface.read(data, "val")) == 1
    (data / "FairFace" / "fairface_label_train.csv").unlink()
    assert len(fairface.read(data)) == 1
    with pytest.raises(DataMissing, match="fairface_label_train"):
        fairface.read(data, "train")


def test_the_set_may_lie_in_the_folder_itself_and_photos_may_be_missing(data: Path) -> None:
    (data / "FairFace" / "train" / "2.jpg").unlink()
    assert len(fairface.read(data / "FairFace")) == 2


def test_every_race_and_age_of_the_set_is_known() -> None:
    line = {"file": "x", "gender": "Male", "service_test": "True"}
    ages = ("0-2", "3-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "more than 70")
    rows = np.array([fairface.parse({**line, "age": a, "race": r}) for a in ages for r in fairface.RACES])
    assert (rows[:, 4:11].sum(0) == len(ages)).all()
    assert (np.diff(rows[:: len(fairface.RACES), 1]) > 0).all()


def test_without_the_column_service_test_it_is_unknown(data: Path) -> None:
    (data / "FairFace" / "fairface_label_val.csv").write_text("file,age,gender,race\nval/1.jpg,3-9,Male,White\n")
    assert np.isnan(fairface.read(data, "val").column("service_test")).all()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("file,age,gender\n", "no column race"),
        ("", "is empty"),
        (f"{HEAD}val/1.jpg,03-Sep,Male,White,True\n", "line 2 .*'03-Sep' is not a range"),
        (f"{HEAD}val/1.jpg,9-3,Male,White,True\n", "'9-3' is not a range"),
        (f"{HEAD}val/1.jpg,3-9,male,White,True\n", "'male' is neither Male nor Female"),
        (f"{HEAD}val/1.jpg,3-9,Male,Asian,True\n", "no race 'Asian'"),
        (f"{HEAD}val/1.jpg,3-9,Male,White,maybe\n", "service_test is 'maybe'"),
        (f"{HEAD}val/1.jpg,3-9,Male\n", "line 2: it has 3 cells"),
        (f"{HEAD}val/7.jpg,3-9,Male,White,True\n", "none of the photos"),
    ],
)
def test_a_list_that_is_not_the_sets_is_a_sentence(data: Path, text: str, sentence: str) -> None:
    (data / "FairFace" / "fairface_label_val.csv").write_text(text)
    with pytest.raises(DataMissing, match=sentence):
        fairface.read(data, "val")


def test_a_folder_without_the_set_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match=r"fairface_label_train\.csv"):
        fairface.read(tmp_path)
    (tmp_path / "fairface_label_val.csv").write_bytes(b"file,\xff\n")
    with pytest.raises(DataMissing, match="line 1: it is not UTF-8"):
        fairface.read(tmp_path)
