"""The HTTP server of the services that speak HTTP."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from tests.fake_provider.chat import Chat
from tests.fake_provider.converse import Converse
from tests.fake_provider.gemini import Gemini
from tests.fake_provider.messages import Messages
from tests.fake_provider.protocol import Reply, Request, Service
from tests.fake_provider.responses import Responses
from tests.fake_provider.vendors import Azure, Google, Imagga, Rekognition

if TYPE_CHECKING:
    from tests.fake_provider.control import FakeProvider


def serve(provider: FakeProvider) -> tuple[int, Callable[[], None]]:
    """Start it on a free loopback port: the port, and a function that stops it."""

    class Handler(_Handler):
        fake = provider

    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    ).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()

    return server.server_address[1], stop


def service_of(provider: FakeProvider, request: Request) -> Service | None:
    """Who answers a request."""
    services: tuple[Service, ...] = (
        Google(),
        Rekognition(),
        Azure(),
        Imagga(),
        *(kind(provider.chat) for kind in (Chat, Responses, Messages, Gemini, Converse)),
    )
    return next((item for item in services if item.owns(request)), None)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that is killed, or hangs up, is nothing to print about."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake: FakeProvider

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        url = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        query = dict(parse_qsl(url.query))
        request = Request(self.command, url.path, query, headers, body, url.query)
        if self.fake.batches.owns(request):
            self._send(self.fake.batches.handle(self.fake, request))
            return
        service = service_of(self.fake, request)
        if service is None:
            self._send(Reply.of(404, {"error": "No service here."}))
            return
        with self.fake.call(service.name) as call:
            try:
                reply = self.fake.reply_of(service, request, call)
            except ConnectionError:
                self.close_connection = True
                return
            self._send(reply, cut=call.trouble == "truncate")

    def _send(self, reply: Reply, cut: bool = False) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body[: len(reply.body) // 2] if cut else reply.body)
        self.close_connection = self.close_connection or cut

    def log_message(self, *_: object) -> None:
        """Nothing: the fake keeps another log."""
