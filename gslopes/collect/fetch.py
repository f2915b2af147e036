"""The only road to the network: paced, bounded in size and time, redirects followed by hand and checked one by one.

httpcore, the layer below httpx, is used directly, because there the address of every connection can be checked at the
moment of connecting, with certificates still checked against the name; it follows no redirect, decodes nothing and
reads no proxy from the environment.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import httpcore
import httpx

from gslopes.ask.retry import seconds_to_wait
from gslopes.ask.transport import DeadlineExceeded, Exchange, Stopped, TooLarge, decoded
from gslopes.collect.address import ForbiddenAddress, PublicNetwork
from gslopes.core.reasons import Reason, SkipReason

REDIRECTS = 5
_RETRYABLE = (408, 425, 429)  # and every code of 500 and above


class DownloadError(Exception):
    """A download that came to nothing.

    status: ``refused`` (asking again would not help) or ``failed`` (it might).  reason: of the manifest.
    code: the HTTP status, 0 if there was none.
    """

    def __init__(self, status: str, reason: SkipReason, code: int = 0) -> None:
        super().__init__(reason)
        self.status, self.reason, self.code = status, reason, code


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with status 200: its type without parameters, lower case, and its body."""

    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """How the network is used.

    gap: seconds between two requests to one host.  seconds: longest time of one download, redirects included.
    max_bytes: of one download.  max_attempts: of one request, if the server is busy or the connection fails.
    backoff: seconds before the second attempt, doubled for each further one.  max_retry_after: the longest Retry-After
    that is honoured, seconds.  agent: the user agent.  allowed: ``host:port`` of test servers at private addresses.
    """

    gap: float = 1.0
    seconds: float = 60.0
    max_bytes: int = 25 << 20
    max_attempts: int = 4
    backoff: float = 2.0
    max_retry_after: float = 300.0
    agent: str = "gslopes"
    allowed: tuple[str, ...] = ()


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


class Fetcher:
    """Downloads over HTTP and HTTPS; its methods may be called from several threads.

    policy: see there.  stop: set to end everything that waits or reads.  network: as httpcore's; for tests.
    """

    def __init__(
        self, policy: FetchPolicy, stop: threading.Event, network: httpcore.NetworkBackend | None = None
    ) -> None:
        self.policy, self.stop = policy, stop
        self.rate = HostRateLimiter(policy.gap, stop)
        self._exchange = Exchange(stop)
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=32,
            max_keepalive_connections=16,
            network_backend=network or PublicNetwork(self._exchange, policy.allowed),
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        max_bytes: int = 0,
        before_request: Callable[[httpx.URL], None] | None = None,
        rate_key: str = "",
        truncate: bool = False,
    ) -> Reply:
        """One document.

        headers: in addition to our own; sent to the first host alone.  max_bytes: at most; that of the policy if 0.
        before_request: called with each address before it is asked; may raise DownloadError.
        rate_key: whose rate limit counts; the host's if empty.  truncate: cut what is too large instead of refusing.

        Raises: DownloadError, Stopped.
        """
        deadline = time.monotonic() + self.policy.seconds
        address, extra_headers = parse_url(url), dict(headers or {})
        for _ in range(REDIRECTS + 1):
            if before_request is not None:
                began = time.monotonic()
                before_request(address)
                deadline += time.monotonic() - began
            limit = max_bytes or self.policy.max_bytes
            answer = self._get_with_retries(
                address, extra_headers, limit, deadline, rate_key or origin(address), truncate
            )
            if isinstance(answer, Reply):
                return answer
            following = parse_url(answer, address)
            extra_headers = extra_headers if origin(following) == origin(address) else {}
            address = following
        raise DownloadError("refused", SkipReason(Reason.TOO_MANY_REDIRECTS, f"more than {REDIRECTS}"))

    def _get_with_retries(
        self, url: httpx.URL, headers: dict[str, str], max_bytes: int, deadline: float, rate_key: str, truncate: bool
    ) -> Reply | str:
        """A document, or where a redirect leads; tried again while the server is busy."""
        for attempt in range(self.policy.max_attempts):
            last = attempt + 1 == self.policy.max_attempts
            try:
                deadline += self.rate.acquire(rate_key)  # a queue at our own door is not the server's slowness
                return self._request(url, headers, max_bytes, deadline, truncate)
            except _Retry as retry:
                if last or retry.seconds > self.policy.max_retry_after:
                    raise DownloadError("failed", retry.reason, retry.code) from None
                waiting = max(retry.seconds, self.policy.backoff * 2**attempt)
            self.rate.pause(rate_key, waiting)
        raise AssertionError("unreachable")

    def _request(
        self, url: httpx.URL, headers: dict[str, str], max_bytes: int, deadline: float, truncate: bool
    ) -> Reply | str:
        sent = {"Host": _host(url), "User-Agent": self.policy.agent, "Accept-Encoding": "identity", "Accept": "*/*"}
        raw = [(key.encode("ascii"), value.encode("ascii")) for key, value in (sent | headers).items()]
        left = max(0.1, min(20.0, deadline - time.monotonic()))
        timeouts = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), left)}
        with (
            _translated_errors(SkipReason(Reason.TOO_SLOW, f"{self.policy.seconds:g} seconds")),
            self._exchange.until(deadline),
            self._pool.stream("GET", str(url), headers=raw, extensions=timeouts) as response,
        ):
            received = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in response.headers}
            if response.status in _RETRYABLE or response.status >= 500:
                raise _Retry(
                    SkipReason(Reason.HTTP_ERROR, str(response.status)),
                    seconds_to_wait(received.get("retry-after", "")) or 0.0,
                    response.status,
                )
            if response.status in (301, 302, 303, 307, 308) and received.get("location"):
                return received["location"]
            if response.status != 200:
                raise DownloadError("refused", SkipReason(Reason.HTTP_ERROR, str(response.status)), response.status)
            if received.get("content-encoding", "identity").lower() != "identity":
                raise DownloadError("refused", SkipReason(Reason.COMPRESSED))
            promised = _length(received.get("content-length", ""))
            if promised is not None and promised > max_bytes and not truncate:
                raise DownloadError("refused", SkipReason(Reason.FILE_TOO_LARGE, f"more than {max_bytes >> 20} MiB"))
            kind = received.get("content-type", "").partition(";")[0].strip().lower()
            return Reply(kind, _read(response, max_bytes, promised, truncate))


def _read(response: httpcore.Response, max_bytes: int, promised: int | None, truncate: bool) -> bytes:
    """The body, by a stream that keeps to the deadline."""
    try:
        body = decoded(response.iter_stream(), "identity", max_bytes)
    except TooLarge as error:
        if truncate:
            return error.body[:max_bytes]
        limit = f"more than {max_bytes >> 20} MiB"
        raise DownloadError("refused", SkipReason(Reason.FILE_TOO_LARGE, limit)) from None
    if promised is not None and promised != len(body):
        raise _Retry(SkipReason(Reason.CUT_SHORT))
    return body


def _length(value: str) -> int | None:
    """A Content-Length; None if it is none that makes sense."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 20 else None


def origin(url: httpx.URL) -> str:
    """Scheme, host and port: what robots.txt and our pace are about."""
    return f"{url.scheme}://{_host(url)}"


class _Retry(Exception):
    def __init__(self, reason: SkipReason, seconds: float = 0.0, code: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.seconds, self.code = reason, seconds, code


@contextlib.contextmanager
def _translated_errors(too_late: SkipReason) -> Iterator[None]:
    """What goes wrong with a connection, as a reason without addresses or keys."""
    try:
        yield
    except ForbiddenAddress as error:
        raise DownloadError("refused", SkipReason.of(str(error))) from error
    except DeadlineExceeded as error:
        raise DownloadError("failed", too_late) from error
    except httpcore.TimeoutException as error:
        raise _Retry(SkipReason(Reason.NO_ANSWER)) from error
    except httpcore.ConnectError as error:
        raise _Retry(SkipReason(Reason.NO_CONNECTION)) from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise _Retry(SkipReason(Reason.CONNECTION_BROKE)) from error
    except (ValueError, OverflowError, httpcore.UnsupportedProtocol) as error:  # headers, hosts, ports beyond reason
        raise DownloadError(
            "refused", SkipReason(Reason.INVALID_ADDRESS, "or an answer that makes no sense")
        ) from error


def parse_url(url: str, base: httpx.URL | None = None) -> httpx.URL:
    """Raises: DownloadError unless it is http or https, with a host, a port that exists, and without a password."""
    try:
        found = base.join(url) if base is not None else httpx.URL(url)
        port = found.port
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise DownloadError("refused", SkipReason(Reason.INVALID_ADDRESS)) from error
    if b"%" in found.raw_host:  # what httpx makes of characters that no host has
        raise DownloadError("refused", SkipReason(Reason.INVALID_ADDRESS))
    if found.scheme not in ("http", "https") or not found.raw_host:
        raise DownloadError("refused", SkipReason(Reason.INVALID_ADDRESS, "not http or https"))
    if port is not None and not 0 < port < 2**16:
        raise DownloadError("refused", SkipReason(Reason.INVALID_ADDRESS, "there is no such port"))
    if found.userinfo:
        raise DownloadError("refused", SkipReason(Reason.INVALID_ADDRESS, "it holds a password"))
    return found


def _host(url: httpx.URL) -> str:
    return url.netloc.decode("ascii")
