"""The audit of captions: its tables, see tables.toml."""

from pathlib import Path

from gslopes.core.tables import read_tables

TABLES = read_tables(Path(__file__).with_name("tables.toml"))
