"""One request until it is answered: rate-limited, paid for, counted, and retried where that may help.

Requests are spaced evenly, ``SPACING`` times the interval that the quota allows, and no window of ``WINDOW_MARGIN``
seconds holds more than a second's quota; the margin is for requests that take longer to the service than others.
(Where a second is not a whole number of intervals, the window is the largest whole number that fits, at least one.)
The first requests open connections, which may take long: each is counted when it is answered, not when it is sent.
"""

from __future__ import annotations

import itertools
import math
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import inf

from gslopes.ask.cost import Budget, Limits, UsageStats, limits_of
from gslopes.core.errors import AnswerError, GslopesError, Throttled, Unavailable, Unfinished
from gslopes.core.records import Classifier

# -- when a request may be sent ----------------------------------------------------------------------------------------


DAY = 86_400.0  # seconds; no service means a longer Retry-After, and no clock takes much more
SPACING = 1.03  # times the quota's interval, between two requests
WINDOW_MARGIN = 1.025  # times the window
MAX_CATCH_UP = 1.0  # seconds of unused quota that are made up for
POLLS_PER_WINDOW = 100  # how often a request looks whether one that opens a connection was answered


@dataclass(slots=True, eq=False)
class Sent:
    """A request that was sent: seconds of the quota that it takes, and the time (monotonic) at which it counts."""

    interval: float
    counts_at: float


class Schedule:
    """When requests may be sent. It is passed the time (seconds, monotonic), never sleeps, and is not thread-safe."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._next = now
        self._sent: deque[Sent] = deque()
        self._longest = 0.0  # interval so far
        self._opening = limits.concurrency  # requests that still open a connection
        self._half_later = now  # half an interval after the last request: catching up must not become a burst

    def pause(self, seconds: float, now: float) -> None:
        """Send nothing for this long."""
        self._next = max(self._next, now + seconds)

    def wait(self, pictures: int, now: float) -> float:
        """Seconds until a request with this many pictures may be sent, at most; 0 if it may be sent now."""
        interval = self._limits.seconds(pictures, 1)
        self._longest = max(self._longest, interval)
        earliest = max(self._next, self._half_later, self._free_at(interval, now) if interval else now)
        return max(0.0, earliest - now)

    def send(self, pictures: int, now: float) -> Sent:
        """Count a request as sent now."""
        sent = Sent(self._limits.seconds(pictures, 1), now)
        self._next = max(self._next, now - MAX_CATCH_UP) + sent.interval * SPACING
        self._half_later = now + sent.interval / 2
        if sent.interval:
            self._sent.append(sent)
            if self._opening > 0:
                self._opening -= 1
                sent.counts_at = inf
        return sent

    def complete(self, sent: Sent, now: float) -> None:
        """The request was answered, or failed."""
        sent.counts_at = min(sent.counts_at, now)

    def _free_at(self, interval: float, now: float) -> float:
        """When the window has room for a request, as far as is known now."""
        window = self._longest * max(1, int(1 / self._longest + 1e-9))
        while self._sent and self._sent[0].counts_at <= now - window * WINDOW_MARGIN:
            self._sent.popleft()
        spent = interval
        for sent in sorted(self._sent, key=lambda sent: -sent.counts_at):
            spent += sent.interval
            if spent > window + 1e-9:
                opening = sent.counts_at == inf
                return now + window / POLLS_PER_WINDOW if opening else sent.counts_at + window * WINDOW_MARGIN
        return now


class RateLimiter:
    """A schedule shared by all threads that ask one classifier.

    limits: the quota.  wait: sleeps for this many seconds, less if the run is stopped; returns whether it is.
    clock: seconds, monotonic.
    """

    def __init__(
        self, limits: Limits, wait: Callable[[float], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._wait = wait
        self._clock = clock
        self._lock = threading.Lock()
        self._schedule = Schedule(limits, clock())

    def acquire(self, pictures: int) -> Sent | None:
        """Wait until a request with this many pictures may be sent; None if the run was stopped meanwhile."""
        while True:
            with self._lock:
                now = self._clock()
                seconds = self._schedule.wait(pictures, now)
                if not seconds:
                    return self._schedule.send(pictures, now)
            if self._wait(seconds):
                return None

    def complete(self, sent: Sent) -> None:
        """The request was answered, or failed."""
        with self._lock:
            self._schedule.complete(sent, self._clock())

    def pause(self, seconds: float) -> None:
        """Send nothing for this long: the service throttles."""
        with self._lock:
            self._schedule.pause(seconds, self._clock())


def seconds_to_wait(value: str, now: datetime | None = None) -> float | None:
    """What a ``Retry-After`` header asks for.

    value: seconds or a date, as it was sent.  now: instead of the clock.
    Returns: seconds in [0, one day]; None if it is empty or makes no sense.

    >>> [seconds_to_wait(value) for value in ("7", "1e300", "-3", "²", "", "Fri, 31 Dec 9999 23:59:59 GMT")]
    [7.0, 86400.0, 0.0, None, None, 86400.0]

    Source: RFC 9110, section 10.2.3.
    """
    text = value.strip()[:100]
    try:
        seconds = float(text)
    except ValueError:
        try:
            when = parsedate_to_datetime(text)
            seconds = (when.replace(tzinfo=when.tzinfo or UTC) - (now or datetime.now(UTC))).total_seconds()
        except (TypeError, ValueError, IndexError, OverflowError):
            return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), DAY)


# -- until it is answered ----------------------------------------------------------------------------------------------


RETRYABLE = (Throttled, Unavailable)


class Stopped(Exception):
    """The run was stopped while a request waited to be sent; nothing was sent."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and after how long.

    max_attempts: of a request that fails at the server or on the way.  max_throttled: of one that is throttled.
    base_delay, max_delay: seconds; the delay is drawn from (0, base_delay * 2^n), at most ``max_delay`` ("full
        jitter"), unless the service says how long to wait.
    max_retry_after: seconds; a service that asks for a longer wait is asked again after this time.
    """

    max_attempts: int = 8
    max_throttled: int = 20
    base_delay: float = 1.0
    max_delay: float = 60.0
    max_retry_after: float = 600.0

    def short(self) -> RetryPolicy:
        """For the halves of a request that was given up."""
        return replace(self, max_attempts=min(self.max_attempts, 2))

    def delay(self, error: Throttled | Unavailable, attempt: int) -> float:
        """Seconds to wait after an attempt (1, 2, ...) that ended in this error."""
        if error.retry_after is None or math.isnan(error.retry_after):
            return random.uniform(0, min(self.max_delay, self.base_delay * 2.0 ** min(attempt - 1, 60)))
        return min(max(error.retry_after, 0.0), self.max_retry_after)


class RequestSender:
    """Sends requests to one classifier; shared by its threads.

    halt: once set, no further request is sent.
    """

    def __init__(self, classifier: Classifier, budget: Budget, usage: UsageStats, halt: threading.Event) -> None:
        self._classifier = classifier
        self._limits = limits_of(classifier)
        self._budget = budget
        self._usage = usage
        self._halt = halt
        self._rate_limiter = RateLimiter(self._limits, halt.wait)
        self.answered = 0  # requests so far: shows whether the service is up

    def send(
        self, pictures: dict[bytes, bytes], store: Callable[[dict[bytes, object]], None], retry: RetryPolicy
    ) -> None:
        """Ask until every picture has an answer.

        pictures: sha256 to bytes; those that are answered are taken out.
        store: called with the responses of one request, sha256 to raw answer or ClassifierError.
        Raises: Throttled or Unavailable after the last attempt; Stopped; whatever else ``ask`` raises.
        """
        for attempt in itertools.count(1):
            try:
                self._once(pictures, store)
                return
            except RETRYABLE as error:
                throttled, seconds = isinstance(error, Throttled), retry.delay(error, attempt)
                self._usage.add(throttled=throttled)
                with self._usage.lock:
                    self._usage.longest_wait = max(self._usage.longest_wait, error.retry_after or 0.0)
                if throttled:
                    self._rate_limiter.pause(seconds)
                if attempt >= (retry.max_throttled if throttled else retry.max_attempts):
                    raise
            self._sleep(seconds)
            self._usage.add(retries=1)

    def _sleep(self, seconds: float) -> None:
        if self._halt.wait(seconds):
            raise Stopped

    def _once(self, pictures: dict[bytes, bytes], store: Callable[[dict[bytes, object]], None]) -> None:
        unfinished = True
        while unfinished:
            raws = self._request(list(pictures.values()))
            responses = dict(zip(list(pictures), raws, strict=False))  # fewer, if the budget pays for fewer
            short = len(raws) < len(pictures)
            later = [error for error in raws if isinstance(error, RETRYABLE)]
            unfinished = short or any(isinstance(raw, Unfinished) for raw in raws)
            settled = {key: raw for key, raw in responses.items() if not isinstance(raw, (*RETRYABLE, Unfinished))}
            store(settled)
            for key in settled:
                del pictures[key]
            if later:
                raise later[0]

    def _billed(self, cost: float, raws: list[object], pictures: int) -> float:
        """USD: what was sent, never by what came back alone, which is the server's to make up.

        A picture that was certainly not judged costs nothing. Tokens count at what a classifier makes of them; where it
        makes nothing of them, or what no price can be, the price known beforehand counts.
        """
        if len(raws) != pictures:
            self._usage.add(miscounted=pictures)
            return cost
        judged = [raw for raw in raws if not isinstance(raw, RETRYABLE) or raw.billed]
        each, count = cost / max(1, pictures), getattr(self._classifier, "usage", None)
        if count is None:
            return each * len(judged)
        used = [count(raw) for raw in judged]
        self._usage.add(tokens_in=sum(one.tokens_in for one in used), tokens_out=sum(one.tokens_out for one in used))
        return float(sum(one.usd if one.usd is not None and 0 <= one.usd < math.inf else each for one in used))

    def _request(self, pictures: list[bytes]) -> list[object]:
        """One request; its cost counts as spent unless the service certainly did not bill it."""
        if self._halt.is_set():
            raise Stopped
        count, cost = self._budget.reserve(self._limits, len(pictures), self._halt.is_set)
        if not count:
            raise Stopped
        pictures, billed, was_sent = pictures[:count], 0.0, False
        try:
            sent = self._rate_limiter.acquire(len(pictures))
            if sent is None:
                raise Stopped
            self._usage.add(requests=1)
            self._budget.sent(self._limits)
            was_sent = True
            billed = cost  # an unknown error may come after billing
            try:
                raws = list(self._classifier.ask(pictures))
            finally:
                self._rate_limiter.complete(sent)
            billed = self._billed(cost, raws, len(pictures))
            self.answered += 1
        except GslopesError as error:
            billed = cost if error.billed else 0.0
            raise
        finally:
            self._budget.settle(self._limits, cost, billed, was_sent=was_sent)
            self._usage.add(spent=billed)
        if len(raws) != len(pictures):
            raise AnswerError(f"The classifier gave {len(raws)} answers to {len(pictures)} pictures.")
        return raws
