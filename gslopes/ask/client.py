"""The only way to a service, and to a classifier: each distinct picture is asked once, every outcome is written down.

The unit of work is a *part*: the pictures of a few photos.  Within it the pictures of one photo are asked together, and
in batches of one fixed size, so that a part asked again gives the same floating-point numbers.  Requests of several
parts are in flight at once, as many as the classifier bears; a part is done when its last answer has come.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import cast

from gslopes.ask.answers import Answers, ClassifierCache, Worker, failed_answer
from gslopes.ask.cache import AnswerCache
from gslopes.ask.cost import Budget, UsageStats
from gslopes.ask.pictures import fit_pictures
from gslopes.ask.questions import PartProgress, Question, digest
from gslopes.ask.retry import Encoded, RateLimiter, RequestSender, RetryPolicy
from gslopes.core import ClassifierError, PhotoError, Reason, Refused, SkipReason, many, traits_of
from gslopes.core.records import Able, Answer, Classifier

ByDigest = dict[bytes, list[Question]]
MAX_OPEN_PARTS = 16  # parts that wait for answers
# If all answers about a part of this many photos or more fail, the classifier is at fault.
MIN_PHOTOS_ALL_FAILED = 8
CLAIM_POLL = 0.3  # seconds between looks at what other processes are asking


class Client:
    """Asks one classifier.

    cache: holds the answers of all runs.  journal: those of a classifier that is not cached, until its run is done;
        without either, answers are kept for one part only.
    budget: of all classifiers of one command.  usage: counts what happens.  retry: with a service that fails.
    beside: another client of the same service, with which it shares its pace and ``halt``.
    threads: requests in flight at once; by default as many as the classifier bears.

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
        retry: RetryPolicy | None = None,
        beside: "Client | None" = None,
        threads: int = 0,
    ) -> None:
        self.classifier = classifier
        self.usage = usage or UsageStats()
        self.refits: set[str] = set()
        self._limits = traits_of(classifier).limits
        self._batch = max(1, classifier.batch)
        self._threads = max(1, threads or self._limits.concurrency)
        self._cache = ClassifierCache(classifier, cache, journal)
        self._halt: threading.Event = beside._halt if beside else threading.Event()
        self._pace: RateLimiter = beside._pace if beside else RateLimiter(self._halt.wait)
        money = budget or Budget()
        sender = RequestSender(classifier, money, self.usage, self._halt, self._pace)
        self._worker = Worker(self._cache, sender, self._halt, retry or RetryPolicy())
        self._open: list[PartProgress] = []
        # Pictures that are being asked, to the parts that wait for them; of them, those that another process asks, to
        # the questions of their photo.
        self._in_flight: dict[bytes, list[PartProgress]] = {}
        self._claimed_elsewhere: ByDigest = {}
        self._about: ByDigest = {}  # all pictures, to the questions of their photo
        self._posts = traits_of(classifier).posts
        self._jobs: set[Future[Answers]] = set()

    def halt(self) -> None:
        """Let no further request leave; those in flight are finished and kept. Any thread may call it."""
        self._halt.set()

    def ask_parts(
        self,
        parts: Iterable[tuple[int, list[Question]]],
        done: Callable[[PartProgress], None],
    ) -> bool:
        """Ask the questions of all parts.

        parts: (number, questions) each.  done: called, in this thread, with each part when its last answer has come.
        Returns: whether all is done; False if ``halt`` was called before.
        Raises: ClassifierError if a part has at least ``MIN_PHOTOS_ALL_FAILED`` photos and the classifier failed on
            every picture; BudgetReached, StorageError; any other GslopesError of the classifier that concerns every
            picture (files, configuration, credentials).
        """
        self._done = done
        with ThreadPoolExecutor(self._threads, thread_name_prefix="ask") as self._pool:
            try:
                for number, questions in parts:
                    if self._halt.is_set():
                        break
                    self._add_part(PartProgress(number, questions))
                    while len(self._open) >= MAX_OPEN_PARTS and not (
                        self._posts or self._halt.is_set()
                    ):
                        self._wait()
                    self._emit_finished()
                while self._open and not self._halt.is_set():
                    self._wait()
            except BaseException:
                self._halt.set()
                with suppress(Exception):  # the first error is the one to report
                    self._drain()
                raise
            self._drain()
        return not self._open and not self._halt.is_set()

    # -- questions ----------------------------------------------------------------------------------------------------

    def _add_part(self, progress: PartProgress) -> None:
        """Look up every picture of a part, and send those without an answer."""
        self._open.append(progress)
        heavy = self._limits.request_bytes
        pending: Encoded = {}
        for questions in progress.photos():
            pictures = self._read(progress, questions)
            fresh = [key for key in pictures if self._is_fresh(progress, key)]
            for key, answer in self._cache.find(fresh).items():
                self._record(key, answer, [progress])
                fresh.remove(key)
            fitted = self._fitted(progress, questions[0].photo, fresh, pictures)
            for key, data in self._claimed(progress, questions, fitted).items():
                size = sum(map(len, pending.values())) + len(data)
                if len(pending) >= self._batch or 0 < heavy < size:
                    self._send(pending)
                    pending = {}
                pending[key] = data
        self._send(pending)
        progress.all_added = True

    def _read(self, progress: PartProgress, questions: list[Question]) -> Encoded:
        """sha256 to bytes of the pictures of one photo; one that cannot be read has its answer then."""
        pictures: Encoded = {}
        for question in questions:
            try:
                data = question.read()
            except PhotoError as error:
                answer = failed_answer(error)
                progress.put(question, answer)
                self._count(answer, 1)
                continue
            key = digest(data)
            pictures[key] = data
            if (earlier := progress.expect(key, question)) is not None:
                self._count(earlier, 1)
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
        every = dict(zip(pictures, encoded, strict=True))
        fitted = {key: every[key] for key in fresh}
        if traits_of(self.classifier).groups:
            cast("Able", self.classifier).about(photo, list(fitted.values()))
        return fitted

    def _claimed(
        self, progress: PartProgress, questions: list[Question], fitted: Encoded
    ) -> Encoded:
        """Those pictures of a photo that we ask about: one transaction claims them all."""
        if not fitted or self._halt.is_set():
            return {}
        self._about |= dict.fromkeys(fitted, questions)
        self._in_flight |= {key: [progress] for key in fitted}
        to_ask, cached, in_progress = self._cache.claim(list(fitted))
        for key, answer in cached.items():
            self._record(key, answer)
        self._claimed_elsewhere |= dict.fromkeys(in_progress, questions)
        return {key: data for key, data in fitted.items() if key in to_ask}

    def _send(self, pending: Encoded) -> None:
        while len(self._jobs) >= 2 * self._threads and not self._halt.is_set():
            self._collect(wait(self._jobs, timeout=1, return_when=FIRST_COMPLETED).done)
        if pending and not self._halt.is_set():
            self._submit(pending)

    def _submit(self, pictures: Encoded) -> None:
        self._jobs.add(self._pool.submit(self._worker.ask, pictures))
        # alone: what counts tokens may tell by its first answer that it needs longer replies, at another price
        traits = traits_of(self.classifier)
        if traits.counts and not traits.posts and not self.usage.asked:
            self._collect(wait(self._jobs).done)

    # -- answers ------------------------------------------------------------------------------------------------------

    def _wait(self) -> None:
        if self._jobs:
            self._collect(wait(self._jobs, timeout=CLAIM_POLL, return_when=FIRST_COMPLETED).done)
        elif self._posts and len(self._claimed_elsewhere) < len(self._in_flight):
            cast("Able", self.classifier).wait(self._halt)
            self._claimed_elsewhere = {key: self._about[key] for key in self._in_flight}
        elif self._claimed_elsewhere:
            self._halt.wait(CLAIM_POLL)
        if self._claimed_elsewhere and len(self._jobs) < self._threads:
            self._look_elsewhere()
        self._emit_finished()

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
            questions = self._claimed_elsewhere.pop(key)
            if key in cached:
                self._record(key, cached[key])
            elif key not in to_ask:  # to the end: others get their turn
                self._claimed_elsewhere[key] = questions
            else:  # the other process gave it up
                try:
                    photo = [question.read() for question in questions]
                    pictures, _ = fit_pictures(photo, self._limits)
                    self._submit({key: dict(zip(map(digest, photo), pictures, strict=True))[key]})
                except (PhotoError, Refused, KeyError):  # changed under our hands
                    self._cache.release([key])
                    self._record(key, Answer("failed", (), SkipReason(Reason.PICTURE_CHANGED)))

    def _record(self, key: bytes, answer: Answer, parts: Sequence[PartProgress] = ()) -> None:
        for progress in parts or self._in_flight.pop(key, []):
            self._count(answer, progress.put_picture(key, answer))

    def _count(self, answer: Answer, pictures: int) -> None:
        self.usage.add(
            pictures=pictures,
            refused=pictures * (answer.status == "refused"),
            failed=pictures * (answer.status == "failed"),
            models=Counter({answer.version: pictures} if answer.version else {}),
        )

    def _emit_finished(self) -> None:
        for progress in [progress for progress in self._open if progress.complete]:
            self._open.remove(progress)
            answers = list(progress.answers.values())
            all_failed = bool(answers) and all(answer.status == "failed" for answer in answers)
            # a walk that would only collect failures: scores in percent, a wrong model
            if all_failed and len(progress.photos()) >= MIN_PHOTOS_ALL_FAILED:
                why = f"on all {many(len(answers), 'picture')} of a part, first with: {answers[0].reason.rstrip('.')}."
                kind = "editor" if traits_of(self.classifier).pictures else "classifier"
                raise ClassifierError(
                    f"The {kind} {self.classifier.name} failed {why}",
                    "Earlier answers are kept.",
                )
            self._done(progress)

    def _drain(self) -> None:
        """Wait for the requests in flight and hand over what they complete; the first error of one is raised."""
        errors = []
        for job in wait(self._jobs).done:
            try:
                self._collect([job])
            except BaseException as error:
                errors.append(error)
        self._emit_finished()
        if errors:
            raise errors[0]
