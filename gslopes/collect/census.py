"""The census of a folder of photos: who is shown, as a reader and as people perceive it, by occupation and keyword."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gslopes.collect.config import CensusConfig
from gslopes.collect.lists import WOMEN_SOURCE, women_of
from gslopes.core import runfolder, runtime, tables
from gslopes.core.csv_table import read_csv
from gslopes.core.errors import PhotoError, UsageError
from gslopes.core.executor import Executor
from gslopes.core.files import csv_bytes, without_guard
from gslopes.core.geometry import warp
from gslopes.core.progress import Tick
from gslopes.core.reasons import SkipReason
from gslopes.core.records import ByteArray, Finder, Photo
from gslopes.core.runfolder import show
from gslopes.core.tables import CENSUS, COMPOSITION, MANIFEST
from gslopes.faces.find import choose
from gslopes.frame.executors import OneProcess
from gslopes.photos.folder import PhotoFile, check_outside, count_parts, list_photos, listing, open_photo, photo_batches
from gslopes.stats.intervals import estimate_share

DECISIONS = ("accept", "correct", "exclude", "undecided")
VALUES = {
    "gender": ("female", "male", "non-binary", "unknown"),
    "race": ("white", "black", "asian", "indian", "other", "unknown"),
    "age": ("under 35", "35 or older", "unknown"),
}
COLUMNS = ("photo", "path", "decision", *VALUES)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person decided about a photo: a word of DECISIONS, and of VALUES as far as they said."""

    path: str
    decision: str
    said: dict[str, str]

    @property
    def excluded(self) -> bool:
        """The photo does not count."""
        return self.decision == "exclude"

    @property
    def answers(self) -> bool:
        """What it says stands in the place of the reader's."""
        return self.decision in ("accept", "correct")

    def done(self, unsure: Sequence[str] = ("gender",)) -> bool:
        """The photo needs no further review about these readings."""
        return self.excluded or self.decision == "accept" or (self.answers and set(unsure) <= self.said.keys())


@dataclass(frozen=True, slots=True)
class Answers:
    """By the photo's id; photos of equal bytes share one."""

    by_photo: dict[str, Answer] = field(default_factory=dict)

    def rows(self) -> list[dict[str, str]]:
        """As the review's CSV has them."""
        return [
            {"photo": photo, "path": one.path, "decision": one.decision, **dict.fromkeys(VALUES, ""), **one.said}
            for photo, one in self.by_photo.items()
        ]


@dataclass(frozen=True, slots=True)
class Sets:
    """Which photos belong together.

    occupations: path to its occupation, empty for none.
    searches: (path, occupation, keyword) of every search that found it, ``none`` for that without a keyword; none if
    the photos are no collection.
    """

    occupations: dict[str, str]
    searches: tuple[tuple[str, str, str], ...]

    def members(self) -> Iterator[tuple[str, str, set[str]]]:
        """(occupation, keyword, paths) of every line of the composition; empty and ``any`` stand for all."""
        found: dict[tuple[str, str], set[str]] = {}
        pairs = [(path, name, "any") for path, name in self.occupations.items()]
        for path, name, keyword in [*pairs, *self.searches, *((path, name, "any") for path, name, _ in self.searches)]:
            for occupation in {name, ""}:
                found.setdefault((occupation, keyword), set()).add(path)
        for (occupation, keyword), paths in sorted(found.items()):
            yield occupation, keyword, paths


def read_answers(path: Path, *, required: bool) -> Answers:
    """The CSV that the review page saves.

    required: whether a missing file is an error.

    Raises: UsageError, with the line, if it is missing, has other columns, names a photo twice, or has a decision or
    an answer that there is not.
    """
    if not path.exists() and not required:
        return Answers()
    values = {"decision": DECISIONS, **{name: ("", *known) for name, known in VALUES.items()}}
    hint = f"Save it from review.html: its columns are {', '.join(COLUMNS)}."
    table = read_csv(path, ("photo", "decision"), unique=("photo",), values=values, hint=hint)
    found: dict[str, Answer] = {}
    for _, row in table.rows():
        said = {name: row[name] for name in VALUES if row.get(name)}
        found[row["photo"]] = Answer(without_guard(row.get("path", "")), row["decision"], said)
    return Answers(found)


def chances(row: Any) -> dict[str, dict[str, float]]:
    """What the reader says of one row of the census: reading to value to probability.

    Each reading's probabilities sum to 1; a binary reader gives nothing to non-binary and unknown, people do.
    """
    return {
        "gender": {"female": 1 - row["masculine"], "male": row["masculine"]},
        "race": {name: row[name] for name in ("white", "black", "asian", "indian", "other")},
        "age": {"under 35": row["young"], "35 or older": 1 - row["young"]},
    }


def queue(table: pd.DataFrame, answers: Answers, confidence: float, unsure: Sequence[str] = ("gender",)) -> pd.Series:
    """Which rows a person should still look at: one of these readings has less confidence, and is undecided."""
    sure = {
        "gender": np.maximum(table["masculine"], 1 - table["masculine"]),
        "race": table[[*VALUES["race"][:-1]]].max(axis=1),
        "age": np.maximum(table["young"], 1 - table["young"]),
    }
    doubtful = pd.concat([sure[name] < confidence for name in unsure], axis=1).any(axis=1)
    done = {photo for photo, one in answers.by_photo.items() if one.done(unsure)}
    return (table["status"] == "read") & doubtful & ~table["photo"].isin(done)


def compose(table: pd.DataFrame, sets: Sets, answers: Answers) -> pd.DataFrame:
    """core.tables.COMPOSITION: every share of every occupation and keyword."""
    excluded = [photo for photo, answer in answers.by_photo.items() if answer.excluded]
    counted = table[(table["status"] == "read") & ~table["photo"].isin(excluded)].to_dict("records")
    by_path = {row["path"]: _reading(row, answers) for row in counted}
    rows = []
    for occupation, keyword, paths in sets.members():
        members = [by_path[path] for path in sorted(paths) if path in by_path]
        for reading, values in VALUES.items():
            for value in values:
                chance = np.array([one[reading][0].get(value, 0.0) for one in members])
                answered = np.array([one[reading][1] for one in members], bool)
                if value in ("non-binary", "unknown") and not chance.any():
                    continue
                share = estimate_share(chance, answered)
                numbers = share.n, share.answered, share.share, share.low, share.high
                rows.append((occupation, keyword, reading, value, *numbers))
    return pd.DataFrame(rows, columns=COMPOSITION.columns)


def labels(table: pd.DataFrame, answers: Answers, confidence: float) -> pd.DataFrame:
    """A row a photo for ``gslopes fit --photos-csv``: perceived gender, race and age; empty where it is not known.

    A reading below the confidence without an answer is not known, and neither is a photo that was excluded.
    """
    rows = []
    for row in table[table["status"] == "read"].to_dict("records"):
        answer = answers.by_photo.get(row["photo"])
        known = {"photo": row["photo"], "path": row["path"], "occupation": row["occupation"]}
        for reading, (chance, answered) in _reading(row, answers).items():
            value, p = max(chance.items(), key=lambda pair: pair[1])
            sure = (answered or p >= confidence) and not (answer and answer.excluded) and value != "unknown"
            known[f"perceived_{reading}"] = value if sure else ""
        known["by"] = "person" if answer and answer.answers else "excluded" if answer and answer.excluded else "reader"
        rows.append(known)
    return pd.DataFrame(rows, columns=["photo", "path", "occupation", *(f"perceived_{name}" for name in VALUES), "by"])


def _reading(row: Mapping[Any, Any], answers: Answers) -> dict[str, tuple[dict[str, float], bool]]:
    """Reading to (value to chance, whether a person answered)."""
    answer, read = answers.by_photo.get(row["photo"]), chances(row)
    found = {}
    for name in VALUES:
        said = answer.said.get(name, "") if answer and answer.answers else ""
        if said == "" and answer and answer.decision == "accept":
            said = max(read[name].items(), key=lambda pair: pair[1])[0]
        found[name] = ({said: 1.0}, True) if said else (read[name], False)
    return found


# --- The census of a folder of photos: who is shown, as a reader and as people perceive it, by occupation and keyword


STAGE = "census"
IDENTITY = ("kind", "photos", "inputs", "min_face", "reader")
RACES = ("white", "black", "asian", "indian", "other")
MIN_FACE = 32  # pixels; smaller faces are not read
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
    from gslopes.faces.find import MtcnnFinder
    from gslopes.faces.zoo.reader import FaceReader, load_fairface

    config, executor = config or CensusConfig(), executor or OneProcess()
    device = runtime.pick_device(config.device)
    files = _files(photos, out, config.limit)
    sets = find_sets(photos, files)
    if reader is None:
        reader = load_fairface(config.reader, device) if config.reader else FaceReader.load(device)
    new = _manifest(photos, files, reader)
    with runfolder.locked(out):
        runfolder.compare(out, new, IDENTITY)
        runfolder.write_json(out / runfolder.MANIFEST, {**new, "gslopes": runtime.gslopes_version()})
        parts = count_parts(len(files), _PART)
        missing = runfolder.missing_parts(out, STAGE, CENSUS, parts)
        sizes = {part: len(files[part * _PART : (part + 1) * _PART]) for part in missing}
        if missing:
            finder = finder or MtcnnFinder(MIN_FACE)
            work = _Work(out, files, sets.occupations, finder, reader)
            executor(work, sizes, label="census", unit="photos", done=len(files) - sum(sizes.values()))
        runfolder.merge(out, CENSUS, [STAGE], parts)
        table = tables.read(CENSUS, out / "census.parquet")
        answers = read_answers(config.review or out / "review.csv", required=config.review is not None)
        return _write(photos, out, table, sets, answers, config)


def _write(photos: Path, out: Path, table: pd.DataFrame, sets: Sets, answers: Answers, config: CensusConfig) -> Census:
    """Everything that depends on the answers of people."""
    from gslopes.collect.review import Item, render_review
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
            face = choose(detections, width, height, MIN_FACE, self.reader.size)
            row = self._row(file, photo.id, faces=len(detections.scores))
            rows.append(row)
            if isinstance(face, str):
                row.update(status="skipped", **SkipReason.of(face).columns)
                continue
            row["box"] = (face.box / np.array([width, height, width, height], np.float32)).astype(np.float32)
            chips.append(warp(photo.pixels, face.matrix, self.reader.size))
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


def _manifest(photos: Path, files: tuple[PhotoFile, ...], reader: ChipReader) -> dict[str, Any]:
    return {
        "kind": "census",
        "photos": show(photos.resolve()),
        "inputs": listing(files),
        "min_face": MIN_FACE,
        "reader": reader.sha256,
    }
