"""The cache of all answers: one SQLite file that any number of processes may share.

An answer is found by the sha256 of the picture, the classifier's name with its parameters and its declared version. It
is kept raw, with the time, the model version that the service returned and the version of gslopes that asked. Replies
to a picture that takes several requests are kept one by one, until its answer is there. Before a picture is asked it is
*claimed*, in one transaction with the look-up, so that two processes never ask the same. A claim ends with the answer,
with its owner (a lock that the kernel drops with the process), or after ``LEASE`` seconds.
"""

import fcntl
import json
import os
import re
import sqlite3
import tempfile
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from gslopes.ask.secrets import scrub_json_text
from gslopes.core import StorageError, frozen, gslopes_version, show
from gslopes.core.files import why_unreadable
from gslopes.core.records import batches
from gslopes.core.storage import storage

VARIABLE = "GSLOPES_CACHE"
FILE = "answers.sqlite"
# seconds by a clock that nobody sets; longer than one request with all its retries and the waits a service asks for
LEASE = 14_400.0
CHUNK = 500  # keys in one statement; SQLite takes at least 999 values

_SCHEMA = """
CREATE TABLE IF NOT EXISTS classifiers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL,
    UNIQUE (name, version));
CREATE TABLE IF NOT EXISTS sources (id INTEGER PRIMARY KEY, model TEXT NOT NULL, client TEXT NOT NULL,
    UNIQUE (model, client));
CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, classifier INTEGER NOT NULL, picture BLOB NOT NULL,
    status TEXT NOT NULL, raw BLOB NOT NULL, source INTEGER NOT NULL, asked INTEGER NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS by_picture ON answers (classifier, picture);
CREATE TABLE IF NOT EXISTS begun (classifier INTEGER NOT NULL, picture BLOB NOT NULL, raw BLOB NOT NULL,
    PRIMARY KEY (classifier, picture)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (classifier INTEGER NOT NULL, picture BLOB NOT NULL, owner TEXT NOT NULL,
    until REAL NOT NULL, PRIMARY KEY (classifier, picture)) WITHOUT ROWID;
"""
_SCHEMA_VERSION = 3  # in PRAGMA user_version
_LARGEST_ANSWER = 256 << 20  # bytes of an answer, unpacked
_ANOTHER = "Choose another folder with --cache."
_ELSEWHERE = f"Name a folder that can be written with --cache DIR, or in the variable {VARIABLE}."
_ANSWERS = (
    "SELECT picture, status, raw, model, asked, client FROM answers JOIN sources ON sources.id = source "
    "WHERE classifier = ?"
)


# -- its place --------------------------------------------------------------------------------------------------------


def user_cache() -> Path:
    """The folder for what can be made again, of this user.  Raises: StorageError if the user has no home folder."""
    from platformdirs import user_cache_path

    try:
        folder = user_cache_path("gslopes", appauthor=False)
        if folder.is_absolute():
            return folder
    except RuntimeError:  # no HOME, and no entry in the system's list of users
        pass
    raise StorageError("This user has no home folder, where answers would be kept.", _ELSEWHERE)


def cache_folder(chosen: Path | str | None = None) -> Path:
    """Where answers are kept: what was given, else $GSLOPES_CACHE, else the user's cache folder.

    Raises: StorageError if this user has no home folder, as in some containers.
    """
    chosen = chosen or os.environ.get(VARIABLE)
    if not chosen:
        return user_cache() / "answers"
    folder = Path(os.path.expanduser(chosen))
    if str(folder).startswith("~"):
        raise StorageError(
            f"{show(chosen)} names a home folder, and this user has none.", _ELSEWHERE
        )
    return folder


def writable_cache(chosen: Path | str | None = None) -> Path:
    """``cache_folder``, made if need be and tried before any work.  Raises: StorageError if it cannot be written."""
    folder = cache_folder(chosen)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise StorageError(
            f"Answers cannot be kept in {show(folder)}: {why_unreadable(error)}.",
            _ELSEWHERE,
        ) from error


# -- what it holds -----------------------------------------------------------------------------------------------------


@frozen
class CachedAnswer:
    """One answer in the cache.

    status: ``answered`` or ``refused``.  raw: as the classifier's ``ask`` gave it; the reason if refused.
    model: the version that the service returned, empty if it returned none.  asked: seconds since 1970, UTC.
    client: the version of gslopes that asked.
    """

    status: str
    raw: object
    model: str = ""
    asked: int = 0
    client: str = ""


@frozen
class Claim:
    """What came of claiming pictures, by sha256: ours ``to_ask``, ``cached`` already, ``in_progress`` elsewhere."""

    to_ask: set[bytes]
    cached: dict[bytes, CachedAnswer] = field(default_factory=dict)
    in_progress: set[bytes] = field(default_factory=set)


class AnswerCache:
    """The cache, open; any number of threads may use one.

    folder: made if missing.

    Raises: StorageError, here and in every method, if the file cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.owner = uuid4().hex
        self._lock = threading.RLock()
        self._claims = f"claims WHERE owner = '{self.owner}' AND"
        with storage(folder):
            (folder / "owners").mkdir(parents=True, exist_ok=True)
            self._alive = os.open(self._lock_file(self.owner), os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._alive, fcntl.LOCK_EX)
            # one process at a time: SQLite cannot wait while a file that is just being made changes to WAL
            with (folder / ".opening").open("a") as lock, sqlite_errors(self.path):
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._db = sqlite3.connect(
                    self.path, timeout=60, isolation_level=None, check_same_thread=False
                )
                self._prepare()

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode=WAL")
        if self._db.execute(
            "SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')"
        ).fetchone():
            raise StorageError(f"{show(self.path)} is not a cache that gslopes made.", _ANOTHER)
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > _SCHEMA_VERSION or version == 1:
            raise StorageError(
                f"{show(self.path)} was made by another version of gslopes.", _ANOTHER
            )
        if version < _SCHEMA_VERSION:
            with self._transaction():
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version={_SCHEMA_VERSION}")

    def close(self) -> None:
        """Release what is still claimed, and close."""
        with suppress(StorageError, sqlite3.Error), self._transaction():
            self._db.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))
        self._db.close()
        self._lock_file(self.owner).unlink(missing_ok=True)
        os.close(self._alive)

    def __enter__(self) -> "AnswerCache":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- answers ------------------------------------------------------------------------------------------------------

    def classifier_id(self, name: str, version: str) -> int:
        """The number under which one classifier's answers, in one version, are stored."""
        with self._transaction():
            return self._id_of("classifiers", "name, version", name, version)

    def count(self, classifier_id: int) -> int:
        """How many answers a classifier has."""
        ((count,),) = self.rows("SELECT count(*) FROM answers WHERE classifier = ?", classifier_id)
        return int(count)

    def has(self, classifier_id: int, pictures: Iterable[bytes]) -> set[bytes]:
        """Which of the pictures have an answer."""
        query = "SELECT picture FROM answers WHERE classifier = ?"
        return {picture for (picture,) in self._rows_about(pictures, query, classifier_id)}

    def find(self, classifier_id: int, pictures: Iterable[bytes]) -> dict[bytes, CachedAnswer]:
        """The answers to these pictures, by the sha256 of the picture."""
        return {
            picture: CachedAnswer(status, self._unpacked(raw), *source)
            for picture, status, raw, *source in self._rows_about(pictures, _ANSWERS, classifier_id)
        }

    def claim(self, classifier_id: int, pictures: Sequence[bytes]) -> Claim:
        """Take the pictures that have no answer and that no other process is asking, to be asked by us."""
        until = time.monotonic() + LEASE
        with self._transaction(lasting=False):
            cached = self.find(classifier_id, pictures)
            in_progress = self._claimed_by_others(classifier_id, pictures)
            to_ask = {*pictures} - {*cached} - in_progress
            claims = [(classifier_id, picture, self.owner, until) for picture in to_ask]
            self._db.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", claims)
        return Claim(to_ask, cached, in_progress)

    def put(self, classifier_id: int, answers: Mapping[bytes, CachedAnswer]) -> None:
        """Write answers, durable when this returns, and release their claims. The first answer to a picture stays."""
        columns = "(classifier, picture, status, raw, source, asked)"
        insert = f"INSERT OR IGNORE INTO answers {columns} VALUES (?, ?, ?, ?, ?, ?)"
        client = gslopes_version()
        with self._transaction():
            for picture, answer in answers.items():
                asked_at = answer.asked or int(time.time())
                by = answer.client or client
                source = self._id_of("sources", "model, client", answer.model, by)
                row = (classifier_id, picture, answer.status, _packed(answer.raw), source, asked_at)
                self._db.execute(insert, row)
            self._delete(self._claims, classifier_id, answers)
            self._delete("begun WHERE", classifier_id, answers)

    def begun(self, classifier_id: int, picture: bytes) -> object:
        """What the requests about a picture that has no answer yet have brought; None if there were none."""
        query = "SELECT raw FROM begun WHERE classifier = ?"
        for (raw,) in self._rows_about([picture], query, classifier_id):
            return self._unpacked(raw)
        return None

    def keep_begun(self, classifier_id: int, picture: bytes, raw: object) -> None:
        """Write what the requests about a picture have brought so far, durable when this returns."""
        with self._transaction():
            row = (classifier_id, picture, _packed(raw))
            self._db.execute("INSERT OR REPLACE INTO begun VALUES (?, ?, ?)", row)

    def forget(self, classifier_id: int, pictures: Iterable[bytes]) -> None:
        """Delete the answers to these pictures, so that they are asked about again."""
        with self._transaction():
            self._delete("answers WHERE", classifier_id, pictures)

    def release(self, classifier_id: int, pictures: Iterable[bytes]) -> None:
        """Release claims without an answer."""
        with self._transaction(lasting=False):
            self._delete(self._claims, classifier_id, pictures)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query that only reads."""
        with self._lock, sqlite_errors(self.path):
            return self._db.execute(query, values).fetchall()

    def prune(self, name: str = "", before: datetime | None = None) -> int:
        """Delete answers and shrink the file; returns how many.

        name: only this classifier's, with its parameters.  before: only answers from before this time.
        """
        values = name, before and int(before.timestamp())
        with self._transaction():
            count = self._db.execute(f"DELETE FROM answers WHERE {_PRUNED}", values).rowcount
            left = "SELECT classifier FROM answers"
            self._db.execute(
                f"DELETE FROM begun WHERE classifier NOT IN ({left}) AND {_BEGUN}", values
            )
            left = f"{left} UNION SELECT classifier FROM begun"
            self._db.execute(f"DELETE FROM classifiers WHERE id NOT IN ({left})")
        self.rows("VACUUM")
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        return count

    def _unpacked(self, packed: bytes) -> object:
        unpacker = zlib.decompressobj()
        try:
            text = unpacker.decompress(packed, _LARGEST_ANSWER)
            if unpacker.unconsumed_tail:
                raise ValueError(f"it has more than {_LARGEST_ANSWER:,} bytes")
            return json.loads(text.decode("utf-8", "surrogatepass"))
        except (zlib.error, TypeError, ValueError, RecursionError) as error:
            raise StorageError(
                f"{show(self.path)} holds a damaged answer: {error}.", _ANOTHER
            ) from error

    def _rows_about(
        self, pictures: Iterable[bytes], query: str, *values: object
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of a query that are about these pictures, which it does not name itself."""
        keys = list(dict.fromkeys(pictures))
        for chunk in batches(keys, CHUNK):
            yield from self.rows(
                f"{query} AND picture IN ({','.join('?' * len(chunk))})", *values, *chunk
            )

    def _delete(self, rows: str, classifier_id: int, pictures: Iterable[bytes]) -> None:
        """Within a transaction.  rows: a table and the beginning of a condition."""
        keys = [(classifier_id, picture) for picture in pictures]
        self._db.executemany(f"DELETE FROM {rows} classifier = ? AND picture = ?", keys)

    def _id_of(self, table: str, columns: str, *values: str) -> int:
        self._db.execute(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES (?, ?)", values)
        (row,) = self._db.execute(f"SELECT id FROM {table} WHERE ({columns}) = (?, ?)", values)
        return int(row[0])

    # -- claims of others ---------------------------------------------------------------------------------------------

    def _claimed_by_others(self, classifier_id: int, pictures: Sequence[bytes]) -> set[bytes]:
        query = """
            SELECT picture, owner FROM claims WHERE classifier = ? AND owner != ? AND until > ?
        """
        rows = list(self._rows_about(pictures, query, classifier_id, self.owner, time.monotonic()))
        alive = set(filter(self._is_alive, {owner for _, owner in rows}))
        return {picture for picture, owner in rows if owner in alive}

    def _is_alive(self, owner: str) -> bool:
        """Whether that process still runs: it holds the lock on its file as long as it does."""
        if not re.fullmatch("[0-9a-f]{32}", owner):
            return False  # none of ours: as a file's name it might lead anywhere
        try:
            handle = os.open(self._lock_file(owner), os.O_RDWR)
        except (FileNotFoundError, PermissionError):
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            self._lock_file(owner).unlink(missing_ok=True)
            return False
        finally:
            os.close(handle)

    def _lock_file(self, owner: str) -> Path:
        return self.path.parent / "owners" / owner

    # -- the connection -----------------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, *, lasting: bool = True) -> Iterator[None]:
        """A transaction: all or nothing, with no other writer in between.

        lasting: whether it also outlives a power cut when it ends; claims end with their process, anyway.
        """
        with self._lock, sqlite_errors(self.path):
            self._db.execute(f"PRAGMA synchronous={'FULL' if lasting else 'NORMAL'}")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:  # after some errors SQLite has rolled back by itself
                    self._db.execute("ROLLBACK")


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Raises: StorageError for what SQLite raises."""
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(
            f"The cache {show(path)} cannot be used: {error}.",
            "Choose another folder with --cache, or make room and run the same command again.",
        ) from error


def _packed(raw: object) -> bytes:
    text = scrub_json_text(raw)
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 6)


# -- as a user handles it ----------------------------------------------------------------------------------------------


# Of a classifier, or of an editor or a cropper whatever it is asked for.
_NAMED = "(?1 IN ('', name) OR substr(name, 1, length(?1) + 1) = ?1 || '@')"
_CLASSIFIERS = f"SELECT id, name, version FROM classifiers WHERE {_NAMED} ORDER BY name, version"
_FACTS = """
SELECT name, version, count(*), sum(status = 'refused'),
    strftime('%Y-%m-%dT%H:%M:%S+00:00', min(asked), 'unixepoch'),
    strftime('%Y-%m-%dT%H:%M:%S+00:00', max(asked), 'unixepoch'),
    json_group_array(DISTINCT model) FILTER (WHERE model != ''), sum(length(raw))
FROM answers JOIN classifiers ON classifiers.id = classifier JOIN sources ON sources.id = source
GROUP BY classifier ORDER BY name, version
"""
_NEXT = """
SELECT id, picture, strftime('%Y-%m-%dT%H:%M:%S+00:00', asked, 'unixepoch')
FROM answers WHERE classifier = ? AND id > ? ORDER BY id LIMIT ?
"""
# What is begun may be out by batch, and has no date.
_BEGUN = f"classifier IN (SELECT id FROM classifiers WHERE {_NAMED}) AND ?2 IS NULL"
_PRUNED = f"""
classifier IN (SELECT id FROM classifiers WHERE {_NAMED}) AND (?2 IS NULL OR asked < ?2)
"""


@frozen
class CachedClassifier:
    """One classifier in one version.

    answers, refused: how many.  first, last: when they were asked, UTC.  models: versions that the service returned.
    bytes: of the raw answers, compressed.
    """

    classifier: str
    version: str
    answers: int
    refused: int
    first: str
    last: str
    models: list[str]
    bytes: int


def facts(cache: AnswerCache) -> list[CachedClassifier]:
    """What the cache holds, by classifier.  Raises: StorageError."""
    return [
        CachedClassifier(*about, sorted(json.loads(models)), size)  # type: ignore[call-arg]
        for *about, models, size in cache.rows(_FACTS)
    ]


def export_answers(cache: AnswerCache, file: Path, name: str = "") -> int:
    """Write the answers of one classifier, or of all, to a file that ``replay:FILE`` answers from; returns how many.

    It has one JSON object a line: classifier, version, picture (sha256, hex), status, raw (as the service sent it; the
    reason if refused), model (the version that it returned), asked (UTC), client (the version of gslopes that asked).

    Raises: StorageError.
    """
    count = 0
    with storage(file), file.open("w", encoding="utf-8") as out:
        for classifier_id, classifier, version in cache.rows(_CLASSIFIERS, name):
            last = 0
            while rows := cache.rows(_NEXT, classifier_id, last, CHUNK):
                last = rows[-1][0]
                for _, picture, asked in rows:  # one at a time: an editor's answers are pictures
                    answer = cache.find(classifier_id, [picture])[picture]
                    line = {"classifier": classifier, "version": version, "picture": picture.hex()}
                    line |= asdict(answer) | {"asked": asked}
                    out.write(json.dumps(line, ensure_ascii=True) + "\n")
                count += len(rows)
    return count
