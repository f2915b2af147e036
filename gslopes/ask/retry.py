"""One request until it is answered: rate-limited, paid for, counted, and retried if that may help."""

import itertools
import math
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import cast
from uuid import uuid4

from gslopes.ask.cost import Budget, UsageStats
from gslopes.core import (
    AnswerError,
    Facts,
    GslopesError,
    Throttled,
    Unavailable,
    Unfinished,
    frozen,
    hexdigest,
    traits_of,
)
from gslopes.core.records import Able, Classifier, Files, Raws

# -- when a request may be sent ----------------------------------------------------------------------------------------

DAY = 86_400.0  # seconds; no service means a longer Retry-After, and no clock takes much more
SPACING = 1.03  # times the quota's interval, between two requests


@dataclass(eq=False)
class RateLimiter:
    """Spaces the requests to each server evenly, shared by all threads; unused turns are not made up for.

    wait: sleeps for this many seconds, less if the run is stopped; returns whether it is.  clock: seconds, monotonic.
    """

    wait: Callable[[float], bool]
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}  # when a server may be asked again

    def acquire(self, gap: float, server: str = "") -> float:
        """Wait for one's turn; how many seconds that took.  Raises: Stopped.

        gap: seconds from the beginning of this request to the next one.
        """
        began = self.clock()
        while True:
            with self._lock:
                now = self.clock()
                seconds = self._next.get(server, now) - now
                if seconds <= 0:
                    self._next[server] = now + gap
                    return now - began
            if self.wait(seconds):
                raise Stopped

    def pause(self, seconds: float, server: str = "") -> None:
        """Send nothing for this long: the server throttles."""
        with self._lock:
            self._next[server] = max(self._next.get(server, 0.0), self.clock() + seconds)


def seconds_to_wait(headers: Facts) -> float | None:
    """What the ``Retry-After`` of a reply asks for: seconds, or a date, which counts from the reply's own ``Date`` on.

    headers: by names in lower case. Without a ``Date`` our clock counts, which may be wrong.
    Returns: seconds in [0, one day]; None if it is empty or makes no sense.

    >>> values = ("7", "1e300", "-3", "²", "", "Fri, 31 Dec 9999 23:59:59 GMT")
    >>> [seconds_to_wait({"retry-after": value}) for value in values]
    [7.0, 86400.0, 0.0, None, None, 86400.0]

    Source: RFC 9110, section 10.2.3.
    """
    text = str(headers.get("retry-after") or "").strip()[:100]
    try:
        seconds = float(text)
    except ValueError:
        try:
            date = headers.get("date")
            now = _moment(str(date)) if date else datetime.now(UTC)
            seconds = (_moment(text) - now).total_seconds()
        except (TypeError, ValueError, IndexError, OverflowError):
            return None
    if math.isnan(seconds):
        return None
    return min(max(seconds, 0.0), DAY)


def _moment(text: str) -> datetime:
    when = parsedate_to_datetime(text[:100])
    return when.replace(tzinfo=when.tzinfo or UTC)


# -- until it is answered ----------------------------------------------------------------------------------------------

RETRYABLE = (Throttled, Unavailable)
Encoded = dict[bytes, bytes]  # sha256 to the bytes of a picture
Responses = dict[bytes, object]  # sha256 to raw answer or ClassifierError
Store = Callable[[Responses], None]


class Stopped(Exception):
    """The run was stopped while something waited: a request to be sent, or a connection."""


@frozen
class RetryPolicy:
    """How often, and after how long.

    max_attempts: of a request that fails at the server or on the way.  max_throttled: of one that is throttled.
    base_delay, max_delay: seconds; the delay is drawn from (0, base_delay * 2^n), at most ``max_delay`` ("full
        jitter"), unless the service asks for a time.
    max_retry_after: seconds; a service that asks for a longer wait is asked again after this time.
    patience: seconds for all attempts about one picture that fail, and the waits between them; a service that
        throttles do not count. A request about several pictures has half of it, the rest is for its halves.
    """

    max_attempts: int = 8
    max_throttled: int = 20
    base_delay: float = 1.0
    max_delay: float = 60.0
    max_retry_after: float = 600.0
    patience: float = 180.0

    def short(self) -> "RetryPolicy":
        """For the halves of a request that was given up."""
        return replace(self, max_attempts=min(self.max_attempts, 2), patience=self.patience / 2)

    def most_sent(self, pictures: int) -> int:
        """How often a picture is sent at most if it is lost each time: in a request with others, then in its halves.

        >>> RetryPolicy().most_sent(1), RetryPolicy().most_sent(16)
        (8, 16)
        """
        return self.max_attempts + self.short().max_attempts * (pictures - 1).bit_length()

    def delay(self, error: Throttled | Unavailable, attempt: int) -> float:
        """Seconds to wait after an attempt (1, 2, ...) that ended in this error."""
        if error.retry_after is None or math.isnan(error.retry_after):
            most = self.base_delay * 2.0 ** min(attempt - 1, 60)
            return random.uniform(0, min(self.max_delay, most))
        return min(max(error.retry_after, 0.0), self.max_retry_after)


# when a request of this thread ends, monotonic
_LATEST = ContextVar("latest", default=math.inf)


def seconds_left(most: float) -> float:
    """How long a request that begins now may take: at most so long, and no longer than there is patience for it."""
    return min(most, _LATEST.get() - time.monotonic())


@dataclass(slots=True)
class Patience:
    """What is left of the seconds that failing attempts and the waits between them may take."""

    left: float

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """One attempt, which ends with the patience; if it fails, its time is used up."""
        began = time.monotonic()
        token = _LATEST.set(began + self.left)
        try:
            yield
        except BaseException:
            self.left -= time.monotonic() - began
            raise
        finally:
            _LATEST.reset(token)


@dataclass(eq=False)
class RequestSender:
    """Sends requests to one classifier; shared by its threads.

    halt: once set, no further request is sent.  pace: of all who ask the same service.
    answered: requests so far: shows whether the service is up.

    The cost of a picture that is posted stays reserved until its reply is read.
    """

    classifier: Classifier
    budget: Budget
    usage: UsageStats
    halt: threading.Event
    pace: RateLimiter
    answered: int = 0
    _posted: dict[str, tuple[int, float]] = field(
        default_factory=dict
    )  # reserved, by name in the ledger

    def send(self, pictures: Encoded, store: Store, retry: RetryPolicy) -> None:
        """Ask until every picture has an answer.

        pictures: sha256 to bytes; those that are answered are taken out.
        store: called with the responses of one request.
        Raises: Throttled or Unavailable after the last attempt; Stopped; whatever else ``ask`` raises.
        """
        patience = Patience(retry.patience / (2 if len(pictures) > 1 else 1))
        for attempt in itertools.count(1):
            try:
                while pictures:
                    raws = self._request(list(pictures.values()), patience)
                    later = [raw for raw in raws if isinstance(raw, RETRYABLE)]
                    settled = {  # fewer than the pictures, if the budget pays for fewer
                        key: raw
                        for key, raw in zip(list(pictures), raws, strict=False)
                        if not isinstance(raw, (*RETRYABLE, Unfinished))
                    }
                    store(settled)
                    for key in settled:
                        del pictures[key]
                    if later:
                        raise later[0]
                return
            except RETRYABLE as error:
                throttled = isinstance(error, Throttled)
                seconds = retry.delay(error, attempt)
                self.usage.add(throttled=throttled)
                if throttled:
                    self.pace.pause(seconds)
                else:
                    patience.left -= seconds
                most = retry.max_throttled if throttled else retry.max_attempts
                if patience.left <= 0 or attempt >= most:
                    raise
            if self.halt.wait(seconds):
                raise Stopped
            self.usage.add(retries=1)

    def _billed(self, cost: float, raws: Raws, pictures: int) -> float:
        """USD: by what was sent, never only by what came back, which is the server's to make up.

        A picture that was certainly not judged costs nothing. Tokens count at what a classifier makes of them, but at
        most at the price known beforehand, which also counts if it makes nothing of them, or something impossible.
        """
        if len(raws) != pictures:
            self.usage.add(miscounted=pictures)
            return cost
        judged = [raw for raw in raws if not isinstance(raw, RETRYABLE) or raw.billed]
        share = cost / max(1, pictures)
        if not traits_of(self.classifier).counts:
            return share * len(judged)
        billed = 0.0
        for usage in map(cast("Able", self.classifier).usage, judged):
            self.usage.add(tokens_in=usage.tokens_in, tokens_out=usage.tokens_out)
            stated = share if usage.usd is None else usage.usd
            billed += stated if 0 <= stated < share else share
        return billed

    def _request(self, pictures: Files, patience: Patience) -> Raws:
        """One request; its cost counts as spent unless the service certainly did not bill it."""
        if self.halt.is_set():
            raise Stopped
        traits = traits_of(self.classifier)
        limits = traits.limits
        # what is posted has one name for all commands that look for its reply
        name = f"{self.classifier.name} {hexdigest(pictures[0])}" if traits.posts else uuid4().hex
        held = self._posted.pop(name, None)
        count, cost = held or self.budget.reserve(
            limits, len(pictures), lambda: traits.posts or self.halt.is_set(), name
        )
        if not count:
            raise Stopped
        pictures = pictures[:count]
        billed = 0.0
        try:
            self.pace.acquire(limits.seconds(len(pictures), 1) * SPACING)
            billed = cost  # an unknown error may come after billing
            with patience.attempt():
                raws = list(self.classifier.ask(pictures))
            billed = self._billed(cost, raws, len(pictures))
            self.answered += 1
        except Stopped:
            if traits.posts:
                self._posted[name] = count, cost
            raise
        except GslopesError as error:
            billed = cost if error.billed else 0.0
            raise
        finally:
            if name not in self._posted:
                self.budget.settle(cost, billed, name)
                self.usage.add(requests=1, spent=billed)
        if len(raws) != len(pictures):
            raise AnswerError(
                f"{self.classifier.name} gave {len(raws)} answers to {len(pictures)} pictures."
            )
        return raws
