"""The run folder: atomic writes, the manifest ``run.json``, one process at a time, and resuming part by part.

A stage works in *parts*. A part's last table is its commit marker: it appears, whole, only after everything else of
the part is safely on the disk, so a run that was stopped at any moment redoes at most the parts it was in.
"""

import fcntl
import filecmp
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pandas import DataFrame

from gslopes.core import (
    ConfigError,
    Facts,
    JsonObject,
    RunFolderMismatch,
    StorageError,
    UsageError,
    inside,
    kill_point,
    read_json,
    read_regular,
    tables,
)
from gslopes.core.config import convert
from gslopes.core.files import show as show
from gslopes.core.storage import storage as storage
from gslopes.core.tables import Table

MANIFEST = "run.json"
EXPORTED = ".export.json"  # in an export: a digest of what it is
GIVEN = "given"
GIVEN_TABLE = "given.csv"  # photos from memory or many folders, see frame.brought


# -- writing ----------------------------------------------------------------------------------------------------------


# two threads may write one file, such as what photos of the same bytes become
_WRITERS = [threading.Lock() for _ in range(64)]


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old one or the whole new one. Not yet durable: see ``settle``.

    The folder need not exist yet.  Raises: StorageError.
    """
    make_folder(path.parent)
    # one process a run folder: a fixed temporary name means that what a killed run left is overwritten, not collected
    temporary = path.with_name(f".{path.name}.tmp")
    with _WRITERS[hash(path) % len(_WRITERS)], storage(path):
        try:
            temporary.unlink(missing_ok=True)  # a link would be written through
            temporary.write_bytes(data)
            kill_point("file:temporary")
            temporary.replace(path)
            kill_point("file:placed")
        except OSError:
            temporary.unlink(missing_ok=True)
            raise


def write_changed(path: Path, data: bytes) -> None:
    """Write a file unless it holds the same already, so that its time stays.  Raises: StorageError."""
    with suppress(OSError):
        if read_regular(path, len(data)) == data:
            return
    write_bytes(path, data)


def settle(paths: Iterable[Path]) -> None:
    """Make files durable, and the folders that hold them: after this even a power cut keeps them.

    Called once a part: far cheaper than a sync a file.  Raises: StorageError.
    """
    paths = list(paths)
    for path in [*paths, *sorted({path.parent for path in paths})]:
        with storage(path):
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


@contextmanager
def placed(path: Path) -> Iterator[Path]:
    """A temporary file that takes a file's place, durably, once it is whole; a file that holds the same is not touched.

    The folder need not exist yet.  Raises: StorageError.
    """
    fresh = path.with_name(f".{path.name}.new.tmp")
    make_folder(path.parent)
    with storage(path):
        try:
            fresh.unlink(missing_ok=True)  # a link would be written through
            yield fresh
            settle([fresh])
            kill_point("table:temporary")
            if not (path.is_file() and filecmp.cmp(fresh, path, shallow=False)):
                fresh.replace(path)  # a file's time tells when it last changed
            kill_point("table:placed")
        finally:
            fresh.unlink(missing_ok=True)
    settle([path])


def lay(files: Mapping[str, bytes]) -> None:
    """Write files durably by their names, the last one after all others.  Raises: StorageError."""
    paths = list(map(Path, files))
    for path, data in zip(paths, files.values(), strict=True):
        if path == paths[-1]:
            settle(paths[:-1])
            kill_point("part:whole")
        write_changed(path, data)
    settle(paths[-1:])


def write_table(table: Table, frame: DataFrame, path: Path) -> None:
    """``tables.write``, as ``placed``.  Raises: TableError, StorageError."""
    with placed(path) as fresh:
        tables.write(table, frame, fresh)


def write_json(path: Path, content: Any) -> None:
    """Write JSON, indented, atomically and durably, unless the file holds the same.  Raises: StorageError."""
    write_changed(path, (json.dumps(content, indent=2, ensure_ascii=True) + "\n").encode())
    settle([path])


def make_folder(folder: Path) -> None:
    """Make a folder with those above it.  Raises: StorageError."""
    with storage(folder):
        folder.mkdir(parents=True, exist_ok=True)


# -- one run ----------------------------------------------------------------------------------------------------------


class Manifest(JsonObject):
    """The content of ``run.json``; of a key of ``_FORMS`` that this run does not have, the empty value."""

    def __missing__(self, key: str) -> Any:
        return _FORMS[key]()


def read_manifest(run: Path) -> Manifest:
    """The content of ``run.json``.  Raises: UsageError if this is not a run folder."""
    path = run / MANIFEST
    try:
        manifest = read_json(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        what = "is a file" if run.exists() else "does not exist"
        what = "is not a run folder: it has no run.json" if run.is_dir() else what
        raise UsageError(
            f"{show(run)} {what}.", "Make one with: gslopes synthesise PHOTOS --out RUN."
        ) from error
    except (ValueError, OSError) as error:
        raise UsageError(
            f"{show(path)} cannot be read: {error}.", "Choose another run folder."
        ) from error
    if not isinstance(manifest, dict):
        raise UsageError(
            f"{show(path)} is not the manifest of a run.", "Choose another run folder."
        )
    for key in manifest.keys() & _FORMS.keys():
        try:
            _check_form(key, manifest[key])
        except ConfigError as error:
            raise UsageError(
                f"{show(path)} is damaged: its {key!r} makes no sense.",
                "Restore it, or make the run again: gslopes synthesise PHOTOS --out RUN.",
            ) from error
    return Manifest(manifest)


def verdicts(run: Path, columns: list[str] | None = None) -> DataFrame:
    """The verdicts that count: none unless sweeps that the gate dropped were kept from the classifiers.

    Raises: TableError; as ``read_manifest``.
    """
    rows = tables.read_rows(tables.VERDICTS, run, columns)
    if len(rows) and not read_manifest(run)["gate"].get("applied"):
        return rows[:0]
    return rows


# Of the keys of ``run.json`` that are used, and of the section gate.
_FORMS: Facts = {
    **dict.fromkeys(("config", "editor", "gate", "identity", "versions"), dict),
    **dict.fromkeys(("created", "gslopes"), str),
    **dict.fromkeys(("classifiers", "models"), dict[str, JsonObject]),
    "seed": int,
    "values": dict[str, list[float]],
}
_GATE = {"thresholds": dict[str, float], "heads": list[str]}
FARTHEST = 1e6  # of a sweep's values from 0


def _check_form(key: str, value: Any) -> None:
    """Raises: ConfigError if the value of a key of ``run.json`` has not the form in which it is used."""
    convert(_FORMS[key], value, key)
    if key == "gate":
        for name in value.keys() & _GATE.keys():
            convert(_GATE[name], value[name], name)
    if key == "values" and any(
        len(sweep) < 2 or max(map(abs, sweep)) > FARTHEST for sweep in value.values()
    ):
        raise ConfigError("A sweep is too short, or goes too far.")


def compare(run: Path, manifest: Facts, keys: Iterable[str]) -> None:
    """Check that a run folder, if it exists, was made with the same values under these keys of its manifest.

    Raises: RunFolderMismatch naming what differs, with both values; UsageError if the folder holds something else.
    """
    if not (run / MANIFEST).exists():
        names = {entry.name for entry in run.iterdir()} if run.is_dir() else set()
        if visible := sorted(name for name in names - {GIVEN, GIVEN_TABLE} if name[0] != "."):
            raise UsageError(
                f"{show(run)} is not empty and is not a run folder: it holds {show(visible[0])}, but no run.json.",
                "Choose a new folder with --out, or remove what is left of a run.",
            )
        return
    old = read_manifest(run)
    lines = {key: differences(old.get(key), manifest.get(key), key) for key in keys}
    if lines.get("identity"):
        lines.pop("values", None)  # they follow from it
    if differing := [line for lines_of_key in lines.values() for line in lines_of_key]:
        raise RunFolderMismatch(
            f"{show(run)} was made by another configuration: {'; '.join(differing)}.",
            "Repeat its own command to resume it, or choose a new folder with --out.",
        )


def check_outside(out: Path, photos: Path, what: str = "run folder") -> None:
    """Raises: UsageError for a folder of results that is the folder of photos, or lies inside it."""
    if out.resolve().is_relative_to(photos.resolve()):
        raise UsageError(
            f"The {what} {show(out)} lies inside the photos folder {show(photos)}.",
            "Choose a folder outside of it with --out.",
        )


@contextmanager
def locked(run: Path) -> Iterator[None]:
    """Hold the run folder (made if need be) only for this process; the kernel lets go whenever the process ends.

    Raises: StorageError if another process works there, or the folder cannot be written; as ``check_links``.
    """
    make_folder(run)
    with storage(run):
        handle = os.open(run / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        with storage(run / ".lock"):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise StorageError(
                    f"Another process is working in {show(run)}.",
                    "Wait for it to end, or choose another folder with --out.",
                ) from error
        check_links(run)
        _discard_temporaries(run)
        yield
        gone = True
        with suppress(OSError):
            gone = not os.path.samestat(os.stat(run / ".lock"), os.fstat(handle))
        if gone:  # even if another was made in its place
            raise StorageError(
                f"{show(run)} was removed while this command worked in it.",
                "Run the same command again.",
            )
        _discard_temporaries(run)  # of a worker that was lost meanwhile
    finally:
        os.close(handle)


def check_links(run: Path) -> None:
    """Raises: StorageError for a link in a run folder that leads out of it: files elsewhere would be overwritten."""
    folders = [str(run)]
    for folder in folders:
        with storage(run), os.scandir(folder) as entries:
            for entry in entries:  # no file is looked at: there may be a million
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_symlink() and not inside(run, Path(entry.path)):
                    raise StorageError(
                        f"{show(entry.path)} is a link that leads out of {show(run)}.",
                        "Remove it, or put what it leads to in its place.",
                    )


def _discard_temporaries(run: Path) -> None:
    """Remove what a killed process had half written; no process is writing."""
    for stale in [*run.glob(".*.tmp"), *run.glob("parts/**/.*.tmp")]:
        with storage(run):
            stale.unlink(missing_ok=True)


# -- parts ------------------------------------------------------------------------------------------------------------


def part_path(run: Path, stage: str, table: Table, index: int) -> Path:
    """The file of a stage's part of a table: RUN/parts/<stage>/<table>-<index>.parquet."""
    return run / "parts" / stage / f"{table.name}-{index:06d}.parquet"


def missing_parts(run: Path, stage: str, marker: Table, count: int) -> list[int]:
    """Indices of the parts that are not committed yet; ``marker`` is the table that a part writes last."""
    return [index for index in range(count) if not part_path(run, stage, marker, index).exists()]


def read_parts(run: Path, table: Table, stages: Iterable[str], count: int) -> DataFrame:
    """The rows of all parts, as ``merge`` orders them, without writing them.  Raises: TableError."""
    paths = (part_path(run, stage, table, index) for stage in stages for index in range(count))
    frames = [frame for path in paths if len(frame := tables.read(table, path))]
    if frames:
        return pd.concat(frames, ignore_index=True)
    return table.empty()


ROW_GROUP = (
    1 << 16
)  # rows: a group costs a reader 0.1 ms a column, and a part of photos has some hundreds of rows


def merge(
    run: Path,
    table: Table,
    stages: Iterable[str],
    count: int,
    keep: Callable[[DataFrame], DataFrame] | None = None,
    name: str = "",
) -> Path:
    """Join the parts of a table into RUN/<table>.parquet (or <name>.parquet), few in memory at a time, atomically.

    Rows are in the order of the stages, then of the parts, and inside a part of the table's key. A table that comes out
    the same is not touched.  keep: which rows of a part go in; all by default.

    Raises: TableError if a part is missing or damaged, or a key occurs twice; StorageError.
    """
    path = run / f"{name or table.name}.parquet"
    begun: set[tuple[Any, ...]] = set()
    again = False  # of the keys their first columns alone: of long tables, few
    first = list(table.key[:2])
    with placed(path) as fresh:
        with pq.ParquetWriter(fresh, table.schema.remove_metadata(), compression="zstd") as writer:
            waiting = []
            for part in (
                part_path(run, stage, table, index) for stage in stages for index in range(count)
            ):
                frame = tables.read(table, part)
                rows = tables.check(table, frame if keep is None else keep(frame)).cast(
                    writer.schema
                )
                tables.check_key(table, rows)
                columns = rows.group_by(first, use_threads=False).aggregate([]).to_pydict().values()
                begins = set(zip(*columns, strict=True))
                again = again or not begun.isdisjoint(begins)
                begun |= begins
                waiting.append(rows)
                if sum(map(len, waiting)) >= ROW_GROUP:
                    writer.write_table(pa.concat_tables(waiting))
                    waiting.clear()
                kill_point("merge:half")
            if any(map(len, waiting)):
                writer.write_table(pa.concat_tables(waiting))
        if again:
            keys = pq.read_table(fresh, columns=list(table.key))
            tables.check_key(table, keys.sort_by([(column, "ascending") for column in table.key]))
        kill_point("merge:written")
    return path


def slug(name: str) -> str:
    """A file name for a classifier's name: readable, with eight hex digits so that no two names share it.

    >>> slug("celeba-tagger:threshold=0.3")
    'celeba-tagger-threshold-0.3-2a0efbee'
    """
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60]
    return f"{readable}-{sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


# --- In what two manifests differ, in words ---------------------------------------------------------------------------


def differences(old: Any, new: Any, name: str = "") -> list[str]:
    """One line for each leaf in which two nested mappings differ: its name and both values.

    >>> differences({"find": {"min_face": 32}}, {"find": {"min_face": 20}})
    ['find.min_face is 32 there and 20 here']
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        lines = []
        for key in dict.fromkeys([*old, *new]):
            lines += differences(old.get(key), new.get(key), f"{name}.{key}" if name else str(key))
        return lines
    before, now = (
        "not set" if value is None else json.dumps(value, ensure_ascii=False, default=str)
        for value in (old, new)
    )
    if old == new:
        return []
    return [f"{name} is {before} there and {now} here"]
