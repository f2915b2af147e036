"""A loopback server that speaks Openverse's format, serves photos, and misbehaves.

The photos of a search are in the folder that its occupation names. ``troubles`` maps a photo's number in a search
to what goes wrong there; ``asked`` is the log of all requests. ``python -m tests.collect.server BASE collect …`` is the
command with this server as its internet.
"""

import dataclasses
import functools
import json
import struct
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from gslopes.collect import collector
from gslopes.collect.fetch import FetchPolicy
from gslopes.collect.search import Openverse
from gslopes.collect.wikidata import Wikidata
from tests import loopback

TROUBLES = (
    *(
        "slow",
        "throttle",
        "gone",
        "wrong-type",
        "loopback",
        "file",
        "endless",
        "bomb",
        "not-a-picture",
        "cut",
    ),
    *("loop", "gzip", "busy", "moved", "drop"),
)


class PhotoServer:
    def __init__(
        self, photos: Path, troubles: dict[int, str] | None = None, robots: str = ""
    ) -> None:
        self.photos, self.troubles, self.robots = photos, troubles or {}, robots
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.times: list[float] = []
        self.hits: Counter[str] = Counter()
        self.delay = 0.0
        self.status = 0  # of every reply, if it is set
        self.elsewhere = ""
        self.kind = "image/jpeg"  # of photos that are fine
        self.port = 0

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def downloads(self) -> list[str]:
        return [path for path, _ in self.asked if path.startswith("/photo/")]

    def results(self, text: str) -> list[tuple[str, str]]:
        """(address, name) of all photos of a search: its last word is the folder."""
        names = sorted(path.name for path in self.photos.iterdir())
        occupation = next((name for name in names if text == name or text.endswith(f" {name}")), "")
        files = sorted((self.photos / occupation).glob("*.jpg")) if occupation else []
        rows = []
        for number, file in enumerate(files):
            trouble = self.troubles.get(number, "fine")
            rows.append((f"{self.base}/photo/{trouble}/{occupation}/{quote(file.name)}", file.name))
        return rows


def aim(base: str, put: Callable[[object, str, object], None] = setattr, attempts: int = 2) -> None:
    """Let every provider and download ask this server, at once; others stay where they are."""
    quick = {"seconds": 20, "max_attempts": attempts, "backoff": 0.01, "max_bytes": 1 << 20}
    quick |= {"allowed": (base.removeprefix("http://"),)}
    put(collector, "FetchPolicy", functools.partial(FetchPolicy, **quick))
    for provider, names in ((Openverse, ("base",)), (Wikidata, ("service", "commons"))):
        for name in names:
            put(provider, name, base)
        put(provider, "terms", dataclasses.replace(provider.terms, gap=0.0))


class _Handler(loopback.QuietHandler):
    service: PhotoServer

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server looks up
        server = self.service
        url = urlsplit(self.path)
        server.asked.append(
            (self.path, {name.lower(): value for name, value in self.headers.items()})
        )
        server.times.append(time.monotonic())
        query = dict(parse_qsl(url.query))
        try:
            if server.status:
                self.send(server.status, b"", "text/plain")
            elif url.path == "/robots.txt":
                self.send(200 if server.robots else 404, server.robots.encode(), "text/plain")
            elif url.path == "/v1/images/":
                self.send_json(openverse(server, query))
            elif url.path.startswith("/photo/"):
                self.photo(
                    *[unquote(part) for part in url.path.removeprefix("/photo/").split("/", 2)]
                )
            else:
                self.send(404, b"", "text/plain")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def photo(self, trouble: str, occupation: str, name: str) -> None:
        server = self.service
        server.hits[self.path] += 1
        data = (server.photos / occupation / name).read_bytes()
        time.sleep(server.delay)
        if trouble == "slow":
            self.send_header_of(len(data))
            for byte in data:
                self.wfile.write(bytes([byte]))
                time.sleep(0.2)
        elif trouble == "throttle" and server.hits[self.path] == 1:
            self.send(429, b"", "text/plain", {"Retry-After": "1"})
        elif trouble == "busy":
            self.send(503, b"", "text/plain")
        elif trouble == "gone":
            self.send(404, b"", "text/plain")
        elif trouble == "wrong-type":
            self.send(200, data, "text/html; charset=utf-8")
        elif trouble == "not-a-picture":
            self.send(200, b"<html>a page that says it is a photo</html>", "image/jpeg")
        elif trouble in ("loopback", "file", "loop", "moved", "away"):
            away = {
                "loopback": "http://127.0.0.1:9/x.jpg",
                "file": "file:///etc/hostname",
                "loop": self.path,
            }
            away["away"] = server.elsewhere
            away["moved"] = f"/photo/fine/{occupation}/{quote(name)}"
            self.send(302, b"", "text/plain", {"Location": away[trouble]})
        elif trouble == "endless":
            self.send_response(200)
            self.send_header("Content-Type", "image/jpeg")
            self.send_header("Connection", "close")
            self.end_headers()
            while True:
                self.wfile.write(data)
        elif trouble == "bomb":
            self.send(200, bomb(), "image/png")
        elif trouble == "gzip":
            self.send(200, zlib.compress(data), "image/jpeg", {"Content-Encoding": "deflate"})
        elif trouble == "cut":
            self.send_header_of(len(data))
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        elif trouble == "drop":
            self.close_connection = True
            self.connection.close()
        else:
            self.send(200, data, server.kind)

    def send_header_of(self, length: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "image/jpeg")
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def send_json(self, content: object) -> None:
        self.send(200, json.dumps(content).encode(), "application/json")


def openverse(server: PhotoServer, query: dict[str, str]) -> dict[str, object]:
    """As GET /v1/images/ answers."""
    rows, size, page = server.results(query["q"]), int(query["page_size"]), int(query["page"])
    rows = [
        {
            "id": f"4bc43a04-ef46-4544-a0c1-{number:012d}",
            "title": f"Photo {name}",
            "foreign_landing_url": f"https://photos.example/{name}",
            "url": url,
            "creator": '=HYPERLINK("x")' if number == 0 else f"Ann <b>{number}</b>",
            "creator_url": None,
            "license": "by-sa" if number % 2 else "cc0",
            "license_version": "2.0" if number % 2 else "1.0",
            "license_url": "https://creativecommons.org/licenses/by-sa/2.0/",
        }
        for number, (url, name) in enumerate(rows)
    ]
    pages = -(-len(rows) // size)
    text = rows[(page - 1) * size : page * size]
    return {
        "result_count": len(rows),
        "page_count": pages,
        "page_size": size,
        "page": page,
        "results": text,
    }


@functools.cache
def bomb() -> bytes:
    """A PNG of 5 kB whose header promises 60,000 by 60,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(5_000_000)))
        + chunk(b"IEND", b"")
    )


def serving(server: PhotoServer) -> AbstractContextManager[PhotoServer]:
    """The server on a free loopback port."""
    return loopback.serving(server, _Handler)


if __name__ == "__main__":
    from gslopes.cli import main

    aim(sys.argv[1])
    main(sys.argv[2:])
