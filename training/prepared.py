"""What a training makes of photos before its first step, kept for every later start: one record a photo and work.

Below the cache folder, ``training/<work>-<key>`` holds the records of one work. The key is of all that they depend on
but the photo: the code, its parameters, the sha256 of the models; a record's item is of the photo's bytes. So what has
changed has no record, and is made. Records lie in files of some 256, each written as a whole with a checksum, by a name
that no other process uses: a start that is stopped keeps what it has made, a damaged file is made again, and trainings
at once do each other no harm. It holds photos of people: git leaves the folder out, wherever it lies.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import io
import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from gslopes.ask.cache import VARIABLE, user_cache
from gslopes.core import runfolder
from gslopes.core.errors import PhotoError, StorageError
from gslopes.core.progress import progress_line, tell
from gslopes.core.records import ByteArray, slices
from gslopes.photos.folder import photo_bytes

SHARD = 256  # records of a file; what a start that is killed may lose
DAMAGED = (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile)


def cache_folder() -> Path:
    """``$GSLOPES_CACHE``, or ``gslopes`` below the user's cache folder.  Raises: StorageError if there is none."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return user_cache()


def home() -> Path:
    """Where records are kept."""
    return cache_folder() / "training"


# -- works -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work on photos.

    name: as a user reads it.  shape, dtype: of a record.  batch: how many are made at once.
    facts: what a record depends on but its item: parameters, sha256s of models.
    code: modules, classes and functions that make it; what they do counts, comments do not.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    batch: int
    facts: tuple[object, ...]
    code: tuple[Any, ...]
    key: str = field(init=False)

    def __post_init__(self) -> None:
        about = [self.name, self.shape, self.dtype, self.facts, [_meaning(c) for c in self.code]]
        digest = hashlib.sha256(json.dumps(about, default=str).encode()).hexdigest()
        object.__setattr__(self, "key", digest[:16])

    @property
    def folder(self) -> Path:
        """Where its records are."""
        return home() / f"{self.name}-{self.key}"


_MEANINGS: dict[Any, str] = {}


def _meaning(code: Any) -> str:
    """A digest of what code does, and of the TOML beside a module: the same if only comments or docstrings differ."""
    if code not in _MEANINGS:
        tree = ast.parse(dedent(inspect.getsource(code)))
        for node in ast.walk(tree):
            body: Any = getattr(node, "body", None)
            first = body[0] if isinstance(body, list) and len(body) > 1 else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = body[1:]  # type: ignore[attr-defined]
        text = ast.dump(tree)
        if isinstance(code, ModuleType) and code.__file__:
            beside = Path(code.__file__).with_suffix(".toml")
            text += beside.read_text(encoding="utf-8") if beside.is_file() else ""
        _MEANINGS[code] = hashlib.sha256(text.encode()).hexdigest()
    return _MEANINGS[code]


# -- records -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Made:
    """What one call of ``kept`` did: of how many items it was asked, how many it made, in how many seconds."""

    work: Work
    of: str
    asked: int
    made: int
    seconds: float


_watching: list[list[Made]] = []


@contextmanager
def watched() -> Iterator[list[Made]]:
    """What calls of ``kept`` do meanwhile."""
    calls: list[Made] = []
    _watching.append(calls)
    try:
        yield calls
    finally:
        _watching.remove(calls)


class NotKept(Exception):
    """A record that is not there, while ``only_kept``."""


_only_kept: list[None] = []


@contextmanager
def only_kept() -> Iterator[None]:
    """Nothing is made meanwhile: ``kept`` raises NotKept."""
    _only_kept.append(None)
    try:
        yield
    finally:
        _only_kept.pop()


def kept(
    work: Work, items: ByteArray, make: Callable[[NDArray[np.intp]], NDArray[Any]], of: str = ""
) -> NDArray[Any]:
    """The records of items, (n, *shape), made if they are not there yet, with a line of progress.

    items: (n, 32) uint8, a sha256 of each.  make: rows of ``items`` to their records.  of: which set, as the line says.

    Raises: StorageError if they cannot be written; NotKept while ``only_kept``.
    """
    names = [item.tobytes() for item in items]
    out = np.zeros((len(items), *work.shape), work.dtype)
    missing_names = dict.fromkeys(names)  # in the order of the items
    rows: dict[bytes, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    index = _index(work)
    if _only_kept and missing_names.keys() - {name for stored in index.values() for name in stored}:
        raise NotKept(work.name)
    for file, stored in index.items():
        pairs = [(place, row) for place, name in enumerate(stored) for row in rows.get(name, ())]
        values = _values(work, file, len(stored)) if pairs else None
        if values is not None:
            places, where = np.array(pairs, np.intp).T
            out[where] = values[places]
            for row in where:
                missing_names.pop(names[row], None)
    missing = np.array([rows[name][0] for name in missing_names], np.intp)
    began = time.monotonic()
    if len(missing) and _only_kept:  # damaged
        raise NotKept(work.name)
    if len(missing):
        _make(work, items, missing, make, out, f"{work.name} of {of}" if of else work.name)
        for name in missing_names:
            out[rows[name]] = out[rows[name][0]]
    for calls in _watching:
        spent = time.monotonic() - began
        calls.append(Made(work, of, len(rows), len(missing), spent))
    return out


def known(work: Work, items: ByteArray) -> int:
    """How many of the items (n, 32) have a record."""
    present = {name for stored in _index(work).values() for name in stored}
    return len({item.tobytes() for item in items} & present)


def records(work: Work) -> int:
    """How many records a work has."""
    return sum(map(len, _index(work).values()))


def rate(work: Work) -> float | None:
    """Seconds a record, as the largest of the last files took; None without records."""
    counts = {file: len(stored) for file, stored in _index(work).items()}
    for file in sorted(sorted(counts, key=_age)[-5:], key=lambda file: -counts[file]):
        with suppress(*DAMAGED):
            return float(_member(file, "seconds")) / counts[file]
    return None


def _make(
    work: Work,
    items: ByteArray,
    missing: NDArray[np.intp],
    make: Callable[[NDArray[np.intp]], NDArray[Any]],
    out: NDArray[Any],
    label: str,
) -> None:
    private()  # it can be written
    total = len(items)
    pending: list[NDArray[np.intp]] = []
    began = time.monotonic()
    with progress_line(True, {0: len(missing)}, label, "photos", done=total - len(missing)) as tick:
        try:
            for part in slices(len(missing), work.batch):
                batch = missing[part]
                out[batch] = make(batch)
                pending.append(batch)
                tick(len(batch))
                if sum(map(len, pending)) >= SHARD:
                    _write(work, items, pending, out, time.monotonic() - began)
                    pending, began = [], time.monotonic()
        finally:  # after Ctrl-C, too
            if pending:
                _write(work, items, pending, out, time.monotonic() - began)


def _write(
    work: Work, items: ByteArray, rows: Sequence[Any], out: NDArray[Any], seconds: float
) -> None:
    which = np.concatenate(rows)
    buffer = io.BytesIO()
    np.savez(buffer, items=items[which], values=out[which], seconds=np.float64(seconds))
    private()
    with writing(work.folder):
        runfolder.write_bytes(work.folder / f"{uuid4().hex}.npz", buffer.getvalue())


def private() -> Path:
    """The folder of records, made if missing: for this user alone, and left out by git if it lies in a checkout."""
    folder = home()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        ignore = folder / ".gitignore"
        if not ignore.is_file():
            ignore.write_text("*\n", encoding="ascii")
    return folder


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raises: StorageError if what is kept cannot be written, with what to do."""
    try:
        with runfolder.storage(path):
            yield
    except StorageError as error:
        hint = f"Make room, or name another folder in {VARIABLE}."
        raise StorageError(error.message, hint) from error


def _index(work: Work) -> dict[Path, list[bytes]]:
    """The items of each file of records; files that cannot be read are deleted."""
    index = {}
    for file in sorted(work.folder.glob("*.npz")):
        try:
            items = _member(file, "items")
            if items.dtype != np.uint8 or items.ndim != 2 or items.shape[1] != 32:
                raise ValueError("no items")
            index[file] = [item.tobytes() for item in items]
        except FileNotFoundError:  # cleared meanwhile
            continue
        except DAMAGED:
            _discard(file)
    return index


def _values(work: Work, file: Path, count: int) -> NDArray[Any] | None:
    """The records in a file, checked; None if it is gone or damaged, and then it is deleted."""
    try:
        values = _member(file, "values")
    except FileNotFoundError:
        return None
    except DAMAGED:
        _discard(file)
        return None
    if values.shape != (count, *work.shape) or values.dtype != np.dtype(work.dtype):
        _discard(file)
        return None
    return values


def _member(file: Path, name: str) -> NDArray[Any]:
    """An array of a file of records, its checksum compared.  Raises: FileNotFoundError; what is in DAMAGED."""
    with file.open("rb") as opened, np.load(opened) as shard:
        return np.asarray(shard[name])


def _discard(file: Path) -> None:
    tell(f"{file} is damaged: what it held is made again.")
    with suppress(OSError):
        file.unlink()


def _age(file: Path) -> float:
    with suppress(OSError):
        return file.stat().st_mtime
    return 0.0


# -- items -------------------------------------------------------------------------------------------------------------


def items_of_files(paths: Sequence[Path], of: str) -> ByteArray:
    """The sha256 of each file's bytes, (n, 32); of a file whose size and times are as before it is not read again.

    A file that is no photo counts as empty.  of: as of ``kept``.
    """
    digests = kept(
        _digests(), _stats(paths), lambda rows: np.stack([_digest(paths[r]) for r in rows]), of
    )
    return np.asarray(digests, np.uint8)


def items_of_arrays(arrays: NDArray[Any]) -> ByteArray:
    """The sha256 of each row of an array, (n, 32)."""
    digests = [_digest_of(np.ascontiguousarray(row).data) for row in arrays]
    return np.array(digests, np.uint8).reshape(-1, 32)


def known_files(paths: Sequence[Path]) -> ByteArray:
    """``items_of_files`` of those files that were read before; no file is read."""
    stats = _stats(paths)
    present = {name for stored in _index(_digests()).values() for name in stored}
    seen = np.array([stat.tobytes() in present for stat in stats], bool)
    return items_of_files([path for path, known in zip(paths, seen, strict=True) if known], "")


def _digests() -> Work:
    return Work("digests", (32,), "uint8", 64, (), (_digest,))


def _stats(paths: Sequence[Path]) -> ByteArray:
    stats = [_digest_of(_stat(path).encode("utf-8", "surrogateescape")) for path in paths]
    return np.array(stats, np.uint8).reshape(-1, 32)


def _stat(path: Path) -> str:
    """What changes when a file is written; its inode's time cannot be set back."""
    try:
        stat = path.stat()
    except OSError:
        return os.path.abspath(path)
    return f"{os.path.abspath(path)}\0{stat.st_size}\0{stat.st_mtime_ns}\0{stat.st_ctime_ns}"


def _digest(path: Path) -> ByteArray:
    try:
        return _digest_of(photo_bytes(path))
    except PhotoError:
        return _digest_of(b"")


def _digest_of(data: Any) -> ByteArray:
    return np.frombuffer(hashlib.sha256(data).digest(), np.uint8)


# -- as a user handles it ----------------------------------------------------------------------------------------------


def sizes() -> dict[str, dict[str, Any]]:
    """What is kept, by work: files, bytes, and when one was last written."""
    folders = [path for path in home().glob("*") if path.is_dir()]
    return {folder.name: _size(folder) for folder in sorted(folders)}


def _size(folder: Path) -> dict[str, Any]:
    stats = []
    for file in folder.iterdir():
        with suppress(OSError):
            stats.append(file.stat())
    last = max((stat.st_mtime for stat in stats), default=0.0)
    return {"files": len(stats), "bytes": sum(stat.st_size for stat in stats), "written": last}


def clear() -> int:
    """Delete all that is kept; returns its bytes.  Raises: StorageError."""
    total = sum(int(facts["bytes"]) for facts in sizes().values())
    folder = home()
    with runfolder.storage(folder):
        if folder.is_dir():
            shutil.rmtree(folder)
    return total
