"""A classifier by ``http:`` in another process, which writes down every picture that it was sent."""

from __future__ import annotations

import base64
import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http.server import ThreadingHTTPServer
from pathlib import Path

from tests.loopback import QuietHandler
from tests.torture.scenarios import answered


@dataclass
class Classifier:
    """Where it is asked, and its list of what it was sent, a line a picture."""

    log: Path
    url: str = ""

    def asked(self) -> Counter[str]:
        """How often it was sent each picture, by sha256."""
        return Counter(self.log.read_text().split())

    def forget(self) -> None:
        """Begin a new list."""
        self.log.write_text("")


class Handler(QuietHandler):
    """Answers by the picture."""

    service: Classifier

    def do_POST(self) -> None:  # noqa: N802
        """Scores of every picture of the request."""
        text = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            body = json.loads(text)
        except ValueError:  # the request was cut
            self.close_connection = True
            return
        pictures = [base64.b64decode(one) for one in body["pictures"]]
        with self.service.log.open("a") as log:
            log.write("".join(f"{sha256(one).hexdigest()}\n" for one in pictures))
        reply = {"version": "1", "answers": [{"labels": answered(one)} for one in pictures]}
        self.send(200, json.dumps(reply).encode(), "application/json")


class Quiet(ThreadingHTTPServer):
    """Says nothing about connections that end."""

    def handle_error(self, *_: object) -> None:
        """A client that went away."""


@contextmanager
def asked_elsewhere(log: Path) -> Iterator[Classifier]:
    """A server in another process until the block ends."""
    classifier = Classifier(log)
    classifier.forget()
    server = Quiet(("127.0.0.1", 0), type("Here", (Handler,), {"service": classifier}))
    classifier.url = f"http://127.0.0.1:{server.server_port}/classify"
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            server.serve_forever()
        finally:
            os._exit(0)
    server.server_close()
    try:
        yield classifier
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
