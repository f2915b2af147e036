"""The one opener of Parquet that others may have made: it is read in batches, within bounds of rows, bytes and texts.

A table of 60 kB can hold gigabytes: texts that a codec packs a thousandfold, one long text that a million rows point
to, a number that is repeated a billion times. What the footer claims is counted before anything is unpacked, what the
batches take before the next one is read; texts stay dictionaries until their lengths are summed.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pandas import DataFrame

from gslopes.core.files import CELL, LARGEST_TABLE, MOST_COLUMNS, check_most, open_regular

LARGEST_FOOTER = 4 << 20  # bytes, each of which takes some hundreds when it is read
LONGEST_TEXT = 1 << 19  # bytes: as many characters as a cell of a CSV may have
ROWS_AT_ONCE = 4096
PACKED = 16  # times, at most, that pictures and texts become smaller in a file
# Kinds of columns that hold no texts or numbers, but maybe pictures.
OTHERS = ("struct", "map", "binary", "large_binary", "fixed_size_binary")
_END = 8  # bytes: the footer's length, and the format's name
_BOUNDED: Any = {"thrift_container_size_limit": 1 << 18, "pre_buffer": False}
_TEXT = "BYTE_ARRAY"
_reading = Lock()  # one reader at a time, since Arrow counts the bytes of the whole process


class Footer(NamedTuple):
    """What a file's end tells of it.  texts: the paths of the columns that hold texts or bytes."""

    facts: pq.FileMetaData
    texts: list[str]


@contextmanager
def opened(path: Path, **options: Any) -> Iterator[pq.ParquetFile]:
    """A Parquet file of a bounded footer, whose columns have names of their own.  options: of ``ParquetFile``.

    Raises: OSError, ArrowException; ValueError for what is not read.
    """
    with open_regular(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
        check_most(int.from_bytes(file.read(4), "little"), LARGEST_FOOTER, "bytes of footer")
        with pq.ParquetFile(file, **_BOUNDED | options) as parquet:
            names = parquet.schema_arrow.names
            check_most(parquet.metadata.num_columns, MOST_COLUMNS, "columns")
            if len(set(names)) < len(names):
                raise ValueError("it has two columns of one name")
            yield parquet


def most_of(path: Path) -> int:
    """How many bytes a table may unpack to: those of a long one, in proportion to its file."""
    return max(LARGEST_TABLE, 256 * path.stat().st_size)


def check(path: Path, limit: int, columns: Sequence[str] | None = None) -> Footer:
    """The footer.

    limit: bytes that it may unpack to by its footer; one of pictures, which no codec packs, in proportion to its file.
    columns: that are going to be read, all if None.

    Raises: as ``opened``; ValueError for more.
    """
    with opened(path) as parquet:
        facts = parquet.metadata
        leaves = [parquet.schema.column(number) for number in range(facts.num_columns)]
    size = 0
    for group in range(facts.num_row_groups):
        size += max(0, facts.row_group(group).total_byte_size)
    check_most(size, max(limit, PACKED * path.stat().st_size), "bytes")
    width = facts.num_columns if columns is None else len(columns)
    check_most(CELL // 2 * width * abs(facts.num_rows), limit, "bytes")
    return Footer(facts, [leaf.path for leaf in leaves if leaf.physical_type == _TEXT])


def read(
    path: Path,
    columns: Sequence[str] | None = None,
    limit: int = LARGEST_TABLE,
    groups: Sequence[int] | None = None,
    footer: Footer | None = None,
) -> pa.Table:
    """Columns and groups of rows, all by default; texts are dictionaries.  Raises: as ``check``.

    limit: bytes.  footer: of ``check``, for a table that is read group by group: it grows with their number.
    """
    facts, texts = footer or check(path, limit, columns)
    batches = []
    options: Any = {"metadata": facts, "read_dictionary": texts, "buffer_size": 1 << 20}
    with _reading, opened(path, **options) as parquet:
        begun = pa.total_allocated_bytes()
        for batch in parquet.iter_batches(ROWS_AT_ONCE, groups, columns, use_threads=False):
            batches.append(batch)
            check_most(pa.total_allocated_bytes() - begun, limit, "bytes")
        schema = parquet.schema_arrow
    if columns is not None:
        schema = pa.schema(map(schema.field, columns))
    return pa.Table.from_batches(batches, schema)


def rows_of(
    path: Path, columns: Sequence[str] | None, where: pc.Expression | None, limit: int
) -> pa.Table:
    """As ``read``, the rows of a table of our own that an expression chooses, all at once."""
    footer = check(path, limit, columns)
    return pq.read_table(path, columns=columns, filters=where, read_dictionary=footer.texts)


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
    text = DataFrame([""])[0]  # whose type is the one of texts, if a column has none
    texts = frame.select_dtypes("category")
    named = {name: texts[name].cat.categories for name in texts}
    return frame.astype(
        {name: (kinds if len(kinds) else text).dtype for name, kinds in named.items()}
    )


def _dictionaries(array: pa.Array) -> Iterator[pa.DictionaryArray]:
    """The dictionaries of an array, those within lists and records among them."""
    if pa.types.is_dictionary(array.type):
        yield array
    elif pa.types.is_nested(array.type):
        parts = array.flatten()
        for part in parts if isinstance(parts, list) else [parts]:
            yield from _dictionaries(part)
