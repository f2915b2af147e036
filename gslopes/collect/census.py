"""The census of a folder of photos: who is shown, as a reader and as people perceive it, by occupation and keyword."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gslopes.collect.config import CensusConfig
from gslopes.collect.source import women_of
from gslopes.core import runfolder, runtime, tables
from gslopes.core.config import check
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import csv_bytes, without_guard
from gslopes.core.geometry import warp
from gslopes.core.progress import Tick
from gslopes.core.reasons import SkipReason
from gslopes.core.records import Finder, Photo
from gslopes.core.runfolder import show
from gslopes.core.tables import CENSUS, COMPOSITION, MANIFEST
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.frame.executors import OneProcess
from gslopes.photos.decode import in_srgb
from gslopes.photos.folder import (
    PhotoFile,
    check_outside,
    count_parts,
    list_files,
    listing,
    open_photo,
    photo_batches,
)
from gslopes.stats.intervals import estimate_share

if TYPE_CHECKING:
    from gslopes.faces.zoo.reader import FaceReader, FairFaceReader

    Reader = FaceReader | FairFaceReader

STAGE = "census"
IDENTITY = ("kind", "photos", "inputs", "min_face", "reader")
RACES = ("white", "black", "asian", "indian", "other")
DECISIONS = ("accept", "correct", "exclude", "undecided")
VALUES = {
    "gender": ("female", "male", "non-binary", "unknown"),
    "race": (*RACES, "unknown"),
    "age": ("under 35", "35 or older", "unknown"),
}
COLUMNS = ("photo", "path", "decision", *VALUES)
ANSWERED = ("accept", "correct")  # decisions that take the place of the reader's
UNANSWERED = dict.fromkeys(COLUMNS, "")
MIN_FACE = 32  # pixels; smaller faces are not read
_PART = 64
Answers = Mapping[str, Mapping[str, str]]  # the id of a photo to its row of the review
Searches = Sequence[tuple[str, str, str]]  # path, occupation and keyword


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """What a census found.

    photos: looked at.  read: with a reading.  queue: to be reviewed, unanswered.  answered, excluded: by people.
    composition: core.tables.COMPOSITION.  women: occupation to the BLS share.
    """

    photos: int
    read: int
    queue: int
    answered: int
    excluded: int
    composition: pd.DataFrame
    women: dict[str, float]


def census(
    photos: Path,
    out: Path,
    config: CensusConfig,
    *,
    executor: Executor | None = None,
    finder: Finder | None = None,
    reader: Reader | None = None,
) -> Census:
    """Read every photo, once; then count, with the answers of people. Called again, it counts again.

    photos: a collection, or any folder whose sub-folders are occupations.  out: made if missing; outside of photos.
    finder, reader: instead of MTCNN and the shipped reader.

    Raises: UsageError, ConfigError, RunFolderMismatch, ModelError, StorageError.
    """
    from gslopes.faces.zoo.reader import FaceReader, load_fairface

    executor = executor or OneProcess()
    check(config)
    device = runtime.pick_device(config.device)
    check_outside(out, photos, "census folder")
    files = tuple(list_files(photos))
    if not files:
        raise UsageError(
            f"There are no photos in {show(photos)}.", "Collect some with: gslopes collect."
        )
    searches = searches_of(photos, files)
    if reader is None:
        reader = load_fairface(config.reader, device) if config.reader else FaceReader.load(device)
    new: dict[str, Any] = {
        "kind": "census",
        "photos": show(photos.resolve()),
        "inputs": listing(files),
    }
    new |= {"min_face": MIN_FACE, "reader": reader.sha256}
    with runfolder.locked(out):
        runfolder.compare(out, new, IDENTITY)
        runfolder.write_json(
            out / runfolder.MANIFEST, {**new, "gslopes": runtime.gslopes_version()}
        )
        parts = count_parts(len(files), _PART)
        missing = runfolder.missing_parts(out, STAGE, CENSUS, parts)
        sizes = {part: len(files[part * _PART : (part + 1) * _PART]) for part in missing}
        if missing:
            occupations = {path: name for path, name, _ in reversed(searches)}
            finder = finder or MtcnnFinder(MIN_FACE)

            def work(part: int, tick: Tick) -> None:
                table = _reads(
                    files[part * _PART : (part + 1) * _PART], occupations, finder, reader, tick
                )
                runfolder.write_table(CENSUS, table, runfolder.part_path(out, STAGE, CENSUS, part))

            executor(
                work, sizes, label="census", unit="photos", done=len(files) - sum(sizes.values())
            )
        runfolder.merge(out, CENSUS, [STAGE], parts)
        return _write(photos, out, tables.read(CENSUS, out / "census.parquet"), searches, config)


def _write(
    photos: Path, out: Path, table: pd.DataFrame, searches: Searches, config: CensusConfig
) -> Census:
    """Everything that depends on the answers of people."""
    from gslopes.collect.review import item_of, render_review
    from gslopes.report.composition import by_occupation, table3

    answers = read_answers(out / "review.csv") if (out / "review.csv").exists() else {}
    composition = compose(table, searches, answers)
    women = women_of([name for name in composition["occupation"].unique() if name])
    left = queue(table, answers, config.confidence, config.unsure)
    sources = {row["path"]: row for row in _manifest_rows(photos)}
    looked_at = table[left | table["photo"].isin(answers) & (table["status"] == "read")]
    items = [
        item_of(
            row,
            chances(row),
            sources.get(row["path"], {}),
            os.path.relpath(photos.resolve() / row["path"], out),
        )
        for row in looked_at.to_dict("records")
    ]
    page = render_review(items, list(answers.values()), config.confidence, config.unsure)
    shares = by_occupation(composition, women)
    csvs = {"composition": composition, "occupations": shares, "table3": table3(shares)}
    csvs["photos"] = labels(table, answers, config.confidence)
    with runfolder.storage(out):
        runfolder.write_table(COMPOSITION, composition, out / "composition.parquet")
        for name, frame in csvs.items():
            runfolder.write_bytes(out / f"{name}.csv", csv_bytes(frame, digits=6))
        runfolder.write_bytes(out / "review.html", page.encode())
    return Census(
        photos=len(table),
        read=int((table["status"] == "read").sum()),
        queue=int(left.sum()),
        answered=sum(row["decision"] in ANSWERED for row in answers.values()),
        excluded=sum(row["decision"] == "exclude" for row in answers.values()),
        composition=composition,
        women=women,
    )


# -- who belongs together ---------------------------------------------------------------------------------------------


def searches_of(photos: Path, files: Sequence[PhotoFile]) -> Searches:
    """(path, occupation, keyword) of every search that found a photo, by the manifest; ``none`` without a keyword.

    In a folder that is not a collection the occupation is the first folder, empty for none, and the keyword ``any``.
    """
    rows = _manifest_rows(photos)
    if rows:
        return list(
            dict.fromkeys(
                (row["path"], row["occupation"], row["keyword"] or "none") for row in rows
            )
        )
    names = [(file.relative, file.relative.partition("/")) for file in files]
    return [(path, first if rest else "", "any") for path, (first, _, rest) in names]


def _manifest_rows(photos: Path) -> list[dict[Any, Any]]:
    """Kept photos and what repeats them: a photo that two searches find belongs to both."""
    table = tables.read_rows(MANIFEST, photos)
    table = table[table["status"].isin(["kept", "duplicate"])].sort_values(
        "status", ascending=False, kind="stable"
    )
    return table.to_dict("records")


# -- reading ----------------------------------------------------------------------------------------------------------


def _reads(
    files: Sequence[PhotoFile],
    occupations: Mapping[str, str],
    finder: Finder,
    reader: Reader,
    tick: Tick,
) -> pd.DataFrame:
    """core.tables.CENSUS of these photos."""
    rows: list[dict[str, Any]] = []

    def row_of(file: PhotoFile, photo: str, **known: Any) -> dict[str, Any]:
        empty = dict.fromkeys(("box", "masculine", *RACES, "young"))
        head = {
            "photo": photo,
            "path": file.relative,
            "occupation": occupations.get(file.relative, ""),
        }
        rows.append(
            {**empty, **head, "faces": 0, "status": "read", "reason": "", "detail": "", **known}
        )
        return rows[-1]

    def opened(file: PhotoFile) -> Photo | None:
        try:
            return open_photo(file.path)
        except PhotoError as error:
            row_of(file, "", status="skipped", **SkipReason.of(error.reason).columns)
            return None

    for batch in photo_batches(files, opened):
        chips = []
        read = []
        for (file, photo), detections in zip(
            batch, finder([photo for _, photo in batch]), strict=True
        ):
            height, width = photo.pixels.shape[:2]
            face = choose(detections, width, height, MIN_FACE, reader.size)
            row = row_of(file, photo.id, faces=len(detections.scores))
            if isinstance(face, str):
                row.update(status="skipped", **SkipReason.of(face).columns)
                continue
            row["box"] = (face.box / np.array([width, height, width, height], np.float32)).astype(
                np.float32
            )
            chips.append(warp(in_srgb(photo.pixels, photo.icc), face.matrix, reader.size))
            read.append(row)
        if read:
            shares = reader(np.stack(chips))
            total = np.maximum(sum(shares[name] for name in RACES), 1e-9)
            for index, row in enumerate(read):
                row.update({name: float(shares[name][index]) for name in ("masculine", "young")})
                row.update({name: float(shares[name][index] / total[index]) for name in RACES})
        tick(len(batch))
    return pd.DataFrame(rows, columns=CENSUS.columns)


# -- what people answered ---------------------------------------------------------------------------------------------


def read_answers(path: Path) -> dict[str, dict[str, str]]:
    """Rows of the CSV that the review page saves, by the photo's id; photos of equal bytes share one.

    Raises: UsageError, with the line, if it is missing, has other columns, names a photo twice, or has a decision or
    an answer that there is not.
    """
    values: dict[str, tuple[str, ...]] = {"decision": DECISIONS}
    values |= {name: ("", *names) for name, names in VALUES.items()}
    hint = f"Save it from review.html: its columns are {', '.join(COLUMNS)}."
    table = read_csv(path, ("photo", "decision"), hint=hint).checked(("photo",), values)
    rows = [dict.fromkeys(COLUMNS, "") | row for _, row in table.rows()]
    return {row["photo"]: row | {"path": without_guard(row["path"])} for row in rows}


def chances(row: Mapping[Any, Any]) -> dict[str, dict[str, float]]:
    """What the reader says of one row of the census: reading to value to probability.

    Each reading's probabilities sum to 1; a binary reader gives nothing to non-binary and unknown, people do.
    """
    return {
        "gender": {"female": 1 - row["masculine"], "male": row["masculine"]},
        "race": {name: row[name] for name in RACES},
        "age": {"under 35": row["young"], "35 or older": 1 - row["young"]},
    }


def queue(
    table: pd.DataFrame,
    answers: Answers,
    confidence: float,
    unsure: Sequence[str] = ("gender",),
) -> pd.Series:
    """Which rows a person should still look at: one of these readings has less confidence, and is undecided."""
    read = [chances(row) for row in table.to_dict("records")]
    doubtful = np.array(
        [min(max(row[name].values()) for name in unsure) < confidence for row in read], bool
    )
    done = {
        photo
        for photo, row in answers.items()
        if row["decision"] in ("exclude", "accept")
        or (row["decision"] == "correct" and all(map(row.get, unsure)))
    }
    return (table["status"] == "read") & doubtful & ~table["photo"].isin(done)


# -- counting ---------------------------------------------------------------------------------------------------------


def compose(table: pd.DataFrame, searches: Searches, answers: Answers) -> pd.DataFrame:
    """core.tables.COMPOSITION: every share of every occupation and keyword; empty and ``any`` stand for all.

    searches: as of ``searches_of``.
    """
    excluded = [photo for photo, row in answers.items() if row["decision"] == "exclude"]
    counted = table[(table["status"] == "read") & ~table["photo"].isin(excluded)].to_dict("records")
    by_path = {row["path"]: _reading(row, answers.get(row["photo"], UNANSWERED)) for row in counted}
    sets: dict[tuple[str, str], set[str]] = {}
    for path, name, keyword in searches:
        for key in {(name, "any"), ("", "any"), (name, keyword), ("", keyword)}:
            sets.setdefault(key, set()).add(path)
    rows = []
    for (occupation, keyword), paths in sorted(sets.items()):
        members = [by_path[path] for path in sorted(paths) if path in by_path]
        for reading, values in VALUES.items():
            answered = np.array([member[reading][1] for member in members], bool)
            for value in values:
                chance = np.array([member[reading][0].get(value, 0.0) for member in members])
                if value in ("non-binary", "unknown") and not chance.any():
                    continue
                share = estimate_share(chance, answered)
                numbers = share.n, share.answered, share.share, share.low, share.high
                rows.append((occupation, keyword, reading, value, *numbers))
    return pd.DataFrame(rows, columns=COMPOSITION.columns)


def labels(table: pd.DataFrame, answers: Answers, confidence: float) -> pd.DataFrame:
    """A row a photo for ``gslopes audit --photos-csv``: perceived gender, race and age; empty where it is not known.

    A reading below the confidence without an answer is not known, and neither is a photo that was excluded.
    """
    rows = []
    for row in table[table["status"] == "read"].to_dict("records"):
        answer = answers.get(row["photo"], UNANSWERED)
        excluded = answer["decision"] == "exclude"
        facts = {"photo": row["photo"], "path": row["path"], "occupation": row["occupation"]}
        for reading, (chance, answered) in _reading(row, answer).items():
            value, p = max(chance.items(), key=lambda pair: pair[1])
            sure = (answered or p >= confidence) and not excluded and value != "unknown"
            facts[f"perceived_{reading}"] = value if sure else ""
        facts["by"] = (
            "person" if answer["decision"] in ANSWERED else "excluded" if excluded else "reader"
        )
        rows.append(facts)
    return pd.DataFrame(
        rows,
        columns=["photo", "path", "occupation", *(f"perceived_{name}" for name in VALUES), "by"],
    )


def _reading(
    row: Mapping[Any, Any], answer: Mapping[str, str]
) -> dict[str, tuple[dict[str, float], bool]]:
    """Reading to (value to chance, whether a person answered)."""
    readings = {}
    for name, read in chances(row).items():
        value = answer[name] if answer["decision"] in ANSWERED else ""
        if not value and answer["decision"] == "accept":
            value = max(read.items(), key=lambda pair: pair[1])[0]
        readings[name] = ({value: 1.0}, True) if value else (read, False)
    return readings
