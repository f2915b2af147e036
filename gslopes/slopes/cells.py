"""Pictures of a set, one at a time: files, or cells of a Parquet column, which is read in batches and never whole.

What is held is a page of the column, at most 100 pictures where ``datasets`` wrote it, and the batches just read.
"""

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from threading import get_ident
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame, Series

from gslopes.core import frozen
from gslopes.core.errors import PhotoError
from gslopes.core.files import open_regular
from gslopes.core.reasons import Reason, SkipReason
from gslopes.photos.decode import LARGEST_FILE
from gslopes.photos.folder import photo_bytes

ROWS = 8  # of a batch
KEPT = 8  # batches of which some rows may be read again
_BUFFER = 1 << 20  # bytes that are read at once


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
            cell = _cells(self.path, self.column, self.group, get_ident()).at(self.row)
        except (OSError, StopIteration, pa.ArrowException) as error:
            raise PhotoError(self, SkipReason(Reason.DISK_ERROR, str(error)[:80])) from error
        data = cell.get("bytes") if isinstance(cell, dict) else cell
        if isinstance(data, bytes) and len(data) <= LARGEST_FILE:
            return data
        return b""


class Cells:
    """The cells of a column in a row group, read in their order; those that were long ago from the beginning again."""

    def __init__(self, *place: Any) -> None:
        self.place = place
        self.kept: deque[tuple[int, Any]] = deque(maxlen=KEPT)
        self._begin()

    def _begin(self) -> None:
        self.batches = _batches(*self.place)
        self.end = 0
        self.kept.clear()

    def at(self, row: int) -> Any:
        """The cell of a row.  Raises: OSError, ArrowException; StopIteration if the file has changed."""
        if self.kept and row < self.kept[0][0]:
            self._begin()
        while row >= self.end:
            batch = next(self.batches)
            self.kept.append((self.end, batch))
            self.end += len(batch)
        first, batch = max(kept for kept in self.kept if kept[0] <= row)
        return batch[row - first].as_py()


@lru_cache(maxsize=8)
def _cells(path: Path, column: str, group: int, thread: int) -> Cells:
    return Cells(path, column, group)


def _batches(path: Path, column: str, group: int) -> Iterator[pa.Array]:
    options: dict[str, Any] = {"buffer_size": _BUFFER, "pre_buffer": False}
    with open_regular(path) as file, pq.ParquetFile(file, **options) as parquet:
        batches = parquet.iter_batches(
            ROWS, row_groups=[group], columns=[column], use_threads=False
        )
        for batch in batches:
            yield batch.column(0)


def cells_of(path: Path) -> DataFrame:
    """The columns of a table; of those that may hold pictures each cell's place, and nothing of the others.

    Raises: OSError, ArrowException.
    """
    with open_regular(path) as file, pq.ParquetFile(file) as parquet:
        schema = parquet.schema_arrow
        groups = range(parquet.num_row_groups)
        sizes = [parquet.metadata.row_group(group).num_rows for group in groups]
    places = [(group, row) for group in groups for row in range(sizes[group])]
    table = DataFrame(index=range(len(places)), columns=schema.names, dtype=object)
    for field in schema:
        if pa.types.is_struct(field.type) or pa.types.is_binary(field.type):
            table[field.name] = [Picture(path, field.name, *place) for place in places]
    return table


def is_held(cells: Series) -> bool:
    """Whether a table holds these pictures itself."""
    return bool(len(cells)) and isinstance(cells.iloc[0], Picture)
