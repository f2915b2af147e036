"""Whom the walk asks, about its edits and about the photos as they were; see ``slopes.fit.observed``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget, limits_of
from gslopes.ask.scoring.score import models_of
from gslopes.core import runfolder, tables
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.executor import Executor
from gslopes.core.progress import Tick, is_shown
from gslopes.core.records import Classifier
from gslopes.core.runfolder import SYNTHESIS, part_path, show
from gslopes.faces.compose.encode import encode
from gslopes.frame.ask import ask
from gslopes.frame.executors import OneProcess
from gslopes.photos.folder import open_photo
from gslopes.slopes import manifest
from gslopes.slopes.fitting import UNEDITED


def ask_all(
    run: Path,
    classifiers: Sequence[Classifier],
    executor: Executor,
    limits: ScoreConfig,
    *,
    gate: bool,
    budget: Budget,
) -> None:
    """Ask about the pictures of a run; ``run.json`` then says who was asked, and whether the gate counted.

    Raises: as ``frame.ask.ask``; UsageError if the pictures are not complete; RunFolderMismatch.
    """
    parts, content = manifest.complete_parts(run), manifest.read(run)
    manifest.check_versions(run, classifiers)
    seed, known = int(content["seed"]), content.setdefault("classifiers", {})
    content["gate"] = {**content.get("gate", {}), "applied": gate and (run / "verdicts.parquet").exists()}
    for one in classifiers:
        known[one.name] = {**known.get(one.name, {}), "version": one.version}
    runfolder.write_json(run / runfolder.MANIFEST, content)
    try:
        ask(run, classifiers, parts, seed, limits, executor, known=known, gate=gate, budget=budget)
    finally:
        for one in classifiers:
            known[one.name] |= models_of(run, one.name)
        runfolder.write_json(run / runfolder.MANIFEST, content)


# -- the photos as they were ------------------------------------------------------------------------------------------


def asked_unedited(
    classifiers: Sequence[Classifier], config: ScoreConfig, groups: Sequence[str]
) -> tuple[Classifier, ...]:
    """Which classifiers are asked: all if the configuration says so; for groups those that cost nothing."""
    return tuple(one for one in classifiers if config.unedited or (groups and limits_of(one).free))


def ask_unedited(
    run: Path, classifiers: Sequence[Classifier], config: ScoreConfig, executor: Executor, budget: Budget
) -> None:
    """Ask about every photo that has edits, as it was, once, encoded as its edits are, in a run folder of their own.

    run: a folder that this process holds; theirs is RUN/unedited, with as many parts.  Raises: as ``ask_all``.
    """
    parts, seed = manifest.complete_parts(run), int(manifest.read(run)["seed"])
    folder = run / UNEDITED
    runfolder.make_folder(folder)
    known = runfolder.read_manifest(folder)["classifiers"] if (folder / runfolder.MANIFEST).exists() else {}
    manifest.check_versions(folder, classifiers)
    known |= {one.name: {"version": one.version} for one in classifiers}
    runfolder.write_json(folder / runfolder.MANIFEST, {"seed": seed, "values": {}, "classifiers": known})
    runfolder.write_table(tables.PHOTOS, tables.read(tables.PHOTOS, run / "photos.parquet"), folder / "photos.parquet")
    missing = runfolder.missing_parts(folder, SYNTHESIS, tables.EDITS, parts)
    if missing:
        OneProcess(is_shown(executor))(Encoding(run), dict.fromkeys(missing, 1), label=UNEDITED, unit="parts")
    limits = replace(config, dropped_sample=0)
    ask(folder, classifiers, parts, seed, limits, executor, known=known, gate=False, budget=budget)


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
    folder = run / UNEDITED
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
        file = Path("edits") / UNEDITED / f"{row['photo']}{suffix}"
        runfolder.make_folder((folder / file).parent)
        data = encode(found.pixels, found.gray, found.icc, "png" if suffix == ".png" else "jpeg")
        runfolder.write_bytes(folder / file, data)
        rows.append({"photo": row["photo"], "attribute": UNEDITED, "step": 0, "value": 0.0, "file": file.as_posix()})
        rows[-1]["mask_area"] = 0.0
    runfolder.write_table(
        tables.EDITS, tables.frame_of(tables.EDITS, rows), part_path(folder, SYNTHESIS, tables.EDITS, part)
    )
