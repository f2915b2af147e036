"""Rate limiting for one account: when each request may be sent, so that the service never counts more than its quota.

Requests are spaced evenly, ``SPACING`` times the interval that the quota allows, and no window of ``WINDOW_MARGIN``
seconds holds more than a second's quota; the margin is for requests that take longer to the service than others.
(Where a second is not a whole number of intervals, the window is the largest whole number that fits, at least one.)
The first requests open connections, which may take long: each is counted when it is answered, not when it is sent.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import inf

from gslopes.score.limits import Limits

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
