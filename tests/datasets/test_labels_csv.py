from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gslopes.core.errors import DataMissing, UnknownName
from gslopes.datasets import labels_csv

TABLE = "file,age,smiles,group\na.png,31,yes,x\nsub/b.png,,NO,y\nc d.png,7.5,,\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    photos = tmp_path / "photos"
    (photos / "sub").mkdir(parents=True)
    for name in ("a.png", "sub/b.png", "c d.png", "unnamed.png"):
        Image.new("RGB", (4, 4)).save(photos / name)
    return photos


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(TABLE)
    return path


def test_numbers_answers_and_words_become_labels_in_the_order_of_the_table(folder: Path, table: Path) -> None:
    photos = labels_csv.read(folder, table)
    assert (photos.set, photos.names) == ("photos", ("age", "smiles", "group=x", "group=y"))
    assert photos.paths == (folder / "a.png", folder / "sub" / "b.png", folder / "c d.png")
    wanted = [[31, 1, 1, 0], [np.nan, 0, 0, 1], [7.5, np.nan, np.nan, np.nan]]
    np.testing.assert_array_equal(photos.values, np.array(wanted, np.float32))
    assert photos.values.dtype == np.float32
    assert np.isnan(photos.column("beard")).all()


def test_columns_can_be_chosen_and_named(folder: Path, table: Path) -> None:
    table.write_text(TABLE.replace("file", "which"))
    photos = labels_csv.read(folder, table, file_column="which", labels=["smiles"], name="mine")
    assert (photos.set, photos.names, len(photos)) == ("mine", ("smiles",), 3)


def test_a_table_as_a_spreadsheet_writes_it_is_read(folder: Path, table: Path) -> None:
    table.write_bytes(b"\xef\xbb\xbf" + TABLE.replace("31", '" 31"').replace("\n", "\r\n").encode())
    photos = labels_csv.read(folder, table)
    assert photos.column("age")[0] == 31


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no rows"),
        ("age\n3\n", "no column of files"),
        ("file,age\n", "has no rows"),
        ("file\na.png\n", "no column of labels"),
        ("file,age,age\na.png,1,2\n", "two columns named 'age'"),
        ("file,age\na.png\n", "Row 1 .* another number of cells"),
        ("file,age\na.png,1,2\n", "Row 1 .* another number of cells"),
        ("file,age\na.png,1\nz.png,2\n", r"'z\.png' in row 2, which is not in .* first photo there is a\.png"),
        ("file,age\n,1\n", "'' in row 1"),
        ("file,age\na.png,1\na.png,2\n", "twice, in rows 1 and 2"),
        ("file,age\na.png,31\nsub/b.png,old\n", "both numbers and words, such as '31' and 'old'"),
        ("file,age\na.png,inf\nsub/b.png,3\n", "both numbers and words"),
    ],
)
def test_a_table_that_cannot_be_used_is_a_sentence(folder: Path, table: Path, text: str, sentence: str) -> None:
    table.write_text(text)
    with pytest.raises(DataMissing, match=sentence):
        labels_csv.read(folder, table)


def test_files_that_are_not_there_or_no_text_are_sentences(folder: Path, table: Path, tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="There is no folder"):
        labels_csv.read(tmp_path / "none", table)
    with pytest.raises(DataMissing, match="No such file"):
        labels_csv.read(folder, tmp_path / "none.csv")
    table.write_bytes(b"file,age\n\xff,1\n")
    with pytest.raises(DataMissing, match="not a CSV in UTF-8"):
        labels_csv.read(folder, table)


def test_unknown_columns_name_the_nearest(folder: Path, table: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'smiles'"):
        labels_csv.read(folder, table, labels=["smile"])
    with pytest.raises(UnknownName, match="'files'"):
        labels_csv.read(folder, table, file_column="files")


def test_a_column_of_names_is_no_label() -> None:
    with pytest.raises(DataMissing, match="101 different words"):
        labels_csv.numbers_of("name", [f"n{i}" for i in range(101)])
