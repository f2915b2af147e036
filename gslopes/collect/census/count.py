"""The census of a folder of photos: who is shown, as a reader and as people perceive it, by occupation and keyword."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.collect.census.answers import Answers, Sets, compose, labels, queue, read_answers
from gslopes.collect.config import CensusConfig
from gslopes.collect.lists import WOMEN_SOURCE, women_of
from gslopes.core import runfolder, runtime, tables
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import csv_bytes
from gslopes.core.progress import Tick
from gslopes.core.reasons import SkipReason
from gslopes.core.records import ByteArray, Finder, Photo
from gslopes.core.runfolder import show
from gslopes.core.tables import CENSUS, COMPOSITION, MANIFEST
from gslopes.faces.find import align
from gslopes.frame.executors import OneProcess
from gslopes.photos.folder import PhotoFile, check_outside, count_parts, list_photos, listing, open_photo, photo_batches

STAGE = "census"
IDENTITY = ("kind", "photos", "inputs", "min_face", "reader")
RACES = ("white", "black", "asian", "indian", "other")
_PART = 64


class ChipReader(Protocol):
    """Reads aligned chips.

    sha256: of its weights.  size: side of the chips that it is given, pixels.
    Called with (n, size, size, 3) uint8 RGB it gives {label: (n,) probabilities}: masculine, white, black, asian,
    indian, other and young.
    """

    sha256: str
    size: int

    def __call__(self, chips: ByteArray) -> dict[str, NDArray[np.float64]]:
        """See above."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """What a census found.

    out: its folder.  photos: looked at.  read: with a reading.  queue: to be reviewed, unanswered.
    answered, excluded: by people.  composition: core.tables.COMPOSITION.
    women: occupation to the BLS share.  page: the review.
    """

    out: Path
    photos: int
    read: int
    queue: int
    answered: int
    excluded: int
    composition: pd.DataFrame
    women: dict[str, float]
    page: Path


def census(
    photos: Path,
    out: Path,
    config: CensusConfig | None = None,
    *,
    executor: Executor | None = None,
    finder: Finder | None = None,
    reader: ChipReader | None = None,
) -> Census:
    """Read every photo, once; then count, with the answers of people. Called again, it counts again.

    photos: a collection, or any folder whose sub-folders are occupations.  out: made if missing; outside of photos.
    finder, reader: instead of MTCNN and the shipped reader.

    Raises: UsageError, RunFolderMismatch, ModelError, StorageError.
    """
    from gslopes.faces.find.detect import MtcnnFinder
    from gslopes.faces.zoo.fairface import load_fairface
    from gslopes.faces.zoo.reader import FaceReader

    config, executor = config or CensusConfig(), executor or OneProcess()
    device = runtime.pick_device(config.device)
    files = _files(photos, out, config.limit)
    sets = find_sets(photos, files)
    if reader is None:
        reader = load_fairface(config.reader, device) if config.reader else FaceReader.load(device)
    new = _manifest(photos, files, config, reader)
    with runfolder.locked(out):
        runfolder.compare(out, new, IDENTITY)
        runfolder.write_json(out / runfolder.MANIFEST, {**new, "gslopes": runtime.gslopes_version()})
        parts = count_parts(len(files), _PART)
        missing = runfolder.missing_parts(out, STAGE, CENSUS, parts)
        sizes = {part: len(files[part * _PART : (part + 1) * _PART]) for part in missing}
        if missing:
            finder = finder or MtcnnFinder(config.min_face)
            work = _Work(out, files, sets.occupations, config.min_face, finder, reader)
            executor(work, sizes, label="census", unit="photos", done=len(files) - sum(sizes.values()))
        runfolder.merge(out, CENSUS, [STAGE], parts)
        table = tables.read(CENSUS, out / "census.parquet")
        answers = read_answers(config.review or out / "review.csv", required=config.review is not None)
        return _write(photos, out, table, sets, answers, config)


def _write(photos: Path, out: Path, table: pd.DataFrame, sets: Sets, answers: Answers, config: CensusConfig) -> Census:
    """Everything that depends on the answers of people."""
    from gslopes.collect.census.review import Item, render_review
    from gslopes.report.composition import draw_women, table3

    found = compose(table, sets, answers)
    women = women_of([name for name in found["occupation"].unique() if name])
    confidence = config.confidence
    left = queue(table, answers, confidence, config.unsure)
    rows = {row["path"]: row for row in _manifest_rows(photos)}
    shown = left | table["photo"].isin(answers.by_photo) & (table["status"] == "read")
    items = [
        Item.of(row, rows.get(row["path"], {}), os.path.relpath(photos.resolve() / row["path"], out.resolve()))
        for row in table[shown].to_dict("records")
    ]
    page = render_review(items, answers.rows(), confidence, config.unsure)
    with runfolder.storage(out):
        runfolder.write_table(COMPOSITION, found, out / "composition.parquet")
        wide = table3(found, women)
        for name, frame in (("composition", found), ("table3", wide), ("photos", labels(table, answers, confidence))):
            runfolder.write_bytes(out / f"{name}.csv", csv_bytes(frame, digits=6))
        runfolder.write_bytes(out / "table3.png", draw_women(wide, WOMEN_SOURCE))
        runfolder.write_bytes(out / "review.html", page.encode())
    return Census(
        out=out,
        photos=len(table),
        read=int((table["status"] == "read").sum()),
        queue=int(left.sum()),
        answered=sum(one.answers for one in answers.by_photo.values()),
        excluded=sum(one.excluded for one in answers.by_photo.values()),
        composition=found,
        women=women,
        page=out / "review.html",
    )


# -- reading ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Work:
    """Reads the photos of a part; its table is the commit marker."""

    out: Path
    files: tuple[PhotoFile, ...]
    occupations: dict[str, str]
    min_face: int
    finder: Finder
    reader: ChipReader

    def __call__(self, part: int, tick: Tick) -> None:
        rows: list[dict[str, Any]] = []
        files = self.files[part * _PART : (part + 1) * _PART]
        for batch in photo_batches(files, partial(self._open, rows)):
            rows += self._read(batch)
            tick(len(batch))
        frame = pd.DataFrame(rows, columns=CENSUS.columns)
        runfolder.write_table(CENSUS, frame, runfolder.part_path(self.out, STAGE, CENSUS, part))

    def _open(self, rows: list[dict[str, Any]], file: PhotoFile) -> Photo | None:
        """The photo; one that cannot be read gets its row right away."""
        try:
            return open_photo(file.path)
        except PhotoError as error:
            rows.append(self._row(file, "", status="skipped", **SkipReason.of(error.reason).columns))
            return None

    def _row(self, file: PhotoFile, photo: str, **known: Any) -> dict[str, Any]:
        empty = dict.fromkeys(("box", "masculine", *RACES, "young"))
        head = {"photo": photo, "path": file.relative, "occupation": self.occupations.get(file.relative, "")}
        return {**empty, **head, "faces": 0, "status": "read", "reason": "", "detail": "", **known}

    def _read(self, batch: list[tuple[PhotoFile, Photo]]) -> list[dict[str, Any]]:
        rows, chips, read = [], [], []
        for (file, photo), detections in zip(batch, self.finder([photo for _, photo in batch]), strict=True):
            height, width = photo.pixels.shape[:2]
            face = align.choose(detections, width, height, self.min_face, self.reader.size)
            row = self._row(file, photo.id, faces=len(detections.scores))
            rows.append(row)
            if isinstance(face, str):
                row.update(status="skipped", **SkipReason.of(face).columns)
                continue
            row["box"] = (face.box / np.array([width, height, width, height], np.float32)).astype(np.float32)
            chips.append(align.warp(photo.pixels, face.matrix, self.reader.size))
            read.append(row)
        if read:
            said = self.reader(np.stack(chips))
            total = np.maximum(sum(said[name] for name in RACES), 1e-9)
            for index, row in enumerate(read):
                row.update(masculine=float(said["masculine"][index]), young=float(said["young"][index]))
                row.update({name: float(said[name][index] / total[index]) for name in RACES})
        return rows


# -- what is there ----------------------------------------------------------------------------------------------------


def find_sets(photos: Path, files: tuple[PhotoFile, ...]) -> Sets:
    """To which occupation and searches each photo belongs: by the manifest, else by its first folder."""
    rows = _manifest_rows(photos)
    if rows:
        pairs = [(row["path"], row["occupation"], row["keyword"] or "none") for row in rows]
        return Sets({path: name for path, name, _ in reversed(pairs)}, tuple(dict.fromkeys(pairs)))
    occupations = {}
    for file in files:
        first, _, rest = file.relative.partition("/")
        occupations[file.relative] = first if rest else ""
    return Sets(occupations, ())


def _manifest_rows(photos: Path) -> list[dict[str, Any]]:
    """Kept photos and what repeats them: a photo that two searches find belongs to both."""
    path = photos / f"{MANIFEST.name}.parquet"
    if not path.is_file():
        return []
    table = tables.read(MANIFEST, path)
    table = table[table["status"].isin(["kept", "duplicate"])].sort_values("status", ascending=False, kind="stable")
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _files(photos: Path, out: Path, limit: int | None) -> tuple[PhotoFile, ...]:
    check_outside(out, photos, "census folder")
    files = _spread(list_photos(photos), limit)
    if not files:
        raise UsageError(f"There are no photos in {show(photos)}.", "Collect some with: gslopes collect.")
    return files


def _spread(files: Sequence[PhotoFile], limit: int | None) -> tuple[PhotoFile, ...]:
    """The first photos of every folder in turn, so that a limit leaves no occupation out; in the order they had."""
    if limit is None or len(files) <= limit:
        return tuple(files)
    folders = pd.Series([file.relative.rpartition("/")[0] for file in files])
    turn = folders.groupby(folders).cumcount().sort_values(kind="stable")
    return tuple(files[index] for index in sorted(turn.index[:limit]))


def _manifest(photos: Path, files: tuple[PhotoFile, ...], config: CensusConfig, reader: ChipReader) -> dict[str, Any]:
    return {
        "kind": "census",
        "photos": show(photos.resolve()),
        "inputs": listing(files),
        "min_face": config.min_face,
        "reader": reader.sha256,
    }
