"""A run in the forms that other programs read: its pictures with facts, card and Croissant file; its answers."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

import pandas as pd
from pandas import DataFrame, Series

from gslopes.core import (
    JsonObject,
    PhotoError,
    RunFolderMismatch,
    Tick,
    UnknownName,
    UsageError,
    build,
    counted,
    csv_bytes,
    frozen,
    read_json,
    read_named,
    runfolder,
    runtime,
    show,
    with_options,
)
from gslopes.export import card, writers
from gslopes.export.pictures import ExportConfig, answers, pictures
from gslopes.faces.compose.encode import encode
from gslopes.frame.executors import OneProcess
from gslopes.photos.decode import LARGEST_FILE
from gslopes.photos.folder import list_files, open_photo

Form = Literal["imagefolder", "parquet", "webdataset", "answers"]
FORMS: tuple[Form, ...] = get_args(Form)
SHARD = (
    500e6  # bytes of a Parquet or tar file: hubs and loaders of WebDataset advise 300 MB to 1 GB
)
STATE = ".export.json"  # in an export: a digest of what it is


@frozen
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

    def facts(self) -> JsonObject:
        """As JSON has it."""
        return {**asdict(self), "path": str(self.path)}


@with_options(ExportConfig)
def export(
    run: str | Path,
    form: Form,
    out: str | Path | None = None,
    *,
    progress: bool = False,
    **options: Any,
) -> Exported:
    """Export the counterfactual photos of a run folder, or its answers. Called again, it adds the missing files.

    form: ``imagefolder`` (files and ``metadata.jsonl``), ``parquet`` (pictures within, as ``datasets`` reads it),
        ``webdataset`` (tar files; a set is never divided between two), ``answers`` (one row a picture and label).
    out: the folder, ``RUN/export/FORM`` by default; of answers the file, ``.csv`` or ``.parquet``, ``RUN/answers.csv``
        by default. In a CSV, text that a spreadsheet would run has an apostrophe in front.
    progress: show a bar on stderr.
    options: fields of ``export.pictures.ExportConfig``.

    Every form of pictures has a card (``README.md``) and, with the extra ``croissant``, a Croissant file
    (``croissant.json``); the XMP of every edited picture declares the edit. Columns: ``export.pictures``.

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
        return Exported(path, form, _write_answers(answers(folder), path))
    rows = pictures(folder, config)
    if not out:
        runfolder.check_links(folder)
    path = Path(out) if out else folder / "export" / form
    digest = sha256(json.dumps([form, asdict(config), list(rows)], default=str).encode())
    digest.update(
        pd.util.hash_pandas_object(rows.drop(columns="box"), index=False).to_numpy().tobytes()
    )
    identity = digest.hexdigest()  # of what makes two exports the same
    _check(path, identity)
    with (
        runfolder.locked(path),
        counted(OneProcess(progress=progress), "export", "pictures")(len(rows)) as tick,
    ):
        runfolder.write_json(path / STATE, {"identity": identity})
        _write(folder, form, rows, path, tick)
    splits = dict(Counter(rows["split"]))
    return Exported(path, form, len(rows), int(rows["set"].nunique()), splits)


def _write_answers(rows: DataFrame, path: Path) -> int:
    if path.suffix not in (".csv", ".parquet"):
        raise UsageError(
            f"{show(path)} ends in neither .csv nor .parquet.", "Name such a file with --out."
        )
    with runfolder.storage(path):
        data = csv_bytes(rows) if path.suffix == ".csv" else rows.to_parquet(index=False)
    runfolder.write_bytes(path, data)
    return len(rows)


def _check(out: Path, identity: str) -> None:
    """Raises: UsageError if the folder holds something else; RunFolderMismatch if it holds another export."""
    path = out / STATE
    hint = "Choose a new folder with --out."
    if path.is_file():
        try:
            same = read_json(path)["identity"] == identity
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{show(path)} cannot be read.", hint) from error
        if not same:
            raise RunFolderMismatch(
                f"{show(out)} holds an export of other pictures, or with other options.", hint
            )
    elif out.exists() and (not out.is_dir() or any(out.glob("[!.]*"))):
        raise UsageError(f"{show(out)} is not empty, and no export of ours.", hint)


def _write(run: Path, form: Form, rows: DataFrame, out: Path, tick: Tick) -> None:
    """Every file that is not there, then the description of all of them."""
    files = Files(run, rows)
    for name, shard in _shards(form, rows, files.sizes()):
        if (out / name).is_file():
            tick(len(shard))
        else:
            writers.WRITERS[form](out / name, files.of(shard, tick), files.suffix)
    if not (out / "README.md").is_file():
        about = card.facts_of(run, form, rows)
        runfolder.write_json(out / "croissant.json", card.metadata(about, out))
        runfolder.write_bytes(out / "README.md", card.readme(about).encode())
        runfolder.settle([out / "README.md"])


def _shards(form: Form, rows: DataFrame, sizes: Series) -> Iterator[tuple[str, DataFrame]]:
    """(file, its rows): whole sets, of one split each, in order, of about ``SHARD`` bytes or less.

    sizes: bytes of each picture.
    """
    for split, mine in rows.groupby("split", sort=False):
        if form == "imagefolder":
            yield f"{split}/metadata.jsonl", mine
            continue
        numbers = {}
        number = 0
        filled = 0.0
        for name, size in sizes[mine.index].groupby(mine["set"], sort=False).sum().items():
            if filled and filled + size > SHARD:
                number = number + 1
                filled = 0.0
            numbers[str(name)] = number
            filled += size
        ending = "parquet" if form == "parquet" else "tar"
        for index, shard in mine.groupby(mine["set"].map(numbers)):
            yield f"data/{split}-{int(str(index)):05d}-of-{number + 1:05d}.{ending}", shard


@dataclass(eq=False)
class Files:
    """The files of the pictures of a run, with their provenance; originals are written as the edits are.

    run: the run folder.  rows: as ``pictures`` made them.
    """

    run: Path
    rows: DataFrame

    def __post_init__(self) -> None:
        manifest = runfolder.read_manifest(self.run)
        self.suffix = Path(self.rows.loc[self.rows["file"] != "", "file"].iloc[0]).suffix
        self.tool = f"gslopes {runtime.gslopes_version()}"
        root = Path(manifest["config"].get("photos", ""))
        self.photos = {file.relative: file.path for file in list_files(root)}
        # the sets of a photo follow one another
        self._original = lru_cache(maxsize=1)(self._encoded)

    def sizes(self) -> Series:
        """Bytes of each picture; of an original the mean of its set.  Raises: UsageError if one is gone."""
        try:
            sizes = [
                (self.run / file).stat().st_size if file else float("nan")
                for file in self.rows["file"]
            ]
        except OSError as error:
            hint = "The command that made the run makes them again."
            raise UsageError(
                f"Pictures of {show(self.run)} are gone: {show(error.filename)}.", hint
            ) from error
        measured = Series(sizes, self.rows.index)
        return measured.fillna(measured.groupby(self.rows["set"]).transform("mean"))

    def of(self, shard: DataFrame, tick: Tick) -> Iterator[writers.Picture]:
        """Each row of a shard as its facts and what reads its file.  tick: called with 1 after each."""
        for record in shard.to_dict("records"):
            file = record.pop("file")
            yield record, partial(self._read, file, record)
            tick(1)

    def _read(self, file: str, record: writers.Record) -> bytes:
        if not file:
            return self._original(record["photo"], record["source_path"])
        editor = {"model": record["editor"], "version": record["editor_sha256"]}
        asked = {"attribute": record["attribute"], "value": record["value"]}
        data = read_named(file, LARGEST_FILE, folder=self.run)
        return writers.embed(data, writers.packet(tool=self.tool, **asked, **editor))

    def _encoded(self, photo: str, name: str) -> bytes:
        """The unedited photo, as the edits of it are written.  Raises: UsageError if it is gone or another."""
        hint = "Restore it, and export again."
        if name not in self.photos:
            raise UsageError(f"The photo {name} is gone.", hint)
        try:
            opened = open_photo(self.photos[name])
        except PhotoError as error:
            raise UsageError(f"The photo {name} cannot be read: {error}.", hint) from error
        if opened.id != photo:
            raise UsageError(f"The photo {name} is not the one that was edited.", hint)
        return encode(
            opened.pixels, opened.gray, opened.icc, "png" if self.suffix == ".png" else "jpeg"
        )


class _Callable(ModuleType):
    """``gslopes.export`` is the function and this room at once: importing the room sets the name to the module."""

    __call__ = staticmethod(export)


__signature__ = vars(export)["__signature__"]
sys.modules[__name__].__class__ = _Callable
