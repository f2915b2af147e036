"""The audit of contexts: its tables, see tables.toml, and its words, see sentences.toml."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pandas import DataFrame

from gslopes.core.tables import read_tables

HOME = Path(__file__).parent
TABLES = read_tables(HOME / "tables.toml")
SENTENCES = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))
_EMPTY: dict[pa.DataType, Any] = {pa.float64(): math.nan, pa.int64(): 0, pa.bool_(): False}


def filled(name: str, rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Rows as a frame of the table of that name; what a row lacks is NaN, 0, False or empty."""
    table = TABLES[name]
    default = {field.name: _EMPTY.get(field.type, "") for field in table.schema}
    if rows:
        return DataFrame([{**default, **row} for row in rows], columns=table.columns)
    return table.empty()
