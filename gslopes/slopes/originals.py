"""The unedited photos: who made them, and the pictures of them that classifiers are asked about next to the edits."""

from contextlib import suppress
from pathlib import Path

from gslopes.core import TableError, runfolder, tables
from gslopes.faces.compose.encode import unedited
from gslopes.frame.spec import Made, Run, Tables
from gslopes.slopes.fitting import UNEDITED

ORIGINALS = f"{UNEDITED}/edits"  # a table like edits, and the folder of its pictures


def sources(run: Run) -> Made:
    """What the manifest of ``gslopes collect`` tells of the photos: licence, creator, page; nothing without it.

    A photo is known by its bytes; if several searches found it, the first that kept it counts.
    """
    photos = run.config.photos
    manifest = tables.MANIFEST.empty()
    for folder in (photos, photos.resolve().parent):  # a collection, or a folder in one
        with suppress(TableError):  # it is missing, or another program's
            manifest = tables.read(tables.MANIFEST, folder / f"{tables.MANIFEST.name}.parquet")
            break
    ids = {*run.table("photos")["photo"]} - {""}
    rows = manifest[manifest["photo"].isin(ids) & manifest["status"].isin(["kept", "duplicate"])]
    if rows.empty:
        return {}
    # kept before duplicate
    first = rows.sort_values("status", ascending=False, kind="stable").drop_duplicates("photo")
    return {"sources": first[tables.SOURCES.columns]}


def as_they_were(run: Run, part: Tables) -> Made:
    """Every photo that has edits, unedited, once, encoded like its edits; see ``slopes.measures.observed``.

    Raises: UsageError if a photo is gone, or another; StorageError.
    """
    photos = part["photos"]
    first = part["edits"].drop_duplicates("photo")
    rows = []
    for row in photos.drop_duplicates("photo").merge(first, on="photo").to_dict("records"):
        suffix = Path(row["file"]).suffix
        file = f"{ORIGINALS}/{UNEDITED}/{row['photo']}{suffix}"
        data = unedited(run.config.photos / row["path"], row["photo"], suffix)
        runfolder.write_changed(run.folder / file, data)
        key = {"photo": row["photo"], "attribute": UNEDITED, "step": 0, "value": 0.0}
        rows.append(key | {"file": file, "mask_area": 0.0})
    run.tick(len(photos))
    return {ORIGINALS: rows}
