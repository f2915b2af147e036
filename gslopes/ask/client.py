"""The only way to a classifier: each distinct picture is asked once, and every outcome is written down.

The unit of work is a *part*: the edits of a few photos.  Within it the pictures of one photo are asked together, in an
order shuffled per photo, so that a classifier that drifts cannot pose as an effect; and in batches of one fixed size,
so that a part asked again gives the same floating-point numbers.  Requests of several parts are in flight at once, as
many as the classifier bears; a part is done when its last answer is there.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import cast

import pandas as pd

from gslopes.ask.answers import (
    Answers,
    ClassifierCache,
    PartProgress,
    Worker,
    asked_rows,
    digest,
    failed_answer,
    ordered,
    read_picture,
    score_rows,
)
from gslopes.ask.cache import AnswerCache
from gslopes.ask.cost import Budget, UsageStats
from gslopes.ask.pictures import fit_pictures
from gslopes.ask.retry import Encoded, RetryPolicy
from gslopes.core.errors import ClassifierError, PhotoError, Refused
from gslopes.core.reasons import Reason, SkipReason
from gslopes.core.records import Answer, Classifier
from gslopes.core.text import many
from gslopes.core.traits import Able, traits_of

MAX_OPEN_PARTS = 16  # parts that wait for answers
MIN_PHOTOS_ALL_FAILED = (
    8  # in a part of this many photos or more, if all answers fail, the classifier is at fault
)
CLAIM_POLL = 0.3  # seconds between looks at what other processes are asking

_Files = list[tuple[Path, str]]  # run folder and file of all pictures of one photo
Done = Callable[[int, pd.DataFrame, pd.DataFrame, PartProgress], None]


class Client:
    """Asks one classifier.

    cache: where answers are kept.  journal: where those of a classifier that is not cached are, until its run is done;
        without either, they are kept for one part alone.
    budget: of all classifiers of one command.  usage: counts what happens.  seed: of the order of the questions.
    retry: with a service that fails.

    refits: in words, how pictures that were too large were encoded again.
    """

    def __init__(
        self,
        classifier: Classifier,
        *,
        cache: AnswerCache | None = None,
        journal: AnswerCache | None = None,
        budget: Budget | None = None,
        usage: UsageStats | None = None,
        seed: int = 0,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.classifier = classifier
        self.usage = usage or UsageStats()
        self.refits: set[str] = set()
        self._limits = traits_of(classifier).limits
        self._batch = max(1, classifier.batch)
        self._threads = max(1, self._limits.concurrency)
        self._cache = ClassifierCache(classifier, cache, journal)
        self._seed = seed
        self._halt = threading.Event()
        self._worker = Worker(
            self._cache, budget or Budget(), self.usage, self._halt, retry or RetryPolicy()
        )
        self._open: list[PartProgress] = []
        self._in_flight: dict[
            bytes, list[PartProgress]
        ] = {}  # pictures being asked, to the parts that wait for them
        self._claimed_elsewhere: dict[
            bytes, _Files
        ] = {}  # of them, those that another process is asking
        self._jobs: set[Future[Answers]] = set()

    def halt(self) -> None:
        """Let no further request leave; those in flight are finished and kept. Any thread may call it."""
        self._halt.set()

    def ask_parts(
        self, parts: Iterable[tuple[int, pd.DataFrame]], folder: Path, done: Done
    ) -> bool:
        """Ask about the edits of all parts.

        parts: (number, rows of the edits table) each.  folder: what their ``file`` is relative to.
        done: called, in this thread, with the number of each finished part, its rows of the asked and scores tables,
            and the ``PartProgress`` that they come from.
        Returns: whether all is done; False if ``halt`` was called before.
        Raises: TableError if the edits are no such table or hold a row twice; ClassifierError if a part has at least
            ``MIN_PHOTOS_ALL_FAILED`` photos and the classifier failed on every picture; BudgetReached, StorageError;
            any other GslopesError of the classifier that concerns every picture (files, configuration, credentials).
        """
        with ThreadPoolExecutor(self._threads, thread_name_prefix="ask") as self._pool:
            try:
                for number, edits in parts:
                    if self._halt.is_set():
                        break
                    self._add_part(PartProgress(number, ordered(edits, self._seed)), folder)
                    while len(self._open) >= MAX_OPEN_PARTS and not self._halt.is_set():
                        self._wait(done)
                    self._emit_finished(done)
                while self._open and not self._halt.is_set():
                    self._wait(done)
            except BaseException:
                self._halt.set()
                with suppress(Exception):  # the first error is the one to report
                    self._drain(done)
                raise
            self._drain(done)
        return not self._open and not self._halt.is_set()

    # -- questions ----------------------------------------------------------------------------------------------------

    def _add_part(self, progress: PartProgress, folder: Path) -> None:
        """Look up every picture of a part, and send those without an answer."""
        self._open.append(progress)
        pending: Encoded = {}
        files: dict[bytes, _Files] = {}
        for positions in progress.photos():
            pictures = self._read(progress, positions, folder)
            fresh = [key for key in pictures if self._is_fresh(progress, key)]
            for key, answer in self._cache.find(fresh).items():
                self._record(key, answer, [progress])
                fresh.remove(key)
            of_photo = [(folder, progress.questions[position].file) for position in positions]
            photo = progress.questions[positions[0]].photo
            for key, data in self._fitted(progress, photo, fresh, pictures).items():
                heavy = self._limits.request_bytes
                if pending and heavy and sum(map(len, pending.values())) + len(data) > heavy:
                    self._send(pending, files, progress)
                    pending = {}
                pending[key], files[key] = data, of_photo
                if len(pending) >= self._batch:
                    self._send(pending, files, progress)
                    pending = {}
        self._send(pending, files, progress)
        progress.all_added = True

    def _read(self, progress: PartProgress, positions: list[int], folder: Path) -> Encoded:
        """sha256 to bytes of the pictures of one photo; those that cannot be read have their outcome then."""
        pictures: Encoded = {}
        for position in positions:
            try:
                data = read_picture(folder, progress.questions[position].file)
            except PhotoError as error:
                progress.outcomes[position] = failed_answer(error)
                self._count(progress.outcomes[position], 1)
                continue
            key = digest(data)
            pictures[key] = data
            if (answer := progress.expect(key, position)) is not None:
                self._count(answer, 1)
        return pictures

    def _is_fresh(self, progress: PartProgress, key: bytes) -> bool:
        waiting = self._in_flight.get(key)
        if waiting is not None and progress not in waiting:
            waiting.append(progress)
        return waiting is None and key not in progress.answers

    def _fitted(
        self, progress: PartProgress, photo: str, fresh: list[bytes], pictures: Encoded
    ) -> Encoded:
        """The fresh pictures of a photo as the service takes them; all of the photo's are treated alike."""
        if not fresh:
            return {}
        try:
            encoded, how = fit_pictures(list(pictures.values()), self._limits)
        except (Refused, PhotoError) as error:
            for key in fresh:
                self._record(key, failed_answer(error), [progress])
            return {}
        if how:
            self.refits.add(how)
            self.usage.add(refitted=len(fresh))
        fitted = dict(zip(pictures, encoded, strict=True))
        if traits_of(self.classifier).groups:
            cast("Able", self.classifier).about(photo, [fitted[key] for key in fresh])
        return {key: fitted[key] for key in fresh}

    def _send(self, pending: Encoded, files: dict[bytes, _Files], progress: PartProgress) -> None:
        if not pending or self._halt.is_set():
            return
        self._in_flight |= {key: [progress] for key in pending}
        to_ask, cached, in_progress = self._cache.claim(list(pending))
        for key, answer in cached.items():
            self._record(key, answer)
        self._claimed_elsewhere |= {key: files[key] for key in in_progress}
        while len(self._jobs) >= 2 * self._threads and not self._halt.is_set():
            self._collect(wait(self._jobs, timeout=1, return_when=FIRST_COMPLETED).done)
        if to_ask:
            asked = {key: data for key, data in pending.items() if key in to_ask}
            self._jobs.add(self._pool.submit(self._worker.ask, asked))

    # -- answers ------------------------------------------------------------------------------------------------------

    def _wait(self, done: Done) -> None:
        if self._jobs:
            self._collect(wait(self._jobs, timeout=CLAIM_POLL, return_when=FIRST_COMPLETED).done)
        elif self._claimed_elsewhere:
            self._halt.wait(CLAIM_POLL)
        if self._claimed_elsewhere and len(self._jobs) < self._threads:
            self._look_elsewhere()
        self._emit_finished(done)

    def _collect(self, jobs: Iterable[Future[Answers]]) -> None:
        for job in list(jobs):
            self._jobs.discard(job)
            for key, answer in job.result().items():
                self.usage.add(asked=1)
                self._record(key, answer)

    def _look_elsewhere(self) -> None:
        """Take over what other processes have answered, and ask about what they gave up."""
        keys = list(self._claimed_elsewhere)[: self._batch * self._threads]
        to_ask, cached, _ = self._cache.claim(keys)
        for key in keys:
            files = self._claimed_elsewhere.pop(key)
            if key in cached:
                self._record(key, cached[key])
            elif key not in to_ask:  # to the end: others get their turn
                self._claimed_elsewhere[key] = files
            else:  # the other process gave it up
                try:
                    photo = [read_picture(folder, file) for folder, file in files]
                    pictures, _ = fit_pictures(photo, self._limits)
                    asked = {key: dict(zip(map(digest, photo), pictures, strict=True))[key]}
                except (PhotoError, Refused, KeyError):  # changed under our hands
                    self._cache.release([key])
                    self._record(key, Answer("failed", (), SkipReason(Reason.PICTURE_CHANGED)))
                else:
                    self._jobs.add(self._pool.submit(self._worker.ask, asked))

    def _record(self, key: bytes, answer: Answer, parts: Sequence[PartProgress] = ()) -> None:
        for progress in parts or self._in_flight.pop(key, []):
            self._count(answer, progress.put(key, answer))

    def _count(self, answer: Answer, positions: int) -> None:
        refused = positions * (answer.status == "refused")
        failed = positions * (answer.status == "failed")
        models = Counter({answer.version: positions} if answer.version else {})
        self.usage.add(pictures=positions, refused=refused, failed=failed, models=models)

    def _emit_finished(self, done: Done) -> None:
        for progress in [progress for progress in self._open if progress.complete]:
            self._open.remove(progress)
            self._stop_if_all_failed(progress)
            questions = progress.questions
            outcomes = progress.in_order()
            name = self.classifier.name
            asked = asked_rows(questions, outcomes, name)
            scores = score_rows(questions, outcomes, name)
            done(progress.number, asked, scores, progress)

    def _drain(self, done: Done) -> None:
        """Wait for the requests in flight and hand over what they complete; the first error of one is raised."""
        errors: list[BaseException] = []
        for job in wait(self._jobs).done:
            try:
                self._collect([job])
            except BaseException as error:
                errors.append(error)
        self._emit_finished(done)
        if errors:
            raise errors[0]

    def _stop_if_all_failed(self, progress: PartProgress) -> None:
        """Stop a walk that would only collect failures: scores in percent, a wrong model."""
        answers = list(progress.answers.values())
        all_failed = bool(answers) and all(answer.status == "failed" for answer in answers)
        if all_failed and len(progress.photos()) >= MIN_PHOTOS_ALL_FAILED:
            why = f"on all {many(len(answers), 'picture')} of a part, first with: {answers[0].reason.rstrip('.')}."
            raise ClassifierError(
                f"The classifier {self.classifier.name} failed {why}", "Earlier answers are kept."
            )
