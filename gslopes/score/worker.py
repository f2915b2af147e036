"""What happens in the threads that ask: one batch, until each of its pictures has an outcome, kept in the cache."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import cast

from gslopes.core.errors import ClassifierError, GslopesError, Refused, ServiceError, StorageError
from gslopes.core.killpoints import kill_point
from gslopes.core.records import Answer, Classifier
from gslopes.core.runtime import gslopes_version
from gslopes.score.answers import failed_answer, parse_answer, raise_if_fatal
from gslopes.score.cache import AnswerCache, CachedAnswer, Claim
from gslopes.score.cost import Budget, UsageStats
from gslopes.score.limits import limits_of
from gslopes.score.retry import RETRYABLE, RequestSender, RetryPolicy, Stopped
from gslopes.score.scrub import scrub, scrub_json

MAX_OUTAGES = 2  # requests given up one after the other, with no answer in between: the service is down


class ClassifierCache:
    """The answers of one classifier that are there already, and the place where new ones are kept at once.

    cache: of all runs, for classifiers whose version identifies their answers, which are kept as they were sent.
    journal: of one run, for the others, so that a run that is killed asks nothing again; it holds answers as they were
        understood, since what such a classifier returns need not be JSON.
    """

    def __init__(self, classifier: Classifier, cache: AnswerCache | None, journal: AnswerCache | None = None) -> None:
        self.classifier = classifier
        self._raw = is_cached(classifier)
        self._cache = cache if self._raw else journal
        key = cache_name(classifier), cache_version(classifier)
        self._number = self._cache.classifier_id(*key) if self._cache else 0

    @property
    def empty(self) -> bool:
        """Whether it holds no answer at all."""
        return not self._cache or not self._cache.count(self._number)

    def count(self, keys: Iterable[bytes]) -> int:
        """How many of these pictures have an answer."""
        return len(self._cache.has(self._number, keys)) if self._cache else 0

    def find(self, keys: list[bytes]) -> dict[bytes, Answer]:
        """The answers that there are."""
        return self._answers(self._cache.find(self._number, keys)) if self._cache and keys else {}

    def claim(self, keys: list[bytes]) -> tuple[set[bytes], dict[bytes, Answer], set[bytes]]:
        """Which ones this process asks about, the answers there are, and which ones others ask about."""
        claim = self._cache.claim(self._number, keys) if self._cache else Claim(to_ask=set(keys))
        return claim.to_ask, self._answers(claim.cached), claim.in_progress

    def put(self, responses: dict[bytes, object], answers: dict[bytes, Answer]) -> None:
        """Keep the valid answers; release all claims."""
        if self._cache:
            sound = {
                key: _cached_answer(raw, answers[key]) if self._raw else _journalled(answers[key])
                for key, raw in responses.items()
                if answers[key].status != "failed"
            }
            self._cache.put(self._number, sound)
            self.release([key for key in responses if key not in sound])

    def release(self, keys: list[bytes]) -> None:
        """Release claims without an answer."""
        if self._cache and keys:
            self._cache.release(self._number, keys)

    def _answers(self, cached: dict[bytes, CachedAnswer]) -> dict[bytes, Answer]:
        return {key: self._answer(one) for key, one in cached.items()}

    def _answer(self, cached: CachedAnswer) -> Answer:
        if cached.status == "refused":
            return Answer("refused", (), str(cached.raw))
        if self._raw:
            return parse_answer(self.classifier, cached.raw)
        labels = cast("list[tuple[str, float]]", cached.raw)
        return Answer("answered", tuple((label, score) for label, score in labels), version=cached.model)


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
        try:
            self._ask(dict(pictures), answers, self._retry)
        except Stopped:
            self._release_unanswered(pictures, answers)
        except BaseException:
            self._halt.set()
            self._release_unanswered(pictures, answers)
            raise
        return answers

    def _ask(self, pictures: dict[bytes, bytes], answers: dict[bytes, Answer], retry: RetryPolicy) -> None:
        """One batch; if it fails, its halves, so that one bad picture costs only itself."""

        def put(responses: dict[bytes, object]) -> None:
            responses = {key: _clean(raw) for key, raw in responses.items()}  # tables get what the cache will give
            found = {key: self._answer(raw) for key, raw in responses.items()}
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
                self._require_service(error, before)
                retry = retry.short()
            if len(pictures) == 1:
                ours = error if isinstance(error, GslopesError) else ClassifierError(failed_answer(error).reason)
                put(dict.fromkeys(pictures, ours))
                return
        keys = list(pictures)
        for half in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
            self._ask({key: pictures[key] for key in half}, answers, retry)

    def _answer(self, raw: object) -> Answer:
        return failed_answer(raw) if isinstance(raw, Exception) else parse_answer(self._classifier, raw)

    def _require_service(self, error: ClassifierError, before: int) -> None:
        """Stop where nothing has been answered since the first attempt, twice in a row."""
        self._down = self._down + 1 if self._sender.answered == before else 0
        if self._down >= MAX_OUTAGES:
            message = f"{self._classifier.name} does not answer: {scrub(error.message).rstrip('.')}."
            raise ServiceError(message, "Answers so far are kept: run the same command again later.")

    def _release_unanswered(self, pictures: dict[bytes, bytes], answers: dict[bytes, Answer]) -> None:
        with suppress(StorageError):
            self._cache.release([key for key in pictures if key not in answers])


def cache_name(classifier: Classifier) -> str:
    """The name under which answers are kept: without the options that only decide how they are read."""
    return str(getattr(classifier, "asked_as", classifier.name))


def cache_version(classifier: Classifier) -> str:
    """The version under which answers are kept: for a model on this machine, ours belongs to it (preprocessing)."""
    version = str(getattr(classifier, "asked_version", classifier.version))
    if limits_of(classifier).remote:
        return version
    return f"{version} gslopes {gslopes_version()}"


def is_cached(classifier: Classifier) -> bool:
    """Services always; a model on this machine if it says that its version identifies its answers."""
    return limits_of(classifier).remote or bool(getattr(classifier, "cached", False))


def _clean(raw: object) -> object:
    """A raw answer without credentials; one that is not JSON fails where it is kept, if it is kept."""
    try:
        return raw if isinstance(raw, Exception) else scrub_json(raw)
    except (TypeError, ValueError):
        return raw


def _cached_answer(raw: object, answer: Answer) -> CachedAnswer:
    if isinstance(raw, Refused):
        return CachedAnswer("refused", answer.reason)
    return CachedAnswer("answered", raw, answer.version)


def _journalled(answer: Answer) -> CachedAnswer:
    if answer.status == "refused":
        return CachedAnswer("refused", answer.reason, answer.version)
    return CachedAnswer("answered", [list(pair) for pair in answer.labels], answer.version)
