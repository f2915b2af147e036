"""Every Parquet table of a run folder: its columns, their types and units; checked on every read and write.

A table is a pandas data frame whose columns are exactly those of its schema, in that order. Identifiers are strings
(``photo`` is the sha256 of the photo's bytes, 64 hex digits), ``step`` runs from 0 to K-1, ``value`` is in units of
the attribute (-1 and 1 are the ends seen in training), shares and scores are in [0, 1].
"""

from __future__ import annotations

from gslopes.core.tables.files import check, frame_of, read, read_arrow, read_columns, write
from gslopes.core.tables.fitted import (
    BALANCE,
    DIFFERENCES,
    ERROR_RATES,
    ERROR_SLOPES,
    EVERY,
    GATING,
    GROUPS,
    MEASURED,
    OBSERVED,
    PLACEBOS,
    REACH,
    READING,
    REFUSALS,
    SHAPE,
    SLOPES,
    reading,
)
from gslopes.core.tables.schema import Table
from gslopes.core.tables.walk import ASKED, EDITS, PHOTOS, READINGS, SCORES, VERDICTS

__all__ = [
    "ASKED",
    "BALANCE",
    "DIFFERENCES",
    "EDITS",
    "ERROR_RATES",
    "ERROR_SLOPES",
    "EVERY",
    "GATING",
    "GROUPS",
    "MEASURED",
    "OBSERVED",
    "PHOTOS",
    "PLACEBOS",
    "REACH",
    "READING",
    "READINGS",
    "REFUSALS",
    "SCORES",
    "SHAPE",
    "SLOPES",
    "TABLES",
    "VERDICTS",
    "Table",
    "check",
    "frame_of",
    "read",
    "read_arrow",
    "read_columns",
    "reading",
    "write",
]

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        *(PHOTOS, EDITS, VERDICTS, READINGS, ASKED, SCORES),
        *(SLOPES, GROUPS, DIFFERENCES, SHAPE, BALANCE),
        *(PLACEBOS, REFUSALS, REACH, GATING, ERROR_RATES, ERROR_SLOPES, OBSERVED),
    )
}
