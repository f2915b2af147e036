"""The one reader of tables about people: which photo a row is about, and the groups that it names."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from gslopes.core import (
    LARGEST_TABLE,
    Facts,
    GslopesError,
    Reason,
    UnknownName,
    UsageError,
    frozen,
    show,
    tables,
)
from gslopes.core.csv_table import (
    CsvTable,
    normal_names,
    read_csv,
    read_frame,
    tell_unsaid,
    unmatched,
)
from gslopes.photos.folder import PhotoFile

PHOTO_COLUMNS = ("image", "photo", "path", "file", "filename", "id", "name")
CROSS = " + "


@frozen
class People(CsvTable):
    """A table with a row per photo, or per person; of Parquet with the types that it has."""

    def photo_column(self, usual: Sequence[str] = PHOTO_COLUMNS) -> str:
        """The first column of these names, in any case.  Raises: ``raises`` without one."""
        plain = {name.strip().lower(): name for name in reversed(list(self.columns))}
        for name in usual:
            if name in plain:
                return plain[name]
        problem = f"{show(self.path)} has no column that says which photo a row is about"
        raise self.raises(
            f"{problem}, but {', '.join(self.columns)}.", f"Call it one of {', '.join(usual)}."
        )

    def parts_of(self, name: str) -> list[str]:
        """The columns that ``a + b`` crosses; says which of their texts are read as nothing.

        Raises: UnknownName with the nearest name; ``raises`` for a list.
        """
        parts = [name]
        if name not in self.columns:
            parts = [part.strip() for part in name.split("+")]
        for part in parts:
            if part not in self.columns:
                raise UnknownName("column", part, self.columns, home=show(self.path))
            cells = self.columns[part]
            listed = [isinstance(cell, list) for cell in cells]
            if any(listed):
                line = self.lines[listed.index(True)]
                problem = f"{show(self.path)}, row {line}: {part} is a list"
                raise self.raises(f"{problem}.", "Write one value in each row.")
            tell_unsaid(self.path, part, cells)
        return parts

    def groups(self, name: str) -> list[str]:
        """The group of each row by a column, or by ``a + b``, see ``normal_names``; empty if a part is missing."""
        cells = zip(
            *(normal_names(self.columns[part]) for part in self.parts_of(name)), strict=True
        )
        return [CROSS.join(values) if all(values) else "" for values in cells]

    def by_photo(self, values: Mapping[str, Sequence[Any]]) -> dict[str, int]:
        """What names a photo, to the first row that does.  values: by column, in which rows of one photo must agree.

        Raises: ``raises`` with both lines if they differ.
        """
        rows: dict[str, int] = {}
        for row, photo in enumerate(self.columns[self.photo_column()]):
            first = rows.setdefault(str(photo), row)
            for column, cells in values.items():
                if cells[first] == cells[row]:
                    continue
                lines = f"lines {self.lines[first]} and {self.lines[row]} with different {column}"
                pair = f"{str(cells[first])[:80]!r} and {str(cells[row])[:80]!r}"
                raise self.raises(
                    f"{show(self.path)} names {str(photo)[:80]!r} in {lines}: {pair}.",
                    "Keep one of them.",
                )
        return rows


def read_people(
    path: Path, *, raises: type[GslopesError] = UsageError, limit: int = LARGEST_TABLE
) -> People:
    """A table by its ending, CSV or Parquet.  Blanks around the cells of a text are taken away.

    Raises: ``raises`` as ``read_csv`` and ``read_frame``.
    """
    if path.suffix == ".parquet":
        frame = read_frame(path, raises=raises, limit=limit)
        cells = {
            str(name): [
                [] if isinstance(cell, np.ndarray) else cell for cell in frame[name].tolist()
            ]
            for name in frame.columns
        }
        return People(path, cells, list(range(1, len(frame) + 1)), raises)
    hint = "Name a CSV in UTF-8 with a row per photo."
    table = read_csv(path, strip=True, raises=raises, limit=limit, hint=hint)
    return People(path, table.columns, table.lines, raises)


def name_in(names: Collection[str], path: str, photo: str = "") -> str | None:
    """Under which of these names a table knows a photo; None if it does not.

    Its id, its path, its file name, both without ending, or the beginning of its file name up to ``_`` or ``-``.

    >>> name_in({"001", "x/002.png"}, "a/001_smile.jpg"), name_in({"001", "x/002.png"}, "x/002.png")
    ('001', 'x/002.png')
    """
    file = PurePosixPath(path)
    stem = file.stem
    bare = str(file.with_suffix("")) if file.name else ""
    beginnings = (stem[:end] for end in range(len(stem) - 1, 0, -1) if stem[end] in "_-")
    candidates = (photo, path, file.name, bare, stem, *beginnings)
    return next((name for name in candidates if name and name in names), None)


def matched(
    path: Path, names: Facts, photos: Iterable[PhotoFile]
) -> tuple[dict[PhotoFile, str], str]:
    """Photo to its name in a table, of those that have one; and a sentence on names of none of them, see ``unmatched``.

    path: of the table.  names: to what is compared of each name, since several files may hold one photo.

    Raises: UsageError if that differs.
    """
    found: dict[PhotoFile, str] = {}
    present = set()
    for photo in photos:
        for name in filter(
            None, (name_in(names, file) for file in (photo.relative, *photo.repeats))
        ):
            present.add(name)
            first = found.setdefault(photo, name)
            if names[name] != names[first]:
                raise UsageError(
                    f"{show(first)} and {show(name)} are the same picture, with different rows in the table.",
                    "Correct the table, or leave one out.",
                )
    return found, unmatched(path, [name for name in names if name not in present])


def read_about(path: Path, run: Path, columns: Iterable[str] = ()) -> pd.DataFrame:
    """What a table tells about the photos of a run: its columns as texts, the index the photos' ids.

    columns: which it must have.

    Raises: UsageError if the file cannot be read, has no column of photos, or tells about no photo of the run;
        UnknownName for a column that is not there.
    """
    people = check_about(path, columns)
    rows = people.by_photo(people.columns)
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    repeats = photos[photos["reason"] == Reason.DUPLICATE]
    wished = tables.read_rows(tables.EDITING, run, ["photo"])[
        "photo"
    ]  # an editor may have lost them
    photos = photos[(photos["status"] == "used") | photos["photo"].isin(wished)]
    photos = photos[photos["reason"] != Reason.DUPLICATE].drop_duplicates("photo")
    # a table may name either
    files = pd.concat([photos, repeats[repeats["photo"].isin(photos["photo"])]])
    matches: dict[str, int] = {}
    for photo, file in zip(files["photo"], files["path"], strict=True):
        if name := name_in(rows, file, photo):
            matches.setdefault(photo, rows[name])
    if not matches:
        column = people.photo_column()
        raise UsageError(
            f"{show(path)} has a row for none of the {len(photos)} photos of {show(run)}.",
            f"Its column {column} should hold paths as in the photos table, such as {photos['path'].iloc[0]!r}.",
        )
    about = pd.DataFrame(dict(people.columns), dtype=object).iloc[[*matches.values()]]
    return about.set_axis(pd.Index([*matches]))


def unmatched_rows(path: Path, run: Path) -> str:
    """A sentence on rows about no photo of the run, used or not; empty without such.  Raises: as ``read_about``."""
    rows = read_people(path).by_photo({})
    photos = tables.read(tables.PHOTOS, run / "photos.parquet")
    matched = {
        name_in(rows, name, photo)
        for photo, name in zip(photos["photo"], photos["path"], strict=True)
    }
    return unmatched(path, [name for name in rows if name not in matched])


def check_about(path: Path, columns: Iterable[str]) -> People:
    """A table about photos, which has these columns; for before any work.

    columns: maybe to the option that names each, in this command or an earlier one.

    Raises: UsageError.
    """
    people = read_people(path)
    people.photo_column()
    for column in filter(None, columns):
        try:
            people.parts_of(column)
        except UnknownName as error:
            if isinstance(columns, Mapping):
                option = columns[column]
                error.hint += f" {option} names it, in this command or when the run was made."
            raise
    return people
