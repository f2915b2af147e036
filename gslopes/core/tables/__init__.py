"""Every Parquet table of a run folder: its columns, their types and units; checked on every read and write.

A table is a pandas data frame whose columns are exactly those of its schema, in that order. Identifiers are strings
(``photo`` is the sha256 of the photo's bytes, 64 hex digits), ``step`` runs from 0 to K-1, ``value`` is in units of
the attribute (-1 and 1 are the ends seen in training), shares and scores are in [0, 1]. They are declared in
``tables.toml``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gslopes.core.tables.files import check, frame_of, read, read_arrow, read_columns, write
from gslopes.core.tables.schema import Table, read_tables

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Table", "check", "frame_of", "read", "read_arrow", "read_columns", "reading", "write"]

TABLES: dict[str, Table] = read_tables(Path(__file__).with_name("tables.toml"))

(PHOTOS, EDITS, VERDICTS, READINGS, ASKED, SCORES, SLOPES, GROUPS, DIFFERENCES, BALANCE,
 PLACEBOS, REACH, GATING, ERROR_RATES, ERROR_SLOPES, OBSERVED,
 MANIFEST, SOURCES, CENSUS, COMPOSITION) = TABLES.values()  # fmt: skip

EVERY = "every label that was returned"  # in the column cut of SLOPES: nothing is cut
READING, MEASURED = "photo-rate", "photo-measure"
"""Estimators to read: of labels judged by presence, and of those judged by their number; see ``fit.measures``."""


def reading(slopes: pd.DataFrame) -> pd.DataFrame:
    """The row of each label that is to be read: by its measure, or, of tables without one, by photo-rate.

    slopes: with the columns of ``SLOPES``.
    """
    if "measure" in slopes and slopes["measure"].notna().any():
        return slopes[slopes["measure"].notna()]
    return slopes[slopes["estimator"] == READING]
