"""The cache as a user handles it: list, export and prune.

The file has one JSON object a line: classifier, version, picture (sha256 of its bytes, hex), status (answered or
refused), raw (as the service sent it; the reason if refused), model (the version that it returned), asked (UTC),
client (the version of gslopes that asked). ``replay:FILE`` answers from it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gslopes.ask.cache import CHUNK, AnswerCache
from gslopes.core.runfolder import storage

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
            last = 0
            while name in ("", classifier) and (rows := cache.rows(_NEXT, classifier_id, last, CHUNK)):
                last = rows[-1][0]
                found = cache.find(classifier_id, [picture for _, picture in rows])
                for picture, cached in ((picture, found[picture]) for _, picture in rows):
                    line = {"classifier": classifier, "version": version, "picture": picture.hex()}
                    line |= {"status": cached.status, "raw": cached.raw, "model": cached.model}
                    line |= {"asked": _when(cached.asked), "client": cached.client}
                    out.write(json.dumps(line, ensure_ascii=True) + "\n")
                    count += 1
    return count


def prune(cache: AnswerCache, *, name: str = "", before: datetime | None = None) -> int:
    """Delete answers and shrink the file; returns how many.  Raises: StorageError.

    name: only those of this classifier, with its parameters.  before: only those that were asked before this time.
    """
    where, values = ["1"], []
    if name:
        where.append("classifier IN (SELECT id FROM classifiers WHERE name = ?)")
        values.append(name)
    if before is not None:
        where.append("asked < ?")
        values.append(str(int(before.timestamp())))
    return cache.delete(" AND ".join(where), values)


def _when(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
