"""The only road to a classifier: each distinct picture is asked once, and every outcome is written down.

The unit of work is a *part*: the edits of a few photos.  Within it the pictures of one photo are asked together, in an
order shuffled per photo, so that a classifier that drifts cannot pose as an effect; and in batches of one fixed size,
so that a part asked again gives the same floating-point numbers.  Requests of several parts are in flight at once, as
many as the classifier bears; a part is done when its last answer is there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path

import pandas as pd

from gslopes.core import tables
from gslopes.core.errors import ClassifierError, PhotoError, Refused
from gslopes.core.records import Answer, Classifier
from gslopes.score.answers import asked_rows, check_answer, failure, joined, score_rows
from gslopes.score.book import Book
from gslopes.score.budget import Purse, Tally
from gslopes.score.cache import Store
from gslopes.score.limits import limits_of
from gslopes.score.patience import Patience
from gslopes.score.payload import fit_pictures
from gslopes.score.questions import digest, ordered, read_picture
from gslopes.score.scrub import scrub
from gslopes.score.worker import Shelf, Worker

__all__ = ["PART", "Client", "ask_part", "check_answer", "parts", "score_photos"]

PART = 32  # photos; what is in memory at a time is the batches in flight and a few parts' answers
OPEN = 16  # parts that wait for answers
BROKEN = 8  # photos; from this many on, a part in which no picture gets an answer is the classifier's fault
ELSEWHERE = 0.3  # seconds between looks at what other processes are asking

_Files = list[Path]  # of all pictures of one photo
Done = Callable[[int, pd.DataFrame, pd.DataFrame, Book], None]


class Client:
    """Asks one classifier.

    store: where answers are kept; without it, they are kept for one part alone.
    purse: of all classifiers of one command.  tally: counts what happens.  seed: of the order of the questions.
    patience: with a service that fails.

    refits: in words, how pictures that were too large were encoded anew.
    """

    def __init__(
        self,
        classifier: Classifier,
        *,
        store: Store | None = None,
        purse: Purse | None = None,
        tally: Tally | None = None,
        seed: int = 0,
        patience: Patience | None = None,
    ) -> None:
        self.classifier = classifier
        self.tally = tally or Tally()
        self.refits: set[str] = set()
        self._limits = limits_of(classifier)
        self._batch = max(1, classifier.batch)
        self._threads = max(1, self._limits.concurrency)
        self._shelf = Shelf(classifier, store)
        self._seed = seed
        self._halt = threading.Event()
        self._worker = Worker(self._shelf, purse or Purse(), self.tally, self._halt, patience or Patience())
        self._open: list[Book] = []
        self._flying: dict[bytes, list[Book]] = {}  # asked by us, or by another process, and awaited by these parts
        self._elsewhere: dict[bytes, _Files] = {}  # of them, those that another process is asking
        self._jobs: set[Future[dict[bytes, Answer]]] = set()

    def halt(self) -> None:
        """Let no further request leave; those in flight are finished and kept. Any thread may call it."""
        self._halt.set()

    def ask_parts(self, parts: Iterable[tuple[int, pd.DataFrame]], folder: Path, done: Done) -> bool:
        """Ask about the edits of all parts.

        parts: (number, rows of the edits table) each.  folder: what their ``file`` is relative to.
        done: called, in this thread, with the number of each finished part, its rows of the asked and scores tables,
            and the book that they come from.
        Returns: whether all is done; False if ``halt`` was called before.
        Raises: as ``ask_part``; CredentialsError, ServiceError, BudgetReached, StorageError.
        """
        with ThreadPoolExecutor(self._threads, thread_name_prefix="ask") as self._pool:
            try:
                for number, edits in parts:
                    if self._halt.is_set():
                        break
                    self._enter(Book(number, ordered(edits, self._seed)), folder)
                    while len(self._open) >= OPEN and not self._halt.is_set():
                        self._wait(done)
                    self._close(done)
                while self._open and not self._halt.is_set():
                    self._wait(done)
            except BaseException:
                self._halt.set()
                with suppress(Exception):  # the first error is the one to tell
                    self._land(done)
                raise
            self._land(done)
        return not self._open and not self._halt.is_set()

    # -- questions ----------------------------------------------------------------------------------------------------

    def _enter(self, book: Book, folder: Path) -> None:
        """Look every picture of a part up, and send what has no answer yet."""
        self._open.append(book)
        pending: dict[bytes, bytes] = {}
        files: dict[bytes, _Files] = {}
        for places in book.photos():
            there = self._read(book, places, folder)
            fresh = [key for key in there if self._is_fresh(book, key)]
            for key, answer in self._shelf.find(fresh).items():
                self._settle(key, answer, [book])
                fresh.remove(key)
            whole = [folder / book.questions[place].file for place in places]
            for key, data in self._fitted(book, fresh, there).items():
                heavy = self._limits.request_bytes
                if pending and heavy and sum(map(len, pending.values())) + len(data) > heavy:
                    self._send(pending, files, book)
                    pending = {}
                pending[key], files[key] = data, whole
                if len(pending) >= self._batch:
                    self._send(pending, files, book)
                    pending = {}
        self._send(pending, files, book)
        book.entered = True

    def _read(self, book: Book, places: list[int], folder: Path) -> dict[bytes, bytes]:
        """sha256 to bytes of the pictures of one photo; those that cannot be read have their outcome then."""
        there: dict[bytes, bytes] = {}
        for place in places:
            try:
                data = read_picture(folder / book.questions[place].file)
            except PhotoError as error:
                book.unread(place, Answer("failed", (), scrub(error.reason)))
                self._count(book.outcome(place), 1)
                continue
            key = digest(data)
            there[key] = data
            if (answer := book.awaits(key, place)) is not None:
                self._count(answer, 1)
        return there

    def _is_fresh(self, book: Book, key: bytes) -> bool:
        """Whether a picture has neither an answer in this part nor a request in flight."""
        if key in self._flying:
            if book not in self._flying[key]:
                self._flying[key].append(book)
            return False
        return not book.has(key)

    def _fitted(self, book: Book, fresh: list[bytes], there: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """The fresh pictures of a photo as the service takes them; all of the photo's are treated alike."""
        if not fresh:
            return {}
        try:
            pictures, how = fit_pictures(list(there.values()), self._limits)
        except (Refused, PhotoError) as error:
            for key in fresh:
                self._settle(key, failure(error), [book])
            return {}
        if how:
            self.refits.add(how)
            with self.tally.lock:
                self.tally.refitted += len(fresh)
        fitted = dict(zip(there, pictures, strict=True))
        return {key: fitted[key] for key in fresh}

    def _send(self, pending: dict[bytes, bytes], files: dict[bytes, _Files], book: Book) -> None:
        """Hand one batch to the threads; wait while they have enough to do."""
        if not pending or self._halt.is_set():
            return
        self._flying |= {key: [book] for key in pending}
        mine, kept, others = self._shelf.claim(list(pending))
        for key, answer in kept.items():
            self._settle(key, answer)
        self._elsewhere |= {key: files[key] for key in others}
        while len(self._jobs) >= 2 * self._threads and not self._halt.is_set():
            self._collect(wait(self._jobs, timeout=1, return_when=FIRST_COMPLETED).done)
        if mine:
            self._submit({key: data for key, data in pending.items() if key in mine})

    def _submit(self, pictures: dict[bytes, bytes]) -> None:
        self._jobs.add(self._pool.submit(self._worker.ask, pictures))

    # -- answers ------------------------------------------------------------------------------------------------------

    def _wait(self, done: Done) -> None:
        """Until something has happened."""
        if self._jobs:
            self._collect(wait(self._jobs, timeout=ELSEWHERE, return_when=FIRST_COMPLETED).done)
        elif self._elsewhere:
            self._halt.wait(ELSEWHERE)
        if self._elsewhere and len(self._jobs) < self._threads:
            self._look_elsewhere()
        self._close(done)

    def _collect(self, jobs: Iterable[Future[dict[bytes, Answer]]]) -> None:
        for job in list(jobs):
            self._jobs.discard(job)
            for key, answer in job.result().items():
                with self.tally.lock:
                    self.tally.asked += 1
                self._settle(key, answer)

    def _look_elsewhere(self) -> None:
        """What others have answered is ours as well; what they gave up is asked by us."""
        keys = list(self._elsewhere)[: self._batch * self._threads]
        mine, kept, _ = self._shelf.claim(keys)
        for key in keys:
            files = self._elsewhere.pop(key)
            if key in kept:
                self._settle(key, kept[key])
            elif key in mine:
                self._again(key, files)
            else:  # to the end: others get their turn
                self._elsewhere[key] = files

    def _again(self, key: bytes, files: _Files) -> None:
        try:
            photo = [read_picture(path) for path in files]
            pictures, _ = fit_pictures(photo, self._limits)
            self._submit({key: dict(zip(map(digest, photo), pictures, strict=True))[key]})
        except (PhotoError, Refused, KeyError):  # changed under our hands
            self._shelf.release([key])
            self._settle(key, Answer("failed", (), "the edited photo was changed while it was asked"))

    def _settle(self, key: bytes, answer: Answer, books: Sequence[Book] = ()) -> None:
        for book in books or self._flying.pop(key, []):
            self._count(answer, book.put(key, answer))

    def _count(self, answer: Answer, places: int) -> None:
        with self.tally.lock:
            self.tally.pictures += places
            self.tally.refused += places * (answer.status == "refused")
            self.tally.failed += places * (answer.status == "failed")
            if answer.version:
                self.tally.models[answer.version] += places

    def _close(self, done: Done) -> None:
        """Give out the parts that are complete."""
        for book in [book for book in self._open if book.complete]:
            self._open.remove(book)
            self._require_life(book)
            outcomes, name = book.outcomes(), self.classifier.name
            with self.tally.lock:
                self.tally.mixed += book.mixed()
            done(
                book.number,
                asked_rows(book.questions, outcomes, name),
                score_rows(book.questions, outcomes, name),
                book,
            )

    def _land(self, done: Done) -> None:
        """Wait for the requests in flight and give out what they complete; the first error of one is raised."""
        first: BaseException | None = None
        for job in wait(self._jobs).done:
            try:
                self._collect([job])
            except BaseException as error:
                first = first or error
        self._jobs.clear()
        self._close(done)
        if first is not None:
            raise first

    def _require_life(self, book: Book) -> None:
        """Stop a walk that would only collect failures: scores in percent, a wrong model."""
        answers = book.distinct()
        if answers and all(answer.status == "failed" for answer in answers) and book.count_photos() >= BROKEN:
            message = (
                f"The classifier {self.classifier.name} failed on all {len(answers)} pictures of a part, first with"
            )
            raise ClassifierError(f"{message}: {answers[0].reason.rstrip('.')}.", "Earlier answers are kept.")


def score_photos(
    edits: pd.DataFrame,
    run_folder: Path | str,
    classifier: Classifier,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ask the classifier about every edited photo, part by part.

    edits: rows of the edits table.  run_folder: what their ``file`` is relative to.
    classifier: any ``records.Classifier``.  seed: of the order of the questions.
    progress: called after each part with the number of pictures done and of all pictures.
    Returns: the scores table and the asked table.
    Raises: as ``ask_part``.
    """
    folder, scores, asked, done = Path(run_folder), [], [], 0
    for part in parts(edits):
        part_asked, part_scores = ask_part(part, folder, classifier, seed=seed)
        scores.append(part_scores)
        asked.append(part_asked)
        done += len(part)
        if progress is not None:
            progress(done, len(edits))
    return joined(tables.SCORES, scores), joined(tables.ASKED, asked)


def parts(edits: pd.DataFrame, photos: int = PART) -> Iterator[pd.DataFrame]:
    """The edits cut into parts of at most ``photos`` photos, in the order of the photos' identifiers."""
    names = sorted(edits["photo"].unique())
    for start in range(0, len(names), photos):
        yield edits[edits["photo"].isin(names[start : start + photos])]


def ask_part(
    edits: pd.DataFrame, run_folder: Path, classifier: Classifier, *, seed: int = 0, store: Store | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ask a classifier about the edits of one part, each distinct picture once.

    edits: rows of the edits table, in any order.  run_folder: what their ``file`` is relative to.
    classifier: any ``records.Classifier``.
    seed: with each photo's identifier it decides the order in which that photo's pictures are asked.
    Returns: rows of the asked table (one a picture) and of the scores table (one a label), sorted by their keys.
        A picture that cannot be read, or whose answer does not make sense, is ``failed`` with its reason there.
    Raises: TableError if the edits are no such table or hold a row twice; ClassifierError if the part has at least
        ``BROKEN`` photos and the classifier failed on every picture; any other GslopesError that the classifier raises,
        since it concerns every picture (its files, its configuration, its credentials).
    """
    found: list[tuple[pd.DataFrame, pd.DataFrame]] = []
    client = Client(classifier, store=store, seed=seed)
    client.ask_parts([(0, edits)], run_folder, lambda _, asked, scores, __: found.append((asked, scores)))
    return found[0]
