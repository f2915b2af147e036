"""What happens in the threads that ask: one batch, until each of its pictures has an outcome, kept in the cache."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial

from gslopes.core.errors import ClassifierError, GslopesError, ServiceError, StorageError
from gslopes.core.killpoints import kill_point
from gslopes.core.records import Answer
from gslopes.core.runtime import is_out_of_memory
from gslopes.core.secrets import scrub, scrub_json
from gslopes.score.answers import failed_answer, parse_answer, raise_if_fatal
from gslopes.score.classifier_cache import ClassifierCache
from gslopes.score.cost import Budget, UsageStats
from gslopes.score.retry import RETRYABLE, RequestSender, RetryPolicy, Stopped

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
                if not isinstance(error, GslopesError) and is_out_of_memory(error):
                    raise MemoryError from None
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


def _clean(raw: object) -> object:
    """A raw answer without credentials; one that is not JSON fails where it is kept, if it is kept."""
    try:
        return raw if isinstance(raw, Exception) else scrub_json(raw)
    except (TypeError, ValueError):
        return raw
