"""The one opener of Parquet that others may have made: what it unpacks to is known before any of it is unpacked.

A table of 60 kB can hold gigabytes: texts that a codec packs a thousandfold, one long text that a million rows point
to, a number that is repeated a billion times. Sizes in a footer are claims, so those in the header of each page are
counted, as which the page is unpacked; texts stay dictionaries until their lengths are summed. Footer and headers are
read here, because pyarrow's view of a damaged column ends the process.

Source: Apache Parquet's format, parquet.thrift; Thrift's compact protocol.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pandas import DataFrame

from gslopes.core.files import CELL, LARGEST_TABLE, MOST_COLUMNS, check_most, open_regular

LARGEST_FOOTER = 4 << 20  # bytes, each of which takes some hundreds when it is read
LONGEST_TEXT = 1 << 19  # bytes: as many characters as a cell of a CSV may have
# Kinds of columns that hold no texts or numbers, but maybe pictures.
OTHERS = ("struct", "map", "binary", "large_binary", "fixed_size_binary")
_END = 8  # bytes: the footer's length, and the format's name
_BOUNDED: Any = {"thrift_container_size_limit": 1 << 18, "pre_buffer": False}
_TEXT = "BYTE_ARRAY"
_PREFIXED = 7  # DELTA_BYTE_ARRAY: each text begins as the one before, so that its length is nowhere in the page
_WHOLE, _LONG, _LIST, _RECORD = 5, 6, 9, 12  # of Thrift's kinds of values
_DAMAGED = "its footer, or the header of a page, is damaged"


@contextmanager
def opened(path: Path, **options: Any) -> Iterator[pq.ParquetFile]:
    """A Parquet file of a bounded footer, whose columns have names of their own.  options: of ``ParquetFile``.

    Raises: OSError, ArrowException; ValueError for what is not read.
    """
    with open_regular(path) as file:
        _seek_footer(file)
        with pq.ParquetFile(file, **_BOUNDED | options) as parquet:
            names = parquet.schema_arrow.names
            check_most(parquet.metadata.num_columns, MOST_COLUMNS, "columns")
            if len(set(names)) < len(names):
                raise ValueError("it has two columns of one name")
            yield parquet


def most_of(path: Path) -> int:
    """How many bytes a table may unpack to: those of a long one, in proportion to its file."""
    return max(LARGEST_TABLE, 256 * path.stat().st_size)


def check(
    path: Path,
    columns: Sequence[str] | None = None,
    limit: int = LARGEST_TABLE,
    apart: str = "",
) -> list[str]:
    """The paths of those columns that hold texts or bytes.

    columns: that are going to be read, all if None.  limit: bytes that they may unpack to.
    apart: what these bytes are, if groups of rows are read one by one.

    Raises: as ``opened``; ValueError for more.
    """
    with opened(path) as parquet:
        count = parquet.num_row_groups
        leaves = [parquet.schema.column(number) for number in range(parquet.metadata.num_columns)]
    if columns is None:
        columns = [leaf.path for leaf in leaves]
    names = tuple(f"{name}." for name in columns)
    chosen = {
        number: leaf.path for number, leaf in enumerate(leaves) if f"{leaf.path}.".startswith(names)
    }
    size = 0
    with open_regular(path) as file:
        _seek_footer(file)
        try:
            made = _value(file, _RECORD)[_LIST, 4]
            if len(made) != count:
                raise ValueError(_DAMAGED)
            for group in made:
                if apart:
                    size = 0
                claimed = (0, abs(group[_LONG, 3]))
                for number in chosen:
                    column = group[_LIST, 1][number][_RECORD, 3]
                    for unpacked, values in chain([claimed], _pages(file, column)):
                        size += unpacked + CELL // 2 * values
                        check_most(size, limit, apart or "bytes")
        except (LookupError, TypeError, RecursionError) as error:
            raise ValueError(_DAMAGED) from error
    return [path for number, path in chosen.items() if leaves[number].physical_type == _TEXT]


def read(
    path: Path,
    columns: Sequence[str] | None = None,
    where: pc.Expression | None = None,
    limit: int = LARGEST_TABLE,
) -> pa.Table:
    """Columns and rows of a table, all by default; texts are dictionaries.  limit, Raises: as ``check``."""
    texts = check(path, columns, limit)
    return pq.read_table(path, columns=columns, filters=where, read_dictionary=texts)


def check_texts(table: pa.Table, limit: int, longest: int = LARGEST_TABLE) -> None:
    """Raises: ValueError if the texts of all rows have more bytes than the limit, or one of them is longer."""
    size = 0
    for name, column in zip(table.column_names, table.columns, strict=True):
        for part in chain.from_iterable(map(_dictionaries, column.chunks)):
            lengths = pc.binary_length(part.dictionary)
            check_most(pc.max(lengths).as_py() or 0, longest, f"bytes in a text of {name[:80]}")
            size += pc.sum(lengths.take(part.indices)).as_py() or 0
            check_most(size, limit, "bytes")


def frame_of(
    path: Path, columns: Sequence[str] | None = None, limit: int = sys.maxsize
) -> DataFrame:
    """As ``read``, for pandas, a text in each row, and whole numbers next to missing ones; no index but the rows'.

    columns: by default all that hold neither bytes nor records.
    """
    if columns is None:
        with opened(path) as parquet:
            fields = parquet.schema_arrow
        columns = [field.name for field in fields if not str(field.type).startswith(OTHERS)]
    limit = min(limit, most_of(path))
    table = read(path, columns, limit=limit)
    check_texts(table, limit, LONGEST_TEXT)
    frame = table.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    return frame.astype(dict.fromkeys(frame.select_dtypes("category"), object))


def _dictionaries(array: pa.Array) -> Iterator[pa.DictionaryArray]:
    """The dictionaries of an array, those within lists and records among them."""
    if pa.types.is_dictionary(array.type):
        yield array
    elif pa.types.is_nested(array.type):
        parts = array.flatten()
        for part in parts if isinstance(parts, list) else [parts]:
            yield from _dictionaries(part)


# --- Footer and pages -------------------------------------------------------------------------------------------------


def _seek_footer(file: BufferedReader) -> None:
    """Go to where the footer begins.  Raises: ValueError for a longer one than is read."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - _END))
    size = int.from_bytes(file.read(4), "little")
    check_most(size, LARGEST_FOOTER, "bytes of footer")
    file.seek(max(0, end - _END - size))


def _pages(file: BufferedReader, column: dict[Any, Any]) -> Iterator[tuple[int, int]]:
    """(bytes unpacked, values) of each page of a column in a group of rows.  column: its facts in the footer."""
    start = column[_LONG, 9]
    if 0 < column.get((_LONG, 11), 0) < start:
        start = column[_LONG, 11]
    file.seek(start)
    left = column[_LONG, 5]
    while left > 0 and file.tell() < start + column[_LONG, 7]:
        header = _value(file, _RECORD)
        first = header.get((_RECORD, 5), {})
        second = header.get((_RECORD, 8), {})
        if _PREFIXED in (first.get((_WHOLE, 2)), second.get((_WHOLE, 4))):
            raise ValueError("its texts are written as DELTA_BYTE_ARRAY, which is not read")
        values = first.get((_WHOLE, 1), 0) + second.get((_WHOLE, 1), 0)
        if min(values, header[_WHOLE, 2], header[_WHOLE, 3]) < 0:
            raise ValueError(_DAMAGED)
        yield header[_WHOLE, 2], values
        left -= values
        file.seek(header[_WHOLE, 3], os.SEEK_CUR)


def _value(file: BufferedReader, kind: int) -> Any:
    """A value; of a record a dictionary by kind and number of its fields, of a text nothing.

    Raises: ValueError for what no Parquet has: then the file is damaged, or means to be read in two ways; IndexError
        where it ends.
    """
    match kind:
        case 1 | 2:  # truths
            return None
        case 3:
            return file.read(1)[0]
        case 5 | 6:
            number = _number(file)
            return number >> 1 ^ -(number & 1)
        case 8:  # texts
            return file.seek(_number(file), os.SEEK_CUR)
        case 9:
            head = file.read(1)[0]
            count = head >> 4 if head < 240 else _number(file)
            return [_value(file, head & 15) for _ in range(count)]
        case 12:
            fields = {}
            field = 0
            while head := file.read(1)[0]:
                field += head >> 4
                fields[head & 15, field] = _value(file, head & 15 if head > 15 else 0)
            return fields
    raise ValueError(_DAMAGED)


def _number(file: BufferedReader) -> int:
    """Of seven bits in each byte."""
    number = 0
    for shift in range(0, 64, 7):
        byte = file.read(1)[0]
        number |= (byte & 127) << shift
        if byte < 128:
            return number
    raise ValueError(_DAMAGED)
