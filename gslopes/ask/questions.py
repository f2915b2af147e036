"""What is asked, in which order, and what was said: the questions of one part and their outcomes."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

from gslopes.ask.answers import ClassifierCache, failed_answer, parse_answer, raise_if_fatal
from gslopes.ask.cost import Budget, UsageStats
from gslopes.ask.retry import RETRYABLE, RequestSender, RetryPolicy, Stopped
from gslopes.ask.secrets import scrub, scrub_json
from gslopes.core import tables
from gslopes.core.errors import ClassifierError, GslopesError, PhotoError, ServiceError, StorageError, TableError
from gslopes.core.files import inside, read_regular
from gslopes.core.killpoints import kill_point
from gslopes.core.records import Answer
from gslopes.core.runtime import is_out_of_memory
from gslopes.photos.decode import LARGEST_FILE


@dataclass(frozen=True, slots=True)
class Question:
    """One row of the edits table."""

    photo: str
    attribute: str
    step: int
    value: float
    file: str


def ordered(edits: pd.DataFrame, seed: int) -> list[Question]:
    """Photos by identifier; the pictures of one photo together, in an order that depends on the seed and that photo.

    Together and shuffled, so that a classifier that drifts with time cannot pose as an effect of the edit.

    edits: rows of the edits table, in any order.
    Raises: TableError if they are no such table or hold a row twice.
    """
    columns = tables.check(tables.EDITS, edits).to_pydict()
    names = ("photo", "attribute", "step", "value", "file")
    rows = sorted(zip(*(columns[name] for name in names), strict=True), key=lambda row: row[:3])
    if len({row[:3] for row in rows}) < len(rows):
        raise TableError("The edits table has two rows for one photo, attribute and step.")
    questions = [Question(*row) for row in rows]
    groups = groupby(questions, key=lambda question: question.photo)
    shuffled = []
    for photo, group in groups:
        entropy = int.from_bytes(hashlib.sha256(f"{seed} {photo}".encode("utf-8", "surrogateescape")).digest()[:16])
        of_photo = list(group)
        shuffled += [of_photo[place] for place in np.random.default_rng(entropy).permutation(len(of_photo))]
    return shuffled


def read_picture(folder: Path, file: str) -> bytes:
    """The bytes of an edited photo.

    folder: the run folder, which nothing in its tables may leave: they may be untrusted.  file: below it.

    Raises: PhotoError if there are none, or the file is not inside the folder.
    """
    path = folder / file
    if not inside(folder, path):
        raise PhotoError(path, "the edited photo lies outside the run folder")
    try:
        data = read_regular(path, LARGEST_FILE)
    except (OSError, ValueError) as error:
        # Not str(error): it holds this machine's path, and the same run elsewhere would give another table.
        why = (isinstance(error, OSError) and error.strerror) or "bad name"
        raise PhotoError(path, f"the edited photo cannot be read: {why}") from error
    if not data:
        raise PhotoError(path, "the edited photo is empty")
    return data


def digest(data: bytes) -> bytes:
    """sha256 of a picture, 32 bytes."""
    return hashlib.sha256(data).digest()


class PartProgress:
    """The questions of one part and their outcomes; used by one thread.

    number: of the part.  questions: in the order in which they are asked.  all_added: whether all were looked at.
    """

    def __init__(self, number: int, questions: list[Question]) -> None:
        self.number = number
        self.questions = questions
        self.all_added = False
        self._positions: dict[bytes, list[int]] = {}  # sha256 of a picture to the questions that show it
        self._answers: dict[bytes, Answer] = {}
        self._outcomes: dict[int, Answer] = {}  # by position

    def photos(self) -> list[list[int]]:
        """Positions of the questions of each photo, in their order."""
        groups = groupby(range(len(self.questions)), key=lambda position: self.questions[position].photo)
        return [list(positions) for _, positions in groups]

    def mark_unreadable(self, position: int, answer: Answer) -> None:
        """The picture at this position cannot be asked about."""
        self._outcomes[position] = answer

    def expect(self, key: bytes, position: int) -> Answer | None:
        """Note which picture is at this position; its answer, if there is one already."""
        self._positions.setdefault(key, []).append(position)
        if key in self._answers:
            self._outcomes[position] = self._answers[key]
        return self._answers.get(key)

    def photo_of(self, key: bytes) -> str:
        """The photo of the last question that shows this picture."""
        return self.questions[self._positions[key][-1]].photo

    def put(self, key: bytes, answer: Answer) -> int:
        """Take the answer to a picture; returns how many questions show it."""
        self._answers[key] = answer
        self._outcomes |= dict.fromkeys(self._positions[key], answer)
        return len(self._positions[key])

    @property
    def complete(self) -> bool:
        """Whether every question has its outcome."""
        return self.all_added and len(self._outcomes) == len(self.questions)

    def has(self, key: bytes) -> bool:
        """Whether this picture has an answer."""
        return key in self._answers

    def outcomes(self) -> list[Answer]:
        """What was said, in the order of the questions."""
        return [self._outcomes[position] for position in range(len(self.questions))]

    def distinct(self) -> list[Answer]:
        """One answer a distinct picture."""
        return list(self._answers.values())

    def models(self) -> dict[str, int]:
        """Model version that the service returned, to pictures."""
        return dict(Counter(outcome.version for outcome in self.outcomes() if outcome.version))


# -- asking them -------------------------------------------------------------------------------------------------------


MAX_OUTAGES = 2  # requests given up one after the other, with no answer in between: the service is down


class Worker:
    """Asks batches; its methods may run in any number of threads.

    halt: set as soon as an error concerns every picture, so that no request that waits is sent any more.
    """

    def __init__(
        self, cache: ClassifierCache, budget: Budget, usage: UsageStats, halt: threading.Event, retry: RetryPolicy
    ) -> None:
        self._classifier = cache.classifier
        self._cache = cache
        self._halt = halt
        self._retry = retry
        self._sender = RequestSender(cache.classifier, budget, usage, halt)
        self._down = 0

    def ask(self, pictures: dict[bytes, bytes]) -> dict[bytes, Answer]:
        """sha256 to bytes of one batch to answers, all in the cache before this returns, even if it raises.

        Returns: fewer answers if the walk was stopped meanwhile.
        Raises: whatever concerns every picture; see ``Client.ask_parts``.
        """
        answers: dict[bytes, Answer] = {}
        resume = getattr(self._classifier, "resume", None)  # of one whose answers take several requests
        if resume is not None:
            for key, data in pictures.items():
                resume(data, self._cache.begun(key), partial(self._cache.keep_begun, key))
        try:
            self._ask(dict(pictures), answers, self._retry)
        except BaseException as error:
            if not isinstance(error, Stopped):
                self._halt.set()
            with suppress(StorageError):
                self._cache.release([key for key in pictures if key not in answers])
            if not isinstance(error, Stopped):
                raise
        return answers

    def _ask(self, pictures: dict[bytes, bytes], answers: dict[bytes, Answer], retry: RetryPolicy) -> None:
        """One batch; if it fails, its halves, so that one bad picture costs only itself."""

        def put(responses: dict[bytes, object]) -> None:
            responses = {key: _clean(raw) for key, raw in responses.items()}  # tables get what the cache will give
            found = {
                key: failed_answer(raw) if isinstance(raw, Exception) else parse_answer(self._classifier, raw)
                for key, raw in responses.items()
            }
            kill_point("answers:asked")
            self._cache.put(responses, found)
            kill_point("answers:kept")
            answers.update(found)

        before = self._sender.answered
        try:
            self._sender.send(pictures, put, retry)
            self._down = 0
            return
        except Stopped:
            raise
        except Exception as error:
            raise_if_fatal(error)
            if isinstance(error, RETRYABLE):
                self._down = self._down + 1 if self._sender.answered == before else 0
                if self._down >= MAX_OUTAGES:
                    message = f"{self._classifier.name} does not answer: {scrub(error.message).rstrip('.')}."
                    raise ServiceError(message, "Answers so far are kept: run the same command again later.") from None
                retry = retry.short()
            if len(pictures) == 1:
                if not isinstance(error, GslopesError) and is_out_of_memory(error):
                    raise MemoryError from None
                ours = error if isinstance(error, GslopesError) else ClassifierError(failed_answer(error).reason)
                put(dict.fromkeys(pictures, ours))
                return
        keys = list(pictures)
        for half in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
            self._ask({key: pictures[key] for key in half}, answers, retry)


def _clean(raw: object) -> object:
    """A raw answer without credentials; one that is not JSON fails where it is kept, if it is kept."""
    try:
        return raw if isinstance(raw, Exception) else scrub_json(raw)
    except (TypeError, ValueError):
        return raw
