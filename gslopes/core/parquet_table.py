"""The one opener of Parquet that others may have made: what it unpacks to is known before any of it is unpacked.

A table of 60 kB can hold gigabytes: texts that a codec packs a thousandfold, one long text that a million rows point
to, a number that is repeated a billion times. Sizes in a footer are claims, so those in the header of each page are
counted, as which the page is unpacked; texts stay dictionaries until their lengths are summed.

Source: Apache Parquet's format, parquet.thrift; Thrift's compact protocol.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
_DEEPEST = 12  # letters of a place
_DAMAGED = "the header of a page is damaged"
_PREFIXED = 7  # DELTA_BYTE_ARRAY: each text begins as the one before, so that its length is nowhere in the page


@contextmanager
def opened(path: Path, **options: Any) -> Iterator[pq.ParquetFile]:
    """A Parquet file of a bounded footer, whose columns have names of their own.  options: of ``ParquetFile``.

    Raises: OSError, ArrowException; ValueError for what is not read.
    """
    with open_regular(path) as file:
        file.seek(-min(_END, os.fstat(file.fileno()).st_size), os.SEEK_END)
        check_most(int.from_bytes(file.read(_END)[:4], "little"), LARGEST_FOOTER, "bytes of footer")
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
    groups: Iterable[int] | None = None,
    what: str = "bytes",
) -> list[str]:
    """The paths of those columns that hold texts or bytes.

    columns: that are going to be read, all if None.  groups: likewise, of rows.  limit: bytes that they may unpack to.
    what: these are, for messages.

    Raises: as ``opened``; ValueError for more.
    """
    size = 0
    with opened(path) as parquet, open_regular(path) as file:
        facts = parquet.metadata
        leaves = [parquet.schema.column(number) for number in range(facts.num_columns)]
        named = tuple(f"{name}." for name in columns or ())
        chosen = [
            number
            for number, leaf in enumerate(leaves)
            if columns is None or f"{leaf.path}.".startswith(named)
        ]
        for group in range(facts.num_row_groups) if groups is None else groups:
            rows = facts.row_group(group)
            claimed = (0, abs(rows.num_rows))
            for number in chosen:
                for unpacked, values in chain([claimed], _pages(file, rows.column(number))):
                    size += unpacked + CELL // 2 * values
                    check_most(size, limit, what)
    return [leaves[number].path for number in chosen if leaves[number].physical_type == _TEXT]


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


# --- Pages, by their headers ------------------------------------------------------------------------------------------


def _pages(file: BufferedReader, chunk: pq.ColumnChunkMetaData) -> Iterator[tuple[int, int]]:
    """(bytes unpacked, values) of each page of a column in a group of rows."""
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
        start = chunk.dictionary_page_offset
    file.seek(max(0, start))
    seen = 0
    while seen < chunk.num_values and file.tell() < start + chunk.total_compressed_size:
        facts: Counter[str] = Counter()
        _read_record(file, facts, "")
        if _PREFIXED in (facts[".5.2"], facts[".8.4"]):
            raise ValueError("its texts are written as DELTA_BYTE_ARRAY, which is not read")
        values = facts[".5.1"] + facts[".8.1"]
        if min(facts[".2"], facts[".3"], values) < 0:
            raise ValueError(_DAMAGED)
        yield facts[".2"], values
        seen += values
        file.seek(facts[".3"], os.SEEK_CUR)


def _read_record(file: BufferedReader, facts: Counter[str], place: str) -> None:
    """The numbers in a record, by their place, such as ``.5.1``.

    Raises: ValueError for what no header of a page has: then the file is damaged, or means to be read in two ways.
    """
    field = 0
    while head := _byte(file):
        field += head >> 4
        name = f"{place}.{field}"
        match head & 15:
            case _ if head < 16 or len(name) > _DEEPEST:
                raise ValueError(_DAMAGED)
            case 1 | 2:  # truths
                pass
            case 5 | 6:
                number = _number(file)
                facts[name] = number >> 1 ^ -(number & 1)
            case 8:  # texts
                file.seek(_number(file), os.SEEK_CUR)
            case 12:
                _read_record(file, facts, name)
            case _:
                raise ValueError(_DAMAGED)


def _number(file: BufferedReader) -> int:
    """Of at most 32 bits, seven in each byte."""
    number = 0
    for shift in range(0, 35, 7):
        byte = _byte(file)
        number |= (byte & 127) << shift
        if byte < 128 and not number >> 32:
            return number
    raise ValueError(_DAMAGED)


def _byte(file: BufferedReader) -> int:
    if data := file.read(1):
        return data[0]
    raise ValueError(_DAMAGED)
