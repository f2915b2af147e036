"""The one way by which pictures leave for a server: no redirect, no cookies, and a bound on bytes and on time.

Our own clients are made by ``client``. The vendors' have it below their own code: those that use ``requests`` by an
adapter, boto3 by its event ``before-send``, ``openai`` as its HTTP client.
"""

from __future__ import annotations

import io
import os
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from gslopes.core.exchange import DeadlineExceeded, Exchange, TooLarge, WatchedNetwork, decoded

MOST = 32 << 20  # bytes of a reply, after decompression
CONNECT = 10.0  # seconds, to connect
SECONDS = 120.0  # from the first byte sent to the last one received
_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE")  # beyond SSL_CERT_FILE and SSL_CERT_DIR
_DROPPED = ("content-encoding", "content-length", "transfer-encoding", "set-cookie", "set-cookie2")


class Permanent(httpx.TransportError):
    """No picture would ever get through: a redirect, a certificate, an address, a key that cannot be sent."""


class Oversized(httpx.TransportError):
    """The reply has more bytes than any answer."""


class BoundedTransport(httpx.BaseTransport):
    """Sends a request and gives back its whole reply.  Any number of threads may use one.

    seconds: of one exchange; 0: ``SECONDS``.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds, self._max_bytes = seconds or SECONDS, MOST
        self._exchange = Exchange()
        self._pools: dict[str, httpcore.ConnectionPool] = {}  # by the address of the proxy, empty without one
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
        try:
            with self._exchange.until(time.monotonic() + self._seconds):
                return self._exchanged(pool, request, note)
        except DeadlineExceeded:
            late = httpx.ReadTimeout if sent else httpx.ConnectTimeout
            raise late(f"no whole answer within {self._seconds:g} seconds", request=request) from None
        except TooLarge:
            raise Oversized(f"the reply has more than {self._max_bytes >> 20} MiB", request=request) from None
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
            if found := _lasting(error):
                raise Permanent(found, request=request) from None
            kind: type[httpx.TransportError] = getattr(httpx, type(error).__name__, httpx.ReadError)
            raise kind(str(error) or type(error).__name__, request=request) from error
        except (OverflowError, UnicodeError):  # a port, or a host's name, beyond reason
            raise Permanent("there is no such address", request=request) from None
        except ValueError as error:
            raise httpx.DecodingError(str(error), request=request) from None

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()

    def _exchanged(
        self, pool: httpcore.ConnectionPool, request: httpx.Request, note: Callable[[str, object], None]
    ) -> httpx.Response:
        limits = dict.fromkeys(("read", "write", "pool"), self._seconds) | {"connect": min(CONNECT, self._seconds)}
        url = request.url
        response = pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.read(),
                extensions={"timeout": limits, "trace": note},
            )
        )
        try:
            headers = httpx.Headers(response.headers)
            if 300 <= response.status < 400 and headers.get("location"):
                to = url.join(headers["location"][:2000])
                raise Permanent(f"it sends us on to {to}, and no picture follows a redirect", request=request)
            assert isinstance(response.stream, Iterable)
            body = decoded(response.stream, headers.get("content-encoding", ""), self._max_bytes)
        finally:
            response.close()
        kept = [(name, value) for name, value in headers.multi_items() if name not in _DROPPED]
        return httpx.Response(response.status, headers=kept, content=body, request=request)

    def _pool(self, url: httpx.URL) -> httpcore.ConnectionPool:
        """The connections to a server, by the proxy that the environment names, as every client has it."""
        proxies = getproxies()
        proxy = proxies.get(url.scheme) or proxies.get("all") or ""
        if proxy and proxy_bypass(url.host):
            proxy = ""
        with self._lock:
            if proxy not in self._pools:
                self._pools[proxy] = _pool_by(proxy, WatchedNetwork(self._exchange))
            return self._pools[proxy]


def _pool_by(proxy: str, network: WatchedNetwork) -> httpcore.ConnectionPool:
    context = httpx.create_ssl_context()
    for path in filter(os.path.exists, (os.environ.get(name, "") for name in _BUNDLES)):
        context.load_verify_locations(**{"capath" if os.path.isdir(path) else "cafile": path})
    how: dict[str, Any] = {"ssl_context": context, "network_backend": network, "max_connections": None}
    if not proxy:
        return httpcore.ConnectionPool(**how)
    url = httpx.URL(proxy if "://" in proxy else f"http://{proxy}")
    where = url.copy_with(username=None, password=None)
    auth = (url.username, url.password) if url.username else None
    kind: Any = httpcore.SOCKSProxy if url.scheme.startswith("socks") else httpcore.HTTPProxy
    pool: httpcore.ConnectionPool = kind(proxy_url=str(where), proxy_auth=auth, **how)
    return pool


def _lasting(error: BaseException | None) -> str:
    """What is wrong if another attempt would end alike; empty if it might not."""
    if isinstance(error, httpcore.UnsupportedProtocol):
        return "there is no such protocol"
    if isinstance(error, httpcore.LocalProtocolError) and "llegal" in str(error):  # h11: its text holds the key
        return "the address, or a key, has characters that cannot be sent"
    while error is not None:
        if isinstance(error, ssl.SSLError) and not isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
            said = getattr(error, "verify_message", "") or str(error.reason or "").replace("_", " ").lower()
            return f"no encrypted connection: {said}"
        error = error.__cause__ or error.__context__
    return ""


def client(seconds: float = 0.0, **options: Any) -> httpx.Client:
    """An ``httpx.Client`` that asks by a ``BoundedTransport``.  options: as its own."""
    headers = {"accept-encoding": "identity"} | dict(options.pop("headers", {}))
    return httpx.Client(transport=BoundedTransport(seconds), headers=headers, follow_redirects=False, **options)


def requests_adapter() -> Any:
    """What a ``requests.Session`` mounts to send by a ``BoundedTransport``."""
    import requests

    transport = BoundedTransport()

    class Adapter(requests.adapters.BaseAdapter):
        def send(self, request: requests.PreparedRequest, *_: object, **__: object) -> requests.Response:
            reply = _sent(transport, request)
            found = requests.Response()
            found.status_code, found.reason = reply.status_code, reply.reason_phrase
            found.url, found.request = request.url or "", request
            found.headers = requests.structures.CaseInsensitiveDict(reply.headers)
            found.encoding = requests.utils.get_encoding_from_headers(found.headers)
            found.raw = io.BytesIO(reply.content)
            return found

        def close(self) -> None:
            transport.close()

    return Adapter()


def before_send(transport: BoundedTransport) -> Callable[..., Any]:
    """What boto3's event ``before-send`` calls to have its requests sent by a transport, which stays the caller's."""
    from botocore.awsrequest import AWSResponse

    class Raw(io.BytesIO):
        def stream(self, **_: object) -> Iterator[bytes]:
            yield self.read()

    def send(request: Any, **_: object) -> Any:
        reply = _sent(transport, request)
        return AWSResponse(request.url, reply.status_code, dict(reply.headers), Raw(reply.content))

    return send


def _sent(transport: BoundedTransport, request: Any) -> httpx.Response:
    """The reply to a prepared request of ``requests`` or botocore."""
    headers = {"accept-encoding": "identity"} | {name.lower(): value for name, value in request.headers.items()}
    body = request.body.read() if hasattr(request.body, "read") else request.body
    return transport.handle_request(httpx.Request(request.method, request.url, headers=headers, content=body or b""))
