"""One search after the other: results, downloads, duplicates, files. Stopped at any moment, it loses no download.

A search is a part. Its results are kept as they came, each photo is on the disk before a line of a journal names it,
and the part's manifest table is its commit marker. Photos are judged in the order of the searches and of the ranks, one
at a time, whatever the order in which they arrive: what repeats what does not depend on the network. For the same
reason parts must be carried out in their order.
"""

import contextlib
import json
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import httpx

from gslopes.collect.config import CollectConfig
from gslopes.collect.fetch import DownloadError, Fetcher, FetchPolicy, Robots, refused
from gslopes.collect.search import Candidate, Provider, Query
from gslopes.core import (
    JsonObject,
    PhotoError,
    Reason,
    Row,
    ServiceError,
    SkipReason,
    Texts,
    explained,
    hexdigest,
    kill_point,
    parse_json,
    read_json,
    runfolder,
    runtime,
    tables,
)
from gslopes.core.tables import MANIFEST
from gslopes.photos.decode import HEAD, decode, kind_of

STAGE = "collect"
OVERSAMPLE = 1.5  # results that are asked for, of the photos that are wanted: some are gone, some repeat others
WORKERS = 8
OUTAGE = 25  # downloads that fail one after the other before it is the network that is to blame
_SUFFIXES = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "BMP": "bmp", "TIFF": "tif"}

Outcome = bytes | DownloadError


def examine(data: bytes, min_side: int) -> JsonObject:
    """The manifest's columns about a photo: its id (sha256 of the bytes), path by its contents, width, height, bytes.

    The whole file is decoded; sizes are checked in its header before a pixel is.  min_side: least length of the shorter
    side, pixels.

    Raises: DownloadError if it is not a photo, too small, too large, damaged or of a format that no audit reads.
    """
    suffix = _SUFFIXES.get(kind_of(data[:HEAD]))
    if suffix is None:
        raise refused(Reason.UNKNOWN_FORMAT)
    try:
        pixels, _, _ = decode(data, "")
    except PhotoError as error:
        raise DownloadError("refused", SkipReason.of(error.reason)) from error
    height, width = pixels.shape[:2]
    if min(width, height) < min_side:
        raise refused(
            Reason.TOO_SMALL,
            f"shorter side {min(width, height)} pixels, at least {min_side} wanted",
        )
    photo = hexdigest(data)
    path = f"{photo[:16]}.{suffix}"
    return {"photo": photo, "path": path, "width": width, "height": height, "bytes": len(data)}


@dataclass(eq=False)
class Collector:
    """Carries out one search after the other; a context manager, whose end closes all connections.

    out: the collection's folder.  provider, queries, config: what, and how.
    """

    out: Path
    provider: Provider
    queries: Sequence[Query]
    config: CollectConfig

    def __post_init__(self) -> None:
        self.stop = threading.Event()
        about = "; ".join(filter(None, ("audits of image classifiers", self.config.contact)))
        agent = f"gslopes/{runtime.gslopes_version()} ({about})"
        self.fetcher = Fetcher(FetchPolicy(gap=self.config.gap, agent=agent), self.stop)
        self.robots = Robots(self.fetcher)
        self._photos: dict[str, str] = {}  # id to path of what was kept
        self._pool = ThreadPoolExecutor(WORKERS)
        self._known = 0  # parts whose photos are remembered
        self._failures = 0  # downloads that failed one after the other, up to now
        self._failed_parts: list[int] = []  # parts of this run in which they all did
        self._any_outcome = False
        self._settled: dict[str, Row] = {}  # address to its row, once no download would change it

    def __enter__(self) -> "Collector":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def __call__(self, part: int, tick: Callable[[int], None]) -> None:
        """One search: its photos, then its piece of the manifest.

        Raises: ServiceError if the source does not answer or the network is gone; StorageError.
        """
        for index in range(self._known, part):
            for row in tables.records(tables.read(MANIFEST, self._table(index))):
                self._remember(row)
        query = self.queries[part]
        wanted = self.config.per_query
        results = self._results(part, query)
        journal = self._path(part, "journal.jsonl")
        done = _read_journal(journal, self.out)
        rows: list[Row] = []
        saved = 0
        while saved < wanted and len(rows) < len(results):
            start = len(rows)
            most = min(2 * WORKERS, wanted - saved)
            batch = list(enumerate(results[start : start + most], start + 1))
            # each is fetched once, however many results point to it
            urls = {candidate.url: None for rank, candidate in batch if rank not in done}
            coming = {
                url: self._pool.submit(self._bytes, url) for url in urls if url not in self._settled
            }
            for rank, candidate in batch:
                row = done.get(rank) or self._judge(self._row(query, rank, candidate), coming)
                kill_point("collect:stored")
                if rank not in done and row["status"] != "failed":
                    with runfolder.storage(journal), journal.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                        file.flush()
                        os.fsync(file.fileno())
                    kill_point("collect:noted")
                if row["status"] == "kept":
                    saved += 1
                    tick(1)
                self._remember(row)
                rows.append(row)
        tick(wanted - saved)
        runfolder.write_table(MANIFEST, tables.frame_of(MANIFEST, rows), self._table(part))
        kill_point("collect:committed")
        journal.unlink(missing_ok=True)
        self._known = part + 1
        if rows and self._failures >= len(rows):
            self._failed_parts.append(part)
        if part + 1 == len(self.queries) and self._failures and not self._any_outcome:
            last = rows[-1] if rows else {"reason": "no result", "detail": ""}
            self._stop_for_outage(explained(last["reason"], last["detail"]))

    # -- searching ----------------------------------------------------------------------------------------------------

    def _results(self, part: int, query: Query) -> list[Candidate]:
        """As the source gave them the first time."""
        path = self._path(part, "results.json")
        with contextlib.suppress(OSError, ValueError, TypeError):  # not there yet, or damaged
            return [Candidate(**row) for row in read_json(path)]
        name = self.provider.name
        most = int(self.config.per_query * OVERSAMPLE)
        try:
            candidates = self.provider.search(query, most, self._ask)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ServiceError(
                f"{name} answered in a form that is not its own ({type(error).__name__}).",
                "Try again later; what was collected is kept.",
            ) from error
        unique: dict[tuple[str, str], Candidate] = {}
        for candidate in filter(attrgetter("url"), candidates):
            person = candidate.title * self.provider.of_people
            unique.setdefault((candidate.url, person), candidate)
        results = list(unique.values())
        runfolder.write_json(path, list(map(asdict, results)))
        return results

    def _ask(self, url: str, params: Texts, headers: Texts) -> Any:
        """The JSON of an answer.  Raises: ServiceError, which holds neither the address nor a key."""
        name = self.provider.name
        address = str(httpx.URL(url, params=dict(params)))
        rate_key = f"interface of {name}"  # it has a pace, even if it also serves the photos
        self.fetcher.set_min_interval(rate_key, self.provider.terms.gap)
        sent = {"Accept": "application/json", **headers}
        try:
            return parse_json(self.fetcher.get(address, headers=sent, rate_key=rate_key).body)
        except DownloadError as error:
            raise ServiceError(
                f"{name} does not answer: {error.reason}.",
                "What was collected is kept: the same command goes on from there.",
            ) from None
        except ValueError:
            raise ServiceError(
                f"{name} answered with something that is not JSON.", "Try later."
            ) from None

    # -- photos -------------------------------------------------------------------------------------------------------

    def _bytes(self, url: str) -> Outcome:
        """In a thread of the pool.  Raises: Stopped."""
        try:
            reply = self.fetcher.get(url, before_request=self.robots)
        except DownloadError as error:
            return error
        # one photo's, whatever it sent
        except (ArithmeticError, LookupError, RecursionError, ValueError) as error:
            return refused(Reason.CANNOT_BE_REQUESTED, type(error).__name__)
        kind = reply.content_type
        if "svg" not in kind and re.match("image/|.*/octet-stream$", kind):
            return reply.body
        return refused(Reason.NOT_SENT_AS_PICTURE, kind[:60])

    def _judge(self, row: Row, coming: Mapping[str, Future[Outcome]]) -> Row:
        """The manifest row of one result; its file is durable if it is kept.

        If its address has an outcome, it repeats what was kept, or is refused like it.
        """
        again = {"status": "duplicate", **SkipReason(Reason.DUPLICATE).columns}
        settled = self._settled.get(row["url"])
        if settled:
            row |= {name: settled[name] for name in ("status", "reason", "detail", "photo", "path")}
            return row | (again if settled["status"] == "kept" else {})
        outcome = coming[row["url"]].result()
        try:
            if isinstance(outcome, DownloadError):
                raise outcome
            about = examine(outcome, self.config.min_side)
        except DownloadError as error:
            self._count_failure(error)
            return row | {"status": error.status, **error.reason.columns}
        self._count_failure(None)
        saved_path = self._photos.get(about["photo"])
        if saved_path:
            return row | again | {"photo": about["photo"], "path": saved_path}
        path = self.out / folder_name(row["occupation"]) / about["path"]
        runfolder.write_bytes(path, outcome)
        runfolder.settle([path])
        return row | about | {"status": "kept", "path": f"{path.parent.name}/{path.name}"}

    def _count_failure(self, error: DownloadError | None) -> None:
        """Raises: ServiceError if ``OUTAGE`` downloads failed one after the other, so the network is to blame."""
        if error is None or error.status != "failed":
            self._failures = 0
            self._failed_parts = []
            self._any_outcome = True
            return
        self._failures += 1
        if self._failures >= OUTAGE:
            self._stop_for_outage(error.reason)

    def _row(self, query: Query, rank: int, candidate: Candidate) -> Row:
        row = dict.fromkeys(MANIFEST.columns, "") | asdict(query) | asdict(candidate)
        row |= dict.fromkeys(("width", "height", "bytes"), 0)
        row |= {"query": query.text, "rank": rank, "source": self.provider.name}
        return row | {"retrieved": datetime.now(UTC).isoformat(timespec="seconds")}

    def _remember(self, row: Row) -> None:
        if row["status"] != "failed":
            self._settled.setdefault(row["url"], row)
        if row["status"] == "kept":
            self._photos[row["photo"]] = row["path"]

    def _stop_for_outage(self, reason: str) -> None:
        """Raises: ServiceError, always. Searches that only saw the outage are left to the next run."""
        for part in self._failed_parts:
            self._table(part).unlink(missing_ok=True)
        what = "The only download failed with"
        if self._failures > 1:
            what = f"{self._failures} downloads failed one after the other, the last one with"
        raise ServiceError(
            f"{what}: {reason}.", "If the network is back, the same command goes on from there."
        )

    def _table(self, part: int) -> Path:
        return runfolder.part_path(self.out, STAGE, MANIFEST, part)

    def _path(self, part: int, name: str) -> Path:
        return self.out / "parts" / STAGE / f"{part:06d}-{name}"


def folder_name(occupation: str) -> str:
    """A folder for an occupation: its name, without what a file system may not like.

    >>> folder_name("driver/sales worker"), folder_name("..")
    ('driver-sales worker', 'photos')
    """
    plain = re.sub(r"[^\w .,'()+-]+", "-", occupation).strip(" .-")[:80]
    if plain and plain != "parts":
        return plain
    return "photos"


def _read_journal(journal: Path, out: Path) -> dict[int, Row]:
    """Rank to row, of the lines that are whole and whose files are there; a torn last line is cut off."""
    rows = {}
    length = 0
    data = journal.read_bytes() if journal.exists() else b""
    for line in data.splitlines(keepends=True):
        try:
            row = parse_json(line)
            rank = int(row["rank"])
            intact = row["status"] != "kept" or (out / row["path"]).is_file()
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError):
            break
        if not line.endswith(b"\n"):
            break
        length += len(line)
        if intact:
            rows[rank] = row
    if length < len(data):
        with runfolder.storage(journal):
            os.truncate(journal, length)
    return rows
