"""A run in the forms that other programs read: its pictures with facts, card and Croissant file; its answers."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

import pandas as pd
from pandas import DataFrame, Series

from gslopes.core import (
    JsonObject,
    RunFolderMismatch,
    Tick,
    UnknownName,
    UsageError,
    build,
    counted,
    csv_bytes,
    frozen,
    hexdigest,
    read_named,
    read_text,
    runfolder,
    runtime,
    show,
    to_dict,
    with_options,
)
from gslopes.export import writers
from gslopes.export.pictures import OURS, ExportConfig, answers, pictures
from gslopes.faces.compose.encode import encode, unedited
from gslopes.frame.executors import OneProcess
from gslopes.photos.decode import LARGEST_FILE
from gslopes.photos.folder import list_files, photo_of, size_of

Form = Literal["imagefolder", "parquet", "webdataset", "answers"]
FORMS: tuple[Form, ...] = get_args(Form)
SHARD = (
    500e6  # bytes of a Parquet or tar file: hubs and loaders of WebDataset advise 300 MB to 1 GB
)


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
        return dict(to_dict(self))


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
        path = Path(out or folder / "answers.csv")
        return Exported(path, form, _write_answers(answers(folder), path))
    rows = pictures(folder, config)
    if not out:
        runfolder.check_links(folder)
    path = Path(out or folder / "export" / form)
    hashes = pd.util.hash_pandas_object(rows.drop(columns="box"), index=False)
    # of what makes two exports the same
    identity = hexdigest(f"{form} {config} {[*rows]} {hashes.tolist()}")
    _check(path, identity)
    with (
        runfolder.locked(path),
        counted(OneProcess(progress=progress), "export", "pictures")(len(rows)) as tick,
    ):
        runfolder.write_json(path / runfolder.EXPORTED, {"identity": identity})
        _write(folder, form, rows, path, tick)
    return Exported(path, form, len(rows), rows["set"].nunique(), Counter(rows["split"]))


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
    path = out / runfolder.EXPORTED
    hint = "Choose a new folder with --out."
    if path.is_file():
        if identity not in read_text(path, raises=UsageError, hint=hint):
            raise RunFolderMismatch(
                f"{show(out)} holds an export of other pictures, or with other options.", hint
            )
    elif out.exists() and (not out.is_dir() or any(out.glob("[!.]*"))):
        raise UsageError(f"{show(out)} is not empty, and no export of ours.", hint)


def _write(run: Path, form: Form, rows: DataFrame, out: Path, tick: Tick) -> None:
    """Every file that is not there, then the description of all of them."""
    sizes = rows["file"].map(lambda file: size_of(run / file))
    gone = rows["file"][sizes < 0].tolist()
    if gone:
        raise UsageError(
            f"Pictures of {show(run)} are gone: {show(gone[0])}.",
            "The command that made the run makes them again.",
        )
    read = _reader(run, form, rows["file"])
    for name, shard in _shards(form, rows, sizes):
        if (out / name).is_file():
            tick(len(shard))
        else:
            writers.WRITERS[form](out / name, read(shard, tick))
    if not (out / "README.md").is_file():
        about = writers.facts_of(run, form, rows)
        runfolder.write_json(out / "croissant.json", writers.metadata(about, out))
        runfolder.write_bytes(out / "README.md", writers.readme(about).encode())
        runfolder.settle([out / "README.md"])


def _shards(form: Form, rows: DataFrame, sizes: Series) -> Iterator[tuple[str, DataFrame]]:
    """(file, its rows): whole sets, of one split each, in order, of about ``SHARD`` bytes or less.

    sizes: bytes of each picture; an original counts as the largest of its set.
    """
    most = sizes.groupby(rows["set"]).transform("max")
    for split, mine in rows.groupby("split", sort=False):
        if form == "imagefolder":
            yield f"{split}/metadata.jsonl", mine
            continue
        ends = most[mine.index].groupby(mine["set"]).sum().cumsum()
        numbers = (ends // SHARD).rank(method="dense").astype(int)
        ending = "parquet" if form == "parquet" else "tar"
        for number, shard in mine.groupby(mine["set"].map(numbers)):
            yield f"data/{split}-{number - 1:05d}-of-{numbers.max():05d}.{ending}", shard


def _reader(
    run: Path, form: Form, files: Series
) -> Callable[[DataFrame, Tick], Iterator[writers.Picture]]:
    """What makes of the rows of a shard their facts and files, with the provenance of those that we edited; it ticks
    for each. Originals are written as the edits are.
    """
    suffixes = sorted({Path(file).suffix for file in files} - {""})
    tool = f"gslopes {runtime.gslopes_version()}"
    root = run / runfolder.GIVEN  # wherever the run was made
    if not root.is_dir():
        root = Path(runfolder.read_manifest(run)["config"].get("photos", ""))
    photos = {file.relative: file.path for file in list_files(root)}
    original = lru_cache(maxsize=1)(unedited)  # the sets of a photo follow one another

    def read(file: str, suffix: str, record: writers.Record) -> bytes:
        if not file:
            name = record["source_path"]
            return original(photos.get(name, Path(name)), record["photo"], suffix)
        data = read_named(file, LARGEST_FILE, folder=run)
        if Path(file).suffix != suffix:
            photo = photo_of(data, Path(file))
            data = encode(photo.pixels, photo.gray, photo.icc, "png")
        if record["editor"]:
            data = writers.embed(data, writers.packet(tool, record))
        return data

    def pictures_of(shard: DataFrame, tick: Tick) -> Iterator[writers.Picture]:
        for _, rows in shard.groupby("set", sort=False):
            facts = rows.drop(columns=[*OURS]).to_json(orient="records", double_precision=15)
            for file, record in zip(rows["file"], json.loads(facts), strict=True):
                suffix = Path(file).suffix or suffixes[0]
                if form == "webdataset":  # in its samples a picture has one name
                    suffix = suffixes[-1]
                yield record, suffix, partial(read, file, suffix, record)
                tick(1)

    return pictures_of


class _Callable(ModuleType):
    """``gslopes.export`` is the function and this room at once: importing the room sets the name to the module."""

    __call__ = staticmethod(export)


__signature__ = vars(export)["__signature__"]
sys.modules[__name__].__class__ = _Callable
