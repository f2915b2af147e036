"""The audit of contexts: its tables, see tables.toml, and its words, see sentences.toml."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pandas import DataFrame

from gslopes.core import read_toml
from gslopes.core.tables import Record, frame_of, read_tables

HOME = Path(__file__).parent
TABLES = read_tables(HOME / "tables.toml")
SENTENCES = read_toml(HOME / "sentences.toml")
_EMPTY: dict[pa.DataType, Any] = {pa.float64(): math.nan, pa.int64(): 0, pa.bool_(): False}


def filled(name: str, rows: Sequence[Record]) -> DataFrame:
    """Rows as a frame of the table of that name; what a row lacks is NaN, 0, False or empty."""
    table = TABLES[name]
    default = {field.name: _EMPTY.get(field.type, "") for field in table.schema}
    return frame_of(table, [{**default, **row} for row in rows])
