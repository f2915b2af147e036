"""The photos of a census as a training set: how faces are perceived, by its reader where it is sure, else by people."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gslopes.core import runfolder
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import DataMissing
from gslopes.core.files import is_file, without_guard
from training.sources.labelled import LabelledPhotos

COLUMNS = ("path", "perceived_gender", "perceived_race", "perceived_age")
NAMES = ("masculine", "white", "black", "young")
VALUES = ("male", "white", "black", "under 35")  # of the columns that they come from: 1; another known value: 0


def is_census(data: Path) -> bool:
    """Whether this is a folder that ``gslopes census`` wrote."""
    return is_file(data / runfolder.MANIFEST) and runfolder.read_manifest(data).get("kind") == "census"


def read(data: Path) -> LabelledPhotos:
    """The photos that the census read, with ``NAMES``: 1, 0, or NaN where neither the reader is sure nor a person said.

    data: the census folder, which knows where its photos are.

    Raises: UsageError where its photos.csv is broken; DataMissing if its photos are not there.
    """
    manifest = runfolder.read_manifest(data)
    photos = Path(str(manifest["photos"]))
    paths: list[Path] = []
    values: list[list[float]] = []
    for _, row in read_csv(data / "photos.csv", COLUMNS, hint="Repeat gslopes census, which writes it.").rows():
        path = photos / without_guard(row["path"])
        if is_file(path):
            said = [row[COLUMNS[1]], row[COLUMNS[2]], row[COLUMNS[2]], row[COLUMNS[3]]]
            values.append([float(word == one) if word else np.nan for word, one in zip(said, VALUES, strict=True)])
            paths.append(path)
    if not paths:
        raise DataMissing(f"None of the photos of {data} is in {photos}.", "Repeat gslopes census where they are now.")
    digest = str(manifest["inputs"]["digest"])[:12]
    return LabelledPhotos(f"census-{digest}", tuple(paths), NAMES, np.array(values, np.float32))
