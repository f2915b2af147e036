"""The answers of a run as one table that other programs read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from gslopes.core import runfolder, tables
from gslopes.core.errors import UsageError
from gslopes.core.files import csv_bytes


def write_answers(run: Path, path: Path) -> int:
    """Every answer of a run folder, one row a picture and label, as ``answers`` has them; how many rows.

    path: a CSV, where text that a spreadsheet would run has an apostrophe in front, or, if it ends in ``.parquet``,
        Parquet, which has every text as it is.

    Raises: UsageError if the run has no answers, or for a file of another ending; TableError, StorageError.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise UsageError(f"{runfolder.show(path)} ends in neither .csv nor .parquet.", "Name such a file with --out.")
    frame = answers(run)
    runfolder.make_folder(path.parent)
    with runfolder.storage(path):
        data = csv_bytes(frame) if path.suffix == ".csv" else frame.to_parquet(index=False)
    runfolder.write_bytes(path, data)
    return len(frame)


def answers(run: Path) -> pd.DataFrame:
    """One row a picture and label.

    Columns: photo, path (of the original), attribute, step, value, file (the edited picture), classifier, status,
    label, score; label and score are missing where a picture was answered without any label, refused, or failed.

    Raises: UsageError if the run has no answers; TableError.
    """
    runfolder.read_manifest(run)
    if not (run / "asked.parquet").is_file():
        raise UsageError(f"{run} has no answers of a classifier yet.", "gslopes score RUN --classifier NAME")
    asked, scores, edits, photos = (
        tables.read(table, run / f"{table.name}.parquet")
        for table in (tables.ASKED, tables.SCORES, tables.EDITS, tables.PHOTOS)
    )
    pictures = edits.merge(photos[["photo", "path"]].drop_duplicates("photo"), on="photo", how="left")
    keys = ["photo", "attribute", "step"]
    rows = asked.merge(pictures[[*keys, "path", "value", "file"]], on=keys, how="left")
    rows = rows.merge(scores[[*keys, "classifier", "label", "score"]], on=[*keys, "classifier"], how="left")
    columns = ["photo", "path", "attribute", "step", "value", "file", "classifier", "status", "label", "score"]
    return rows[columns].sort_values(["classifier", "attribute", "photo", "step", "label"], ignore_index=True)
