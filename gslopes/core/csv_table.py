"""The one reader of tables that users name: CSV and Parquet; what is ambiguous is an error that names the line.

A column twice, a quote that is never closed, a row of another length, an identifier twice: each of them would change
numbers without a word if a reader guessed.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from gslopes.core import (
    LARGEST_TABLE,
    GslopesError,
    UsageError,
    frozen,
    many,
    parse_json,
    printable,
    show,
    some_of,
    tell,
)
from gslopes.core.files import CELL, MOST_COLUMNS, check_most, text_lines, why_unreadable

if TYPE_CHECKING:
    from pandas import DataFrame


@frozen
class CsvTable:
    """The cells of a table as texts: name of a column to its cells; ``lines`` of the file in which each row begins.

    raises: the error for a table that is wrong.
    """

    path: Path
    columns: dict[str, list[str]]
    lines: list[int]
    raises: type[GslopesError] = UsageError

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """(line, column to cell) of each row."""
        for line, cells in zip(self.lines, zip(*self.columns.values(), strict=True), strict=True):
            yield line, dict(zip(self.columns, cells, strict=True))

    def checked(
        self, unique: Sequence[str] = (), values: Mapping[str, Collection[str]] | None = None
    ) -> CsvTable:
        """The table itself.

        unique: columns whose cells, together, no two rows may share.  values: column to the cells that it may have.

        Raises: as the table's reader, naming the line.
        """
        first: dict[tuple[str, ...], int] = {}
        for line, cells in self.rows():
            place = f"{show(self.path)}, line {line}"
            for name, allowed in (values or {}).items():
                if name in cells and cells[name] not in allowed:
                    choices = ", ".join(choice or "nothing" for choice in allowed)
                    raise self.raises(
                        f"{place}: {name} is {cells[name][:40]!r}.", f"It may be {choices}."
                    )
            before = first.setdefault(tuple(cells[name] for name in unique), line)
            if unique and before != line:
                named = " and ".join(f"{name} {cells[name][:40]!r}" for name in unique)
                raise self.raises(f"{place}: {named} is in line {before} as well.", "Keep one row.")
        return self

    def frame(self) -> DataFrame:
        """The cells as a pandas table of texts."""
        from pandas import DataFrame

        return DataFrame(self.columns, dtype=object)


def read_csv(
    path: Path | str,
    needed: Sequence[str] = (),
    *,
    comments: bool = False,
    strip: bool = False,
    limit: int = LARGEST_TABLE,
    raises: type[GslopesError] = UsageError,
    hint: str = "Save it as CSV in UTF-8.",
) -> CsvTable:
    """A CSV in UTF-8 whose first line names the columns; empty lines and columns without a name are left out.

    If that line has semicolons or tabs and no comma, these part the cells, and a line on stderr tells so.

    needed: columns that must be there.
    comments: leave out lines that begin with #.  strip: take spaces around names and cells away.  limit: bytes.
    raises, hint: the error, which names the file and the line.
    """
    text = text_lines(path, limit, raises=raises, hint=hint)
    lines = ("\n" if comments and line[0] == "#" else line for line in text)
    begun = []
    for line in lines:
        begun.append(line)
        if line.strip():
            break
    names = "".join(begun)
    mark = next((mark for mark in _OTHER_MARKS if mark in names and "," not in names), ",")
    if mark != ",":
        _say_once(
            f"{show(path)} uses {_OTHER_MARKS[mark]} between its cells, not commas: it is read so."
        )
    rows = []
    starts = []
    cells = 0
    try:
        for start, row in _parsed(chain(begun, lines), mark):
            rows.append([cell.strip() for cell in row] if strip else row)
            starts.append(start)
            cells += len(row)
            check_most(cells, limit // CELL, "cells")
            if len(row) != len(rows[0]):
                why = f"it has {len(row)} cells, and the first line has {len(rows[0])}"
                raise ValueError(f"line {start}: {why}")
    except ValueError as error:
        raise raises(f"{show(path)}, {error}.", hint) from error
    if not rows:
        raise raises(f"{show(path)} is empty.", hint)
    head = [name.strip() for name in rows[0]]
    if len(head) > MOST_COLUMNS:
        raise raises(
            f"{show(path)} has {len(head):,} columns, and at most {MOST_COLUMNS:,} are read.", hint
        )
    if twice := [name for name, times in Counter(filter(None, head)).items() if times > 1]:
        raise raises(f"{show(path)} has two columns {twice[0][:40]!r}.", "Keep one of them.")
    if lacking := [name for name in needed if name not in head]:
        raise raises(f"{show(path)} has no column {lacking[0]}.", hint)
    columns = {name: [row[column] for row in rows[1:]] for column, name in enumerate(head) if name}
    return CsvTable(Path(path), columns, starts[1:], raises)


def _parsed(lines: Iterable[str], mark: str) -> Iterator[tuple[int, list[str]]]:
    """(line in which it begins, cells) of each row that is not empty.  Raises: ValueError, naming the line."""
    reader = csv.reader(lines, strict=True, delimiter=mark)
    start = 1
    try:
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        why = str(error).replace(f"'{mark}'", "','")
        raise ValueError(f"line {start}: {_WHY.get(why, why)}") from error


_OTHER_MARKS = {";": "semicolons", "\t": "tabs"}  # of spreadsheets whose decimals have commas
_NESTED = (list, dict)
_say_once = cache(tell)
_WHY = {
    "unexpected end of data": "a quote that begins in it is never closed",
    "',' expected after '\"'": "a quote in it is closed within a cell, or is never closed",
    f"field larger than field limit ({csv.field_size_limit()})": "it has a cell of more than 131,072 characters",
}


def read_json_lines(path: Path) -> DataFrame:
    """A table of one JSON object a line; a cell that is a list or an object is an empty list.

    Raises: UsageError as ``text_lines``; ValueError, with the line.
    """
    from pandas import DataFrame

    rows = []
    names: dict[str, None] = {}
    for number, line in enumerate(text_lines(path), 1):
        try:
            row = dict(parse_json(line))
        except (TypeError, ValueError) as error:
            raise ValueError(f"line {number}: {error}") from error
        rows.append({name: [] if isinstance(cell, _NESTED) else cell for name, cell in row.items()})
        names |= dict.fromkeys(row)
        check_most(len(names), MOST_COLUMNS, "columns")
        check_most(len(names) * number, LARGEST_TABLE // CELL, "cells")
    return DataFrame(rows, columns=[*names], dtype=object)


def read_frame(
    path: Path,
    *,
    raises: type[GslopesError] = UsageError,
    limit: int = LARGEST_TABLE,
) -> DataFrame:
    """A table by its ending: ``.parquet`` with the types in it, any other as ``read_csv``.

    Of Parquet all columns are read that hold no pictures or records.  limit: bytes of a CSV, or of what is read.
    """
    if path.suffix != ".parquet":
        return read_csv(path, raises=raises, limit=limit).frame()
    import pyarrow as pa

    from gslopes.core import parquet_table

    try:
        return parquet_table.frame_of(path, limit=limit)
    except (pa.ArrowException, OSError, ValueError) as error:
        why = why_unreadable(error) if isinstance(error, OSError) else str(error).splitlines()[0]
        hint = "Save it as CSV in UTF-8 or Parquet."
        raise raises(f"{show(path)} is not a readable table: {why}.", hint) from error


def unmatched(path: Path, names: Iterable[str], things: str = "photos") -> str:
    """A sentence on the rows of a table that name none of the photos; empty if all name one.

    >>> unmatched(Path("people.csv"), ["z.jpg"]), unmatched(Path("people.csv"), [])
    ("1 row of people.csv is about none of the photos looked at: 'z.jpg'.", '')
    """
    if not (unused := list(dict.fromkeys(names))):
        return ""
    some = some_of([repr(printable(name[:80])) for name in unused])
    rows = f"{many(len(unused), 'row')} of {show(path.name)} {'is' if len(unused) == 1 else 'are'}"
    return f"{rows} about none of the {things} looked at: {some}."


# --- Names of groups, in whatever table: one spelling each, and none for what is missing -----------------------------

_MISSING = frozenset({"", "nan", "none", "null", "n/a", "na", "<na>"})


def tell_unsaid(path: Path | str, name: str, cells: Iterable[object]) -> None:
    """Say on stderr, once, which texts of a column of groups are read as nothing."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    unsaid = [text for text, name in zip(texts, normal_names(texts), strict=True) if not name]
    if unsaid:
        some = some_of(sorted(set(map(repr, unsaid))))
        rows = many(len(unsaid), "row")
        _say_once(
            f"{show(path)}: {name} is {some} in {rows}: read as nothing, unless it is spelt otherwise."
        )


def normal_names(cells: Iterable[object]) -> list[str]:
    """Cells of a column of groups: those that differ only in case or blanks are one, by the most frequent spelling.

    What is missing, and a text that means so, is empty: in no group.

    >>> normal_names(["male", "Male ", "male", "NaN", None])
    ['male', 'male', 'male', '', '']
    """
    texts = [
        " ".join(str(cell).split()) for cell in cells
    ]  # None, NaN and the NA of pandas become texts that mean it
    keys = [text.casefold() for text in texts]
    counts: dict[str, Counter[str]] = {}
    for key, text in sorted(zip(keys, texts, strict=True)):
        counts.setdefault(key, Counter())[text] += 1
    spelling = {
        key: "" if key in _MISSING else count.most_common(1)[0][0] for key, count in counts.items()
    }
    return [spelling[key] for key in keys]
