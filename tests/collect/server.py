"""A loopback server that speaks Openverse's, Wikimedia's and Google's formats, serves photos, and misbehaves.

The photos of a search are those of the folder that its occupation names. ``troubles`` maps a photo's number in a search
to what goes wrong there; ``asked`` is the log of all requests.
"""

from __future__ import annotations

import functools
import json
import struct
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

TROUBLES = (
    *("slow", "throttle", "gone", "wrong-type", "loopback", "file", "endless", "bomb", "not-a-picture", "cut"),
    *("loop", "gzip", "busy", "moved", "drop"),
)


class PhotoServer:
    def __init__(self, photos: Path, troubles: dict[int, str] | None = None, robots: str = "") -> None:
        self.photos, self.troubles, self.robots = photos, troubles or {}, robots
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.times: list[float] = []
        self.hits: Counter[str] = Counter()
        self.delay = 0.0
        self.status = 0  # of every reply, if it is set
        self.elsewhere = ""
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
        words = text.removeprefix("filetype:bitmap ")
        names = sorted(path.name for path in self.photos.iterdir())
        occupation = next((name for name in names if words == name or words.endswith(f" {name}")), "")
        files = sorted((self.photos / occupation).glob("*.jpg")) if occupation else []
        found = []
        for number, file in enumerate(files):
            trouble = self.troubles.get(number, "fine")
            found.append((f"{self.base}/photo/{trouble}/{occupation}/{quote(file.name)}", file.name))
        return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else head and body of an answer wait 40 ms for one another
    photo_server: PhotoServer

    def do_GET(self) -> None:
        server = self.photo_server
        url = urlsplit(self.path)
        server.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        server.times.append(time.monotonic())
        query = dict(parse_qsl(url.query))
        try:
            if server.status:
                self.send(server.status, b"", "text/plain")
            elif url.path == "/robots.txt":
                self.send(200 if server.robots else 404, server.robots.encode(), "text/plain")
            elif url.path == "/v1/images/":
                self.send_json(openverse(server, query))
            elif url.path == "/w/api.php":
                self.send_json(wikimedia(server, query))
            elif url.path == "/customsearch/v1":
                right = self.headers.get("X-goog-api-key") == "right" and query.get("cx") == "engine"
                self.send_json(google(server, query) if right else {"error": {"code": 403}}, 200 if right else 403)
            elif url.path.startswith("/photo/"):
                self.photo(*[unquote(part) for part in url.path.removeprefix("/photo/").split("/", 2)])
            else:
                self.send(404, b"", "text/plain")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def photo(self, trouble: str, occupation: str, name: str) -> None:
        server = self.photo_server
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
            away = {"loopback": "http://127.0.0.1:9/x.jpg", "file": "file:///etc/hostname", "loop": self.path}
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
            self.send(200, data, "image/jpeg")

    def send_header_of(self, length: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "image/jpeg")
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def send(self, status: int, body: bytes, kind: str, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def send_json(self, content: object, status: int = 200) -> None:
        self.send(status, json.dumps(content).encode(), "application/json")

    def log_message(self, *_: object) -> None:
        """The log is ``asked``."""


def openverse(server: PhotoServer, query: dict[str, str]) -> dict[str, object]:
    """As GET /v1/images/ answers."""
    found, size, page = server.results(query["q"]), int(query["page_size"]), int(query["page"])
    rows = [
        {
            "id": f"4bc43a04-ef46-4544-a0c1-{number:012d}",
            "title": f"Photo {name}",
            "indexed_on": "2022-08-27T17:39:48Z",
            "foreign_landing_url": f"https://photos.example/{name}",
            "url": url,
            "creator": '=HYPERLINK("x")' if number == 0 else f"Ann <b>{number}</b>",
            "creator_url": None,
            "license": "by-sa" if number % 2 else "cc0",
            "license_version": "2.0" if number % 2 else "1.0",
            "license_url": "https://creativecommons.org/licenses/by-sa/2.0/",
            "provider": "flickr",
            "source": "flickr",
            "category": "photograph",
            "tags": [{"accuracy": None, "name": "work", "unstable__provider": "flickr"}],
            "mature": False,
            "height": 224,
            "width": 224,
        }
        for number, (url, name) in enumerate(found)
    ]
    pages = -(-len(rows) // size)
    shown = rows[(page - 1) * size : page * size]
    return {"result_count": len(rows), "page_count": pages, "page_size": size, "page": page, "results": shown}


def wikimedia(server: PhotoServer, query: dict[str, str]) -> dict[str, object]:
    """As action=query with generator=search answers, formatversion 2; its pages come in no order."""
    found, size = server.results(query["gsrsearch"]), int(query["gsrlimit"])
    start = int(query.get("gsroffset", 0))
    pages = [
        {
            "pageid": 1000 + number,
            "ns": 6,
            "title": f"File:{name}",
            "index": number + 1,
            "imagerepository": "local",
            "imageinfo": [
                {
                    "size": 1353326,
                    "width": 3746,
                    "height": 2400,
                    "thumburl": url,
                    "thumbwidth": 960,
                    "thumbheight": 615,
                    "url": f"{server.base}/original/{name}",
                    "descriptionurl": f"https://commons.example/wiki/File:{name}",
                    "mime": "image/jpeg",
                    "extmetadata": {
                        "LicenseShortName": {"value": "CC BY-SA 4.0", "source": "commons-desc-page", "hidden": ""},
                        "LicenseUrl": {"value": "https://creativecommons.org/licenses/by-sa/4.0", "hidden": ""},
                        "Artist": {"value": '<a href="//commons.wikimedia.org/wiki/User:Bo">Bo &amp; Co</a>'},
                    },
                }
            ],
        }
        for number, (url, name) in enumerate(found)
    ][start : start + size]
    answer: dict[str, object] = {"batchcomplete": True, "query": {"pages": pages[::-1]}}
    if start + size < len(found):
        answer["continue"] = {"gsroffset": start + size, "continue": "gsroffset||"}
    return answer


def google(server: PhotoServer, query: dict[str, str]) -> dict[str, object]:
    """As customsearch/v1 answers with searchType=image."""
    assert query["searchType"] == "image"
    found, start, size = server.results(query["q"]), int(query["start"]), int(query["num"])
    items = [
        {
            "kind": "customsearch#result",
            "title": name,
            "link": url,
            "displayLink": "photos.example",
            "mime": "image/jpeg",
            "image": {"contextLink": f"https://photos.example/{name}", "height": 224, "width": 224, "byteSize": 9000},
        }
        for url, name in found[start - 1 : start - 1 + size]
    ]
    queries: dict[str, object] = {"request": [{"startIndex": start, "count": len(items)}]}
    if start + size <= min(len(found), 100):
        queries["nextPage"] = [{"startIndex": start + size, "count": size}]
    return {"kind": "customsearch#search", "queries": queries, "items": items} if items else {"queries": queries}


@functools.cache
def bomb() -> bytes:
    """A PNG of 5 kB whose header promises 60,000 by 60,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(5_000_000)))
        + chunk(b"IEND", b"")
    )


@contextmanager
def serving(server: PhotoServer) -> Iterator[PhotoServer]:
    """The server on a free loopback port."""

    class Handler(_Handler):
        photo_server = server

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A client that hangs up is nothing to print about."""

    listener = Server(("127.0.0.1", 0), Handler)
    listener.daemon_threads, listener.block_on_close = True, False
    server.port = listener.server_address[1]
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
