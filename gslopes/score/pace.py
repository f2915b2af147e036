"""The pace of one account: when each request leaves, so that its service never counts more than its quota.

Three rules together:

- Each request has a time of its own, evenly after the one before: ``EVEN`` of what the quota allows. Who is woken late
  leaves late; the times of the others stay, so nothing is lost by it.
- Over the requests that have really left, no window holds more than the quota: a second, or the time of one request
  where that is longer. Where a second is no whole number of requests, the window is the time of the most that it holds.
- A service counts when a request arrives. One that took longer to be answered than the fastest may have arrived so much
  later, and is taken to have: the next is then sure to be late enough. Answers that always vary would slow us down for
  nothing; ``ALLOWED`` bounds what is believed.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from gslopes.score.limits import Limits

EVEN = 1.03  # of the time that the quota asks for, between the times of two requests
STRICT = 1.015  # of the window: answers vary a little, and with them what is known of the way
ALLOWED = 0.02  # of the window, for each request, on average
SAVED = 3.0  # windows of it at most, and in the beginning, when connections are made
BEHIND = 1.0  # seconds that are made up for; beyond, nobody had anything to ask
LOOKS = 100  # in a window, whether an answer has come that others wait for


@dataclass(slots=True, eq=False)
class Turn:
    """One request's.

    gap: seconds that the quota asks for.  due: when it may leave.  left: when it did.
    took: seconds until its answer was there; None before.  late: of them, those that it may have been late on its way.
    """

    gap: float
    due: float
    left: float = 0.0
    took: float | None = None
    late: float = 0.0


class Schedule:
    """Who may leave when. It is told the time (seconds, monotonic), never sleeps, and is not for several threads.

    limits: the quota.  now: the time.
    """

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._next = self._held = now
        self._sent: deque[Turn] = deque()
        self._longest = 0.0  # gap so far
        self._least: dict[float, float] = {}  # seconds to an answer so far, by gap
        self._answers = 0
        self._saved = SAVED

    @property
    def window(self) -> float:
        """Seconds in which the quota is kept."""
        gap = self._longest
        return gap * max(1, int(1 / gap + 1e-9)) if gap else 0.0

    def book(self, pictures: int, now: float) -> Turn:
        """The turn of a request with so many pictures."""
        gap = self._limits.seconds(pictures, 1)
        self._longest = max(self._longest, gap)
        due = max(self._next, now - BEHIND, self._held)
        self._next = due + gap * EVEN
        return Turn(gap, due)

    def hold(self, seconds: float, now: float) -> None:
        """Nobody leaves for so long."""
        self._held = max(self._held, now + seconds)
        self._next = max(self._next, self._held)

    def withdrawn(self, turn: Turn) -> bool:
        """Whether somebody was throttled since the turn was given: it needs another one."""
        return turn.due < self._held

    def wait(self, turn: Turn, now: float) -> float:
        """Seconds until it is worth asking again; 0 if the request leaves now, which is noted."""
        if now < turn.due:
            return turn.due - now
        if turn.gap:
            seconds = self._too_early(turn, now)
            if seconds > 0:
                return seconds
            self._sent.append(turn)
        turn.left = now
        return 0.0

    def returned(self, turn: Turn, now: float) -> None:
        """The request was answered, or failed."""
        turn.took = now - turn.left
        before, self._answers = self._fastest(turn.gap), self._answers + 1
        self._least[turn.gap] = min(turn.took, self._least.get(turn.gap, turn.took))
        if turn.gap:
            self._saved = min(SAVED, self._saved + ALLOWED)
        if self._fastest(turn.gap) != before:
            for one in self._sent:
                self._judge(one)
        self._judge(turn)

    def _fastest(self, gap: float) -> float:
        """Seconds to an answer on a connection that is there; 0 while every thread may still be making its own."""
        return self._least.get(gap, 0.0) if self._answers > self._limits.concurrency else 0.0

    def _judge(self, turn: Turn) -> None:
        if turn.took is None or not turn.gap:
            return
        self._saved += turn.late / self.window
        turn.late = self._believed(turn.took - self._fastest(turn.gap))
        self._saved -= turn.late / self.window

    def _too_early(self, turn: Turn, now: float) -> float:
        window = self.window
        while self._sent and self._sent[0].left <= now - (STRICT + 1) * window:
            self._sent.popleft()
        if self._sent and now < (evenly := self._sent[-1].left + self._sent[-1].gap / 2):
            return evenly - now  # making up for what was lost is no burst
        arrived = sorted(((self._arrived(one, now), one) for one in self._sent), key=lambda pair: -pair[0])
        spent = turn.gap
        for at, one in arrived:
            spent += one.gap
            if spent > window + 1e-9:
                missing = at + window * STRICT - now
                return missing if one.took is not None else min(missing, window / LOOKS)
        return 0.0

    def _arrived(self, turn: Turn, now: float) -> float:
        """When it had arrived at the latest."""
        if turn.took is not None:
            return turn.left + turn.late
        return turn.left + self._believed(now - turn.left - self._fastest(turn.gap))

    def _believed(self, late: float) -> float:
        return min(max(late, 0.0), self.window, self._saved * self.window)


class Pace:
    """A schedule for all threads that ask one classifier.

    limits: the quota.  wait: sleeps so many seconds, or less if the walk is stopped; returns whether it is stopped.
    clock: seconds, monotonic.
    """

    def __init__(
        self, limits: Limits, wait: Callable[[float], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._wait = wait
        self._clock = clock
        self._lock = threading.Lock()
        self._schedule = Schedule(limits, clock())

    def take(self, pictures: int) -> Turn | None:
        """Wait for the turn of a request with so many pictures; None if the walk was stopped meanwhile."""
        while True:
            with self._lock:
                turn = self._schedule.book(pictures, self._clock())
            while True:
                with self._lock:
                    if self._schedule.withdrawn(turn):
                        break
                    seconds = self._schedule.wait(turn, self._clock())
                if not seconds:
                    return turn
                if self._wait(seconds):
                    return None

    def returned(self, turn: Turn) -> None:
        """The request with this turn was answered, or failed."""
        with self._lock:
            self._schedule.returned(turn, self._clock())

    def hold(self, seconds: float) -> None:
        """Let nobody ask for so long: the service said that it is too much."""
        with self._lock:
            self._schedule.hold(seconds, self._clock())
