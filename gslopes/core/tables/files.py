"""Tables as Parquet files, checked against their schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gslopes.core.errors import TableError
from gslopes.core.reasons import split_prose
from gslopes.core.tables.schema import Table


def frame_of(table: Table, rows: Sequence[Mapping[str, Any]] | Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Rows, as dictionaries or in the order of the columns, as a frame; of none the table's empty one."""
    return pd.DataFrame(rows, columns=pd.Index(table.columns)) if rows else table.empty()


def check(table: Table, frame: pd.DataFrame) -> pa.Table:
    """The frame as an Arrow table of exactly this schema; a reason that holds its detail in itself is split.

    Raises: TableError if a column is missing, unknown, null where it may not be, or cannot be cast safely to its type.
    """
    if "detail" in table.columns and "detail" not in frame.columns and "reason" in frame.columns:
        statuses = frame["status"] if "status" in frame.columns else [""] * len(frame)
        pairs = [split_prose(text, status) for text, status in zip(frame["reason"], statuses, strict=True)]
        frame = frame.assign(reason=[reason for reason, _ in pairs], detail=[detail for _, detail in pairs])
    missing = [name for name in table.columns if name not in frame.columns]
    unknown = [name for name in frame.columns if name not in table.columns]
    if missing or unknown:
        wrong = {"lacks": missing, "has unknown": unknown}
        parts = " and ".join(f"{verb} {', '.join(map(str, names))}" for verb, names in wrong.items() if names)
        raise TableError(f"The {table.name} table {parts}.", f"Its columns are {', '.join(table.columns)}.")
    for field in table.schema:
        if not field.nullable and frame[field.name].isna().any():
            raise TableError(f"The {table.name} table has no value in some rows of its column {field.name}.")
    try:
        result = pa.Table.from_pandas(frame[table.columns], schema=table.schema, preserve_index=False)
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise TableError(f"The {table.name} table has a value of the wrong type: {error}.") from error
    return result.replace_schema_metadata(None)


def write(table: Table, frame: pd.DataFrame, path: Path) -> None:
    """Write the frame, sorted by the table's key; ``runfolder.write_table`` does it atomically and durably.

    Raises: TableError as ``check``; OSError if the disk refuses.
    """
    pq.write_table(check(table, frame.sort_values(list(table.key), kind="stable")), path, compression="zstd")


def read(table: Table, path: Path) -> pd.DataFrame:
    """Read and check a table.  Raises: TableError if the file is missing, no Parquet, or of another schema."""
    return _read(table, path, []).to_pandas()


def read_columns(table: Table, path: Path, columns: list[str], where: pc.Expression | None = None) -> pd.DataFrame:
    """Some columns and rows of a table, without reading the others.  Raises: TableError as ``read``."""
    try:
        if pq.read_schema(path).equals(table.schema, check_metadata=False):
            found = pq.read_table(path, columns=columns, filters=where)
            found.validate(full=True)
            return found.to_pandas()
    except (OSError, ValueError, pa.ArrowException):
        pass  # the other way of reading says what is wrong
    whole = _read(table, path, [])
    return (whole if where is None else whole.filter(where)).select(columns).to_pandas()


def read_arrow(table: Table, path: Path) -> pa.Table:
    """The same as an Arrow table whose texts are dictionary-encoded: a long table of few names takes little memory.

    Raises: TableError as ``read``.
    """
    texts = [field.name for field in table.schema if field.type == pa.string()]
    return _read(table, path, texts).unify_dictionaries()


def _read(table: Table, path: Path, texts: list[str]) -> pa.Table:
    try:
        schema = pq.read_schema(path)
        if schema.equals(table.schema, check_metadata=False):
            found = pq.read_table(path, read_dictionary=texts)
            found.validate(full=True)  # damaged texts are no UTF-8
            return found
    except FileNotFoundError as error:
        raise TableError(f"There is no {table.name} table at {path}.", "Run the stage that makes it first.") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # damaged names are no UTF-8
        raise TableError(
            f"{path} is not a readable Parquet file: {error}.", "Run the stage that writes it again."
        ) from error
    lacking = [name for name in table.columns if name not in schema.names]
    lacks = ", ".join(lacking)
    raise TableError(
        f"{path} is not a {table.name} table{': it lacks ' + lacks if lacks else ''}.",
        "Run the stage that writes it again.",
    )
