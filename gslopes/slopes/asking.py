"""The photos as they were, for classifiers to be asked about next to their edits; see ``slopes.measures.observed``."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from gslopes.core import runfolder, tables
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.progress import Tick, is_shown
from gslopes.core.runfolder import SYNTHESIS, part_path, show
from gslopes.faces.compose.encode import encode
from gslopes.frame.ask import Questions
from gslopes.frame.executors import OneProcess
from gslopes.frame.run import Run
from gslopes.photos.folder import open_photo
from gslopes.slopes.fitting import UNEDITED
from gslopes.slopes.plan import complete_parts, read_manifest


def as_they_were(run: Run) -> Questions:
    """Every photo that has edits, as it was, once, encoded as its edits are, in RUN/unedited, with as many parts.

    Raises: UsageError if the pictures of the run are not complete, or a photo is gone, or another; StorageError.
    """
    parts = complete_parts(run.folder)
    seed = int(read_manifest(run.folder)["seed"])
    folder = run.folder / UNEDITED
    runfolder.make_folder(folder)
    if not (folder / runfolder.MANIFEST).exists():
        runfolder.write_json(folder / runfolder.MANIFEST, {"seed": seed, "values": {}})
    photos = tables.read(tables.PHOTOS, run.folder / "photos.parquet")
    runfolder.write_table(tables.PHOTOS, photos, folder / "photos.parquet")
    if missing := runfolder.missing_parts(folder, SYNTHESIS, tables.EDITS, parts):
        work = OneProcess(is_shown(run.executor))
        work(Encoding(run.folder), dict.fromkeys(missing, 1), label=UNEDITED, unit="parts")
    return Questions(folder, parts, seed, replace(run.config.score, dropped_sample=0), gate=False)


@dataclass(frozen=True, slots=True)
class Encoding:
    """Writes the photos of a part as their edits are written, and their rows."""

    run: Path
    in_threads: ClassVar[bool] = True

    def __call__(self, part: int, tick: Tick) -> None:
        """Raises: UsageError if a photo is gone, or another; StorageError."""
        run = self.run
        folder = self.run / UNEDITED
        photos = tables.read(tables.PHOTOS, part_path(run, SYNTHESIS, tables.PHOTOS, part))
        edits = tables.read(tables.EDITS, part_path(run, SYNTHESIS, tables.EDITS, part))
        root = Path(str(read_manifest(run)["config"].get("photos", "")))
        suffixes = (
            edits.drop_duplicates("photo")
            .set_index("photo")["file"]
            .map(lambda file: Path(file).suffix)
        )
        rows = []
        for row in photos[photos["status"] == "used"].drop_duplicates("photo").to_dict("records"):
            if row["photo"] not in suffixes.index:
                continue
            suffix = suffixes[row["photo"]]
            named = f"The photo {show(root / row['path'])}"
            try:
                photo = open_photo(root / row["path"])
            except PhotoError as error:
                raise UsageError(f"{named} cannot be read: {error}.", "Restore it.") from error
            if photo.id != row["photo"]:
                raise UsageError(f"{named} is not the one that was edited.", "Restore it.")
            file = Path("edits") / UNEDITED / f"{row['photo']}{suffix}"
            runfolder.make_folder((folder / file).parent)
            data = encode(
                photo.pixels, photo.gray, photo.icc, "png" if suffix == ".png" else "jpeg"
            )
            runfolder.write_bytes(folder / file, data)
            made = {"photo": row["photo"], "attribute": UNEDITED, "step": 0, "value": 0.0}
            rows.append(made | {"file": file.as_posix(), "mask_area": 0.0})
        runfolder.write_table(
            tables.EDITS,
            tables.frame_of(tables.EDITS, rows),
            part_path(folder, SYNTHESIS, tables.EDITS, part),
        )
        tick(1)
