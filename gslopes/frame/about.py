"""What a CSV says about the photos of a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pandas as pd

from gslopes.core import tables
from gslopes.core.csv_table import read_csv, unmatched
from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show

KEYS = ("photo", "path", "file", "filename", "name", "id")


def read_about(path: Path, run: Path) -> pd.DataFrame:
    """What a CSV tells about the photos of a run: its columns as texts, the index the photos' ids.

    A row belongs to the photo whose id, path, file name or file name without ending its first column gives, or, where
    none of them does, to all photos whose file name begins with it and an underscore or a minus (001: 001_03.jpg).

    Raises: UsageError if the file cannot be read, has no such column, or tells about no photo of the run.
    """
    table = read_csv(path, hint="Name a CSV in UTF-8 with a row per photo.")
    rows = table.frame()
    key = _key(path, table.columns)
    first: dict[str, tuple[int, dict[str, str]]] = {}
    for line, row in table.rows():
        before, known_row = first.setdefault(row[key], (line, row))
        if row != known_row:
            problem = f"{show(path)}, line {line}: the row of {row[key][:80]!r} differs from that in line {before}."
            raise UsageError(problem, "Keep one of them.")
    rows = rows.drop_duplicates(key).set_index(key, drop=False)
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    photos = photos[photos["status"] == "used"].drop_duplicates("photo")
    known = set(rows.index)
    pairs = [(photo, _row(photo, name, known)) for photo, name in zip(photos["photo"], photos["path"], strict=True)]
    record = [(photo, row) for photo, row in pairs if row is not None]
    if not record:
        hint = f"Its column {key} should hold paths as in the photos table, such as {photos['path'].iloc[0]!r}."
        raise UsageError(f"{show(path)} has a row for none of the {len(photos)} photos of {show(run)}.", hint)
    about = rows.loc[[row for _, row in record]]
    about.index = pd.Index([photo for photo, _ in record])
    return about


def unmatched_rows(path: Path, run: Path) -> str:
    """A sentence on rows of the CSV that are about no photo of the run, used or not; empty if there is none.

    A row that may be about several photos, by the beginning of their names, counts as one about them.

    Raises: as ``read_about``.
    """
    table = read_csv(path)
    names = table.columns[_key(path, table.columns)]
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    known, here = set(names), set()
    for photo, name in zip(photos["photo"], photos["path"], strict=True):
        here.add(_row(photo, name, known))
    return unmatched(path, [name for name in names if name not in here])


def _key(path: Path, columns: Iterable[str]) -> str:
    """The column that says which photo a row is about.  Raises: UsageError if there is none."""
    key = next((column for column in columns if column.strip().lower() in KEYS), None)
    if key is None:
        raise UsageError(
            f"{show(path)} has no column that says which photo a row is about.", f"Call it one of {', '.join(KEYS)}."
        )
    return key


def _row(photo: str, path: str, known: set[str]) -> str | None:
    name = PurePosixPath(path)
    stem = name.stem
    starts = [stem[:place] for place in range(len(stem) - 1, 0, -1) if stem[place] in "_-"]
    for candidate in (photo, path, name.name, str(name.with_suffix("")), stem, *starts):
        if candidate in known:
            return candidate
    return None
