"""A server on this machine that speaks one protocol for one test, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """Writes whole replies and no log; ``service`` is what the test reads and changes."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    service: Any

    def send(self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Quiet."""


@contextmanager
def serving(service: Any, handler: type[QuietHandler]) -> Iterator[Any]:
    """Serve requests until the block ends.  service: anything with a ``port``, which is set.  handler: answers them."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), {"service": service}))
    server.daemon_threads = True
    service.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
