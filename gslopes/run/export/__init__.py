"""A run in the forms that other programs read: its pictures with facts, card and Croissant file; its answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from gslopes.compose.encode import encode
from gslopes.core import runfolder, runtime
from gslopes.core.errors import PhotoError, RunFolderMismatch, UnknownName, UsageError
from gslopes.core.files import read_json, read_named
from gslopes.core.options import build
from gslopes.core.runfolder import show
from gslopes.datasets.decode import LARGEST_FILE
from gslopes.datasets.folder import list_photos, open_photo
from gslopes.executors import OneProcess, Tick
from gslopes.executors.progress import counted
from gslopes.run.export import card, croissant, provenance, writers
from gslopes.run.export.answers import write_answers
from gslopes.run.export.config import FORMS, ExportConfig, ExportOptions, Form
from gslopes.run.export.pictures import TEST, TRAIN, pictures
from gslopes.run.export.writers import Picture, Record

PACKED = {"parquet": ".parquet", "webdataset": ".tar"}  # forms with the pictures within
STATE = ".export.json"  # in an export: of what it is, and which shards are done
_FILES = 50.0  # MB of files after which an export of files notes how far it is


@dataclass(frozen=True, slots=True)
class Exported:
    """What was exported.

    path: the folder, or the file of answers.  form: its form.  rows: pictures, or rows of answers.
    sets: how many sets.  splits: split to its pictures.  Without pictures the last two are empty.
    """

    path: Path
    form: Form
    rows: int
    sets: int = 0
    splits: Mapping[str, int] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "path": str(self.path), "splits": dict(self.splits)}


def export(
    run: str | Path,
    form: Form,
    out: str | Path | None = None,
    *,
    progress: bool = False,
    **options: Unpack[ExportOptions],
) -> Exported:
    """Export the counterfactual photos of a run folder, or its answers. Called again, it goes on where it was stopped.

    form: ``imagefolder`` (files and ``metadata.jsonl``), ``parquet`` (pictures within, as ``datasets`` reads it),
        ``webdataset`` (tar files; a set is never divided between two), ``coco`` (files and COCO's JSON, the face as a
        box), ``fiftyone`` (a FiftyOneImageClassificationDataset), ``answers`` (one row a picture and label).
    out: the folder, ``RUN/export/FORM`` by default; of answers the file, ``.csv`` or ``.parquet``, ``RUN/answers.csv``
        by default.
    progress: show a bar on stderr.
    options: fields of ``run.export.config.ExportConfig``.

    Every form of pictures has a card (``README.md``) and a Croissant file (``croissant.json``); every edited picture
    says in its XMP that it is one. Columns: ``run.export.pictures``.

    Raises: UnknownName for another form; ConfigError; UsageError if there is nothing to export, pictures or photos are
        gone, or the folder holds something else; RunFolderMismatch if it holds another export; TableError,
        StorageError.
    """
    folder = Path(run)
    if form not in FORMS:
        raise UnknownName("form of export", form, FORMS)
    config = build(ExportConfig, options)
    if form == "answers":
        path = Path(out) if out else folder / "answers.csv"
        return Exported(path, form, write_answers(folder, path))
    rows = pictures(folder, config)
    place = Path(out) if out else folder / "export" / form
    state = State(place, _identity(form, config, rows))
    state.check()
    with runfolder.locked(place), counted(OneProcess(progress=progress), "export", "pictures")(len(rows)) as tick:
        _write(folder, form, config, rows, state, tick)
    splits = {str(name): int(count) for name, count in rows["split"].value_counts(sort=False).items()}
    return Exported(place, form, len(rows), int(rows["set"].nunique()), splits)


def _identity(form: Form, config: ExportConfig, rows: pd.DataFrame) -> str:
    """A digest of what makes two exports the same."""
    digest = sha256(json.dumps([form, asdict(config), list(rows)], default=str).encode())
    digest.update(pd.util.hash_pandas_object(rows.drop(columns="box"), index=False).to_numpy().tobytes())
    return digest.hexdigest()


class State:
    """How far an export is.  out: its folder.  identity: a digest of what is exported."""

    def __init__(self, out: Path, identity: str) -> None:
        self.out, self.identity = out, identity
        self.done: list[str] = []

    def check(self) -> None:
        """Read how far it is.

        Raises: UsageError if the folder holds something else; RunFolderMismatch if it holds another export.
        """
        path = self.out / STATE
        if path.is_file():
            try:
                there = read_json(path)
                identity, self.done = there["identity"], list(there["done"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise UsageError(f"{show(path)} cannot be read.", "Choose a new folder with --out.") from error
            if identity != self.identity:
                message = f"{show(self.out)} holds an export of other pictures, or with other options."
                raise RunFolderMismatch(message, "Choose a new folder with --out.")
        elif self.out.exists() and (not self.out.is_dir() or any(self.out.glob("[!.]*"))):
            message = f"{show(self.out)} is not empty, and no export of ours."
            raise UsageError(message, "Choose a new folder with --out.")

    def add(self, *shards: str) -> None:
        """Note that shards are written; that none is, before the first one."""
        self.done += shards
        runfolder.write_json(self.out / STATE, {"identity": self.identity, "done": self.done})


def _write(run: Path, form: Form, config: ExportConfig, rows: pd.DataFrame, state: State, tick: Tick) -> None:
    """Every shard that is not there, then what is said about all of them."""
    read = Pictures(run, rows)
    state.add()
    limit = config.shard if form in PACKED else _FILES
    for name, shard in shards(rows, read.sizes(), limit * 1e6):
        if name in state.done:
            tick(len(shard))
            continue
        write_shard(form, state.out, name, _ticked(read.of(shard), tick), [str(one) for one in rows if one != "file"])
        state.add(name)
    if "index" not in state.done:
        about = card.facts(run, form, rows)
        _write_index(form, state.out, rows, read, card.title(about))
        runfolder.write_bytes(state.out / "README.md", card.readme(about).encode())
        runfolder.write_json(state.out / "croissant.json", croissant.metadata(about, state.out))
        runfolder.settle([state.out / "README.md"])
        state.add("index")


def _ticked(found: Iterator[Picture], tick: Tick) -> Iterator[Picture]:
    for picture in found:
        yield picture
        tick(1)


def shards(rows: pd.DataFrame, sizes: pd.Series, limit: float) -> list[tuple[str, pd.DataFrame]]:
    """The rows in shards of about ``limit`` bytes or less, with their names: whole sets, of one split each, in order.

    sizes: bytes of each picture.
    """
    found: list[tuple[str, pd.DataFrame]] = []
    of_set = sizes.groupby([rows["split"], rows["set"]], sort=False).sum()
    for split in (TRAIN, TEST):
        if split not in of_set.index:
            continue
        numbers: dict[str, int] = {}
        number, held = 0, 0.0
        for name, size in of_set[split].items():
            if held and held + size > limit:
                number, held = number + 1, 0.0
            numbers[str(name)] = number
            held += size
        mine = rows[rows["split"] == split]
        for index, shard in mine.groupby(mine["set"].map(numbers)):
            found.append((f"{split}-{int(index):05d}-of-{number + 1:05d}", shard))
    return found


def write_shard(form: Form, out: Path, name: str, shard: Iterator[Picture], columns: Sequence[str]) -> None:
    """Write one shard of an export.  columns: of its records."""
    path = out / "data" / f"{name}{PACKED.get(form, '')}"
    if form == "parquet":
        writers.write_parquet(path, shard, columns)
    elif form == "webdataset":
        writers.write_tar(path, shard)
    else:
        writers.write_files(form, out, shard)


def _write_index(form: Form, out: Path, rows: pd.DataFrame, read: Pictures, about: str) -> None:
    """The file that says what the pictures of an export of files are."""
    if form in PACKED:
        return
    known = rows.drop(columns="file")
    if form == "fiftyone":
        writers.write_text(out / "labels.json", writers.fiftyone_labels(list(writers.records_of(known))))
        return
    for split, mine in known.groupby("split", sort=False):
        names = [writers.file_of(form, one).partition("/")[2] + read.suffix for one in writers.records_of(mine)]
        mine.insert(0, "file_name", names)
        records = writers.records_of(mine)
        if form == "coco":
            writers.write_text(out / "annotations" / f"{split}.json", writers.coco(list(records), about))
        else:
            writers.write_text(out / str(split) / "metadata.jsonl", writers.metadata_lines(records))


class Pictures:
    """The files of the pictures of a run, with their provenance; originals are written as the edits are.

    run: the run folder.  rows: as ``pictures`` made them.
    """

    def __init__(self, run: Path, rows: pd.DataFrame) -> None:
        self.run, self.rows = run, rows
        manifest = runfolder.read_manifest(run)
        self.suffix = Path(rows.loc[rows["file"] != "", "file"].iloc[0]).suffix
        self.tool = f"gslopes {runtime.gslopes_version()}"
        root = Path(manifest.get("config", {}).get("photos", ""))
        originals = rows["kind"].eq("original").any()
        self.photos = {one.relative: one.path for one in list_photos(root)} if originals else {}
        self._original = lru_cache(maxsize=1)(self._encoded)  # the sets of a photo stand one after the other

    def sizes(self) -> pd.Series:
        """Bytes of each picture; of an original the mean of its set.  Raises: UsageError if one is gone."""
        try:
            sizes = [(self.run / file).stat().st_size if file else float("nan") for file in self.rows["file"]]
        except OSError as error:
            hint = "The command that made the run makes them again."
            raise UsageError(f"Pictures of {show(self.run)} are gone: {show(error.filename)}.", hint) from error
        known = pd.Series(sizes, index=self.rows.index)
        return known.fillna(known.groupby(self.rows["set"]).transform("mean"))

    def of(self, shard: pd.DataFrame) -> Iterator[Picture]:
        """Each row of a shard as its facts and its file."""
        for record in writers.records_of(shard):
            file = record.pop("file")
            if not file:
                yield record, self._original(record["photo"], record["source_path"])
                continue
            data = read_named(file, LARGEST_FILE, folder=self.run)
            yield record, provenance.embed(data, self._packet(record))

    def _packet(self, record: Record) -> bytes:
        editor = {"model": record["editor"], "version": record["editor_sha256"]}
        return provenance.packet(tool=self.tool, attribute=record["attribute"], value=record["value"], **editor)

    def _encoded(self, photo: str, name: str) -> bytes:
        """The unedited photo, as the edits of it are written.  Raises: UsageError if it is gone or another."""
        hint = "Restore it, or use --no-originals."
        if name not in self.photos:
            raise UsageError(f"The photo {name} is gone.", hint)
        try:
            found = open_photo(self.photos[name])
        except PhotoError as error:
            raise UsageError(f"The photo {name} cannot be read: {error}.", hint) from error
        if found.id != photo:
            raise UsageError(f"The photo {name} is not the one that was edited.", hint)
        return encode(found.pixels, found.gray, found.icc, "png" if self.suffix == ".png" else "jpeg")
