"""The tables of a context audit, by name, see tables.toml; and what it says, see sentences.toml."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from gslopes.core.tables import read_tables

TABLES = read_tables(Path(__file__).with_suffix(".toml"))
SENTENCES = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))
_EMPTY: dict[pa.DataType, Any] = {pa.float64(): math.nan, pa.int64(): 0, pa.bool_(): False}


def sides(backgrounds: pd.DataFrame) -> dict[str, str]:
    """Context to feminine, masculine or none: its label, which the paper counts by, or without one its rating."""
    one = backgrounds.drop_duplicates("context").set_index("context")
    rating = one["rating"].astype(float)
    rated = rating.lt(5).map({True: "feminine", False: "none"}).mask(rating.gt(5), "masculine")
    found = one["label"].mask(~one["label"].isin(["feminine", "masculine"]), rated)
    return {str(context): str(side) for context, side in found.items()}


def filled(name: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame of the table of that name; what a row lacks is NaN, 0, False or empty."""
    table = TABLES[name]
    default = {field.name: _EMPTY.get(field.type, "") for field in table.schema}
    if rows:
        return pd.DataFrame([{**default, **row} for row in rows], columns=table.columns)
    return table.empty()
