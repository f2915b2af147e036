"""One request until it is answered: paced, paid for, counted, and sent again where that may help."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_random_exponential

from gslopes.core.errors import AnswerError, GslopesError, Throttled, Unavailable
from gslopes.core.records import Classifier
from gslopes.score.budget import Purse, Tally
from gslopes.score.limits import limits_of
from gslopes.score.pace import Pace

AGAIN = (Throttled, Unavailable)


class Stopped(Exception):
    """The walk was stopped while a request waited for its turn; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long.

    attempts: at one request that the server or the connection fails.  throttled: at one that is too much.
    first, most: seconds; the pause is drawn from (0, first * 2^n), at most ``most`` ("full jitter"), or as long as the
        service says.
    """

    attempts: int = 8
    throttled: int = 20
    first: float = 1.0
    most: float = 60.0

    def short(self) -> Patience:
        """For the parts of a request that was given up."""
        return replace(self, attempts=min(self.attempts, 2))


class Line:
    """The line to one classifier, shared by its threads.

    halt: set it, and no request leaves any more.
    sent: called with what a request brought: its pictures' answers, raw, or an error about one picture.
    """

    def __init__(self, classifier: Classifier, purse: Purse, tally: Tally, halt: threading.Event) -> None:
        self._classifier = classifier
        self._limits = limits_of(classifier)
        self._purse = purse
        self._tally = tally
        self._halt = halt
        self._pace = Pace(self._limits, halt.wait)
        self.answered = 0  # requests, ever: shows whether the service lives

    def send(
        self, pictures: dict[bytes, bytes], keep: Callable[[dict[bytes, object]], None], patience: Patience
    ) -> None:
        """Ask until every picture has an answer.

        pictures: sha256 to bytes; those that are answered are taken out.
        keep: called with what one request brought, sha256 to raw answer or ClassifierError.
        Raises: Throttled or Unavailable when the patience is used up; Stopped; whatever else ``ask`` raises.
        """
        exponential = wait_random_exponential(multiplier=patience.first, max=patience.most)

        def pause(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            told = getattr(error, "retry_after", None)
            seconds = float(told) if told is not None else float(exponential(state))
            if isinstance(error, Throttled):
                self._pace.hold(seconds)
            return seconds

        def enough(state: RetryCallState) -> bool:
            error = state.outcome.exception() if state.outcome else None
            return state.attempt_number >= (patience.throttled if isinstance(error, Throttled) else patience.attempts)

        for attempt in Retrying(
            retry=retry_if_exception_type(AGAIN), wait=pause, stop=enough, sleep=self._sleep, reraise=True
        ):
            with attempt:
                if attempt.retry_state.attempt_number > 1:
                    with self._tally.lock:
                        self._tally.retries += 1
                self._once(pictures, keep)

    def _sleep(self, seconds: float) -> None:
        if self._halt.wait(seconds):
            raise Stopped

    def _once(self, pictures: dict[bytes, bytes], keep: Callable[[dict[bytes, object]], None]) -> None:
        raws = self._request(list(pictures.values()))
        brought = dict(zip(list(pictures), raws, strict=True))
        later = [error for error in raws if isinstance(error, AGAIN)]
        settled = {key: raw for key, raw in brought.items() if not isinstance(raw, AGAIN)}
        keep(settled)
        for key in settled:
            del pictures[key]
        if later:
            raise later[0]

    def _request(self, pictures: list[bytes]) -> list[object]:
        """One request; the money for it is spent unless the service surely did not bill it."""
        if self._halt.is_set():
            raise Stopped
        price = self._purse.take(self._limits, len(pictures))
        billed = 0.0
        try:
            turn = self._pace.take(len(pictures))
            if turn is None:
                raise Stopped
            with self._tally.lock:
                self._tally.requests += 1
            billed = price  # whatever we do not understand may have been billed
            try:
                raws = list(self._classifier.ask(pictures))
            finally:
                self._pace.returned(turn)
            billed = price * sum(not isinstance(raw, AGAIN) for raw in raws) / max(1, len(pictures))
            self.answered += 1
        except GslopesError as error:
            billed = price if isinstance(error, AnswerError) or getattr(error, "billed", False) else 0.0
            raise
        finally:
            self._purse.settle(price, billed)
            with self._tally.lock:
                self._tally.spent += billed
        if len(raws) != len(pictures):
            raise AnswerError(f"The classifier gave {len(raws)} answers to {len(pictures)} pictures.")
        return raws
