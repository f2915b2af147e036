"""Pictures of a set: files, or cells of a Parquet column, of which a row group is held at a time, never the table.

A row group has at most 100 pictures where ``datasets`` wrote it.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from gslopes.core import frozen
from gslopes.core.csv_table import check_most
from gslopes.core.files import open_regular
from gslopes.photos.decode import LARGEST_FILE
from gslopes.photos.folder import photo_bytes

MOST_ROWS = 2_000_000  # of a table, which may take no room in its file
_STREAMED: Any = {"buffer_size": 1 << 20, "pre_buffer": False}  # pages are read one by one


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
        cell = _row_group(self.path, self.column, self.group)[self.row].as_py()
        data = cell.get("bytes") if isinstance(cell, dict) else cell
        if isinstance(data, bytes) and len(data) <= LARGEST_FILE:
            return data
        return b""


@lru_cache(maxsize=2)
def _row_group(path: Path, column: str, group: int) -> pa.ChunkedArray:
    with open_regular(path) as file, pq.ParquetFile(file, **_STREAMED) as parquet:
        return parquet.read_row_group(group, columns=[column], use_threads=False).column(0)


def cells_of(path: Path) -> DataFrame:
    """The columns of a table: in those that may hold pictures each cell's place, nothing in the others.

    Raises: OSError, ArrowException; ValueError for too many rows.
    """
    with open_regular(path) as file, pq.ParquetFile(file) as parquet:
        check_most(parquet.metadata.num_rows, MOST_ROWS, "rows")
        schema = parquet.schema_arrow
        groups = range(parquet.num_row_groups)
        sizes = [parquet.metadata.row_group(group).num_rows for group in groups]
    places = [(group, row) for group in groups for row in range(sizes[group])]
    table = DataFrame(index=range(len(places)), columns=schema.names, dtype=object)
    for field in schema:
        if str(field.type).startswith(("struct", "binary", "large_binary")):
            cells: Any = [Picture(path, field.name, *place) for place in places]
            table[field.name] = cells
    return table
