"""The cache as a user handles it: what is in it, out into a file, in from a file, away with it.

The file has one JSON object a line: classifier, version, picture (sha256 of its bytes, hex), status (answered or
refused), raw (as the service sent it; the reason if refused), model (the version that it returned), asked (UTC),
client (the version of gslopes that asked). ``replay:FILE`` answers from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gslopes.core.errors import TableError, UsageError
from gslopes.core.runfolder import show, storage
from gslopes.score.cache import Kept, Store

MANY = 500  # answers in one transaction


@dataclass(frozen=True, slots=True)
class ShelfFacts:
    """One classifier in one version.

    answers, refused: how many.  first, last: when they were asked, UTC.  models: versions that the service returned.
    bytes: of the raw answers, as they are kept.
    """

    classifier: str
    version: str
    answers: int
    refused: int
    first: str
    last: str
    models: list[str]
    bytes: int


def facts(store: Store) -> list[ShelfFacts]:
    """What the cache holds, by classifier.  Raises: StorageError."""
    found = []
    for shelf, name, version in store.rows("SELECT id, name, version FROM shelves ORDER BY name, version"):
        query = "SELECT count(*), sum(status = 'refused'), min(asked), max(asked), sum(length(raw)) FROM answers"
        ((answers, refused, first, last, size),) = store.rows(f"{query} WHERE shelf = ?", shelf)
        if answers:
            query = "SELECT DISTINCT model FROM sources JOIN answers ON sources.id = source WHERE shelf = ? ORDER BY 1"
            models = [model for (model,) in store.rows(query, shelf) if model]
            found.append(ShelfFacts(name, version, answers, refused, _when(first), _when(last), models, size))
    return found


def export_answers(store: Store, file: Path, name: str = "") -> int:
    """Write the answers of one classifier, or of all, to a file; returns how many.  Raises: StorageError."""
    count = 0
    with storage(file), file.open("w", encoding="utf-8") as out:
        for shelf, classifier, version in store.rows("SELECT id, name, version FROM shelves ORDER BY name, version"):
            if name in ("", classifier):
                for picture, kept in _answers(store, shelf):
                    line = {"classifier": classifier, "version": version, "picture": picture.hex()}
                    line |= {"status": kept.status, "raw": kept.raw, "model": kept.model}
                    line |= {"asked": _when(kept.asked), "client": kept.client}
                    out.write(json.dumps(line, ensure_ascii=True) + "\n")
                    count += 1
    return count


def import_answers(store: Store, file: Path) -> tuple[int, int]:
    """Add the answers of a file; those that are there already stay as they are.

    Returns: how many lines the file has, and how many answers were new.
    Raises: UsageError if there is no such file; TableError naming the line that makes no sense; StorageError.
    """
    if not file.is_file():
        raise UsageError(f"There is no file {show(file)}.", "Name one that gslopes cache export has written.")
    before, lines = sum(one.answers for one in facts(store)), 0
    pending: dict[int, dict[bytes, Kept]] = {}
    with file.open(encoding="utf-8") as source:
        for lines, line in enumerate(source, 1):
            try:
                entry = json.loads(line)
                if entry["status"] not in ("answered", "refused"):
                    raise ValueError(entry["status"])
                asked = int(datetime.fromisoformat(entry["asked"]).timestamp())
                kept = Kept(entry["status"], entry["raw"], str(entry["model"]), asked, str(entry["client"]))
                shelf, picture = store.shelf(entry["classifier"], entry["version"]), bytes.fromhex(entry["picture"])
            except (KeyError, TypeError, ValueError) as error:
                message = f"Line {lines} of {show(file)} is no answer: {type(error).__name__}: {error}."
                raise TableError(message, "Lines before it were imported.") from error
            pending.setdefault(shelf, {})[picture] = kept
            if len(pending[shelf]) >= MANY:
                store.keep(shelf, pending.pop(shelf))
    for shelf, answers in pending.items():
        store.keep(shelf, answers)
    return lines, sum(one.answers for one in facts(store)) - before


def prune(store: Store, *, name: str = "", before: datetime | None = None) -> int:
    """Delete answers and give their room back to the disk; returns how many.

    name: only those of this classifier, with its parameters.  before: only those that were asked before this time.

    Raises: StorageError.
    """
    where, values = ["1"], []
    if name:
        where.append("shelf IN (SELECT id FROM shelves WHERE name = ?)")
        values.append(name)
    if before is not None:
        where.append("asked < ?")
        values.append(str(int(before.timestamp())))
    return store.delete(" AND ".join(where), values)


def _answers(store: Store, shelf: int) -> Iterator[tuple[bytes, Kept]]:
    """All answers of a shelf, a few at a time, in the order in which they came."""
    last = 0
    while rows := store.rows(
        "SELECT id, picture FROM answers WHERE shelf = ? AND id > ? ORDER BY id LIMIT ?", shelf, last, MANY
    ):
        found = store.find(shelf, [picture for _, picture in rows])
        yield from ((picture, found[picture]) for _, picture in rows if picture in found)
        last = rows[-1][0]


def _when(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
