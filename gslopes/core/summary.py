"""``summary.json`` of every audit: what a dashboard or a gate needs, in one small, versioned form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gslopes.core import runfolder, runtime
from gslopes.core.errors import TableError
from gslopes.core.tables.schema import Table, column, ends, number, table, text, whole

if TYPE_CHECKING:
    import pandas as pd

NAME = "summary.json"
VERSION = 1
MOST_ROWS = 100
FINDING, NONE, UNJUDGED = "finding", "none", "unjudged"

FINDINGS = table(
    "findings",
    ("model", "contrast", "label"),
    text("model", "classifier or cropper with its parameters; of captions the stage"),
    text("contrast", "the edited attribute, or what is compared, such as: gender: woman over man"),
    text("label", "what is measured: a label, an outcome of a crop, a technique and its concept"),
    whole("n", "photos, people, pairs of people or images behind the number"),
    number("value", "the estimate, in its unit; 0 where nothing differs"),
    *ends("ci", "its 95 % interval"),
    text("unit", "of value and interval"),
    number("q", "p adjusted over the tests of its table"),
    text("decision", "finding, placebo, open, none or unjudged"),
    text("reason", "why it is no finding; empty if it is one"),
    column("expected", pa.bool_(), "photos: the label names the edited attribute, see core.expected; else false"),
)
"""One row a number that the audit judges: the rows of the summary, and ``findings`` of the sibling audits."""

OBSERVED = table(
    "observed",
    ("model", "contrast", "column", "group", "other", "label"),
    text("model", "classifier"),
    text("contrast", "the edited attribute"),
    text("column", "of the photos CSV, whose groups are compared"),
    text("group", "the one"),
    text("other", "the other"),
    text("label", "what is measured"),
    text("measure", "presence (percentage points), log-odds, score or value: of value and interval"),
    number("value", "mean of group minus other in unedited photos; of compare: how that changed"),
    *ends("ci", "its 95 % interval"),
    number("q", "p adjusted over the labels of a pair of groups"),
    number("share", "explained by the edits / value; null where one of them may be 0, and of compare"),
    *ends("share", "its 95 % interval"),
    text("agreement", "same sign, opposite signs, observed only, edit only; of compare: what the slope did"),
)
"""One row a label and pair of groups: the rows of ``observed``, differences between real groups next to the slopes."""

SUMMARY = table(
    "summary",
    ("audit",),
    whole("version", f"of this form, {VERSION}: fields may be added, none changes its meaning"),
    text("audit", "photos, contexts, crops, captions or compare"),
    text("gslopes", "the version that wrote it"),
    text("date", "when the run began, YYYY-MM-DD, UTC"),
    text("page", "the report, relative to this file", null=True),
    text("headline", "the finding in a sentence, as the page has it"),
    whole("found", "photos, people or images that were looked at"),
    whole("used", "of them, those that the numbers are about"),
    column("models", pa.list_(pa.string()), "classifiers, croppers or stages"),
    column("decisions", pa.map_(pa.string(), pa.int64()), "decision to number of rows of the findings"),
    column(
        "rows", pa.list_(pa.struct(FINDINGS.schema)), f"those that are judged, at most {MOST_ROWS}, the findings first"
    ),
    whole("left_out", "rows that are judged and not in rows"),
    column(
        "observed",
        pa.list_(pa.struct(OBSERVED.schema)),
        f"differences between real groups, at most {MOST_ROWS}, those that disagree with the slope first; may be empty",
    ),
)
"""The fields of ``summary.json``."""

_PLAIN: dict[pa.DataType, float | str | bool] = {pa.string(): "", pa.int64(): 0.0, pa.float64(): 0.0, pa.bool_(): False}

# What a condition on findings may name, each with a value of its type; see ``gated``.
CONDITION: dict[str, float | str | bool] = {
    **{field.name: _PLAIN[field.type] for field in FINDINGS.schema},
    FINDING: False,
}


def gated(findings: pd.DataFrame) -> pd.DataFrame:
    """A table with a column ``decision``, with the column ``finding``: whether that is one."""
    return findings.assign(finding=findings["decision"] == FINDING)


def write(
    folder: Path,
    audit: str,
    findings: pd.DataFrame,
    counts: tuple[int, int],
    *,
    headline: str,
    page: Path | None,
    began: Path | None = None,
    observed: pd.DataFrame | None = None,
) -> Path:
    """Write the summary of an audit into its folder, whole or not at all; its path.

    findings: the columns of ``FINDINGS``, in the order in which they are shown.
    counts: found and used, see ``SUMMARY``.  began: the folder whose ``run.json`` says when; the same by default.
    observed: the columns of ``OBSERVED``, in the order in which they are shown; none by default.

    Raises: TableError if it is not of its form; StorageError.
    """
    judged = findings[findings["decision"] != UNJUDGED]
    real = OBSERVED.empty() if observed is None else observed
    models = findings["model"].drop_duplicates().sort_values()
    content = {
        "version": VERSION,
        "audit": audit,
        "gslopes": runtime.gslopes_version(),
        "date": began_on(began or folder),
        "page": None if page is None else page.relative_to(folder).as_posix(),
        "headline": headline,
        "found": counts[0],
        "used": counts[1],
        "models": [str(name) for name in models],
        "decisions": {str(code): int(count) for code, count in findings["decision"].value_counts().items()},
        "rows": [_plain(row, FINDINGS) for row in judged[:MOST_ROWS].to_dict("records")],
        "left_out": max(len(judged) - MOST_ROWS, 0),
        "observed": [_plain(row, OBSERVED) for row in real[:MOST_ROWS].to_dict("records")],
    }
    check(content)
    path = folder / NAME
    runfolder.write_json(path, content)
    return path


def check(content: dict[str, Any]) -> None:
    """Raises: TableError if it has not exactly the fields of ``SUMMARY``, its rows those of ``FINDINGS``, typed so."""
    _exact(SUMMARY.columns, content, "The summary")
    for key, form in (("rows", FINDINGS), ("observed", OBSERVED)):
        for row in content[key]:
            _exact(form.columns, row, "A row of the summary")
    try:
        made = pa.Table.from_pylist([content], schema=SUMMARY.schema)
    except (pa.ArrowException, TypeError, UnicodeEncodeError) as error:
        raise TableError(f"The summary has a value of the wrong type: {error}.") from error
    lacking = [field.name for field in SUMMARY.schema if not field.nullable and made[field.name].null_count]
    if lacking:
        raise TableError(f"The summary has no {', '.join(lacking)}.")


def began_on(run: Path) -> str:
    """The day on which a run began, YYYY-MM-DD, UTC: as its ``run.json`` says, or when that was written."""
    manifest = run / runfolder.MANIFEST
    created = str(runfolder.read_manifest(run).get("created", ""))[:10]
    return created or datetime.fromtimestamp(manifest.stat().st_mtime, UTC).date().isoformat()


def _exact(names: Sequence[str], content: dict[str, Any], what: str) -> None:
    if list(content) != list(names):
        raise TableError(f"{what} has the fields {', '.join(map(str, content))}, not {', '.join(names)}.")


def _plain(row: dict[Any, Any], form: Table) -> dict[str, Any]:
    """As JSON has it: a number that is missing is null; ten digits are more than anybody reads."""
    found = {}
    for name in form.columns:
        value = row[name]
        if isinstance(value, float):
            value = float(f"{value:.10g}") if math.isfinite(value) else None
        found[name] = int(value) if name == "n" else bool(value) if name == "expected" else value
    return found
