"""What a classifier can bear and what it costs, and the pace that follows from it."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from gslopes.core.errors import ConfigError
from gslopes.core.records import Classifier
from gslopes.score.names import OPERATIONAL


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits and the price of a classifier; the defaults are those of a local one: none.

    requests_per_second, pictures_per_second: of one account; 0 is no limit.  concurrency: requests in flight at once.
    picture_bytes: of one encoded picture; 0 is no limit.  Larger ones are encoded anew, and it is said.
    request_bytes: of all encoded pictures of one request together, before any base64; 0 is no limit.
    least_side, most_side: pixels; smaller pictures are refused without asking, larger ones are scaled down.
    formats: what it takes, as Pillow names it; others are encoded as JPEG.  Empty: everything.
    price: USD per 1,000 pictures; 0 for a local classifier, None where it depends on the user's plan.
    note: what a user should know about rate and price, one sentence; empty if nothing.
    """

    requests_per_second: float = 0.0
    pictures_per_second: float = 0.0
    concurrency: int = 1
    picture_bytes: int = 0
    request_bytes: int = 0
    least_side: int = 1
    most_side: int = 0
    formats: tuple[str, ...] = ()
    price: float | None = 0.0
    note: str = ""

    @property
    def free(self) -> bool:
        """Whether asking costs nothing."""
        return self.price == 0

    @property
    def remote(self) -> bool:
        """Whether it is asked over a network: paced, billed, or several at once."""
        return self.price != 0 or self.concurrency > 1 or bool(self.requests_per_second or self.pictures_per_second)

    def adjusted(self, options: ServiceOptions) -> Limits:
        """With what the user gave as ``rate``, ``concurrency`` and ``price``."""
        changes: dict[str, float | int] = {}
        if options.rate:
            changes["requests_per_second"] = options.rate
        if options.concurrency:
            changes["concurrency"] = options.concurrency
        if options.price:
            changes["price"] = options.price
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def seconds(self, pictures: int, requests: int) -> float:
        """How long so many take at the quota; 0 where there is none."""
        by_requests = requests / self.requests_per_second if self.requests_per_second else 0.0
        by_pictures = pictures / self.pictures_per_second if self.pictures_per_second else 0.0
        return max(by_requests, by_pictures)

    def cost(self, pictures: int) -> float | None:
        """USD for so many pictures, None if the price is not known."""
        return None if self.price is None else self.price * pictures / 1000


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """What every service has: options about pace and price that are no part of the classifier's name.

    rate: requests a second; 0: as listed.  concurrency: requests in flight at once; 0: as listed.
    price: USD per 1,000 pictures on the user's plan; 0: as listed.
    """

    rate: float = field(default=0.0, metadata=OPERATIONAL)
    concurrency: int = field(default=0, metadata=OPERATIONAL)
    price: float = field(default=0.0, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        if min(self.rate, self.concurrency, self.price) < 0:
            raise ConfigError("A service's rate, concurrency and price are not negative.")


LOCAL = Limits()


def limits_of(classifier: Classifier) -> Limits:
    """The classifier's own limits, or none."""
    found = getattr(classifier, "limits", LOCAL)
    return found if isinstance(found, Limits) else LOCAL


MARGIN = 1.045  # of the plan: what is left free makes up for threads that wake up late
STRICT = 1.03  # of what really leaves: on its way, a request may be a little slower than the next


class Pace:
    """Even spacing of requests, shared by all threads that ask one classifier.

    Even, not in bursts: whatever window the service counts in, its limit is kept. A thread that is woken late leaves
    late; the next ones still leave at their own times, unless more than the quota of a second would then leave in one.

    limits: the quota.  wait: sleeps so many seconds, or less if the walk is stopped; returns whether it is stopped.
    clock: seconds, monotonic.
    """

    def __init__(
        self, limits: Limits, wait: Callable[[float], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = limits
        self._wait = wait
        self._clock = clock
        self._lock = threading.Lock()
        self._free_at = self._held = clock()
        self._longest = 0.0  # gap so far
        self._left: deque[tuple[float, float]] = deque()  # when the last requests really left, and their gaps

    def take(self, pictures: int) -> bool:
        """Wait for the turn of a request with so many pictures; False if the walk was stopped meanwhile."""
        gap = self._limits.seconds(pictures, 1)
        while True:
            with self._lock:
                turn = max(self._clock(), self._free_at)
                self._free_at = turn + gap * MARGIN
            while (left := self._to_wait(turn, gap)) > 0:
                if self._wait(left):
                    return False
            if turn >= self._held:  # else somebody was throttled while we waited
                return True

    def hold(self, seconds: float) -> None:
        """Let nobody ask for so long: the service said that it is too much."""
        with self._lock:
            self._held = max(self._held, self._clock() + seconds)
            self._free_at = max(self._free_at, self._held)

    def _to_wait(self, turn: float, gap: float) -> float:
        """Seconds until a request may leave; 0 if it leaves now, which is noted."""
        if not gap:
            return turn - self._clock()
        with self._lock:
            now = self._clock()
            if now < turn:
                return turn - now
            if turn < self._held:
                return 0.0  # it gets another turn
            window = gap * max(1, int(1 / gap + 1e-9))  # of a second at most, if that holds one request
            self._longest = max(self._longest, gap)
            while self._left and self._left[0][0] <= now - STRICT * max(1.0, self._longest):
                self._left.popleft()
            spent = gap
            for at, one in reversed(self._left):
                spent += one
                if spent > window + 1e-9:
                    if at + window * STRICT > now + 1e-9:
                        return at + window * STRICT - now
                    break
            self._left.append((now, gap))
            return 0.0
