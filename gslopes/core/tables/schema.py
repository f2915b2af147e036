"""What a table is, and the columns that several have."""

from __future__ import annotations

from dataclasses import dataclass

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


def column(name: str, kind: pa.DataType, unit: str, *, null: bool = False) -> pa.Field:
    """A column with the unit of its values; null: whether it may have none."""
    return pa.field(name, kind, nullable=null, metadata={"unit": unit})


def number(name: str, unit: str) -> pa.Field:
    """A column of numbers, some of which may be missing."""
    return column(name, pa.float64(), unit, null=True)


PHOTO = column("photo", pa.string(), "sha256 of the file's bytes, hex")
ATTRIBUTE = column("attribute", pa.string(), "name of the edited attribute")
STEP = column("step", pa.int16(), "0 to K-1")
VALUE = column("value", pa.float32(), "attribute units; 0 neutral, -1 and 1 the ends seen in training")
CLASSIFIER = column("classifier", pa.string(), "name with parameters")
DETAIL = column("detail", pa.string(), "what of the reason is particular to this row; often empty")
LABEL = column("label", pa.string(), "as the classifier returned it")
