"""The photos as they were, which classifiers are asked about so that real groups can be compared; see
``slopes.fit.observed``.

They are asked about in a run folder of their own, RUN/unedited, so that they are in no table of edits: each photo once,
encoded as its edits are, cut into the parts of the run.  It stops and resumes as every other asking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget, limits_of
from gslopes.ask.scoring.score import Scoring, finished_stages
from gslopes.core import runfolder, tables
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.executor import Executor
from gslopes.core.progress import Tick, is_shown
from gslopes.core.records import Classifier
from gslopes.core.runfolder import SYNTHESIS, part_path, show
from gslopes.faces.compose.encode import encode
from gslopes.frame import manifest
from gslopes.frame.executors import OneProcess
from gslopes.photos.folder import open_photo
from gslopes.slopes.fitting import UNEDITED

NAME = UNEDITED


def asked(classifiers: Sequence[Classifier], config: ScoreConfig, groups: Sequence[str]) -> tuple[Classifier, ...]:
    """Which classifiers are asked: all if the configuration says so; for groups those that cost nothing."""
    return tuple(one for one in classifiers if config.unedited or (groups and limits_of(one).free))


def ask(run: Path, classifiers: Sequence[Classifier], config: ScoreConfig, executor: Executor, budget: Budget) -> None:
    """Ask about every photo that has edits, as it was.  Raises: as ``frame.asking.ask_all``.

    run: a folder that this process holds.
    """
    parts, seed = manifest.complete_parts(run), int(manifest.read(run)["seed"])
    folder = run / NAME
    runfolder.make_folder(folder)
    known = runfolder.read_manifest(folder)["classifiers"] if (folder / runfolder.MANIFEST).exists() else {}
    manifest.check_versions(folder, classifiers)
    known |= {one.name: {"version": one.version} for one in classifiers}
    runfolder.write_json(folder / runfolder.MANIFEST, {"seed": seed, "values": {}, "classifiers": known})
    runfolder.write_table(tables.PHOTOS, tables.read(tables.PHOTOS, run / "photos.parquet"), folder / "photos.parquet")
    missing = runfolder.missing_parts(folder, SYNTHESIS, tables.EDITS, parts)
    if missing:
        OneProcess(is_shown(executor))(Encoding(run), dict.fromkeys(missing, 1), label=NAME, unit="parts")
    Scoring(folder, classifiers, parts, seed, replace(config, dropped_sample=0), executor, False, budget).ask()
    stages = finished_stages(folder, known, parts)
    for table in (tables.ASKED, tables.SCORES):
        runfolder.merge(folder, table, stages, parts)


@dataclass(frozen=True, slots=True)
class Encoding:
    """Writes the photos of a part as their edits are written, and their rows."""

    run: Path
    in_threads: ClassVar[bool] = True

    def __call__(self, part: int, tick: Tick) -> None:
        """Raises: UsageError if a photo is gone, or another; StorageError."""
        _encode_part(self.run, part)
        tick(1)


def _encode_part(run: Path, part: int) -> None:
    folder = run / NAME
    photos = tables.read(tables.PHOTOS, part_path(run, SYNTHESIS, tables.PHOTOS, part))
    edits = tables.read(tables.EDITS, part_path(run, SYNTHESIS, tables.EDITS, part))
    root = Path(str(manifest.read(run)["config"].get("photos", "")))
    suffixes = edits.drop_duplicates("photo").set_index("photo")["file"].map(lambda file: Path(file).suffix)
    rows = []
    for row in photos[photos["status"] == "used"].drop_duplicates("photo").to_dict("records"):
        if row["photo"] not in suffixes.index:
            continue
        suffix = suffixes[row["photo"]]
        try:
            found = open_photo(root / row["path"])
        except PhotoError as error:
            raise UsageError(f"The photo {show(root / row['path'])} cannot be read: {error}.", "Restore it.") from error
        if found.id != row["photo"]:
            raise UsageError(f"The photo {show(root / row['path'])} is not the one that was edited.", "Restore it.")
        file = Path("edits") / NAME / f"{row['photo']}{suffix}"
        runfolder.make_folder((folder / file).parent)
        data = encode(found.pixels, found.gray, found.icc, "png" if suffix == ".png" else "jpeg")
        runfolder.write_bytes(folder / file, data)
        rows.append({"photo": row["photo"], "attribute": NAME, "step": 0, "value": 0.0, "file": file.as_posix()})
        rows[-1]["mask_area"] = 0.0
    runfolder.write_table(
        tables.EDITS, tables.frame_of(tables.EDITS, rows), part_path(folder, SYNTHESIS, tables.EDITS, part)
    )
