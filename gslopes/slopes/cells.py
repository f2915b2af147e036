"""Pictures of a set: files, or cells of a Parquet column, of which a row group is held at a time, never the table.

A row group has at most 100 pictures where ``datasets`` wrote it.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from pandas import DataFrame

from gslopes.core import PhotoError, frozen, parquet_table
from gslopes.core.files import check_most
from gslopes.core.parquet_table import OTHERS
from gslopes.photos.decode import LARGEST_FILE
from gslopes.photos.folder import photo_bytes

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
