"""CSV files of users: people, ratings, reviews, lists of tags."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show

Row = dict[str, str]


def read_rows(path: Path, needed: Iterable[str], hint: str) -> tuple[list[str], list[tuple[int, Row]]]:
    """(columns, (line number, row) of each line) of a CSV in UTF-8; cells are stripped, and empty where missing.

    needed: columns that must be there.  hint: what the user may do.

    Raises: UsageError if the file cannot be read, is not a CSV in UTF-8, or lacks a needed column.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            columns = [str(name) for name in reader.fieldnames or ()]
            lacking = [name for name in needed if name not in columns]
            if lacking:
                raise UsageError(f"{show(path)} has no column {lacking[0]}.", hint)
            return columns, [(reader.line_num, {name: (row[name] or "").strip() for name in columns}) for row in reader]
    except OSError as error:
        raise UsageError(f"{show(path)} cannot be read: {error.strerror}.", hint) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{show(path)} is not a CSV in UTF-8: {error}.", "Save it as CSV in UTF-8.") from error
