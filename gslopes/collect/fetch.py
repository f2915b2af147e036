"""Downloads by ``ask.transport``: from public addresses, as robots.txt allows, paced, bounded in size and time.

Redirects are followed by hand and checked one by one. A name that is checked first and resolved again later can point
somewhere else the second time. Here it is resolved once, every address that it has is checked, and the connection goes
to one of them, with certificates still checked against the name.
"""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import itertools
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import httpcore
from httpx import URL, InvalidURL, create_ssl_context

from gslopes.ask.retry import DAY, RateLimiter, seconds_to_wait
from gslopes.ask.transport import DeadlineExceeded, TooLarge, Trace, decoded, exchange
from gslopes.collect.search import DATA, read_rows
from gslopes.core import Names, Reason, SkipReason, Texts, UsageError, frozen

if TYPE_CHECKING:
    from protego import Protego

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
REDIRECTS = 5
_RETRYABLE = (408, 425, 429)  # and every code of 500 and above


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
    number = ipaddress.ip_address(address)
    if isinstance(number, ipaddress.IPv6Address):
        if number.ipv4_mapped:
            number = number.ipv4_mapped
        elif number in _NAT64:
            number = ipaddress.IPv4Address(int(number) & 0xFFFFFFFF)
        elif number not in _GLOBAL_UNICAST:
            return False
    return not any(number in block for block in _special_blocks())


@functools.cache
def _special_blocks() -> tuple[Network, ...]:
    return tuple(
        ipaddress.ip_network(row["block"])
        for row in read_rows(DATA / "special-purpose-addresses.csv", "block")
    )


class PublicNetwork(httpcore.SyncBackend):
    """Opens connections to public addresses only.  allowed: ``host:port`` of servers that are exempt, for tests."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = frozenset(allowed)

    def connect_tcp(self, host: str, port: int, *rest: Any, **named: Any) -> httpcore.NetworkStream:
        """Connect, at an address that was checked.

        Raises: DownloadError if any address of the host is not public; httpcore.ConnectError.
        """
        if f"{host}:{port}" in self._allowed:
            return super().connect_tcp(host, port, *rest, **named)
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"no address: {error}") from error
        addresses = [str(entry[4][0]) for entry in entries]
        if not addresses or not all(map(is_public, addresses)):
            raise refused(Reason.PRIVATE_ADDRESS)
        return super().connect_tcp(addresses[0], port, *rest, **named)


# --- Downloads: paced, bounded in size and time, redirects followed by hand and checked one by one --------------------


@dataclass(eq=False)
class DownloadError(Exception):
    """A download that came to nothing.

    status: ``refused`` (asking again would not help) or ``failed`` (it might).  reason: of the manifest.
    code: the HTTP status, 0 if there was none.  wait: seconds after which it may be tried again; None: not now.
    """

    status: str
    reason: SkipReason
    code: int = 0
    wait: float | None = None


def refused(reason: Reason, detail: str = "", code: int = 0) -> DownloadError:
    """Asking again would not help."""
    return DownloadError("refused", SkipReason(reason, detail), code)


@frozen
class Reply:
    """An answer with status 200: its type without parameters, lower case, and its body."""

    content_type: str
    body: bytes


@frozen
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
    allowed: Names = ()


@dataclass(eq=False)
class Fetcher:
    """Downloads over HTTP and HTTPS; its methods may be called from several threads.

    policy: see there.  stop: set to end everything that waits or reads.
    """

    policy: FetchPolicy
    stop: threading.Event

    def __post_init__(self) -> None:
        self.rate = RateLimiter(self.stop.wait)
        # of hosts, and interfaces, that ask for more than the policy's
        self._gaps: dict[str, float] = {}
        self._trusted = create_ssl_context(trust_env=False)

    def set_min_interval(self, host: str, seconds: float) -> None:
        """The least time between the beginnings of two requests to this host; it only grows."""
        self._gaps[host] = max(seconds, self._gaps.get(host, self.policy.gap))

    def turn(self, host: str) -> float:
        """Wait for one's turn at a host; how many seconds that took.  Raises: Stopped."""
        return self.rate.acquire(self._gaps.get(host, self.policy.gap), host)

    def get(
        self,
        url: str,
        *,
        headers: Texts | None = None,
        max_bytes: int = 0,
        before_request: Callable[[URL], None] | None = None,
        rate_key: str = "",
    ) -> Reply:
        """One document.

        headers: in addition to our own; sent only to the first host.  max_bytes: at most; the policy's if 0.
        before_request: called with each address before it is asked; may raise DownloadError.
        rate_key: whose rate limit counts; the host's if empty.

        Raises: DownloadError, Stopped.
        """
        deadline = time.monotonic() + self.policy.seconds
        address = parse_url(url)
        extra_headers = dict(headers or {})
        for _ in range(REDIRECTS + 1):
            if before_request:
                began = time.monotonic()
                before_request(address)
                deadline += time.monotonic() - began
            key = rate_key or origin(address)
            answer = self._tried(address, extra_headers, max_bytes, deadline, key)
            if isinstance(answer, Reply):
                return answer
            following = parse_url(answer, address)
            if origin(following) != origin(address):
                extra_headers = {}
            address = following
        raise refused(Reason.TOO_MANY_REDIRECTS, f"more than {REDIRECTS}")

    def _tried(
        self,
        url: URL,
        headers: dict[str, str],
        max_bytes: int,
        deadline: float,
        key: str,
    ) -> Reply | str:
        """A document, or the target of a redirect; asked for again as long as that may help.  Raises: DownloadError.

        key: whose rate limit counts.
        """
        policy = self.policy
        sent = {"Host": url.netloc.decode("ascii"), "User-Agent": policy.agent}
        sent |= {"Accept-Encoding": "identity", "Accept": "*/*", **headers}
        network = PublicNetwork(policy.allowed)

        def exchanged(trace: Trace) -> Reply | str:
            raw = [(key.encode("ascii"), value.encode("ascii")) for key, value in sent.items()]
            left = max(0.1, min(20.0, deadline - time.monotonic()))
            timeout = dict.fromkeys(("connect", "read", "write", "pool"), left)
            extensions = {"timeout": timeout, "trace": trace}
            with (
                httpcore.ConnectionPool(self._trusted, network_backend=network) as pool,
                pool.stream("GET", str(url), headers=raw, extensions=extensions) as response,
            ):
                return _reply(response, max_bytes or policy.max_bytes)

        for attempt in itertools.count():
            deadline += self.turn(key)  # a queue at our door is not the server's slowness
            try:
                with _translated_errors(policy.seconds):
                    return exchange(exchanged, deadline, self.stop)
            except DownloadError as error:
                last = attempt + 1 == policy.max_attempts
                if error.wait is None or last or error.wait > policy.max_retry_after:
                    raise
                self.rate.pause(max(error.wait, policy.backoff * 2**attempt), key)
        raise AssertionError


def _reply(response: httpcore.Response, max_bytes: int) -> Reply | str:
    headers = {
        key.decode("latin-1").lower(): value.decode("latin-1") for key, value in response.headers
    }
    status = response.status
    if status in (301, 302, 303, 307, 308) and headers.get("location"):
        return headers["location"]
    if status != 200:
        reason = SkipReason(Reason.HTTP_ERROR, str(status))
        if status in _RETRYABLE or status >= 500:
            raise DownloadError("failed", reason, status, seconds_to_wait(headers) or 0.0)
        raise refused(Reason.HTTP_ERROR, str(status), status)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise refused(Reason.COMPRESSED)
    length = re.fullmatch("[0-9]{1,19}", headers.get("content-length", ""))
    promised = int(length[0]) if length else -1
    try:
        if promised > max_bytes:
            raise TooLarge(b"")
        body = decoded(response.iter_stream(), "identity", max_bytes)
    except TooLarge:
        raise refused(Reason.FILE_TOO_LARGE, f"more than {max_bytes / 2**20:.2g} MiB") from None
    if promised not in (-1, len(body)):
        raise DownloadError("failed", SkipReason(Reason.CUT_SHORT), wait=0.0)
    return Reply(headers.get("content-type", "").partition(";")[0].strip().lower(), body)


def origin(url: URL) -> str:
    """Scheme, host and port: what robots.txt and our pace are about."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


@contextlib.contextmanager
def _translated_errors(seconds: float) -> Iterator[None]:
    """What goes wrong with a connection, as a reason without addresses or keys.  seconds: that it may take."""
    try:
        yield
    except DeadlineExceeded as error:
        raise DownloadError(
            "failed", SkipReason(Reason.TOO_SLOW, f"{seconds:g} seconds")
        ) from error
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
        kind = Reason.CONNECTION_BROKE
        if isinstance(error, httpcore.TimeoutException):
            kind = Reason.NO_ANSWER
        elif isinstance(error, httpcore.ConnectError):
            kind = Reason.NO_CONNECTION
        raise DownloadError("failed", SkipReason(kind), wait=0.0) from error
    # headers, hosts, ports beyond reason
    except (ValueError, OverflowError, httpcore.UnsupportedProtocol) as error:
        raise refused(Reason.INVALID_ADDRESS, "or an answer that makes no sense") from error


def parse_url(url: str, base: URL | None = None) -> URL:
    """Raises: DownloadError unless it is http or https, with a host, a port that exists, and without a password."""
    try:
        address = base.join(url) if base else URL(url)
        port = address.port
    except (InvalidURL, ValueError, TypeError) as error:
        raise refused(Reason.INVALID_ADDRESS) from error
    if b"%" in address.raw_host:  # what httpx makes of characters that no host has
        raise refused(Reason.INVALID_ADDRESS)
    if address.scheme not in ("http", "https") or not address.raw_host:
        raise refused(Reason.INVALID_ADDRESS, "not http or https")
    if port is not None and not 0 < port < 2**16:
        raise refused(Reason.INVALID_ADDRESS, "its port does not exist")
    if address.userinfo:
        raise refused(Reason.INVALID_ADDRESS, "it holds a password")
    return address


# --- robots.txt, asked for once a day of a host and obeyed; its Crawl-delay, too --------------------------------------
# No such file means that all is allowed; a server that cannot answer means neither yes nor no: requests must wait.
#
# Source: RFC 9309, sections 2.3.1.2 to 2.4; matched as the library protego does.


AGENT = "gslopes"
LONGEST_DELAY = 60.0  # seconds between two requests that a host may ask for
RETRY_AFTER = 60.0  # seconds after which a host whose rules could not be had is asked again
# RFC 9309, section 2.2.1: the token is letters, - and _; what follows it, such as a version, does not belong to it.
_AGENT_LINE = re.compile(
    r"^\s*user[- ]?agent[\s:]+(?:(?P<any>\*)(?=\s|#|$)|(?P<token>[A-Za-z_-]*)).*", re.IGNORECASE
)
_MAX_BYTES = (
    500 << 10
)  # RFC 9309 asks that as much be read; nothing is fetched from a host that writes more


@dataclass(eq=False)
class Robots:
    """What hosts allow to programs.  fetcher: asks for the files.  clock: seconds, monotonic."""

    fetcher: Fetcher
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._known: dict[str, tuple[float, Protego | DownloadError]] = {}  # until when, and what
        self._locks: dict[str, threading.Lock] = {}

    def __call__(self, url: URL) -> None:
        """Raises: DownloadError: ``refused`` if the rules forbid this address, ``failed`` if they cannot be fetched."""
        key = origin(url)
        with self._locks.setdefault(key, threading.Lock()):
            until, rules = self._known.get(key, (-inf, None))
            if rules is None or self.clock() >= until:
                rules = self._asked(url)
                failed = isinstance(rules, DownloadError)
                self._known[key] = self.clock() + (RETRY_AFTER if failed else DAY), rules
        if isinstance(rules, DownloadError):
            raise rules
        self.fetcher.set_min_interval(key, min_interval(rules))
        try:
            allowed = rules.can_fetch(str(url), AGENT)
        except ValueError as error:
            raise refused(Reason.ROBOTS_UNREADABLE) from error
        if not allowed:
            raise refused(Reason.ROBOTS_FORBIDS)

    def _asked(self, url: URL) -> Protego | DownloadError:
        address = str(url.copy_with(raw_path=b"/robots.txt", fragment=None))
        try:
            return parse(self.fetcher.get(address, max_bytes=_MAX_BYTES).body)
        except DownloadError as error:
            if error.status == "failed":
                return DownloadError(
                    "failed", SkipReason(Reason.ROBOTS_UNAVAILABLE, error.reason), error.code
                )
            if 200 <= error.code < 300 or 400 <= error.code < 500:
                return parse(b"")  # no file, or an answer without one
            return DownloadError("refused", error.reason, error.code)


def parse(body: bytes) -> Protego:
    """The rules of a file, whatever it holds.

    Raises: UsageError if protego is not installed; DownloadError if the file breaks the parser.
    """

    def by_token(line: re.Match[str]) -> str:
        """Only by its product token: protego takes g for us, and us with a version for another."""
        if line["any"]:
            return line[0]
        return f"User-agent: {AGENT if line['token'].lower() == AGENT else 'x-other'}"

    try:
        from protego import Protego
    except ImportError as error:
        raise UsageError(
            "Reading robots.txt needs the library protego.",
            "Install it with: pip install 'gslopes[collect]'.",
        ) from error
    try:
        lines = body.decode("utf-8-sig", "replace").splitlines()
        return Protego.parse("\n".join(_AGENT_LINE.sub(by_token, line) for line in lines))
    except Exception as error:  # an untrusted file: whatever it does to a parser, the others go on
        raise refused(Reason.ROBOTS_UNREADABLE) from error


def min_interval(rules: Protego) -> float:
    """Seconds between two requests that the rules ask of us, at most ``LONGEST_DELAY``."""
    return min(float(rules.crawl_delay(AGENT) or 0.0), LONGEST_DELAY)
