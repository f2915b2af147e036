"""What the page says beyond one slope a label: groups, differences between them, the shape."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from gslopes.core import runfolder, tables
from gslopes.report import numbers, words
from gslopes.slopes.report import findings, tally
from gslopes.stats.multiplicity import LEVEL

_SHAPE = ("inner_slope", "inner_low", "inner_high", "inner_p", "curvature", "curvature_low", "curvature_high")
_SHAPE_P = ("curvature_p", "lack_of_fit_p")


def write(report: Path, run: Path, key: str, classifier: str, attribute: str, labels: Sequence[str]) -> dict[str, Any]:
    """Write the data files with groups and differences of one finding, as far as its tables have rows.

    key: of the finding.  labels: sorted, as in the finding.

    Returns what the page must know of them: names of files (empty if there is none) and counts.

    Raises: TableError if a table is damaged; StorageError.
    """
    here = tally.of_pair(classifier, attribute)
    reading = here & (pc.field("estimator").isin([tables.READING, tables.MEASURED]))
    groups, differing = (
        _read_rows(tally.read(table, run, table.columns, reading)) for table in (tables.GROUPS, tables.DIFFERENCES)
    )
    contents = {
        "groups": findings.by_group(groups, labels) if len(groups) else None,
        "differences": differences(differing, labels) if len(differing) else None,
    }
    entry: dict[str, Any] = {}
    for kind, content in contents.items():
        entry[kind] = f"{key}-{kind}" if content else ""
        if content:
            runfolder.write_bytes(report / "data" / f"{entry[kind]}.js", findings.script(entry[kind], content))
    return {**entry, "differencesFound": _counts(differing)}


def _read_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows to read: of the labels that have rows by their measure, those."""
    measured = frame["estimator"] == tables.MEASURED
    return frame[measured | ~frame["label"].isin(frame.loc[measured, "label"])]


def differences(frame: pd.DataFrame, labels: Sequence[str]) -> list[list[Any]]:
    """Rows of place of the label, column, group, other, difference, interval, p, q, note; none without an interval.

    frame: of core.tables.DIFFERENCES, one classifier, attribute and estimator.  labels: sorted, as in the finding.
    """
    index = {label: place for place, label in enumerate(labels)}
    rows = []
    frame = frame.assign(p_test=findings.tested(frame))
    for row in frame[frame["ci_low"].notna()].to_dict("records"):
        if row["label"] in index:
            texts = [words.printable(row[name]) for name in ("column", "group", "other")]
            figures = numbers.rounded([row[name] for name in ("difference", "ci_low", "ci_high", "p_test", "q")])
            rows.append([index[row["label"]], *texts, *figures, words.printable(row["note"] or "")])
    return rows


def shape(run: Path, classifier: str, attribute: str, labels: Sequence[str]) -> dict[str, list[Any]]:
    """Columns about the shape of each label's curve, in the order of ``labels``; none if there is no such table.

    Raises: TableError if the table is damaged.
    """
    here = tally.of_pair(classifier, attribute)
    frame = tally.read(tables.SHAPE, run, ["label", *_SHAPE, *_SHAPE_P, "reading"], here)
    if frame.empty:
        return {}
    by_label = frame.drop_duplicates("label").set_index("label").reindex(list(labels))
    columns: dict[str, list[Any]] = {
        name: numbers.rounded(by_label[name].to_numpy(float)) for name in (*_SHAPE, *_SHAPE_P)
    }
    return columns | {"reading": [words.printable(text) for text in by_label["reading"].fillna("")]}


def clusters(run: Path, classifier: str, attribute: str) -> list[int]:
    """How many photos a fit with clusters used, and how many units they make; empty if each photo was its own.

    Raises: TableError if the table is damaged.
    """
    here = tally.of_pair(classifier, attribute)
    rows = tally.read(tables.BALANCE, run, ["used", "units"], here)
    differing = rows[rows["units"] < rows["used"]]
    return [int(differing["used"].iloc[0]), int(differing["units"].iloc[0])] if len(differing) else []


def _counts(frame: pd.DataFrame) -> list[int]:
    """How many rows have a test, and how many of them a q below LEVEL."""
    return [int(frame["q"].notna().sum()), int((frame["q"] < LEVEL).sum())]
