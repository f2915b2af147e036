"""The audit of contexts: its tables, see tables.toml, and its words, see sentences.toml."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pandas import DataFrame

from gslopes.core import Record, read_toml
from gslopes.core.tables import frame_of, read_tables, typed

HOME = Path(__file__).parent
TABLES = read_tables(HOME / "tables.toml")
SENTENCES = read_toml(HOME / "sentences.toml")


def filled(name: str, rows: Sequence[Record]) -> DataFrame:
    """Rows as a frame of the table of that name; what a row lacks is NaN, 0, False or empty."""
    table = TABLES[name]
    return typed(table, frame_of(table, [{**table.blank, **row} for row in rows]))


def rows_of(results: Mapping[str, DataFrame], name: str) -> DataFrame:
    """A table of a run's results, without rows if the run has none of that name."""
    return results.get(name, TABLES[name].empty())
