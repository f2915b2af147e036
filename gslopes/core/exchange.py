"""A whole exchange with a server, bounded in time and size: the layer below every client of ours.

Each read is cut into slices that look at the clock. A timeout of a single read is not enough: a server that sends one
byte of a header, an empty ``100 Continue`` or a chunk extension now and then keeps a connection open forever without
ever letting one read time out.
"""

from __future__ import annotations

import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpcore

SLICE = 0.25  # seconds between looks at the deadline and at whether the exchange was stopped
PIECE = 64 << 10  # bytes that are written between such looks

T = TypeVar("T")


class Stopped(Exception):
    """It was stopped while something waited."""


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


class TooLarge(Exception):
    """A body has more bytes than it may.  body: what came until then."""

    def __init__(self, body: bytes) -> None:
        super().__init__("too large")
        self.body = body


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
        """All of it."""
        for start in range(0, len(buffer), PIECE):
            self._inner.write(buffer[start : start + PIECE], self._exchange.seconds(timeout))

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """The connection, encrypted; closed if that takes beyond the deadline."""
        left = self._exchange.seconds(timeout)
        try:
            inner = self._exchange.run(lambda: self._inner.start_tls(ssl_context, server_hostname, left))
        except (DeadlineExceeded, Stopped):
            self._inner.close()
            raise
        return WatchedStream(inner, self._exchange)

    def get_extra_info(self, info: str) -> Any:
        """As httpcore's."""
        return self._inner.get_extra_info(info)


class WatchedNetwork(httpcore.NetworkBackend):
    """Opens connections whose every step keeps to the exchange's deadline."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect; abandoned at the deadline.  Raises: as ``Exchange.run``; httpcore.ConnectError, ConnectTimeout."""
        left = self._exchange.seconds(timeout)
        stream = self._exchange.run(lambda: self._inner.connect_tcp(host, port, left, local_address, socket_options))
        return WatchedStream(stream, self._exchange)

    def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Raises: httpcore.ConnectError: no address of ours means one."""
        raise httpcore.ConnectError("a local socket")

    def sleep(self, seconds: float) -> None:
        """For the retries of httpcore, which are not used."""
        self._inner.sleep(seconds)


def decoded(chunks: Iterable[bytes], encoding: str, max_bytes: int) -> bytes:
    """A body, decompressed.

    encoding: as ``Content-Encoding`` names it.  max_bytes: of what comes and of what it becomes.

    Raises: TooLarge; ValueError if the encoding is not known, or the body is not of it or ends too early.
    """
    body, came = bytearray(), 0
    plain = encoding.strip().lower() in ("", "identity")
    if not plain and encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        raise ValueError(f"the encoding {encoding[:40]!r} was not asked for")
    decoder = zlib.decompressobj(32 + zlib.MAX_WBITS)  # gzip or zlib, as its first bytes say
    for chunk in chunks:
        came += len(chunk)
        try:
            body += chunk if plain else decoder.decompress(chunk, max_bytes + 1 - len(body))
        except zlib.error as error:
            raise ValueError("the body cannot be decompressed") from error
        if max(came, len(body)) > max_bytes:
            raise TooLarge(bytes(body))
    if not plain and came and not decoder.eof:
        raise ValueError("the compressed body ends too early")
    return bytes(body)
