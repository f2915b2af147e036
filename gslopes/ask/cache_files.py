"""The cache as a user handles it: list, export, import and prune.

The file has one JSON object a line: classifier, version, picture (sha256 of its bytes, hex), status (answered or
refused), raw (as the service sent it; the reason if refused), model (the version that it returned), asked (UTC),
client (the version of gslopes that asked). ``replay:FILE`` answers from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from gslopes.ask.cache import AnswerCache, CachedAnswer
from gslopes.core.errors import TableError, UsageError
from gslopes.core.files import LARGEST_TABLE, open_regular, parse_json, why_unreadable
from gslopes.core.runfolder import show, storage

CHUNK = 500  # answers in one transaction
_CLASSIFIERS = "SELECT id, name, version FROM classifiers ORDER BY name, version"
_FACTS = (
    "SELECT count(*), sum(status = 'refused'), min(asked), max(asked), sum(length(raw)) FROM answers "
    "WHERE classifier = ?"
)
_MODELS = "SELECT DISTINCT model FROM sources JOIN answers ON sources.id = source WHERE classifier = ? ORDER BY 1"
_NEXT = "SELECT id, picture FROM answers WHERE classifier = ? AND id > ? ORDER BY id LIMIT ?"


@dataclass(frozen=True, slots=True)
class CachedClassifier:
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


def facts(cache: AnswerCache) -> list[CachedClassifier]:
    """What the cache holds, by classifier.  Raises: StorageError."""
    found = []
    for classifier_id, name, version in cache.rows(_CLASSIFIERS):
        ((answers, refused, first, last, size),) = cache.rows(_FACTS, classifier_id)
        if answers:
            models = [model for (model,) in cache.rows(_MODELS, classifier_id) if model]
            found.append(CachedClassifier(name, version, answers, refused, _when(first), _when(last), models, size))
    return found


def export_answers(cache: AnswerCache, file: Path, name: str = "") -> int:
    """Write the answers of one classifier, or of all, to a file; returns how many.  Raises: StorageError."""
    count = 0
    with storage(file), file.open("w", encoding="utf-8") as out:
        for classifier_id, classifier, version in cache.rows(_CLASSIFIERS):
            if name in ("", classifier):
                for picture, cached in _answers(cache, classifier_id):
                    line = {"classifier": classifier, "version": version, "picture": picture.hex()}
                    line |= {"status": cached.status, "raw": cached.raw, "model": cached.model}
                    line |= {"asked": _when(cached.asked), "client": cached.client}
                    out.write(json.dumps(line, ensure_ascii=True) + "\n")
                    count += 1
    return count


def import_answers(cache: AnswerCache, file: Path) -> tuple[int, int]:
    """Add the answers of a file; those that are there already stay as they are.

    Returns: how many lines the file has, and how many answers were new.
    Raises: UsageError if there is no such file; TableError naming the line that makes no sense; StorageError.
    """
    try:
        source = open_regular(file)
    except (OSError, ValueError) as error:
        hint = "Name one that gslopes cache export has written."
        raise UsageError(f"{show(file)} cannot be read: {why_unreadable(error)}.", hint) from error
    before, lines = sum(one.answers for one in facts(cache)), 0
    pending: dict[int, dict[bytes, CachedAnswer]] = {}
    with source:
        for lines, line in enumerate(iter(partial(source.readline, LARGEST_TABLE), b""), 1):
            try:
                entry = parse_json(line, finite=False)
                json.dumps(entry, ensure_ascii=False).encode()  # half of a character pair cannot be kept
                if entry["status"] not in ("answered", "refused"):
                    raise ValueError(entry["status"])
                asked = int(datetime.fromisoformat(entry["asked"]).timestamp())
                cached = CachedAnswer(entry["status"], entry["raw"], str(entry["model"]), asked, str(entry["client"]))
                classifier_id = cache.classifier_id(entry["classifier"], entry["version"])
                picture = bytes.fromhex(entry["picture"])
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
                message = f"Line {lines} of {show(file)} is no answer: {type(error).__name__}: {error}."
                raise TableError(message, "Lines before it were imported.") from error
            pending.setdefault(classifier_id, {})[picture] = cached
            if len(pending[classifier_id]) >= CHUNK:
                cache.put(classifier_id, pending.pop(classifier_id))
    for classifier_id, answers in pending.items():
        cache.put(classifier_id, answers)
    return lines, sum(one.answers for one in facts(cache)) - before


def prune(cache: AnswerCache, *, name: str = "", before: datetime | None = None) -> int:
    """Delete answers and shrink the file; returns how many.

    name: only those of this classifier, with its parameters.  before: only those that were asked before this time.

    Raises: StorageError.
    """
    where, values = ["1"], []
    if name:
        where.append("classifier IN (SELECT id FROM classifiers WHERE name = ?)")
        values.append(name)
    if before is not None:
        where.append("asked < ?")
        values.append(str(int(before.timestamp())))
    return cache.delete(" AND ".join(where), values)


def _answers(cache: AnswerCache, classifier_id: int) -> Iterator[tuple[bytes, CachedAnswer]]:
    last = 0
    while rows := cache.rows(_NEXT, classifier_id, last, CHUNK):
        found = cache.find(classifier_id, [picture for _, picture in rows])
        yield from ((picture, found[picture]) for _, picture in rows if picture in found)
        last = rows[-1][0]


def _when(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
