"""One search after the other: results, downloads, duplicates, files. Stopped at any moment, it loses no download.

A search is a part. Its results are kept as they came, each photo is on the disk before a line of a journal says so,
and the part's manifest table is its commit marker. Photos are judged in the order of the searches and of the ranks, one
at a time, whatever the order in which they arrive: what repeats what does not depend on the network. For the same
reason parts must be carried out in their order.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from PIL import Image

from gslopes.collect.fetch import DownloadError, Fetcher, FetchPolicy, Robots
from gslopes.collect.lists import Query
from gslopes.collect.source import Candidate, Source
from gslopes.core import runfolder, tables
from gslopes.core.errors import CredentialsError, PhotoError, ServiceError, UsageError
from gslopes.core.files import read_json
from gslopes.core.killpoints import kill_point
from gslopes.core.reasons import Reason, SkipReason, explained
from gslopes.core.records import ByteArray
from gslopes.core.tables import MANIFEST
from gslopes.photos.decode import decode

_KINDS = ((b"\xff\xd8\xff", "jpg"), (b"\x89PNG", "png"), (b"RIFF", "webp"), (b"BM", "bmp"), (b"II*", "tif"))
_BINARY = ("application/octet-stream", "binary/octet-stream")
_FIRST = 1024


@dataclass(frozen=True, slots=True)
class Picture:
    """A photo that decodes.

    photo: sha256 of its bytes.  suffix: by its contents, without the dot.  width, height: pixels, upright.
    phash: perceptual hash, 64 bits.
    """

    photo: str
    suffix: str
    width: int
    height: int
    phash: int


def check_type(content_type: str) -> None:
    """Raises: DownloadError unless a server's type is that of a picture, or says nothing about the contents."""
    if content_type in _BINARY or (content_type.startswith("image/") and "svg" not in content_type):
        return
    raise DownloadError("refused", SkipReason(Reason.NOT_SENT_AS_PICTURE, content_type[:60]))


def examine(data: bytes, min_side: int) -> Picture:
    """Decode a whole file; sizes are checked in its header before a pixel is decoded.

    min_side: least length of the shorter side, pixels.

    Raises: DownloadError if it is none, or too small, too large, damaged or of a format that the walk does not read.
    """
    suffix = next((name for magic, name in (*_KINDS, (b"MM\0*", "tif")) if data.startswith(magic)), "")
    if not suffix:
        raise DownloadError("refused", SkipReason(Reason.UNKNOWN_FORMAT))
    try:
        pixels, _, _ = decode(data, "")
    except PhotoError as error:
        raise DownloadError("refused", SkipReason.of(error.reason)) from error
    height, width = pixels.shape[:2]
    if min(width, height) < min_side:
        detail = f"shorter side {min(width, height)} pixels, at least {min_side} wanted"
        raise DownloadError("refused", SkipReason(Reason.TOO_SMALL, detail))
    return Picture(sha256(data).hexdigest(), suffix, width, height, perceptual_hash(pixels))


def perceptual_hash(pixels: ByteArray) -> int:
    """64 bits that hardly change when a photo is scaled or compressed again.

    pixels: (H, W, 3) uint8 RGB.

    Raises: UsageError if imagehash is not installed.

    Source: the DCT hash of the library imagehash, hash_size 8.
    """
    try:
        import imagehash
    except ImportError as error:
        hint = "Install it with: pip install 'gslopes[collect]'."
        raise UsageError("Finding duplicates needs the library imagehash.", hint) from error
    return int(str(imagehash.phash(Image.fromarray(pixels))), 16)


class DuplicateIndex:
    """The photos that were kept, found again by bytes or by looks.

    near: how many of 64 bits of two perceptual hashes may differ for two photos to be one.
    """

    def __init__(self, near: int) -> None:
        self.near = near
        self._files: list[tuple[str, str]] = []
        self._positions: dict[str, int] = {}
        self._hashes = np.zeros(_FIRST, np.uint64)

    def add(self, photo: str, path: str, phash: int) -> None:
        """Remember a photo that was kept."""
        index = len(self._files)
        if index == len(self._hashes):
            self._hashes = np.concatenate([self._hashes, np.zeros_like(self._hashes)])
        self._hashes[index] = phash
        self._positions[photo] = index
        self._files.append((photo, path))

    def find(self, picture: Picture) -> tuple[str, str, SkipReason] | None:
        """The photo that this one repeats, its path, and how that is known; None if it is new.

        Of several near ones the nearest, of equally near ones the earliest.
        """
        if picture.photo in self._positions:
            return (*self._files[self._positions[picture.photo]], SkipReason(Reason.DUPLICATE))
        if not self._files or self.near < 0:
            return None
        differing = (self._hashes[: len(self._files)] ^ np.uint64(picture.phash)).view(np.uint8).reshape(-1, 8)
        distances = np.unpackbits(differing, axis=1).sum(1)
        nearest = int(distances.argmin())
        if distances[nearest] > self.near:
            return None
        return (
            *self._files[nearest],
            SkipReason(Reason.LOOKS_THE_SAME, f"{int(distances[nearest])} of 64 bits differ"),
        )


# --- One search after the other: results, downloads, duplicates, files. Stopped at any moment, it loses no download
# A search is a part. Its results are kept as they came, each photo is on the disk before a line of a journal says so,
# and the part's manifest table is its commit marker. Photos are judged in the order of the searches and of the ranks,
# one at a time, whatever the order in which they arrive: what repeats what does not depend on the network. For the
# same reason parts must be carried out in their order.


STAGE = "collect"
OVERSAMPLE = 1.5  # results that are asked for, of the photos that are wanted: some are gone, some repeat others
WORKERS = 8
OUTAGE = 25  # downloads that fail one after the other before it is the network that is to blame

Row = dict[str, Any]
Outcome = bytes | DownloadError


@dataclass(frozen=True, slots=True)
class CollectionLimits:
    """What is wanted of each search.

    per_query: photos kept.  near: of 64 bits of the perceptual hash, how many may differ between duplicates.
    min_side: least length of a photo's shorter side, pixels.
    """

    per_query: int = 250
    near: int = 4
    min_side: int = 64


class Collector:
    """The work of the stage; a context manager, whose end closes all connections.

    out: the collection's folder.  source, queries, limits, policy: what, and how.
    """

    def __init__(
        self, out: Path, source: Source, queries: Sequence[Query], limits: CollectionLimits, policy: FetchPolicy
    ) -> None:
        self.out, self.source, self.queries, self.limits = out, source, queries, limits
        self.stop = threading.Event()
        self.fetcher = Fetcher(policy, self.stop)
        self.robots = Robots(self.fetcher)
        self.duplicates = DuplicateIndex(limits.near)
        self._pool = ThreadPoolExecutor(WORKERS)
        self._known = 0
        self._failures = 0  # downloads that failed one after the other, up to now
        self._failed_parts: list[int] = []  # parts of this run in which they all did
        self._any_outcome = False
        self._settled: dict[str, Row] = {}  # address to its row, once no download would change it

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self.fetcher.close()

    def __call__(self, part: int, tick: Callable[[int], None]) -> None:
        """One search: its photos, then its piece of the manifest.

        Raises: ServiceError if the source does not answer or the network is gone; CredentialsError, StorageError.
        """
        self._remember(part)
        query = self.queries[part]
        results = self._results(part, query)
        journal = self._path(part, "journal.jsonl")
        done = _read_journal(journal, self.out)
        rows: list[Row] = []
        kept = 0
        while kept < self.limits.per_query and len(rows) < len(results):
            start, max_results = len(rows), min(2 * WORKERS, self.limits.per_query - kept)
            batch = list(enumerate(results[start : start + max_results], start + 1))
            coming = self._downloads([(rank, one) for rank, one in batch if rank not in done])
            for rank, candidate in batch:
                row = done.get(rank) or self._repeated(query, rank, candidate)
                row = row or self._examine(query, rank, candidate, coming[rank])
                kill_point("collect:stored")
                if rank not in done and row["status"] != "failed":
                    _append(journal, row)
                    kill_point("collect:noted")
                if row["status"] == "kept":
                    self.duplicates.add(row["photo"], row["path"], int(row["phash"], 16))
                    kept += 1
                    tick(1)
                self._settle(row)
                rows.append(row)
        tick(self.limits.per_query - kept)
        frame = tables.frame_of(MANIFEST, rows)
        runfolder.write_table(MANIFEST, frame, runfolder.part_path(self.out, STAGE, MANIFEST, part))
        kill_point("collect:committed")
        journal.unlink(missing_ok=True)
        self._known = part + 1
        if rows and self._failures >= len(rows):
            self._failed_parts.append(part)
        if part + 1 == len(self.queries) and self._failures and not self._any_outcome:
            self._stop_for_outage(explained(rows[-1]["reason"], rows[-1]["detail"]) if rows else "no result")

    # -- searching ----------------------------------------------------------------------------------------------------

    def _results(self, part: int, query: Query) -> list[Candidate]:
        """As the source gave them the first time."""
        path = self._path(part, "results.json")
        with contextlib.suppress(OSError, ValueError, TypeError):  # not there yet, or damaged
            return [Candidate(**row) for row in read_json(path)]
        max_results = int(self.limits.per_query * OVERSAMPLE)
        try:
            found = self.source.search(query, max_results, self._ask)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            message = f"{self.source.name} answered in a form that is not its own ({type(error).__name__})."
            raise ServiceError(message, "Try again later; what was collected is kept.") from error
        shared = getattr(self.source, "shares_files", False)  # then each person on a file is a result
        unique: dict[tuple[str, str], Candidate] = {}
        for one in found:
            if one.url:
                unique.setdefault((one.url, one.title if shared else ""), one)
        runfolder.make_folder(path.parent)
        runfolder.write_json(path, [asdict(one) for one in unique.values()])
        shutil.rmtree(path.parent / "answers", ignore_errors=True)
        return [Candidate(**row) for row in read_json(path)]

    def _ask(self, url: str, params: Mapping[str, str], headers: Mapping[str, str]) -> Any:
        """The JSON of an answer.  Raises: ServiceError, CredentialsError; neither holds the address or a key."""
        address = httpx.URL(url, params=dict(params))
        kept = self.out / "parts" / STAGE / "answers" / f"{hashlib.sha256(str(address).encode()).hexdigest()[:32]}.json"
        with contextlib.suppress(OSError, ValueError):  # not there, or damaged: it is asked for again
            return read_json(kept)
        rate_key = f"interface of {self.source.name}"  # its pace is its own, even where it also serves the photos
        self.fetcher.rate.set_min_interval(rate_key, self.source.terms.gap)
        try:
            sent = {"Accept": "application/json", **headers}
            answer = json.loads(self.fetcher.get(str(address), headers=sent, rate_key=rate_key).body)
            if getattr(self.source, "keeps_answers", False):  # they are many, and the service slow
                runfolder.make_folder(kept.parent)
                runfolder.write_json(kept, answer)
            return answer
        except DownloadError as error:
            variables = getattr(self.source, "variables", ())
            if error.code in (401, 403) and variables:
                raise CredentialsError(self.source.name, variables, rejected=True) from None
            hint = "What was collected is kept: the same command goes on from there."
            raise ServiceError(f"{self.source.name} does not answer: {error.reason}.", hint) from None
        except ValueError:
            raise ServiceError(f"{self.source.name} answered with something that is not JSON.", "Try later.") from None

    # -- photos -------------------------------------------------------------------------------------------------------

    def _downloads(self, batch: Sequence[tuple[int, Candidate]]) -> dict[int, Future[Outcome]]:
        """Rank to what is on its way; each address is fetched once, however many results point to it."""
        by_address: dict[str, Future[Outcome]] = {}
        for _, one in batch:
            if one.url not in self._settled and one.url not in by_address:
                by_address[one.url] = self._pool.submit(self._bytes, one)
        return {rank: by_address[one.url] for rank, one in batch if one.url in by_address}

    def _settle(self, row: Row) -> None:
        if row["status"] != "failed":
            self._settled.setdefault(row["url"], row)

    def _repeated(self, query: Query, rank: int, candidate: Candidate) -> Row | None:
        """The row of a result whose address is known: a duplicate of what was kept, or refused like it."""
        known = self._settled.get(candidate.url)
        if known is None:
            return None
        row = self._row(query, rank, candidate)
        copied = {name: known[name] for name in ("status", "reason", "detail", "photo", "path", "phash")}
        if known["status"] == "kept":
            copied |= {"status": "duplicate", **SkipReason(Reason.DUPLICATE).columns}
        return row | copied

    def _bytes(self, candidate: Candidate) -> Outcome:
        """In a thread of its own.  Raises: Stopped."""
        try:
            local = self.source.read(candidate)
            if local is not None:
                return local
            reply = self.fetcher.get(candidate.url, before_request=self.robots)
            check_type(reply.content_type)
            return reply.body
        except DownloadError as error:
            return error
        except OSError as error:
            return DownloadError("refused", SkipReason(Reason.UNREADABLE, str(error.strerror)))
        except (ArithmeticError, LookupError, RecursionError, ValueError) as error:  # one photo's, whatever it sent
            return DownloadError("refused", SkipReason(Reason.CANNOT_BE_REQUESTED, type(error).__name__))

    def _examine(self, query: Query, rank: int, candidate: Candidate, coming: Future[Outcome]) -> Row:
        """The manifest row of one result; its file is durable if it is kept."""
        row = self._row(query, rank, candidate)
        outcome = coming.result()
        try:
            if isinstance(outcome, DownloadError):
                raise outcome
            picture = examine(outcome, self.limits.min_side)
        except DownloadError as error:
            self._count(error)
            return row | {"status": error.status, **error.reason.columns}
        self._failures, self._failed_parts, self._any_outcome = 0, [], True
        row["phash"] = f"{picture.phash:016x}"
        again = self.duplicates.find(picture)
        if again is not None:
            return row | {"status": "duplicate", "photo": again[0], "path": again[1], **again[2].columns}
        row["path"] = f"{folder_name(query.occupation)}/{picture.photo[:16]}.{picture.suffix}"
        self._store(self.out / row["path"], outcome)
        size = {"width": picture.width, "height": picture.height, "bytes": len(outcome)}
        return row | size | {"status": "kept", "photo": picture.photo}

    def _row(self, query: Query, rank: int, candidate: Candidate) -> Row:
        row: Row = dict.fromkeys(MANIFEST.columns, "") | asdict(candidate)
        row |= {"occupation": query.occupation, "soc": query.soc, "keyword": query.keyword, "query": query.text}
        row |= {"rank": rank, "source": self.source.name, "width": 0, "height": 0, "bytes": 0}
        return row | {"retrieved": datetime.now(UTC).isoformat(timespec="seconds")}

    def _store(self, path: Path, data: bytes) -> None:
        runfolder.make_folder(path.parent)
        runfolder.write_bytes(path, data)
        runfolder.settle([path])

    def _count(self, error: DownloadError) -> None:
        if error.status != "failed":
            self._failures, self._failed_parts, self._any_outcome = 0, [], True
            return
        self._failures += 1
        if self._failures >= OUTAGE:
            self._stop_for_outage(error.reason)

    def _stop_for_outage(self, reason: str) -> None:
        """Raises: ServiceError, always. Searches that only saw the outage are left to the next run."""
        for part in self._failed_parts:
            runfolder.part_path(self.out, STAGE, MANIFEST, part).unlink(missing_ok=True)
        several = f"{self._failures} downloads failed one after the other, the last one with"
        message = f"{several if self._failures > 1 else 'The only download failed with'}: {reason}."
        raise ServiceError(message, "If the network is back, the same command goes on from there.")

    def _remember(self, part: int) -> None:
        """The photos of the parts before this one."""
        for index in range(self._known, part):
            frame = tables.read(MANIFEST, runfolder.part_path(self.out, STAGE, MANIFEST, index))
            for row in frame.to_dict("records"):
                self._settle({str(name): value for name, value in row.items()})
                if row["status"] == "kept":
                    self.duplicates.add(row["photo"], row["path"], int(row["phash"], 16))
        self._known = max(self._known, part)

    def _path(self, part: int, name: str) -> Path:
        return self.out / "parts" / STAGE / f"{part:06d}-{name}"


def folder_name(occupation: str) -> str:
    """A folder for an occupation: its name, without what a file system may not like.

    >>> folder_name("driver/sales worker"), folder_name("..")
    ('driver-sales worker', 'photos')
    """
    plain = re.sub(r"[^\w .,'()+-]+", "-", occupation).strip(" .-")[:80]
    return plain if plain and plain != "parts" else "photos"


def _append(journal: Path, row: Row) -> None:
    """One line, durable."""
    with runfolder.storage(journal), journal.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _read_journal(journal: Path, out: Path) -> dict[int, Row]:
    """Rank to row, of the lines that are whole and whose files are there; a torn last line is cut off."""
    if not journal.exists():
        return {}
    found: dict[int, Row] = {}
    whole = 0
    data = journal.read_bytes()
    for line in data.splitlines(keepends=True):
        read = _read_line(line, out)
        if read is None:
            break
        whole += len(line)
        rank, row, there = read
        if there:
            found[rank] = row
    if whole < len(data):
        with runfolder.storage(journal):
            os.truncate(journal, whole)
    return found


def _read_line(line: bytes, out: Path) -> tuple[int, Row, bool] | None:
    """Rank, row, and whether its file is there; None if the line is torn or damaged."""
    if not line.endswith(b"\n"):
        return None
    try:
        row: Row = json.loads(line)
        return int(row["rank"]), row, row["status"] != "kept" or (out / row["path"]).is_file()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, OSError):
        return None
