"""A run in the form that other tools read: CSV, Parquet, or a FiftyOne dataset of its pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pandas as pd

from gslopes.core import runfolder, tables
from gslopes.core.errors import UnknownName, UsageError
from gslopes.core.files import csv_bytes

Form = Literal["csv", "parquet", "fiftyone"]
FORMS: tuple[Form, ...] = ("csv", "parquet", "fiftyone")


def export(run: str | Path, form: Form, out: str | Path | None = None) -> Any:
    """Export every answer of a run folder, one row a picture and label.

    form: ``csv`` or ``parquet``: a file; ``fiftyone``: a dataset, for which ``pip install 'gslopes[fiftyone]'``.
    out: the file, ``answers.csv`` or ``answers.parquet`` in the run folder by default; the name of the dataset.

    Columns: photo, path (of the original), attribute, step, value, file (the edited picture), classifier, status,
    label, score; label and score are missing where a picture was answered without any label, refused, or failed.
    In the CSV, text that a spreadsheet would run has an apostrophe in front; Parquet has every text as it is.

    Returns the path of the file, or the dataset: a sample a picture, grouped by photo, with a ``Classifications`` field
    for each classifier.

    Raises: UnknownName for another form; UsageError if the run has no answers, or FiftyOne is not installed;
        StorageError.
    """
    folder = Path(run)
    if form not in FORMS:
        raise UnknownName("form of export", form, FORMS)
    frame = answers(folder)
    if form == "fiftyone":
        return _fiftyone(folder, frame, str(out) if out else f"gslopes-{folder.resolve().name}")
    path = Path(out) if out else folder / f"answers.{form}"
    if form == "csv":
        runfolder.write_bytes(path, csv_bytes(frame))
    else:
        with runfolder.storage(path):
            frame.to_parquet(path, index=False)
    return path


def answers(run: Path) -> pd.DataFrame:
    """The table that is exported.

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


def _fiftyone(run: Path, frame: pd.DataFrame, name: str) -> Any:
    try:
        import fiftyone as fo
    except ImportError as error:
        hint = "pip install 'gslopes[fiftyone]'"
        raise UsageError("FiftyOne is not installed.", hint) from error
    dataset = fo.Dataset(name, overwrite=True)
    dataset.add_group_field("sweep", default="0")
    samples = []
    for (_, _), sweep in frame.groupby(["photo", "attribute"], sort=True):
        group = fo.Group()
        for step, rows in sweep.groupby("step", sort=True):
            first = rows.iloc[0]
            sample = fo.Sample(
                filepath=str((run / first["file"]).resolve()),
                sweep=group.element(str(step)),
                photo=first["photo"],
                attribute=first["attribute"],
                value=float(first["value"]),
            )
            for classifier, labels in rows[rows["label"].notna()].groupby("classifier"):
                pairs = zip(labels["label"], labels["score"], strict=True)
                found = [fo.Classification(label=label, confidence=float(score)) for label, score in pairs]
                sample[runfolder.slug(str(classifier)).replace("-", "_")] = fo.Classifications(classifications=found)
            samples.append(sample)
    dataset.add_samples(samples)
    return dataset
