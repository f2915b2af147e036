"""The census of a folder of photos: who is shown, as a reader and as people perceive it, by occupation and keyword.

Its review: photos whose reading is unsure, for people to answer how the face looks to them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from pandas import DataFrame

from gslopes.collect.config import COLUMNS, RACES, REVIEW, VALUES, CensusConfig
from gslopes.collect.search import women_of
from gslopes.core import (
    Executor,
    Facts,
    JsonObject,
    PhotoError,
    Record,
    Row,
    SkipReason,
    Texts,
    Tick,
    UsageError,
    build,
    csv_bytes,
    frozen_identity,
    runfolder,
    runtime,
    show,
    tables,
    with_options,
    without_guard,
)
from gslopes.core.config import check
from gslopes.core.csv_table import read_csv
from gslopes.core.geometry import warp
from gslopes.core.records import Finder, Photo, batches, floats
from gslopes.core.tables import CENSUS, COMPOSITION, MANIFEST, records
from gslopes.faces.find import MtcnnFinder, choose
from gslopes.frame.executors import OneProcess
from gslopes.photos.decode import in_srgb
from gslopes.photos.folder import PhotoFile, list_files, listing, open_photo, photo_batches
from gslopes.report import inline, review
from gslopes.report.composition import by_occupation, table3
from gslopes.stats.intervals import estimate_share

if TYPE_CHECKING:
    from gslopes.faces.zoo.reader import FaceReader, FairFaceReader

    Reader = FaceReader | FairFaceReader

STAGE = "census"
IDENTITY = ("kind", "photos", "inputs", "min_face", "reader")
ANSWERED = ("accept", "correct")  # decisions that take the place of the reader's
UNANSWERED = dict.fromkeys(COLUMNS, "")
WHO = {"accept": "person", "correct": "person", "exclude": "excluded"}  # decided
MIN_FACE = 32  # pixels; smaller faces are not read
_PART = 64
Answer = Texts  # a row of the review
Read = Sequence[
    tuple[Record, Answer]
]  # rows of the census with a reading, and what people answered
Searches = Sequence[tuple[str, str, str]]  # path, occupation and keyword


@frozen_identity
class Census:
    """Who is on the photos of a folder.

    photos: looked at.  read: with a reading.  queue: to be reviewed, unanswered.  answered, excluded: by people.
    composition: core.tables.COMPOSITION.  women: occupation to the BLS share.
    """

    photos: int
    read: int
    queue: int
    answered: int
    excluded: int
    composition: DataFrame
    women: dict[str, float]

    @property
    def occupations(self) -> DataFrame:
        """One row an occupation, see ``report.composition``."""
        return by_occupation(self.composition, self.women)


@with_options(CensusConfig)
def census(
    photos: str | Path, out: str | Path, *, progress: bool = False, **options: Any
) -> DataFrame:
    """How the faces in a folder of photos are read, by occupation (the sub-folder, or the collection's manifest).

    out: the census folder.  options: as of ``gslopes census --help``.

    Returns one row an occupation: n, answered, female, female_low, female_high, male, male_low, male_high,
    other_answers, women (share of women among people employed; US Bureau of Labor Statistics).

    Raises: UsageError, ModelError, StorageError.
    """
    executor = OneProcess(progress=progress)
    config = build(CensusConfig, options)
    return take_census(Path(photos), Path(out), config, executor=executor).occupations


def take_census(
    photos: Path,
    out: Path,
    config: CensusConfig,
    *,
    executor: Executor = OneProcess(),
    finder: Finder | None = None,
    reader: Reader | None = None,
) -> Census:
    """Read every photo, once; then count, with the answers of people. Called again, it counts again.

    photos: a collection, or any folder whose sub-folders are occupations.  out: made if missing; outside of photos.
    finder, reader: instead of MTCNN and the shipped reader.

    Raises: UsageError, ConfigError, RunFolderMismatch, ModelError, StorageError.
    """
    from gslopes.faces.zoo.reader import FaceReader, load_fairface

    check(config)
    device = runtime.pick_device(config.device)
    runfolder.check_outside(out, photos, "census folder")
    files = tuple(list_files(photos))
    if not files:
        raise UsageError(
            f"There are no photos in {show(photos)}.", "Collect some with: gslopes collect."
        )
    searches = searches_of(photos, files)
    if reader is None:
        reader = load_fairface(config.reader, device) if config.reader else FaceReader.load(device)
    manifest = {
        "kind": "census",
        "photos": show(photos.resolve()),
        "inputs": listing(files),
        "min_face": MIN_FACE,
        "reader": reader.sha256,
    }
    with runfolder.locked(out):
        runfolder.compare(out, manifest, IDENTITY)
        manifest["gslopes"] = runtime.gslopes_version()
        runfolder.write_json(out / runfolder.MANIFEST, manifest)
        parts = list(batches(files, _PART))
        missing = runfolder.missing_parts(out, STAGE, CENSUS, len(parts))
        sizes = {part: len(parts[part]) for part in missing}
        if missing:
            occupations = {path: name for path, name, _ in reversed(searches)}
            finder = finder or MtcnnFinder(MIN_FACE)

            def work(part: int, tick: Tick) -> None:
                table = _reads(parts[part], occupations, finder, reader, tick)
                runfolder.write_table(CENSUS, table, runfolder.part_path(out, STAGE, CENSUS, part))

            done = len(files) - sum(sizes.values())
            executor(work, sizes, label="census", unit="photos", done=done)
        runfolder.merge(out, CENSUS, [STAGE], len(parts))
        return _write(photos, out, tables.read(CENSUS, out / "census.parquet"), searches, config)


def _write(
    photos: Path, out: Path, table: DataFrame, searches: Searches, config: CensusConfig
) -> Census:
    """Everything that depends on the answers of people."""
    review = out / "review.csv"
    answers = read_answers(review) if review.exists() else {}
    decisions = [row["decision"] for row in answers.values()]
    rows = table.query("status == 'read'").to_dict("records")
    read = [(row, answers.get(row["photo"], UNANSWERED)) for row in rows]
    composition = compose(read, searches)
    due = [_is_due(row, answer, config) for row, answer in read]
    result = Census(
        photos=len(table),
        read=len(read),
        queue=sum(due),
        answered=sum(map(decisions.count, ANSWERED)),
        excluded=decisions.count("exclude"),
        composition=composition,
        women=women_of(filter(None, composition["occupation"].unique())),
    )
    by_path = {row["path"]: row for row in _manifest_rows(photos)}
    shown = []
    for row, is_due in zip(rows, due, strict=True):
        if is_due or row["photo"] in answers:
            path = row["path"]
            file = os.path.relpath(photos.resolve() / path, out)
            more = {"read": chances(row), "source": by_path.get(path, {}), "file": file}
            shown.append(row | more)
    items = items_of(shown)
    page = render_review(items, list(answers.values()), config.confidence, config.unsure)
    shares = result.occupations
    csvs = {
        "composition": composition,
        "occupations": shares,
        "table3": table3(shares),
        "photos": labels(read, config.confidence),
    }
    with runfolder.storage(out):
        runfolder.write_table(COMPOSITION, composition, out / "composition.parquet")
        for name, frame in csvs.items():
            runfolder.write_bytes(out / f"{name}.csv", csv_bytes(frame, digits=6))
        runfolder.write_bytes(out / "review.html", page.encode())
    return result


# -- who belongs together ---------------------------------------------------------------------------------------------


def searches_of(photos: Path, files: Sequence[PhotoFile]) -> Searches:
    """(path, occupation, keyword) of every search that found a photo, by the manifest; ``none`` without a keyword.

    In a folder that is not a collection the occupation is the first folder, empty for none, and the keyword ``any``.
    """
    searches = {
        (row["path"], row["occupation"], row["keyword"] or "none"): None
        for row in _manifest_rows(photos)
    }
    parents = [(file.relative, file.relative.rpartition("/")[0]) for file in files]
    return list(searches) or [(path, top.partition("/")[0], "any") for path, top in parents]


def _manifest_rows(photos: Path) -> list[dict[Any, Any]]:
    """Kept photos and what repeats them: a photo that two searches find belongs to both."""
    table = tables.read_rows(MANIFEST, photos)
    table = table[table["status"].isin(["kept", "duplicate"])]
    return table.sort_values("status", ascending=False, kind="stable").to_dict("records")


# -- reading ----------------------------------------------------------------------------------------------------------


def _reads(
    files: Sequence[PhotoFile],
    occupations: Texts,
    finder: Finder,
    reader: Reader,
    tick: Tick,
) -> DataFrame:
    """core.tables.CENSUS of these photos."""
    rows = []

    def add(file: PhotoFile, status: str, **facts: Any) -> JsonObject:
        row = CENSUS.blank | {
            "path": file.relative,
            "occupation": occupations.get(file.relative, ""),
            "status": status,
            **facts,
        }
        rows.append(row)
        return row

    def opened(file: PhotoFile) -> Photo | None:
        try:
            return open_photo(file.path)
        except PhotoError as error:
            add(file, "skipped", **SkipReason.of(error.reason).columns)
            return None

    for batch in photo_batches(files, opened):
        chips = []
        readable = []
        detections = finder([photo for _, photo in batch])
        for (file, photo), faces in zip(batch, detections, strict=True):
            height, width = photo.pixels.shape[:2]
            face = choose(faces, width, height, MIN_FACE, reader.size)
            about = {"photo": photo.id, "faces": len(faces.scores)}
            if isinstance(face, SkipReason):
                add(file, "skipped", **about, **face.columns)
                continue
            row = add(file, "read", **about)
            sides = floats([width, height] * 2)
            row["box"] = floats(face.box / sides)
            chips.append(warp(in_srgb(photo.pixels, photo.icc), face.matrix, reader.size))
            readable.append(row)
        if readable:
            shares = dict(reader(np.stack(chips)))
            total = np.maximum(sum(shares[name] for name in RACES), 1e-9)
            shares |= {name: shares[name] / total for name in RACES}
            for index, row in enumerate(readable):
                row |= {name: float(values[index]) for name, values in shares.items()}
        tick(len(batch))
    return DataFrame(rows, columns=CENSUS.columns)


# -- what people answered ---------------------------------------------------------------------------------------------


def read_answers(path: Path) -> dict[str, dict[str, str]]:
    """Rows of the CSV that the review page saves, by the photo's id; photos of equal bytes share one.

    Raises: UsageError, with the line, if it is missing, has other columns, names a photo twice, or has a decision or
    an answer that there is not.
    """
    values = {name: ["", *names] for name, names in VALUES.items()}
    values["decision"] = REVIEW["decisions"]
    hint = f"Save it from review.html: its columns are {', '.join(COLUMNS)}."
    table = read_csv(path, ("photo", "decision"), hint=hint).checked(("photo",), values)
    rows = [UNANSWERED | row for _, row in table.rows()]
    return {row["photo"]: row | {"path": without_guard(row["path"])} for row in rows}


def chances(row: Record) -> dict[str, dict[str, float]]:
    """What the reader makes of one row of the census: reading to value to probability.

    Each reading's probabilities sum to 1; a binary reader gives nothing to non-binary and unknown, people do.
    """
    return {
        "gender": {"female": 1 - row["masculine"], "male": row["masculine"]},
        "race": {name: row[name] for name in RACES},
        "age": {"under 35": row["young"], "35 or older": 1 - row["young"]},
    }


def _is_due(row: Record, answer: Answer, config: CensusConfig) -> bool:
    """Whether a person should still look at a photo: one of the readings is unsure, and undecided."""
    if answer["decision"] == "correct" and all(map(answer.get, config.unsure)):
        return False
    read = chances(row)
    least = min(max(read[name].values()) for name in config.unsure)
    return least < config.confidence and answer["decision"] not in ("exclude", "accept")


# -- counting ---------------------------------------------------------------------------------------------------------


def compose(read: Read, searches: Searches) -> DataFrame:
    """core.tables.COMPOSITION: every share of every occupation and keyword; empty and ``any`` mean all.

    searches: as of ``searches_of``.
    """
    by_path = {
        row["path"]: _reading(row, answer)
        for row, answer in read
        if answer["decision"] != "exclude"
    }
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
                if chance.any() or value not in ("non-binary", "unknown"):
                    share = estimate_share(chance, answered)
                    rows.append((occupation, keyword, reading, value, *astuple(share)))
    return DataFrame(rows, columns=COMPOSITION.columns)


def labels(read: Read, confidence: float) -> DataFrame:
    """A row a photo for ``gslopes audit --photos-csv``: perceived gender, race and age; empty if it is not known.

    A reading below the confidence without an answer is not known, and neither is a photo that was excluded.
    """
    rows = []
    for row, answer in read:
        decision = answer["decision"]
        facts = {name: row[name] for name in ("photo", "path", "occupation")}
        for reading, (chance, answered) in _reading(row, answer).items():
            value = max(chance, key=chance.__getitem__)
            sure = answered or chance[value] >= confidence
            hidden = not sure or decision == "exclude" or value == "unknown"
            facts[f"perceived_{reading}"] = "" if hidden else value
        facts["by"] = WHO.get(decision, "reader")
        rows.append(facts)
    perceived = [f"perceived_{name}" for name in VALUES]
    return DataFrame(rows, columns=["photo", "path", "occupation", *perceived, "by"])


def _reading(row: Record, answer: Answer) -> dict[str, tuple[dict[str, float], bool]]:
    """Reading to (value to chance, whether a person answered)."""
    readings = {}
    for name, read in chances(row).items():
        value = answer[name] if answer["decision"] in ANSWERED else ""
        if not value and answer["decision"] == "accept":
            value = max(read, key=read.__getitem__)
        readings[name] = ({value: 1.0}, True) if value else (read, False)
    return readings


PROPER: dict[str, str] = REVIEW["proper"]


def items_of(shown: Sequence[Record]) -> list[Row]:
    """What the page shows of photos, and which answers each gives when its reading is accepted.

    shown: rows of the census, next to ``read``, see ``collect.census.chances``; ``source``, the photo's row of the
        manifest, empty if it has no row; ``file``, its path as seen from the page.
    """
    rows = [
        {
            **row,
            "best": {name: max(read, key=read.__getitem__) for name, read in row["read"].items()},
        }
        for row in shown
    ]
    texts = records(inline.listed(REVIEW["item"], rows, proper=PROPER))
    return [
        {
            **text,
            "src": quote(os.fsencode(row["file"])),
            "box": [round(float(end), 4) for end in row["box"]],
            "accept": {"decision": "accept", **row["best"]},
        }
        for text, row in zip(texts, rows, strict=True)
    ]


def render_review(
    items: Sequence[Facts],
    answers: Sequence[Texts],
    confidence: float,
    unsure: Sequence[str] = ("gender",),
) -> str:
    """The page as text.

    items: as of ``items_of``, in the order in which they are shown.  answers: rows of the review's CSV so far; those
    about other photos are kept when it is saved again.  confidence: below which a photo is here.
    unsure: the readings that are asked for. Only what a person chose is an answer: accepting answers all, a key of
    one answers that one. The key of gender moves on, else the key of the last reading that is asked for.
    """
    last = "gender" if "gender" in unsure else unsure[-1]
    questions = []
    for question in REVIEW["question"]:
        keys = question["keys"]
        moving = keys if question["name"] == last else question["moving"]
        questions.append(review.Question(question["legend"], keys, moving, question["folded"]))
    return review.render_review(
        "census-review.html.j2",
        Path(__file__).parent,
        questions,
        items,
        answers,
        COLUMNS,
        copied=("photo", "path"),
        id=("photo",),
        done=(
            {"decision": "exclude"},
            {"decision": "accept"},
            {"decision": "correct", **dict.fromkeys(unsure, "*")},
        ),
        values={"decision": REVIEW["decisions"]},
        resets={"decision": "accept"},
        names=PROPER,
        page={
            "opened": set(unsure) != {"gender"},
            "confidence": f"{confidence:.0%}".replace("%", " %"),
        },
    )
