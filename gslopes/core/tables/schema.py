"""What a table is, the TOML in which tables are declared, and the columns that several have."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Table:
    """One table: name, pyarrow schema (non-nullable columns must hold no null) and the key that sorts its rows."""

    name: str
    schema: pa.Schema
    key: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """Their names, in order."""
        return list(self.schema.names)

    def empty(self) -> pd.DataFrame:
        """A frame with this table's columns and no row."""
        return self.schema.empty_table().to_pandas()


_KINDS = {"text": pa.string(), "bool": pa.bool_(), "floats": pa.list_(pa.float32())}
_KINDS |= {name: getattr(pa, name)() for name in ("int16", "int32", "int64", "float32", "float64")}


def read_tables(file: Path) -> dict[str, Table]:
    """Name to table of a TOML file: a section a table, with its ``key`` and its ``columns``, one a line.

    A line has the column's name, its type (``?``: it may be null) and the meaning and unit of its values.
    """
    made = {}
    for name, declared in tomllib.loads(file.read_text("utf-8")).items():
        lines = [line.split(maxsplit=2) for line in declared["columns"].strip().splitlines()]
        fields = [column(one, _KINDS[kind.rstrip("?")], unit, null=kind.endswith("?")) for one, kind, unit in lines]
        made[name] = Table(name, pa.schema(fields), tuple(declared["key"].split()))
    return made


def column(name: str, kind: pa.DataType, unit: str, *, null: bool = False) -> pa.Field:
    """A column with the unit of its values; null: whether it may have none."""
    return pa.field(name, kind, nullable=null, metadata={"unit": unit})
