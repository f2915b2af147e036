"""The only road to the network: to public addresses, as robots.txt allows, paced, bounded in size and time.

Redirects are followed by hand and checked one by one. httpcore, the layer below httpx, is used directly, because there
the address of every connection can be checked at the moment of connecting, with certificates still checked against the
name; it follows no redirect, decodes nothing and reads no proxy from the environment.

A name that is checked first and resolved again later can point somewhere else the second time. Here the name is
resolved once, every address that it has is checked, and the connection goes to one of them.
"""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

from gslopes.ask.retry import seconds_to_wait
from gslopes.ask.transport import DeadlineExceeded, Exchange, Stopped, TooLarge, WatchedNetwork, decoded
from gslopes.core.errors import UsageError
from gslopes.core.reasons import Reason, SkipReason

if TYPE_CHECKING:
    from protego import Protego

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[..., list[tuple[Any, ...]]]

_SPECIAL = Path(__file__).parent / "data/special-purpose-addresses.csv"
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class ForbiddenAddress(Exception):
    """A host is, or leads to, an address that is not public."""


def is_public(address: str) -> bool:
    """Whether an IP address is global unicast and in no block of IANA's special-purpose registries.

    An address that only spells an IPv4 address (``::ffff:a.b.c.d``, and ``64:ff9b::a.b.c.d`` of networks without IPv4)
    is judged by that one.

    address: IPv4 or IPv6; with a zone (``%eth0``) it is a local one.

    >>> [is_public(a) for a in ("8.8.8.8", "127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "64:ff9b:1::7f00:1")]
    [True, False, False, False, False]

    Source: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), kept with their date in ``data/``.
    """
    if "%" in address:
        return False
    found = _unwrapped(ipaddress.ip_address(address))
    if isinstance(found, ipaddress.IPv6Address) and found not in _GLOBAL_UNICAST:
        return False
    return not any(found in block for block in _special_blocks())


@functools.cache
def _special_blocks() -> tuple[Network, ...]:
    lines = _SPECIAL.read_text(encoding="utf-8").splitlines()
    rows = [line.partition(",")[0] for line in lines if not line.startswith("#")]
    return tuple(ipaddress.ip_network(block) for block in rows[1:])


def _unwrapped(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else address


class PublicNetwork(WatchedNetwork):
    """Opens connections to public addresses alone; what is read from them keeps to the exchange's deadline.

    exchange: see ``ask.transport.Exchange``.  allowed: ``host:port`` of servers that are exempt, for tests.
    resolve: as ``socket.getaddrinfo``.
    """

    def __init__(
        self, exchange: Exchange | None = None, allowed: Iterable[str] = (), resolve: Resolve = socket.getaddrinfo
    ) -> None:
        super().__init__(exchange or Exchange())
        self._allowed = frozenset(allowed)
        self._resolve = resolve

    def connect_tcp(self, host: str, port: int, *rest: Any, **named: Any) -> httpcore.NetworkStream:
        """Connect, at an address that was checked.

        Raises: ForbiddenAddress if any address of the host is not public; httpcore.ConnectError; DeadlineExceeded.
        """
        address = host if f"{host}:{port}" in self._allowed else self._checked(host, port)
        return super().connect_tcp(address, port, *rest, **named)

    def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Raises: ForbiddenAddress: a local socket is never public."""
        raise ForbiddenAddress("a local socket")

    def _checked(self, host: str, port: int) -> str:
        try:
            found = self._exchange.run(lambda: self._resolve(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"no address: {error}") from error
        addresses = [str(entry[4][0]) for entry in found]
        if not addresses or not all(map(is_public, addresses)):
            raise ForbiddenAddress("its address is private, loopback or link-local")
        return addresses[0]


# --- The only road to the network: paced, bounded in size and time, redirects followed by hand and checked one by one
# httpcore, the layer below httpx, is used directly, because there the address of every connection can be checked at the
# moment of connecting, with certificates still checked against the name; it follows no redirect, decodes nothing and
# reads no proxy from the environment.


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


# --- robots.txt, asked for once a host and obeyed; its Crawl-delay and Request-rate, too ------------------------------
# No such file means that all is allowed; a server that cannot answer means neither yes nor no: requests must wait.
#
# Source: RFC 9309, sections 2.3.1.2 to 2.3.1.4; its matching is that of the library protego.


AGENT = "gslopes"
LONGEST_DELAY = 60.0  # seconds between two requests that a host may ask for
RETRY_AFTER = 60.0  # seconds after which a host whose rules could not be had is asked again
# RFC 9309, section 2.2.1: the token is letters, - and _; what follows it, such as a version, is no part of it.
_AGENT_LINE = re.compile(r"^\s*user[- ]?agent[\s:]+(?:(?P<any>\*)(?=\s|#|$)|(?P<token>[A-Za-z_-]*)).*", re.IGNORECASE)
_MAX_BYTES = 500 << 10  # of which RFC 9309 asks that they be read; the rest is ignored


class Robots:
    """What hosts allow to programs.  fetcher: asks for the files.  clock: seconds, monotonic."""

    def __init__(self, fetcher: Fetcher, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._rules: dict[str, Protego] = {}
        self._failures: dict[str, tuple[float, DownloadError]] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def __call__(self, url: httpx.URL) -> None:
        """Raises: DownloadError: ``refused`` if the rules forbid this address, ``failed`` if they cannot be fetched."""
        rules = self._of(url)
        try:
            allowed = rules.can_fetch(str(url), AGENT)
        except ValueError as error:
            raise DownloadError("refused", SkipReason(Reason.ROBOTS_UNREADABLE)) from error
        if not allowed:
            raise DownloadError("refused", SkipReason(Reason.ROBOTS_FORBIDS))

    def _of(self, url: httpx.URL) -> Protego:
        key = origin(url)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._rules:
                since, failure = self._failures.get(key, (0.0, None))
                if failure is not None and self._clock() - since < RETRY_AFTER:
                    raise failure
                try:
                    self._rules[key] = self._asked(url)
                except DownloadError as error:
                    self._failures[key] = self._clock(), error
                    raise
                self._fetcher.rate.set_min_interval(key, min_interval(self._rules[key]))
            return self._rules[key]

    def _asked(self, url: httpx.URL) -> Protego:
        address = str(url.copy_with(raw_path=b"/robots.txt", fragment=None))
        try:
            return parse(self._fetcher.get(address, max_bytes=_MAX_BYTES, truncate=True).body)
        except DownloadError as error:
            if error.status == "refused" and 200 <= error.code < 500 and not 300 <= error.code < 400:
                return parse(b"")  # none, or an answer without one
            reason = error.reason if error.status == "refused" else SkipReason(Reason.ROBOTS_UNAVAILABLE, error.reason)
            raise DownloadError(error.status, reason, error.code) from error


def parse(body: bytes) -> Protego:
    """The rules of a file, whatever it holds.

    Raises: UsageError if protego is not installed; DownloadError if the file breaks the parser.
    """
    try:
        from protego import Protego
    except ImportError as error:
        hint = "Install it with: pip install 'gslopes[collect]'."
        raise UsageError("Reading robots.txt needs the library protego.", hint) from error
    try:
        lines = body.decode("utf-8-sig", "replace").splitlines()
        return Protego.parse("\n".join(_AGENT_LINE.sub(_token, line) for line in lines))
    except Exception as error:  # an untrusted file: whatever it does to a parser is no reason to stop
        raise DownloadError("refused", SkipReason(Reason.ROBOTS_UNREADABLE)) from error


def _token(line: re.Match[str]) -> str:
    """A User-agent line by its product token alone: protego takes g for us, and us with a version for another."""
    if line["any"]:
        return line[0]
    return f"User-agent: {AGENT if line['token'].lower() == AGENT else 'x-other'}"


def min_interval(rules: Protego) -> float:
    """Seconds between two requests that the rules ask of us, at most ``LONGEST_DELAY``."""
    found = float(rules.crawl_delay(AGENT) or 0.0)
    rate = rules.request_rate(AGENT)
    if rate is not None:
        found = max(
            found, LONGEST_DELAY if rate.seconds > rate.requests * LONGEST_DELAY else rate.seconds / rate.requests
        )
    return min(found, LONGEST_DELAY)
