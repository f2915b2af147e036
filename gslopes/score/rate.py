"""Rate limiting for one account: when each request may be sent, so that the service never counts more than its quota.

Three rules together:

- Requests get evenly spaced slots, ``SPACING`` times the interval that the quota allows. A thread that wakes up late
  sends late; the other slots stay where they are, so no throughput is lost.
- Counting the requests actually sent, no window holds more than the quota. The window is one second, or one interval
  if that is longer; if a second is not a whole number of intervals, it is the largest whole number that fits.
- A service counts a request when it arrives. A request that took longer than the fastest one may have arrived that much
  later, and is assumed to have; the next one then cannot be early. If latency always varies, this would slow everything
  down for nothing, so ``LATENESS_EARNED`` bounds how much lateness is assumed.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from gslopes.score.limits import Limits

SPACING = 1.03  # times the quota's interval, between two slots
WINDOW_MARGIN = 1.015  # times the window: latency varies a little, and so does what is known of the arrival time
LATENESS_EARNED = 0.02  # windows of assumed lateness that each request earns
LATENESS_MAX = 3.0  # windows of assumed lateness that can be saved up; also the start value, when connections are made
MIN_ANSWERS = 6  # on open connections, before the fastest of them passes for the shortest way to the service
MAX_CATCH_UP = 1.0  # seconds of unused slots that are made up for
POLLS_PER_WINDOW = 100  # how often a waiting request checks whether a pending answer has arrived


@dataclass(slots=True, eq=False)
class Slot:
    """The slot of one request; times are seconds, monotonic.

    interval: that the quota allows.  due: when it may be sent.  sent_at: when it was.
    latency: until it was answered, None before that.  lateness: how much of the latency it may have spent on its way.
    """

    interval: float
    due: float
    sent_at: float = 0.0
    latency: float | None = None
    lateness: float = 0.0


class Schedule:
    """When requests may be sent. It is passed the time (seconds, monotonic), never sleeps, and is not thread-safe.

    limits: the quota.  now: the time.
    """

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._next = self._held = now
        self._sent: deque[Slot] = deque()
        self._longest = 0.0  # interval so far
        self._least: dict[float, float] = {}  # lowest latency so far, by interval
        self._answers = 0
        self._saved = LATENESS_MAX

    @property
    def window(self) -> float:
        """Seconds over which the quota is kept."""
        interval = self._longest
        return interval * max(1, int(1 / interval + 1e-9)) if interval else 0.0

    def reserve(self, pictures: int, now: float) -> Slot:
        """The slot of a request with so many pictures."""
        interval = self._limits.seconds(pictures, 1)
        self._longest = max(self._longest, interval)
        due = max(self._next, now - MAX_CATCH_UP, self._held)
        self._next = due + interval * SPACING
        return Slot(interval, due)

    def pause(self, seconds: float, now: float) -> None:
        """Send nothing for so many seconds."""
        self._held = max(self._held, now + seconds)
        self._next = max(self._next, self._held)

    def superseded(self, slot: Slot) -> bool:
        """Whether a pause began after the slot was reserved: the request needs another one."""
        return slot.due < self._held

    def wait(self, slot: Slot, now: float) -> float:
        """Seconds to wait before trying again; 0 if the request is sent now, which is recorded."""
        if now < slot.due:
            return slot.due - now
        if slot.interval:
            seconds = self._too_early(slot, now)
            if seconds > 0:
                return seconds
            self._sent.append(slot)
        slot.sent_at = now
        return 0.0

    def complete(self, slot: Slot, now: float) -> None:
        """The request was answered, or failed."""
        slot.latency = now - slot.sent_at
        before, self._answers = self._fastest(slot.interval), self._answers + 1
        self._least[slot.interval] = min(slot.latency, self._least.get(slot.interval, slot.latency))
        if slot.interval:
            self._saved = min(LATENESS_MAX, self._saved + LATENESS_EARNED)
        if self._fastest(slot.interval) != before:
            for one in self._sent:
                self._update_lateness(one)
        self._update_lateness(slot)

    def _fastest(self, interval: float) -> float:
        """Lowest latency on an open connection; 0 while threads may still be opening theirs, or too few are known."""
        known = self._answers >= self._limits.concurrency + MIN_ANSWERS
        return self._least.get(interval, 0.0) if known else 0.0

    def _update_lateness(self, slot: Slot) -> None:
        if slot.latency is None or not slot.interval:
            return
        self._saved += slot.lateness / self.window
        slot.lateness = self._believed(slot.latency - self._fastest(slot.interval))
        self._saved -= slot.lateness / self.window

    def _too_early(self, slot: Slot, now: float) -> float:
        window = self.window
        while self._sent and self._sent[0].sent_at <= now - (WINDOW_MARGIN + 1) * window:
            self._sent.popleft()
        if self._sent and now < (evenly := self._sent[-1].sent_at + self._sent[-1].interval / 2):
            return evenly - now  # catching up must not become a burst
        arrived = sorted(((self._arrived(one, now), one) for one in self._sent), key=lambda pair: -pair[0])
        spent = slot.interval
        for at, one in arrived:
            spent += one.interval
            if spent > window + 1e-9:
                missing = at + window * WINDOW_MARGIN - now
                return missing if one.latency is not None else min(missing, window / POLLS_PER_WINDOW)
        return 0.0

    def _arrived(self, slot: Slot, now: float) -> float:
        """The latest time at which it can have arrived."""
        if slot.latency is not None:
            return slot.sent_at + slot.lateness
        return slot.sent_at + self._believed(now - slot.sent_at - self._fastest(slot.interval))

    def _believed(self, lateness: float) -> float:
        return min(max(lateness, 0.0), self.window, self._saved * self.window)


class RateLimiter:
    """A schedule shared by all threads that ask one classifier.

    limits: the quota.  wait: sleeps for so many seconds, less if the run is stopped; returns whether it is.
    clock: seconds, monotonic.
    """

    def __init__(
        self, limits: Limits, wait: Callable[[float], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._wait = wait
        self._clock = clock
        self._lock = threading.Lock()
        self._schedule = Schedule(limits, clock())

    def acquire(self, pictures: int) -> Slot | None:
        """Wait for the slot of a request with so many pictures; None if the run was stopped meanwhile."""
        while True:
            with self._lock:
                slot = self._schedule.reserve(pictures, self._clock())
            while True:
                with self._lock:
                    if self._schedule.superseded(slot):
                        break
                    seconds = self._schedule.wait(slot, self._clock())
                if not seconds:
                    return slot
                if self._wait(seconds):
                    return None

    def complete(self, slot: Slot) -> None:
        """The request in this slot was answered, or failed."""
        with self._lock:
            self._schedule.complete(slot, self._clock())

    def pause(self, seconds: float) -> None:
        """Send nothing for so many seconds: the service throttles."""
        with self._lock:
            self._schedule.pause(seconds, self._clock())
