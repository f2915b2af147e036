"""The only road to the network: paced, bounded in size and time, redirects followed by hand and checked one by one.

httpcore, the layer below httpx, is used directly, because there the address of every connection can be checked at the
moment of connecting, with certificates still checked against the name; it follows no redirect, decodes nothing and
reads no proxy from the environment.
"""

from __future__ import annotations

import contextlib
import email.utils
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import httpcore
import httpx

from gslopes.collect.address import ForbiddenAddress, PublicNetwork
from gslopes.collect.pace import Pace, Stopped

REDIRECTS = 5
_AGAIN = (408, 425, 429, 500, 502, 503, 504)


class NoPhoto(Exception):
    """A download that came to nothing.

    status: ``refused`` (asking again would not help) or ``failed`` (it might).  reason: goes into the manifest.
    code: the HTTP status, 0 if there was none.
    """

    def __init__(self, status: str, reason: str, code: int = 0) -> None:
        super().__init__(reason)
        self.status, self.reason, self.code = status, reason, code


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with status 200: its type without parameters, lower case, and its body."""

    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Manners:
    """How the network is used.

    gap: seconds between two requests to one host.  seconds: longest time of one download, redirects included.
    most_bytes: of one download.  tries: of one request, if the server is busy or the connection fails.
    backoff: seconds before the second try, doubled for each further one.  patience: longest Retry-After that is waited
    for.  agent: the user agent.  allowed: ``host:port`` of test servers at private addresses.
    """

    gap: float = 1.0
    seconds: float = 60.0
    most_bytes: int = 25 << 20
    tries: int = 4
    backoff: float = 2.0
    patience: float = 300.0
    agent: str = "gslopes"
    allowed: tuple[str, ...] = ()


class Fetcher:
    """Downloads over HTTP and HTTPS; its methods may be called from several threads.

    manners: see there.  stop: set to end everything that waits or reads.  network: as httpcore's; for tests.
    """

    def __init__(self, manners: Manners, stop: threading.Event, network: httpcore.NetworkBackend | None = None) -> None:
        self.manners, self.stop = manners, stop
        self.pace = Pace(manners.gap, stop)
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=32,
            max_keepalive_connections=16,
            network_backend=network or PublicNetwork(manners.allowed),
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        most_bytes: int = 0,
        hop: Callable[[httpx.URL], None] | None = None,
        lane: str = "",
    ) -> Reply:
        """One document.

        headers: beside our own; sent to the first host alone.  most_bytes: less than that of the manners.
        hop: called with each address before it is asked; may raise NoPhoto.
        lane: whose pace is kept; that of the host if empty.

        Raises: NoPhoto, Stopped.
        """
        deadline = time.monotonic() + self.manners.seconds
        address, own = _parsed(url), dict(headers or {})
        for _ in range(REDIRECTS + 1):
            if hop is not None:
                hop(address)
            most = most_bytes or self.manners.most_bytes
            answer = self._patiently(address, own, most, deadline, lane or origin(address))
            if isinstance(answer, Reply):
                return answer
            following = _parsed(answer, address)
            own = own if origin(following) == origin(address) else {}
            address = following
        raise NoPhoto("refused", f"more than {REDIRECTS} redirects")

    def _patiently(self, url: httpx.URL, headers: dict[str, str], most: int, deadline: float, lane: str) -> Reply | str:
        """A document, or where a redirect leads; tried again while the server is busy."""
        for attempt in range(self.manners.tries):
            last = attempt + 1 == self.manners.tries
            try:
                deadline += self.pace.take(lane)  # a queue at our own door is not the server's slowness
                return self._once(url, headers, most, deadline)
            except _Busy as busy:
                if last or busy.seconds > self.manners.patience:
                    raise NoPhoto("failed", busy.reason, busy.code) from None
                waiting = max(busy.seconds, self.manners.backoff * 2**attempt)
            self.pace.hold(lane, waiting)
        raise AssertionError("unreachable")

    def _once(self, url: httpx.URL, headers: dict[str, str], most: int, deadline: float) -> Reply | str:
        sent = {"Host": _host(url), "User-Agent": self.manners.agent, "Accept-Encoding": "identity", "Accept": "*/*"}
        raw = [(key.encode("ascii"), value.encode("ascii")) for key, value in (sent | headers).items()]
        left = max(0.1, min(20.0, deadline - time.monotonic()))
        timeouts = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), left)}
        with (
            _told(),
            self._pool.stream("GET", str(url), headers=raw, extensions=timeouts) as response,
        ):
            told = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in response.headers}
            if response.status in _AGAIN:
                raise _Busy(f"HTTP {response.status}", _retry_after(told.get("retry-after", "")), response.status)
            if response.status in (301, 302, 303, 307, 308) and told.get("location"):
                return told["location"]
            if response.status != 200:
                raise NoPhoto("refused", f"HTTP {response.status}", response.status)
            if told.get("content-encoding", "identity").lower() != "identity":
                raise NoPhoto("refused", "compressed, though we asked for it not to be")
            if told.get("content-length", "").isdigit() and int(told["content-length"]) > most:
                raise NoPhoto("refused", f"larger than {most >> 20} MiB")
            kind = told.get("content-type", "").partition(";")[0].strip().lower()
            return Reply(kind, self._read(response, most, deadline, told.get("content-length", "")))

    def _read(self, response: httpcore.Response, most: int, deadline: float, promised: str) -> bytes:
        body = bytearray()
        for chunk in response.iter_stream():
            body += chunk
            if len(body) > most:
                raise NoPhoto("refused", f"larger than {most >> 20} MiB")
            if time.monotonic() > deadline:
                raise NoPhoto("failed", f"not finished after {self.manners.seconds:g} seconds")
            if self.stop.is_set():
                raise Stopped
        if promised.isdigit() and int(promised) != len(body):
            raise _Busy("cut short")
        return bytes(body)


def origin(url: httpx.URL) -> str:
    """Scheme, host and port: what robots.txt and our pace are about."""
    return f"{url.scheme}://{_host(url)}"


class _Busy(Exception):
    def __init__(self, reason: str, seconds: float = 0.0, code: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.seconds, self.code = reason, seconds, code


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """What goes wrong with a connection, as a reason without addresses or keys."""
    try:
        yield
    except ForbiddenAddress as error:
        raise NoPhoto("refused", str(error)) from error
    except httpcore.TimeoutException as error:
        raise _Busy("no answer in time") from error
    except httpcore.ConnectError as error:
        raise _Busy("no connection") from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise _Busy("the connection broke") from error


def _parsed(url: str, base: httpx.URL | None = None) -> httpx.URL:
    """Raises: NoPhoto unless it is http or https, with a host and without a password."""
    try:
        found = base.join(url) if base is not None else httpx.URL(url)
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise NoPhoto("refused", "not a valid address") from error
    if found.scheme not in ("http", "https") or not found.host:
        raise NoPhoto("refused", "not an address of http or https")
    if found.userinfo:
        raise NoPhoto("refused", "an address with a password")
    return found


def _host(url: httpx.URL) -> str:
    return url.netloc.decode("ascii")


def _retry_after(value: str) -> float:
    """Seconds of a Retry-After header: a number or a date; 0 if it says nothing."""
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0
