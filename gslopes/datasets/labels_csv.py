"""A folder of photos and a CSV with a row a photo: a column names its file, the others are its labels."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gslopes.core.errors import DataMissing, UnknownName
from gslopes.core.files import is_file
from gslopes.datasets.folder import list_photos
from gslopes.datasets.labelled import LabelledPhotos

FILE_COLUMNS = ("file", "path", "photo", "filename", "image")
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0, "": np.nan, "nan": np.nan, "na": np.nan, "n/a": np.nan}
MOST_WORDS = 100


def read(
    folder: Path, table: Path, *, file_column: str = "", labels: Sequence[str] = (), name: str = ""
) -> LabelledPhotos:
    """Photos with the numbers that a table says of them, in the table's order.

    folder: what the file names are relative to.
    table: a CSV in UTF-8, its first line the names of the columns. A label is a number, yes/no or true/false in any
        case, or empty where it is not known (then NaN). A column of words is a column for each word: ``race`` with
        ``Black`` and ``White`` in it becomes ``race=Black`` and ``race=White``, 1 and 0, NaN where it is empty.
    file_column: the column of the files; the first of file, path, photo, filename, image that there is, if empty.
    labels: the columns to read; all others if empty.
    name: of the set; the folder's if empty.

    Photos that the table does not name are left out.

    Raises: DataMissing if the folder, the table, its rows or a photo of it are not there, a row is damaged, or a column
        is neither numbers nor words; UnknownName for a column that there is not.
    """
    if not folder.is_dir():
        raise DataMissing(f"There is no folder {folder}.", "Name the folder of the photos.")
    columns, rows = _table(table)
    file_names = file_column or next((one for one in FILE_COLUMNS if one in columns), "")
    if not file_names:
        raise DataMissing(f"{table} has no column of files, such as 'file'.", "Name it as file_column.")
    for column in (file_names, *labels):
        if column not in columns:
            raise UnknownName(f"column in {table}", column, columns)
    paths = _photos(folder, table, [row[file_names] for row in rows])
    names: list[str] = []
    values: list[list[float]] = []
    for column in labels or [one for one in columns if one != file_names]:
        for label, numbers in numbers_of(column, [row[column].strip() for row in rows]).items():
            names.append(label)
            values.append(numbers)
    if not names:
        raise DataMissing(f"{table} has no column of labels beside {file_names!r}.", "Add a column for each label.")
    return LabelledPhotos(name or folder.resolve().name, paths, tuple(names), np.array(values, np.float32).T)


def numbers_of(column: str, texts: Sequence[str]) -> dict[str, list[float]]:
    """A column as one label, or as one for each of its words; label to its n numbers, NaN where the text is empty.

    Raises: DataMissing if it holds both numbers and words, or more than 100 words.

    >>> numbers_of("smiles", ["yes", "No", "0.5"])
    {'smiles': [1.0, 0.0, 0.5]}
    >>> numbers_of("race", ["White", "Black"])
    {'race=Black': [0.0, 1.0], 'race=White': [1.0, 0.0]}
    """
    numbers = [_number(text) for text in texts]
    words = sorted({text for text, number in zip(texts, numbers, strict=True) if number is None})
    if not words:
        return {column: [np.nan if number is None else number for number in numbers]}
    known = [text for text, number in zip(texts, numbers, strict=True) if number is not None and not np.isnan(number)]
    if known:
        raise DataMissing(
            f"The column {column!r} holds both numbers and words, such as {known[0]!r} and {words[0]!r}.",
            "Write numbers alone, or words alone.",
        )
    if len(words) > MOST_WORDS:
        hint = "Name the columns that are labels."
        raise DataMissing(f"The column {column!r} holds {len(words)} different words, too many for labels.", hint)
    return {
        f"{column}={word}": [
            float(text == word) if number is None else np.nan for text, number in zip(texts, numbers, strict=True)
        ]
        for word in words
    }


def _number(text: str) -> float | None:
    """What a cell says, NaN if nothing; None if it is a word."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _photos(folder: Path, table: Path, files: Sequence[str]) -> tuple[Path, ...]:
    """Where each file is.  Raises: DataMissing naming the line of one that is missing or named twice."""
    seen: dict[str, int] = {}
    for number, file in enumerate(files, start=1):
        if file in seen:
            raise DataMissing(
                f"{table} names {file!r} twice, in rows {seen[file]} and {number}.", "Keep one of the rows."
            )
        seen[file] = number
        if not file or not is_file(folder / file):
            there = list_photos(folder, 1)
            hint = f"The first photo there is {there[0].relative}." if there else "No photo is there at all."
            raise DataMissing(f"{table} names {file!r} in row {number}, which is not in {folder}.", hint)
    return tuple(folder / file for file in files)


def _table(table: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Columns and rows.  Raises: DataMissing."""
    rows: list[dict[str, str]] = []
    try:
        with table.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.DictReader(file)
            columns = [str(column) for column in lines.fieldnames or ()]
            twice = [column for column in columns if columns.count(column) > 1]
            if twice:
                raise DataMissing(f"{table} has two columns named {twice[0]!r}.", "Rename one of them.")
            for row in lines:
                if None in row or None in row.values():
                    raise DataMissing(
                        f"Row {len(rows) + 1} of {table} has another number of cells than its first line.",
                        "Quote cells that hold commas.",
                    )
                rows.append(row)
    except OSError as error:
        raise DataMissing(f"{table} cannot be read: {error.strerror}.", "Name the CSV of the labels.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataMissing(f"{table} is not a CSV in UTF-8: {error}.", "Save it as CSV in UTF-8.") from error
    if not rows:
        raise DataMissing(f"{table} has no rows.", "Add a row for each photo.")
    return columns, rows
