"""``summary.json`` of every audit: what a dashboard or a gate needs, in one small, versioned form."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
from pandas import DataFrame

from gslopes.core import JsonObject, TableError, runfolder, runtime, tables

NAME = "summary.json"
VERSION = 1
MOST_ROWS = 100
FINDING = "finding"
NONE = "none"
UNJUDGED = "unjudged"

FINDINGS, OBSERVED, DRAWING, EDITING, SUMMARY = tables.read_tables(
    Path(__file__).with_suffix(".toml")
).values()
"""The rows of ``summary.json``, and its fields."""

MORE = {"observed": OBSERVED, "drawing": DRAWING, "editing": EDITING}

_PLAIN: dict[pa.DataType, str | bool] = {pa.string(): "", pa.bool_(): False}  # others: numbers


def conditions(form: tables.Table) -> dict[str, float | str | bool]:
    """What a condition on the rows of a table may name, each with a value of its type; see ``gated``."""
    return {**{field.name: _PLAIN.get(field.type, 0.0) for field in form.schema}, FINDING: False}


def gated(findings: DataFrame) -> DataFrame:
    """A table of decisions with the column ``finding``: whether each is one."""
    return findings.assign(finding=findings["decision"] == FINDING)


def write(
    folder: Path,
    audit: str,
    findings: DataFrame,
    counts: tuple[int, int],
    *,
    headline: str,
    page: Path | None,
    began: Path | None = None,
    more: Mapping[str, DataFrame] | None = None,
) -> Path:
    """Write the summary of an audit into its folder, whole or not at all; its path.

    findings: the columns of ``FINDINGS``, in the order of showing them.  more: those of ``MORE``, by name.
    counts: found and used, see ``SUMMARY``.  began: the folder whose ``run.json`` has the date; the same by default.

    Raises: TableError if it is not of its form; StorageError.
    """
    judged = findings[findings["decision"] != UNJUDGED]
    content: JsonObject = {
        "version": VERSION,
        "audit": audit,
        "gslopes": runtime.gslopes_version(),
        "date": began_on(began or folder),
        "page": None if page is None else page.relative_to(folder).as_posix(),
        "headline": headline,
        "found": counts[0],
        "used": counts[1],
        "models": sorted(set(map(str, findings["model"]))),
        "decisions": findings["decision"].value_counts().to_dict(),
        "rows": _rows(judged, FINDINGS),
        "left_out": max(len(judged) - MOST_ROWS, 0),
    }
    for name, form in MORE.items():
        content[name] = _rows(more[name], form) if more and name in more else []
    check(content)
    path = folder / NAME
    runfolder.write_json(path, content)
    return path


def check(content: JsonObject) -> None:
    """Raises: TableError if a value is not of its type in ``SUMMARY``, or is missing."""
    try:
        table = pa.Table.from_pylist([content], schema=SUMMARY.schema)
    except (pa.ArrowException, TypeError, UnicodeEncodeError) as error:
        raise TableError(f"The summary has a value of the wrong type: {error}.") from error
    if lacking := [
        field.name
        for field in SUMMARY.schema
        if not field.nullable and table[field.name].null_count
    ]:
        raise TableError(f"The summary has no {', '.join(lacking)}.")


def began_on(run: Path) -> str:
    """The day on which a run began, YYYY-MM-DD, UTC: from its ``run.json``, or when that was written."""
    manifest = run / runfolder.MANIFEST
    created = runfolder.read_manifest(run)["created"][:10]
    return created or datetime.fromtimestamp(manifest.stat().st_mtime, UTC).date().isoformat()


def _rows(frame: DataFrame, form: tables.Table) -> list[JsonObject]:
    """The first rows of a table as JSON has them, without numbers that are not finite, with ten digits of others."""
    rows = tables.check(form, frame[form.columns][:MOST_ROWS]).to_pylist()
    for row in rows:
        for name, value in row.items():
            if isinstance(value, float):
                row[name] = float(f"{value:.10g}") if math.isfinite(value) else None
    return rows
