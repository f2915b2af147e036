"""The one way to a server: no redirect, no cookie, and a bound on the bytes and on the time of a whole exchange.

Pictures leave for services by ``client`` and ``BoundedTransport``. ``collect`` fetches by ``WatchedNetwork`` and
follows redirects itself. A timeout of one read is not enough: a server that sends a byte now and then keeps it open
forever. So each read is cut into slices that look at the clock, which httpcore, the layer below httpx, lets us do.
"""

import os
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from gslopes.ask.retry import Stopped, seconds_left

MOST = 32 << 20  # bytes of a reply, after decompression
CONNECT = 10.0  # seconds, to connect
SECONDS = 90.0  # from the first byte sent to the last one received
SLICE = 0.25  # seconds between looks at the deadline and at whether the exchange was stopped
PIECE = 64 << 10  # bytes that are written between such looks
_BUNDLES = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
)
_DROPPED = (
    "content-encoding",
    "content-length",
    "transfer-encoding",
    "set-cookie",
    "set-cookie2",
    "content-type",
)
_BROKEN = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
)

T = TypeVar("T")


class DeadlineExceeded(Exception):
    """The exchange took longer than it may."""


class TooLarge(Exception):
    """A body has more bytes than it may.  body: what came until then."""

    def __init__(self, body: bytes) -> None:
        super().__init__("too large")
        self.body = body


class Permanent(httpx.TransportError):
    """No picture would ever get through: a redirect, a certificate, an address, a key that cannot be sent."""


class Oversized(httpx.TransportError):
    """The reply has more bytes than any answer."""


# -- a deadline for everything ----------------------------------------------------------------------------------------


class Exchange:
    """The deadline of the exchange that the calling thread is in; each thread has its own.

    stop: set to end every exchange.  clock: seconds, monotonic.
    """

    def __init__(
        self, stop: threading.Event | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
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
        if timeout is None:
            return left
        return min(timeout, left)

    def run(self, call: Callable[[], T]) -> T:
        """The result of a call that cannot be interrupted, such as resolving a name; abandoned at the deadline.

        Raises: DeadlineExceeded, Stopped; whatever the call raises.
        """
        made = Future[
            T
        ]()  # not join: an interrupt within Thread.join marks the thread as ended (Python 3.11)

        def target() -> None:
            try:
                made.set_result(call())
            except BaseException as error:
                made.set_exception(error)

        threading.Thread(target=target, daemon=True).start()
        while not wait([made], SLICE).done:
            self.seconds(None)
        return made.result()


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
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """The connection, encrypted; closed if that takes beyond the deadline."""
        left = self._exchange.seconds(timeout)
        try:
            inner = self._exchange.run(
                lambda: self._inner.start_tls(ssl_context, server_hostname, left)
            )
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
        stream = self._exchange.run(
            lambda: self._inner.connect_tcp(host, port, left, local_address, socket_options)
        )
        return WatchedStream(stream, self._exchange)

    def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Raises: httpcore.ConnectError: no address of ours means one."""
        raise httpcore.ConnectError("a local socket")


def decoded(chunks: Iterable[bytes], encoding: str, max_bytes: int) -> bytes:
    """A body, decompressed.

    encoding: as ``Content-Encoding`` names it.  max_bytes: of what comes and of what it becomes.

    Raises: TooLarge; ValueError if the encoding is not known, or the body is not of it or ends too early.
    """
    body = bytearray()
    came = 0
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


# -- requests to services ----------------------------------------------------------------------------------------------


class BoundedTransport(httpx.BaseTransport):
    """Sends a request and gives back its whole reply, in ``SECONDS``.  Any number of threads may use one."""

    def __init__(self) -> None:
        self._exchange = Exchange()
        self._pools: dict[
            str, httpcore.ConnectionPool
        ] = {}  # by the address of the proxy, empty without one
        self._ways: dict[tuple[str, str], httpcore.ConnectionPool] = {}  # by scheme and host
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The reply, read and closed.

        Raises: Permanent; Oversized; ConnectTimeout and the like where nothing can have been billed, ReadTimeout and
            the like where it can.
        """
        sent = False

        def note(name: str, _: object) -> None:
            nonlocal sent
            sent = sent or name.endswith("send_request_headers.started")

        pool = self._pool(request.url)
        seconds = seconds_left(SECONDS)
        try:
            with self._exchange.until(time.monotonic() + seconds):
                return self._exchanged(pool, request, note)
        except DeadlineExceeded:
            late = httpx.ReadTimeout if sent else httpx.ConnectTimeout
            raise late(f"no whole answer within {seconds:.3g} seconds", request=request) from None
        except TooLarge:
            raise Oversized(f"the reply has more than {MOST >> 20} MiB", request=request) from None
        except _BROKEN as error:
            if reason := _lasting(error):
                raise Permanent(reason, request=request) from None
            kind: type[httpx.TransportError] = getattr(httpx, type(error).__name__, httpx.ReadError)
            raise kind(str(error) or type(error).__name__, request=request) from error
        except (OverflowError, UnicodeError):  # a port, or a host's name, beyond reason
            raise Permanent("the address does not exist", request=request) from None
        except ValueError as error:
            raise httpx.DecodingError(str(error), request=request) from None

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()

    def _exchanged(
        self,
        pool: httpcore.ConnectionPool,
        request: httpx.Request,
        note: Callable[[str, object], None],
    ) -> httpx.Response:
        limits = dict.fromkeys(("read", "write", "pool"), SECONDS) | {
            "connect": min(CONNECT, SECONDS)
        }
        url = request.url
        address = httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        )
        sent = httpcore.Request(
            request.method,
            address,
            headers=request.headers.raw,
            content=request.read(),
            extensions={"timeout": limits, "trace": note},
        )
        response = pool.handle_request(sent)
        try:
            headers = httpx.Headers(response.headers)
            if 300 <= response.status < 400 and headers.get("location"):
                to = url.join(headers["location"][:2000])
                raise Permanent(
                    f"it sends us on to {to}, and no picture follows a redirect", request=request
                )
            assert isinstance(response.stream, Iterable)
            try:
                body = decoded(response.stream, headers.get("content-encoding", ""), MOST)
            except (*_BROKEN, DeadlineExceeded, TooLarge, ValueError) as error:
                if response.status < 400:
                    raise
                body = getattr(
                    error, "body", b""
                )  # the status says what to do, whatever comes after it
        finally:
            response.close()
        if response.status >= 400:
            body = body.decode("utf-8", "replace").encode()
        passed = [(name, value) for name, value in headers.multi_items() if name not in _DROPPED]
        # JSON is UTF-8; a character set that the server makes up would only confuse the vendors' clients
        passed.append(("content-type", headers.get("content-type", "").partition(";")[0]))
        return httpx.Response(response.status, headers=passed, content=body, request=request)

    def _pool(self, url: httpx.URL) -> httpcore.ConnectionPool:
        """The connections to a server, by the proxy that the environment names at its first request."""
        server = url.scheme, url.host
        with self._lock:
            if server not in self._ways:
                proxies = getproxies()
                proxy = (
                    ""
                    if proxy_bypass(url.host)
                    else proxies.get(url.scheme) or proxies.get("all") or ""
                )
                if proxy not in self._pools:
                    self._pools[proxy] = _pool_by(proxy, WatchedNetwork(self._exchange))
                self._ways[server] = self._pools[proxy]
            return self._ways[server]


def _pool_by(proxy: str, network: WatchedNetwork) -> httpcore.ConnectionPool:
    bundles = dict.fromkeys(filter(os.path.exists, (os.environ.get(name, "") for name in _BUNDLES)))
    how: dict[str, Any] = {
        "ssl_context": _trusting(*bundles),
        "network_backend": network,
        "max_connections": None,
    }
    if not proxy:
        return httpcore.ConnectionPool(**how)
    url = httpx.URL(proxy if "://" in proxy else f"http://{proxy}")
    where = url.copy_with(username=None, password=None)
    socks = url.scheme in ("socks5", "socks5h")
    if (socks and find_spec("socksio") is None) or not (socks or url.scheme in ("http", "https")):
        raise Permanent(
            f"the proxy {where} needs http:// or https://; for socks5:// pip install 'httpx[socks]'"
        )
    kind: Callable[..., httpcore.ConnectionPool] = (
        httpcore.SOCKSProxy if socks else httpcore.HTTPProxy
    )
    return kind(
        proxy_url=str(where),
        proxy_auth=(url.username, url.password) if url.username else None,
        **how,
    )


@cache  # reading a bundle takes 50 ms, as long as some exchanges
def _trusting(*bundles: str) -> ssl.SSLContext:
    """Trusts the authorities that httpx trusts, and those of the user's bundles."""
    context = httpx.create_ssl_context()
    for path in bundles:
        context.load_verify_locations(**{"capath" if os.path.isdir(path) else "cafile": path})
    return context


def _lasting(error: BaseException | None) -> str:
    """What is wrong if another attempt would end alike; empty if it might not."""
    if isinstance(error, httpcore.UnsupportedProtocol):
        return "the protocol is unknown"
    if isinstance(error, httpcore.LocalProtocolError) and "llegal" in str(
        error
    ):  # h11: its text holds the key
        return "the address, or a key, has characters that cannot be sent"
    while error is not None:
        if isinstance(error, ssl.SSLError) and not isinstance(
            error, ssl.SSLEOFError | ssl.SSLZeroReturnError
        ):
            reason = (
                getattr(error, "verify_message", "")
                or str(error.reason or "").replace("_", " ").lower()
            )
            return f"no encrypted connection: {reason}"
        error = error.__cause__ or error.__context__
    return ""


def client(**options: Any) -> httpx.Client:
    """An ``httpx.Client`` that asks by a ``BoundedTransport``.  options: as its own."""
    headers = {"accept-encoding": "identity"} | dict(options.pop("headers", {}))
    return httpx.Client(
        transport=BoundedTransport(), headers=headers, follow_redirects=False, **options
    )
