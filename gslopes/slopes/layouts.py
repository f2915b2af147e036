"""What the columns of a set say: published layouts, a TOML file each in ``data/layouts``, and what ``--pairs`` names.

    --pairs SET[,unit=COLUMN][,attribute=COLUMN][,value=COLUMN][,picture=COLUMN][,group=COLUMN][,layout=FILE.toml]

A layout is recognised by its columns; what is named besides takes the place of its own. An attribute that is no column,
or is the column of its own values, is a name.

Pictures of a set are files, or cells of a Parquet column, of which a row group is held at a time, never the table. A
row group has at most 100 pictures where ``datasets`` wrote it.
"""

import dataclasses
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cache, lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas import DataFrame

from gslopes.ask.names import ARGUMENT, read, split
from gslopes.core import (
    ConfigError,
    PhotoError,
    UnknownName,
    UsageError,
    from_dict,
    frozen,
    inside,
    is_file,
    nearest,
    parquet_table,
    read_toml,
    show,
)
from gslopes.core.csv_table import read_csv, read_json_lines
from gslopes.core.files import check_most
from gslopes.core.parquet_table import OTHERS
from gslopes.core.runfolder import EXPORTED
from gslopes.photos.decode import LARGEST_FILE
from gslopes.photos.folder import list_files, photo_bytes

# -- pictures ---------------------------------------------------------------------------------------------------------

MOST_ROWS = 2_000_000  # of a table, which may take no room in its file
LARGEST_TEXTS = 1 << 28  # bytes that are read besides pictures
LARGEST_GROUP = 1 << 29  # bytes of the pictures in a group of rows
_GROUP = "bytes of pictures in a group of rows (pandas and pyarrow make smaller ones with row_group_size=100)"


@frozen
class Picture:
    """A file; or in a Parquet file a cell: its column, row group, and row there."""

    path: Path
    column: str = ""
    group: int = -1
    row: int = -1

    def __str__(self) -> str:
        return f"{self.path.name} {self.column} {self.group} {self.row}"

    def read(self) -> bytes:
        """Its bytes; none if the cell holds no picture, or too large a one.  Raises: PhotoError."""
        if self.group < 0:
            return photo_bytes(self.path)
        try:
            changed = self.path.stat().st_mtime_ns
            cell = _row_group(self.path, self.column, changed, self.group)[self.row].as_py()
        except (pa.ArrowException, OSError, ValueError) as error:
            raise PhotoError(self.path, f"its pictures cannot be read: {error}") from error
        data = cell.get("bytes") if isinstance(cell, dict) else cell
        if isinstance(data, bytes) and len(data) <= LARGEST_FILE:
            return data
        return b""


@lru_cache(maxsize=2)
def _footer(path: Path, column: str, changed: int) -> parquet_table.Footer:
    return parquet_table.check(path, LARGEST_GROUP, [column])


@lru_cache(maxsize=2)
def _row_group(path: Path, column: str, changed: int, group: int) -> pa.ChunkedArray:
    """Cells of a column.  changed: when the file was written."""
    footer = _footer(path, column, changed)
    return parquet_table.read(path, [column], LARGEST_GROUP, [group], footer).column(0)


def cells_of(path: Path, columns: Sequence[str]) -> DataFrame:
    """Columns of a table, in those that may hold pictures each cell's place; without any only all their names.

    Raises: OSError, ArrowException; ValueError for more than is read.
    """
    with parquet_table.opened(path) as parquet:
        schema = parquet.schema_arrow
        groups = [parquet.metadata.row_group(group) for group in range(parquet.num_row_groups)]
    if not columns:
        return DataFrame(columns=schema.names)
    sizes = [group.num_rows for group in groups]
    check_most(sum(map(abs, sizes)), MOST_ROWS, "rows")
    held = [name for name in columns if str(schema.field(name).type).startswith(OTHERS)]
    texts = [name for name in columns if name not in held]
    if held:
        largest = max((group.total_byte_size for group in groups), default=0)
        check_most(largest, LARGEST_GROUP, _GROUP)
    table = parquet_table.frame_of(path, texts, LARGEST_TEXTS)
    places = [(group, row) for group, size in enumerate(sizes) for row in range(size)]
    pictures: Any = {name: [Picture(path, name, *place) for place in places] for name in held}
    return table.reindex(range(len(places))).assign(**pictures)


# -- layouts ----------------------------------------------------------------------------------------------------------

FOLDER = Path(__file__).parent / "data"
TEXTS = read_toml(FOLDER / "pairs.toml")
FIELDS = ("picture", "unit", "attribute", "values", "group", "placebo", "shown", "cluster")
JOINT = " · "  # between the parts of a unit's name
_ROW = " "  # in place of a column: where a row is,
_PICTURE = "  "  # and its picture


@frozen
class Layout:
    """What ``--pairs`` names.

    path: the set.  layout: the name of one that is shipped, or a TOML file.
    picture, unit, attribute, value, group, placebo, shown: columns; ``a|b`` is the first that is there, ``a+b`` both.
        Several pictures in a row are values, by the columns' names. Without a unit each row is one.
    folder: where the pictures lie, from their table.  ending: of pictures whose names have none.
    """

    path: str = dataclasses.field(metadata=ARGUMENT)
    layout: str = ""
    picture: str = ""
    unit: str = ""
    attribute: str = ""
    value: str = ""
    group: str = ""
    placebo: str = ""
    shown: str = ""
    folder: str = ""
    ending: str = ""

    @property
    def values(self) -> str:
        """The columns of values; empty if those of pictures are the values."""
        return "" if "+" in self.picture else self.value or self.attribute


@frozen
class LayoutFile(Layout):
    """A layout as a file has it.

    names: how the set spells a value to its name.
    cluster: a column, of rows with one attribute: what holds several units.
    files: of a folder without a table: a pattern of paths in it, whose named groups are columns.
    """

    names: dict[str, str] = dataclasses.field(default_factory=dict)
    cluster: str = ""
    files: str = ""


def refused(what: str, *about: object) -> UsageError:
    """One of the sentences of ``data/pairs.toml``."""
    return UsageError(
        *(text.format(*(str(one)[:300] for one in about)) for text in TEXTS["refused"][what])
    )


def named(text: str) -> Layout:
    """What an option names; a path that is there is one, commas and all.  Raises: ConfigError."""
    items = [text] if Path(text).exists() else split(f"--pairs:{text}")[1]
    return read(Layout, "--pairs", items, "option")


def absolute(text: str) -> str:
    """An option with the whole path of a layout file of the working folder."""
    file = re.search("(?<=layout=)[^,]+", text)
    if file and is_file(Path(file[0])):
        return text.replace(file[0], os.path.abspath(file[0]))
    return text


@cache
def shipped() -> dict[str, LayoutFile]:
    """Name to layout; the first one is ours."""
    return {file.stem: read_layout(file) for file in sorted((FOLDER / "layouts").iterdir())}


def read_layout(file: Path) -> LayoutFile:
    """A layout's file.  Raises: ConfigError."""
    layout = from_dict(LayoutFile, {"path": "", **read_toml(file)})
    try:
        re.compile(layout.files)
    except re.error as error:
        raise ConfigError(f"{show(file)}: files is no pattern: {error}.", "Mend it.") from error
    return layout


def _known(asked: Layout) -> dict[str, LayoutFile]:
    """Layouts that may be the set's: those that are shipped, or the one that is named.

    Raises: ConfigError, UnknownName.
    """
    name = asked.layout
    if not name:
        return shipped()
    path = Path(asked.path)
    places = path / name, path.parent / name, Path(name), FOLDER / "layouts" / f"{name}.toml"
    for file in filter(is_file, places):
        return {name: read_layout(file)}
    raise UnknownName("layout", name, shipped())


# -- columns ----------------------------------------------------------------------------------------------------------


def _found(text: str, columns: Collection[str]) -> list[str]:
    """The column of each part of a field; empty where none of its names is there."""
    if text in columns:
        return [text]
    parts = text.split("+") if text else []
    return [next((name for name in part.split("|") if name in columns), "") for part in parts]


def _lacking(layout: Layout, columns: Collection[str], is_named: bool) -> list[str]:
    """The fields that name no column.  is_named: whether an attribute may be a name."""
    needed = ["picture", *["unit"] * bool(layout.unit)]
    if "+" not in layout.picture:
        needed += ["attribute", "values"][is_named and bool(layout.attribute) :]
    return [name for name in needed if "" in (_found(getattr(layout, name), columns) or [""])]


def _chosen(file: Path, columns: Sequence[str], asked: Layout) -> tuple[LayoutFile, list[str]]:
    """The layout of a table, with what is asked for, and the columns of values that it leaves as they are.

    Raises: UsageError, with the columns that are there, and a command; ConfigError, UnknownName.
    """
    known = _known(asked)
    more = {name: text for name, text in asdict(asked).items() if text}
    path = more.pop("path", "")
    by_name = bool(more.pop("layout", ""))
    fits = [name for name, one in known.items() if not _lacking(one, columns, by_name)]
    first = next(iter(known))
    if fits[1:] and first not in fits:
        raise refused("several", show(file), " and ".join(fits), path, fits[0])
    base = known[(fits or [first])[0]]
    bare = {"attribute": "", "value": ""} if more and not fits and not by_name else {}
    layout = replace(base, **(bare | more))
    if "value" not in more and layout.attribute.count("+") != layout.value.count("+"):
        layout = replace(layout, value="")
    for field in _lacking(layout, columns, by_name or bool(more)):
        parts = getattr(layout, field).split("+")
        absent = [part for part in parts if _found(part, columns) in ([], [""])]
        name = absent[0].partition("|")[0] or field
        error = refused("column", show(file), name, ", ".join(columns), _command(path, columns))
        error.hint = nearest(name, columns, error.hint)
        raise error
    if layout.values and layout.values.count("+") != layout.attribute.count("+"):
        raise refused("parts", layout.attribute, layout.value)
    used = {"", *_found(layout.values, columns)}
    return layout, sorted({*_found(base.values, columns)} - used)


def _command(path: str, columns: Collection[str]) -> str:
    """What to give for a table of columns that are not known."""
    parts = [path]
    for field, pattern in TEXTS["usual"].items():
        parts += [f"{field}={name}" for name in columns if re.search(pattern, name, re.I)][:1]
    return ",".join(parts)


# -- tables -----------------------------------------------------------------------------------------------------------


def read_rows(text: str | Path) -> Iterator[DataFrame]:
    """The rows of each table of a set, a row a picture: ``where`` it is found, ``picture`` and its ``name``, ``unit``
    (what stays the same), ``group``, ``placebo``, ``shown``; of each attribute ``attribute0`` and ``value0``.

    Raises: UsageError; ConfigError, UnknownName.
    """
    asked = named(str(text))
    path = Path(asked.path)
    files = [path]
    if is_file(path / EXPORTED) and not is_file(path / "README.md"):
        raise refused("unfinished", show(path))
    if path.is_dir():  # the tables of the first kind that is there
        found = (sorted(path.rglob(kind)) for kind in TEXTS["tables"])
        files = next(filter(None, found), [])
    for file in files:
        yield _standard(path, file, asked, _table(file))
    if files:
        return
    names = [file.relative for file in list_files(path)]
    for name, layout in _known(asked).items():
        matches = filter(None, (re.fullmatch(layout.files, one) for one in names))
        if rows := [match.groupdict() | {"picture": match[0]} for match in matches]:
            place = path / "names"
            yield _standard(path, place, replace(asked, layout=name), DataFrame(rows))
            return
    raise refused("folder", show(path))


def _table(file: Path, columns: Sequence[str] = ()) -> DataFrame:
    """The cells of a table, each row's place the index; of Parquet those of some columns, without any its names."""
    try:
        if file.suffix == ".parquet":
            table = cells_of(file, columns)
        elif file.suffix == ".jsonl":
            table = read_json_lines(file)
        else:
            csv = read_csv(file, strip=True, hint=TEXTS["refused"]["table"][1])
            return csv.frame().set_axis([f"line {line}" for line in csv.lines])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise refused("table", show(file), (str(error).splitlines() or [""])[0]) from error
    return table.set_axis([f"row {row + 1}" for row in range(len(table))])


def _standard(path: Path, file: Path, asked: Layout, table: DataFrame) -> DataFrame:
    """As ``read_rows``, of a table."""
    names = list(map(str, table))
    layout, fixed = _chosen(file, names, asked)
    columns = {field: _found(getattr(layout, field), names) for field in FIELDS}
    columns["unit"] = columns["unit"] + fixed or [_ROW]
    used = {*chain(*columns.values())} - {"", _ROW}
    if file.suffix == ".parquet":
        table = _table(file, sorted(used))
    table[_ROW] = [f"{show(file)}, {place}" for place in table.index]
    parts = [table.assign(**{"": one}, **{_PICTURE: table[one]}) for one in columns["picture"]]
    table = pd.concat(parts)
    texts = {
        name: list(map(partial(_text, name), table[_ROW], table[name]))
        for name in (*used, _ROW, "", _PICTURE)
    }
    base = file.parent / layout.folder
    root = base if asked.folder else path if path.is_dir() else path.parent
    place = partial(_file, root, base, layout.ending)
    pictures = list(map(place, texts[_ROW], table[_PICTURE]))
    rows = DataFrame({"where": texts[_ROW], "name": texts[_PICTURE], "picture": pictures})
    for field in ("unit", "group", "placebo", "shown", "cluster"):
        cells = zip(*(texts[name] for name in columns[field] if name), strict=True)
        rows[field] = [JOINT.join(filter(None, row)) for row in cells] or ""
    spelled = {text.casefold(): name for text, name in layout.names.items()}
    values = zip(layout.attribute.split("+"), columns["values"] or [""], strict=True)
    for number, (attribute, value) in enumerate(values):
        (name,) = _found(attribute, names) or [""]
        is_name = name in ("", value)
        rows[f"attribute{number}"] = attribute.split("|")[-1] if is_name else texts[name]
        rows[f"value{number}"] = [spelled.get(one.casefold(), one) for one in texts[value]]
    return rows


def _file(root: Path, base: Path, ending: str, where: str, cell: Any) -> Picture:
    """The picture that a row names, or holds.  Raises: UsageError if it lies outside of the set."""
    if isinstance(cell, Picture):
        return cell
    name = _text("", where, cell)
    file = base / (name if Path(name).suffix else name + ending)
    if not is_file(file):
        file = Path(str(file).replace("\\", "/"))
    if not inside(root, file):
        raise refused("outside", where, name, show(root))
    return Picture(file)


def _text(column: str, where: str, cell: Any) -> str:
    """A cell as text; nothing of what is missing.  Raises: UsageError for a list."""
    if isinstance(cell, (list, np.ndarray, bytes)):
        raise refused("list", where, column)
    if cell is None or cell != cell:
        return ""
    return str(cell).strip()
