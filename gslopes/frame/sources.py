"""Licence, creator and page of collected photos, from the collection's manifest into the run folder."""

from contextlib import suppress
from pathlib import Path

from gslopes.core import runfolder, tables
from gslopes.core.errors import TableError
from gslopes.core.tables import MANIFEST, SOURCES


def keep_sources(photos: Path, run: Path) -> Path | None:
    """Write RUN/sources.parquet if the photos were made by ``gslopes collect``: what its manifest says of each of them.

    photos: the folder that was audited, a collection or a folder in one.  run: with its photos table.  A photo is known
    by its bytes; where searches found it several times, the first that kept it counts.

    Returns: the table's path; None without a manifest of ours, or if none of the photos is in it.

    Raises: StorageError.
    """
    manifest = None
    for folder in (photos, photos.resolve().parent):
        with suppress(TableError):  # none, or another program's
            manifest = tables.read(MANIFEST, folder / f"{MANIFEST.name}.parquet")
            break
    if manifest is None:
        return None
    photos_of_run = set(tables.read(tables.PHOTOS, run / "photos.parquet")["photo"])
    rows = manifest[manifest["photo"].isin(photos_of_run - {""}) & manifest["status"].isin(["kept", "duplicate"])]
    if rows.empty:
        return None
    first = rows.sort_values("status", ascending=False, kind="stable").drop_duplicates("photo")  # kept before duplicate
    path = run / f"{SOURCES.name}.parquet"
    runfolder.write_table(SOURCES, first[SOURCES.columns], path)
    return path
