"""Before anything is edited: each classifier is asked about two photos as they are, so that a mistake costs no more."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from gslopes.ask.answers import STOPPED, all_failed, is_cached
from gslopes.ask.cache import AnswerCache
from gslopes.ask.client import Client
from gslopes.ask.config import ScoreConfig
from gslopes.ask.cost import Budget, UsageStats, limits_of
from gslopes.ask.questions import PartProgress, digest
from gslopes.ask.trust import writable_cache
from gslopes.core import tables
from gslopes.core.errors import PhotoError
from gslopes.core.executor import Executor
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import Classifier
from gslopes.core.text import many
from gslopes.photos.folder import PhotoFile, photo_bytes, photo_of

FIRST = 2  # photos
_LOOK = 20  # of the first photos, where some cannot be read
_KINDS = (b"\xff\xd8\xff", b"\x89PNG")  # JPEG and PNG: what classifiers are sent


def ask_first(
    classifiers: Sequence[Classifier], files: Sequence[PhotoFile], config: ScoreConfig, budget: Budget, note: Executor
) -> None:
    """Ask about the first two photos that can be read; answers of services are kept, as all of them are.

    Raises: ClassifierError if a classifier fails on all of them for one reason; whatever else asking raises.
    """
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        rows = list(_written(files, folder))
        if not rows:
            return
        edits = tables.frame_of(tables.EDITS, rows)
        cached = any(map(is_cached, classifiers))
        cache = stack.enter_context(AnswerCache(writable_cache(config.cache))) if cached else None
        for one in classifiers:
            _ask(one, edits, folder, cache, budget, note)


def _ask(
    classifier: Classifier, edits: pd.DataFrame, folder: Path, cache: AnswerCache | None, budget: Budget, note: Executor
) -> None:
    usage, found = UsageStats(), []

    def done(_: int, answered: pd.DataFrame, __: pd.DataFrame, ___: PartProgress) -> None:
        found.append(answered)

    Client(classifier, cache=cache, budget=budget, usage=usage).ask_parts([(0, edits)], folder, done)
    if usage.requests and limits_of(classifier).remote:
        details = f", {usage}" if str(usage) else ""
        note.note(
            f"score      {classifier.name}: {many(usage.asked, 'photo')} asked about before any is edited{details}."
        )
    for answered in found:
        count = len(answered)
        raise_if_all_failed(answered, "the first picture" if count == 1 else f"the first {count} pictures", STOPPED)


def raise_if_all_failed(asked: pd.DataFrame, extent: str, hint: str) -> None:
    """Raises: ClassifierError if there are failures for one reason, no outage, and nothing else.

    asked: rows of the asked table, of one classifier.  extent: which pictures, in words.  hint: what to do.
    """
    reasons = set(asked["reason"])
    if set(asked["status"]) != {"failed"} or len(reasons) > 1 or Reason.UNAVAILABLE in reasons:
        return
    first = asked.iloc[0]
    raise all_failed(first["classifier"], extent, SkipReason(Reason(first["reason"]), first["detail"]), hint)


def _written(files: Iterable[PhotoFile], folder: Path) -> Iterator[tuple[object, ...]]:
    """Rows of an edits table for the first photos that can be read, written into the folder."""
    found = 0
    for file in list(files)[:_LOOK]:
        if found == FIRST:
            return
        try:
            data = photo_bytes(file.path)
            photo = photo_of(data, file.path)
        except PhotoError:
            continue
        if not data.startswith(_KINDS):
            from PIL import Image

            buffer = io.BytesIO()
            Image.fromarray(photo.pixels).save(buffer, "PNG")
            data = buffer.getvalue()
        if not (folder / digest(data).hex()).exists():
            found += 1
            yield row_of(data, folder)


def row_of(data: bytes, folder: Path) -> tuple[object, ...]:
    """Write a picture into a folder; the row of an edits table about it."""
    name = digest(data).hex()
    (folder / name).write_bytes(data)
    return name, "gender", 0, 0.0, name, 0.0
