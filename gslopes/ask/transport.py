"""The one way to a server: no redirect, no cookie, and a bound on the bytes and on the time of a whole exchange.

Each request has a connection of its own, which ends with its reply: what a server sends too early, too late or twice
can answer no other picture. That costs two or three turns of the network a request, and 3 ms for encryption.
Pictures leave for services by ``client`` and ``BoundedTransport``; ``collect`` downloads by ``exchange`` and follows
redirects itself. A timeout of one read is not enough: a server that sends a byte now and then keeps it open forever. So
each exchange runs in a thread of its own, and whoever waits for it shuts its connection at the deadline.
"""

import os
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from queue import SimpleQueue
from typing import Any, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from gslopes.ask.retry import Stopped, seconds_left

MOST = 32 << 20  # bytes of a reply, after decompression
CONNECT = 10.0  # seconds, to connect
SECONDS = 90.0  # from the first byte sent to the last one received
SLICE = 0.25  # seconds between looks at whether the exchange was stopped
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

_BEFORE = ("send_request_headers.started", "send_request_body.started")

_ONCE = httpx.Limits(max_connections=None, max_keepalive_connections=0)  # none is used again
_REFUSES = re.compile("40[137]|.*([Uu]sername|METHODS)")  # a proxy

T = TypeVar("T")
Trace = Callable[[str, Any], None]  # as the extension ``trace`` of httpcore and httpx


class DeadlineExceeded(Exception):
    """The exchange took longer than it may."""


class TooLarge(httpx.TransportError):
    """A body has more bytes than any answer.  body: what came until then."""

    def __init__(self, body: bytes) -> None:
        super().__init__(f"the reply has more than {MOST >> 20} MiB")
        self.body = body


class Permanent(httpx.TransportError):
    """No picture would ever get through: a redirect, a certificate, an address, a key that cannot be sent."""


# -- a deadline for everything ----------------------------------------------------------------------------------------


_IDLE: list["SimpleQueue[Callable[[], None]]"] = []  # of threads that wait for an exchange
os.register_at_fork(after_in_child=_IDLE.clear)


def _in_thread(work: Callable[[], None]) -> None:
    """Do it in a thread of ours that does nothing, or in a new one; what hangs keeps its thread."""
    try:
        queue = _IDLE.pop()
    except IndexError:
        queue = SimpleQueue()
        threading.Thread(target=_serve, args=(queue,), daemon=True).start()
    queue.put(work)


def _serve(queue: "SimpleQueue[Callable[[], None]]") -> None:
    while True:
        queue.get()()
        _IDLE.append(queue)


def exchange(call: Callable[[Trace], T], deadline: float, stop: threading.Event | None = None) -> T:
    """The result of a call in another thread; it is abandoned, its connections shut, at the deadline.

    call: called with what its requests have as their extension ``trace``.  deadline: on the monotonic clock.
    stop: ends it when it is set.

    Raises: DeadlineExceeded, Stopped; whatever the call raises.
    """
    streams: list[httpcore.NetworkStream] = []
    late = threading.Event()
    # not join: an interrupt within Thread.join marks the thread as ended (Python 3.11)
    result = Future[T]()

    def trace(event: str, facts: Any) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            streams.append(facts["return_value"])
        if event.endswith(_BEFORE):
            if late.is_set():  # nothing leaves after it was given up
                raise httpcore.ConnectTimeout
            if facts["request"].method != b"GET":
                _raise_if_answered(streams[-1])

    def target() -> None:
        try:
            result.set_result(call(trace))
        except BaseException as error:
            result.set_exception(error)
        finally:
            for stream in streams:  # also where a library forgets it
                stream.close()

    try:
        _in_thread(target)
        while not _has_ended(result, min(SLICE, max(0.0, deadline - time.monotonic()))):
            if stop and stop.is_set():
                raise Stopped
            if time.monotonic() >= deadline:
                raise DeadlineExceeded
    except BaseException:
        late.set()
        for stream in streams:
            with suppress(OSError):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        raise
    return result.result()


def _has_ended(result: Future[Any], seconds: float) -> bool:
    with suppress(TimeoutError):
        result.exception(seconds)
    return result.done()


def _raise_if_answered(stream: httpcore.NetworkStream) -> None:
    """Raises: httpcore.ConnectError if a success, or the end, comes before what it would be about was sent.

    Of a plain connection: with encryption, bytes that are no reply may come first.
    """
    opened = stream.get_extra_info("socket")
    if isinstance(opened, ssl.SSLSocket) or not stream.get_extra_info("is_readable"):
        return
    with suppress(OSError):
        if opened.recv(10, socket.MSG_PEEK)[9:] in b"2":  # HTTP/1.1 200
            raise httpcore.ConnectError("it answers, or ends, before it is asked")


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
    decoder = zlib.decompressobj(32 + zlib.MAX_WBITS)  # gzip or zlib, by its first bytes
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
    """Sends a request and gives back its whole reply, in ``SECONDS``.  Any number of threads may use one.

    seconds: instead of ``SECONDS``; 0 for these.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self._way_to = cache(_way)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The reply, read and closed.

        Raises: Permanent; TooLarge; ConnectTimeout and the like if nothing can have been billed, ReadTimeout and the
            like if it can.
        """
        sent = False
        most = self._seconds or SECONDS
        seconds = seconds_left(most)
        pool, proxy = self._way_to(request.url.scheme, request.url.host)

        def exchanged(trace: Trace) -> httpx.Response:
            def note(event: str, facts: Any) -> None:
                nonlocal sent
                trace(event, facts)
                sent = sent or event.endswith("send_request_headers.started")

            limits = httpx.Timeout(most, connect=min(CONNECT, most))
            request.read()
            request.extensions = {"timeout": limits.as_dict(), "trace": note}
            return _reply(pool, request)

        try:
            return exchange(exchanged, time.monotonic() + seconds)
        except DeadlineExceeded:
            late = httpx.ReadTimeout if sent else httpx.ConnectTimeout
            raise late(f"no whole answer within {seconds:.3g} seconds", request=request) from None
        except (Permanent, TooLarge):
            raise
        except httpx.TransportError as error:
            by = proxy and f"by the proxy {_shown(proxy)}: "
            if reason := _lasting(error):
                raise Permanent(by + reason, request=request) from None
            # of a proxy the status alone: its words may repeat the password
            words = re.sub("(?s)(?<=^[0-9]{3}).*", "", str(error)) or type(error).__name__
            raise type(error)(by + words, request=request) from error
        except (OverflowError, UnicodeError):  # a port, or a host's name, beyond reason
            raise Permanent("the address does not exist", request=request) from None
        except ValueError as error:
            raise httpx.DecodingError(str(error), request=request) from None


def _reply(pool: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
    response = pool.handle_request(request)
    headers = response.headers
    status = response.status_code
    try:
        if status == 407:  # nothing of what it says: it may say the password
            raise httpx.ProxyError("407")
        if 300 <= status < 400 and headers.get("location"):
            to = request.url.join(headers["location"][:2000])
            raise Permanent(
                f"it sends us on to {to}, and no picture follows a redirect", request=request
            )
        assert isinstance(response.stream, Iterable)
        try:
            body = decoded(response.stream, headers.get("content-encoding", ""), MOST)
        except (httpx.TransportError, ValueError) as error:
            if status < 400:
                raise
            body = getattr(
                error, "body", b""
            )  # the status decides what to do, whatever comes after it
    finally:
        response.close()
    if status >= 400:
        body = body.decode("utf-8", "replace").encode()
    passed = [(name, value) for name, value in headers.multi_items() if name not in _DROPPED]
    # JSON is UTF-8; a character set that the server makes up would only confuse the vendors' clients
    passed.append(("content-type", headers.get("content-type", "").partition(";")[0]))
    return httpx.Response(status, headers=passed, content=body, request=request)


def _way(scheme: str, host: str) -> tuple[httpx.HTTPTransport, str]:
    """What makes a connection for each request to a server, and the address of its proxy, empty without one.

    Raises: Permanent if the environment names a proxy of an unusable form.
    """
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        proxy = ""
    elif "://" not in proxy:
        proxy = f"http://{proxy}"
    bundles = filter(os.path.exists, (os.environ.get(name, "") for name in _BUNDLES))
    try:
        return httpx.HTTPTransport(_trusting(*bundles), proxy=proxy or None, limits=_ONCE), proxy
    except (ValueError, ImportError):
        raise Permanent(
            f"the proxy {_shown(proxy)} needs http:// or https://; for socks5:// pip install 'httpx[socks]'"
        ) from None


def _shown(proxy: str) -> httpx.URL:
    return httpx.URL(proxy).copy_with(username=None, password=None)


@cache  # reading a bundle takes 50 ms, as long as some exchanges
def _trusting(*bundles: str) -> ssl.SSLContext:
    """Trusts the authorities that httpx trusts, and the user's bundles."""
    context = httpx.create_ssl_context()
    for path in bundles:
        context.load_verify_locations(**{"capath" if os.path.isdir(path) else "cafile": path})
    return context


def _lasting(error: BaseException | None) -> str:
    """What is wrong if another attempt would end alike; empty if it might not."""
    if isinstance(error, httpx.UnsupportedProtocol):
        return "the protocol is unknown"
    if isinstance(error, httpx.ProxyError) and _REFUSES.match(str(error)):
        return (
            "it lets nobody through, or not you: write USER:PASSWORD@, signs as percent codes, before its host in the "
            "variable that names it, such as HTTPS_PROXY, or go around it with NO_PROXY=HOST"
        )
    # h11: its text holds the key
    if isinstance(error, httpx.LocalProtocolError) and "llegal" in str(error):
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


class Client(httpx.Client):
    """An ``httpx.Client`` that asks by a ``BoundedTransport(seconds)``.  options: as httpx takes them."""

    def __init__(self, seconds: float = 0.0, **options: Any) -> None:
        headers = {"accept-encoding": "identity"} | dict(options.pop("headers", {}))
        self._bounded = BoundedTransport(seconds)
        super().__init__(transport=self._bounded, headers=headers, **options)

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """The whole reply; only to sign a request are httpx's steps needed, which cost as much as the rest."""
        if self.auth or options.get("stream") or request.url.userinfo:
            return super().send(request, **options)
        return self._bounded.handle_request(request)
