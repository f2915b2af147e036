"""Raw bytes as a server's reply, through a real socket: whatever comes, an answer or one of our own errors, in time.

The corpus is ``tests/corpus/http``: a reply a file, as the server writes it. What was found once is kept there.
"""

import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from gslopes.ask import transport
from gslopes.ask.answers import parse_answer
from gslopes.ask.classifiers import load_classifier
from gslopes.collect.fetch import Fetcher, FetchPolicy, Reply
from gslopes.core.errors import GslopesError

CORPUS = Path(__file__).with_name("corpus") / "http"
SECONDS = 0.4  # of an exchange
SLOWEST = 3.0  # seconds, on a busy machine


@contextmanager
def listening(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """The port of a server that gives each connection to a function, in a thread."""

    def handle(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            serve(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=handle, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def requests_of(connection: socket.socket) -> Iterator[tuple[bytes, bytes]]:
    """Head and body of each request that comes over a connection."""
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return
            data += more
        head, _, data = data.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields.get(b"content-length", b"0"))
        while len(data) < length:
            data += connection.recv(65536)
        yield head, data[:length]
        data = data[length:]


def corpus() -> tuple[bytes, ...]:
    """All replies that are kept, by name."""
    return tuple(file.read_bytes() for file in sorted(CORPUS.glob("*.bin")))


class Replies:
    """Asks about a picture, and downloads a file, from a server that replies with given bytes and then ends, or waits.

    waits: whether a connection stays open after the reply, for one input in so many.
    """

    def __init__(self, waits: int = 64) -> None:
        self._reply = b""
        self._waits = waits
        self._serving = listening(self._serve)
        port = self._serving.__enter__()  # to the end of the process: its thread is a daemon
        host = f"127.0.0.1:{port}"
        self._classifier: Any = load_classifier(f"http:http://{host}/judge", prepare=False)
        self._classifier._client = transport.Client(seconds=SECONDS)
        policy = FetchPolicy(
            gap=0, seconds=SECONDS, max_bytes=1 << 20, max_attempts=1, allowed=(host,)
        )
        self._fetcher = Fetcher(policy, threading.Event())
        self._address = f"http://{host}/a.jpg"

    def close(self) -> None:
        self._serving.__exit__(None, None, None)

    def _serve(self, connection: socket.socket) -> None:
        for _ in requests_of(connection):
            reply = self._reply
            connection.sendall(reply)
            if zlib.crc32(reply) % self._waits == 0:
                time.sleep(2 * SECONDS)
            return

    def asked(self, reply: bytes) -> None:
        """Raises: GslopesError."""
        self._reply = reply
        began = time.monotonic()
        try:
            for raw in self._classifier.ask([b"\x89PNG picture"]):
                if not isinstance(raw, Exception):
                    answer = parse_answer(self._classifier, raw)
                    assert answer.status in ("answered", "refused", "failed")
                    assert all(0 <= score <= 1 for _, score in answer.labels)
                else:
                    assert isinstance(raw, GslopesError)
        finally:
            assert time.monotonic() - began < SLOWEST

    def downloaded(self, reply: bytes) -> None:
        """Raises: DownloadError."""
        self._reply = reply
        began = time.monotonic()
        try:
            assert isinstance(self._fetcher.get(self._address), Reply)
        finally:
            assert time.monotonic() - began < SLOWEST
