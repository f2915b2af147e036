"""Time on the network: a deadline on a whole exchange with a server, and evenly spaced requests to each host.

Each read is cut into slices that look at the clock. A timeout of a single read is not enough: a server that sends one
byte of a header, an empty ``100 Continue`` or a chunk extension now and then keeps a connection open forever without
ever letting one read time out.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpcore

SLICE = 0.25  # seconds between looks at the deadline and at whether the collection was stopped

T = TypeVar("T")


class Stopped(Exception):
    """The collection was stopped while something waited."""


class DeadlineExceeded(Exception):
    """The exchange took longer than it may."""


class Exchange:
    """The deadline of the exchange that the calling thread is in; each thread has its own.

    stop: set to end every exchange.  clock: seconds, monotonic.
    """

    def __init__(self, stop: threading.Event | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stop = stop or threading.Event()
        self._clock = clock
        self._local = threading.local()

    @contextmanager
    def until(self, deadline: float) -> Iterator[None]:
        """Everything in this thread and block ends at the deadline."""
        self._local.deadline = deadline
        try:
            yield
        finally:
            del self._local.deadline

    def seconds(self, timeout: float | None) -> float | None:
        """What is left of a timeout.  Raises: DeadlineExceeded, Stopped."""
        if self._stop.is_set():
            raise Stopped
        deadline = getattr(self._local, "deadline", None)
        if deadline is None:
            return timeout
        left = float(deadline - self._clock())
        if left <= 0:
            raise DeadlineExceeded
        return left if timeout is None else min(timeout, left)

    def run(self, call: Callable[[], T]) -> T:
        """The result of a call that cannot be interrupted, such as resolving a name; abandoned at the deadline.

        Raises: DeadlineExceeded, Stopped; whatever the call raises.
        """
        results: list[T] = []
        errors: list[BaseException] = []
        ended = threading.Event()  # not join: an interrupt within Thread.join marks the thread as ended (Python 3.11)

        def target() -> None:
            try:
                results.append(call())
            except BaseException as error:
                errors.append(error)
            ended.set()

        threading.Thread(target=target, daemon=True).start()
        while not ended.wait(SLICE):
            self.seconds(None)
        if errors:
            raise errors[0]
        return results[0]


class WatchedStream(httpcore.NetworkStream):
    """A connection whose reads and writes end with the exchange.

    Raises: DeadlineExceeded, Stopped, and as httpcore's streams.
    """

    def __init__(self, inner: httpcore.NetworkStream, exchange: Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """At most ``max_bytes``."""
        waited = 0.0
        while True:
            left = self._exchange.seconds(timeout)
            piece = SLICE if left is None else min(SLICE, left)
            try:
                return self._inner.read(max_bytes, piece)
            except httpcore.ReadTimeout:
                waited += piece
                if timeout is not None and waited >= timeout:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """All of it; requests are small."""
        self._inner.write(buffer, self._exchange.seconds(timeout))

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """The connection, encrypted."""
        left = self._exchange.seconds(timeout)
        return WatchedStream(self._inner.start_tls(ssl_context, server_hostname, left), self._exchange)

    def get_extra_info(self, info: str) -> Any:
        """As httpcore's."""
        return self._inner.get_extra_info(info)


class HostRateLimiter:
    """The turns of all hosts, shared by all threads.

    min_interval: seconds between the beginnings of two requests to one host.
    stop: set to make everything that waits raise Stopped.  clock: seconds, monotonic.
    """

    def __init__(self, min_interval: float, stop: threading.Event, clock: Callable[[], float] = time.monotonic) -> None:
        self.min_interval, self.stop = min_interval, stop
        self._clock = clock
        self._lock = threading.Lock()
        self._free: dict[str, float] = {}
        self._gaps: dict[str, float] = {}

    def set_min_interval(self, host: str, min_interval: float) -> None:
        """The least time between two requests to this host, seconds."""
        with self._lock:
            self._gaps[host] = max(min_interval, self._gaps.get(host, 0.0))

    def pause(self, host: str, seconds: float) -> None:
        """Leave this host alone for so long."""
        with self._lock:
            self._free[host] = max(self._free.get(host, 0.0), self._clock() + seconds)

    def acquire(self, host: str) -> float:
        """Wait for one's turn at a host; how many seconds that took.  Raises: Stopped."""
        began = self._clock()
        while True:
            with self._lock:
                now, free = self._clock(), self._free.get(host, 0.0)
                if free <= now:
                    self._free[host] = now + max(self.min_interval, self._gaps.get(host, 0.0))
                    return now - began
            self.wait(free - now)

    def wait(self, seconds: float) -> None:
        """Sleep.  Raises: Stopped."""
        if self.stop.wait(max(seconds, 0.0)):
            raise Stopped
