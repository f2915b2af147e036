"""Licence, creator and page of collected photos, from the collection's manifest into the run folder."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from gslopes.core import runfolder, tables
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import TableError, UsageError
from gslopes.core.files import without_guard
from gslopes.core.tables import MANIFEST, SOURCES


def keep_sources(photos: Path, run: Path) -> Path | None:
    """Write RUN/sources.parquet if the photos were made by ``gslopes collect``: what its manifest says of each of them.

    photos: the folder that was audited, a collection or a folder in one.  run: with its photos table.  A photo is known
    by its bytes; where searches found it several times, the first that kept it counts.

    Returns: the table's path; None if there is no manifest of ours, or none of the photos is in it.

    Raises: StorageError.
    """
    manifest = read_manifest(photos)
    if manifest is None:
        return None
    known = set(tables.read(tables.PHOTOS, run / "photos.parquet")["photo"])
    rows = manifest[manifest["photo"].isin(known) & (manifest["photo"] != "")]
    if rows.empty:
        return None
    first = rows.sort_values("status", ascending=False, kind="stable").drop_duplicates("photo")  # kept before duplicate
    path = run / f"{SOURCES.name}.parquet"
    runfolder.write_table(SOURCES, first[SOURCES.columns], path)
    return path


def read_manifest(photos: Path) -> pd.DataFrame | None:
    """Kept photos and duplicates of a collection's manifest (Parquet, else CSV); None if there is none of ours.

    photos: the collection, or a folder in it.
    """
    for path in manifests(photos):
        frame = _parquet(path) if path.suffix == ".parquet" else _csv(path)
        if frame is not None:
            return frame[frame["status"].isin(["kept", "duplicate"])]
    return None


def manifests(photos: Path) -> list[Path]:
    """Where a collection's manifest may lie, the first one first; arguments as ``read_manifest``."""
    folders = (photos, photos.resolve().parent)
    return [folder / f"{MANIFEST.name}{suffix}" for folder in folders for suffix in (".parquet", ".csv")]


def _parquet(path: Path) -> pd.DataFrame | None:
    try:
        return tables.read(MANIFEST, path)
    except TableError:  # none, or another program's
        return None


def _csv(path: Path) -> pd.DataFrame | None:
    try:
        frame = read_csv(path, ("status", *SOURCES.columns)).frame()
    except UsageError:  # none, or another program's
        return None
    return frame.map(without_guard)
