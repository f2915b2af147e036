"""Every client through which a picture leaves, vendors' own too, against servers that mean no good; deadlines."""

import gzip
import itertools
import json
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from gslopes.ask import transport
from gslopes.ask.classifiers import load_classifier
from gslopes.ask.client import Client
from gslopes.ask.questions import Question
from gslopes.ask.retry import RetryPolicy, Stopped
from gslopes.ask.transport import DeadlineExceeded, TooLarge, decoded, exchange
from gslopes.core.errors import (
    AnswerError,
    ClassifierError,
    ConfigError,
    CredentialsError,
    ServiceError,
    Throttled,
    Unavailable,
)
from tests.fake_provider import paint
from tests.loopback import QuietHandler, serving, write_certificate

PICTURE = paint(0, 0.5)
CLIENTS = {
    "http": "http:{url}/judge",
    "http-token": "http:{url}/judge,token=TEAM_TOKEN",
    "llm": "llm:some-model,prompt=doctor-nurse",
    "imagga": "imagga",
    "google": "google",
    "rekognition": "rekognition:region=eu-west-1",
    "azure": "azure",
}
ENDPOINTS = (
    "OPENAI_BASE_URL",
    "IMAGGA_ENDPOINT",
    "GOOGLE_VISION_ENDPOINT",
    "AWS_ENDPOINT_URL_REKOGNITION",
)
ENDPOINTS += ("VISION_ENDPOINT",)
KEYS = ("TEAM_TOKEN", "OPENAI_API_KEY", "IMAGGA_API_KEY", "IMAGGA_API_SECRET", "VISION_KEY")
KEYS += ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "CLARIFAI_PAT")


@dataclass
class Hostile:
    """What the server does with a request.

    reply: status, headers, body.  endless: bytes that it goes on sending.
    drip: bytes that it sends one by one, ``pause`` seconds apart.
    """

    reply: tuple[int, dict[str, str], bytes] = (200, {}, b"{}")
    endless: bytes = b""
    drip: bytes = b""
    pause: float = 0.05
    port: int = 0
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class Handler(QuietHandler):
    service: Hostile

    def do_POST(self) -> None:  # noqa: N802
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.service.headers.append(dict(self.headers))
        status, headers, body = self.service.reply
        if not (self.service.endless or self.service.drip):
            self.send(status, body, "application/json", headers)
            return
        self.close_connection = True
        try:
            if not self.service.drip.startswith(b"HTTP"):
                self.send_response(200)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
            for letter in self.service.drip:
                self.wfile.write(bytes([letter]))
                time.sleep(self.service.pause)
            while self.service.endless:
                self.wfile.write(self.service.endless)
        except OSError:
            pass


BOMB = gzip.compress(bytes(8 << 20))
DRIPS = {
    "header": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 99,
    "100": b"HTTP/1.1 100 Continue\r\n\r\n" * 9,
    "body": b" " * 99,
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    """The server that all clients are told of; a reply ends at a mebibyte there, an exchange after a while."""
    monkeypatch.setattr(transport, "SECONDS", 10.0)
    monkeypatch.setattr(transport, "MOST", 1 << 20)
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with serving(Hostile(), Handler) as hostile:
        for name in ENDPOINTS:
            monkeypatch.setenv(name, hostile.url)
        for name in KEYS:
            monkeypatch.setenv(name, "key-0123456789abcdef")
        yield hostile


def load(client: str, server: Hostile) -> Any:
    return load_classifier(CLIENTS[client].format(url=server.url))


@pytest.mark.parametrize("client", CLIENTS)
def test_no_client_follows_a_redirect_and_the_new_address_is_named(server, client):
    classifier = load(client, server)
    with serving(Hostile(), Handler) as elsewhere:
        for status in (301, 302, 303, 307, 308):
            server.reply = (status, {"Location": f"{elsewhere.url}/collect"}, b"")
            with pytest.raises(
                ServiceError,
                match=rf"sends us on to {elsewhere.url}/collect, and no picture follows",
            ):
                classifier.ask([PICTURE])
        assert (len(server.headers), elsewhere.headers) == (5, [])


@pytest.mark.parametrize("client", CLIENTS)
def test_a_reply_of_any_size_is_given_up_and_counts_as_paid(server, client):
    classifier = load(client, server)
    server.reply = (200, {"Content-Encoding": "gzip"}, BOMB)
    with pytest.raises(AnswerError, match="more than 1 MiB"):
        classifier.ask([PICTURE])
    server.reply, server.endless = (200, {}, b""), b" " * 65536
    with pytest.raises(AnswerError, match="more than 1 MiB"):
        classifier.ask([PICTURE])


INSIDE = {
    "in an error": lambda status, words: {"error": {"code": status, "message": words}},
    "as a text": lambda status, words: {"error": words},
    "as a status": lambda status, words: {"status": status, "message": words},
    "without success": lambda status, words: {"success": False, "code": str(status), "msg": words},
    "in a list": lambda status, words: {"errors": [{"status": status, "detail": words}]},
    "a name": lambda status, words: {
        "error": {"status": words.upper().replace(" ", "_")},
        "result": None,
    },
    "beside nulls": lambda status, words: {
        "answers": None,
        "choices": None,
        "statusCode": status,
        "message": words,
    },
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("shape", INSIDE)
def test_an_error_within_a_good_status_is_read_like_the_status_that_it_names(server, client, shape):
    classifier = load(client, server)
    for status, words, kind in (
        (429, "rate limit exceeded", Throttled),
        (429, "resource exhausted", Throttled)
        if shape != "as a text"
        else (429, "daily quota reached", Throttled),
        (503, "unavailable", Unavailable),
        (401, "unauthenticated", CredentialsError),
        (413, "payload too large", ClassifierError),
    ):
        if (shape, status) == ("a name", 413):
            continue
        server.reply = (200, {}, json.dumps(INSIDE[shape](status, words)).encode())
        with pytest.raises(kind) as raised:
            classifier.ask([PICTURE])
        assert type(raised.value) is kind, (status, raised.value)


CHARSETS = (
    "zlib_codec",
    "rot13",
    "undefined",
    "idna",
    "utf-7",
    "utf-16",
    "punycode",
    "no\x20such",
    "hex",
    "utf-8;",
)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_the_status_of_an_error_survives_its_body(server, client, kind):
    classifier = load(client, server)
    bodies = [
        b"{}",
        b'{"error": null}',
        b"[]",
        b'"busy"',
        b"caf\xe9 \xff\xfe \x00",
        b"<p>busy</p>",
        b"",
        b"[" * 9999,
    ]
    for charset, body in itertools.zip_longest(CHARSETS, bodies, fillvalue=b"{}"):
        text = charset if isinstance(charset, str) else "utf-8"
        server.reply = (503, {"Content-Type": f"{kind}; charset={text}"}, body)
        with pytest.raises(Unavailable):
            classifier.ask([PICTURE])
    for encoding, body in (
        ("br", b"{}"),
        ("gzip", b"{}"),
        ("gzip", BOMB),
        ("gzip", gzip.compress(b"{}")[:-4]),
    ):
        server.reply = (
            429,
            {"Content-Type": kind, "Content-Encoding": encoding, "Retry-After": "7"},
            body,
        )
        with pytest.raises(Throttled) as raised:
            classifier.ask([PICTURE])
        assert raised.value.retry_after == 7


@pytest.mark.parametrize("client", CLIENTS)
def test_no_cookie_is_sent_back(server, client):
    server.reply = (500, {"Set-Cookie": "who=you; Path=/"}, b"{}")
    classifier = load(client, server)
    for _ in range(2):
        with pytest.raises(Unavailable):
            classifier.ask([PICTURE])
    assert len(server.headers) == 2
    assert not [one for one in server.headers if "cookie" in {name.lower() for name in one}]


@pytest.mark.parametrize("drip", DRIPS)
def test_a_dripping_reply_ends_with_the_exchange(server, drip, monkeypatch):
    monkeypatch.setattr(transport, "SECONDS", 1.0)
    with transport.Client() as asking:
        asking.post(server.url, content=b"x")
        server.drip = DRIPS[drip]
        began = time.monotonic()
        with pytest.raises(httpx.ReadTimeout, match="no whole answer within 1 seconds"):
            asking.post(server.url, content=b"x")
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    "client",
    [
        name if name in ("http", "google") else pytest.param(name, marks=pytest.mark.slow)
        for name in CLIENTS
    ],
)
def test_every_client_gives_up_a_dripping_reply_which_counts_as_paid(server, client, monkeypatch):
    monkeypatch.setattr(transport, "SECONDS", 1.5)
    server.drip = b" " * 999
    with pytest.raises(Unavailable, match=r"no whole answer within 1\.5 seconds") as raised:
        load(client, server).ask([PICTURE])
    assert raised.value.billed


STALLS: dict[str, dict[str, Any]] = {
    "nothing": {"drip": b"HTTP", "pause": 9.0},
    "half a header": {"drip": b"HTTP/1.1 200 OK\r\nContent-", "pause": 9.0},
    "a header in drops": {"drip": DRIPS["header"]},
    "a body in drops": {"drip": DRIPS["body"] * 9},
    "a body that is promised": {"reply": (200, {"Content-Length": "999"}, b"{")},
    "chunks in drops": {
        "drip": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 99
    },
    "busy": {"reply": (503, {}, b"{}")},
    "busy for an hour": {"reply": (503, {"Retry-After": "3600"}, b"{}")},
    "an error that is promised": {"reply": (500, {"Content-Length": "999"}, b"{")},
}


QUICK = ("nothing", "busy", "busy for an hour")


@pytest.mark.parametrize("client", ["http", "llm"])
@pytest.mark.parametrize(
    "stall",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in STALLS],
)
def test_attempts_about_one_picture_end_with_the_patience(server, client, stall, monkeypatch):
    monkeypatch.setattr(transport, "SECONDS", 0.5)
    vars(server).update(STALLS[stall])
    asked = [Question(f"{place}", partial(paint, 0, place / 3)) for place in range(3)]
    asking = Client(load(client, server), retry=RetryPolicy(patience=1.0, base_delay=0.1))
    began = time.monotonic()
    with pytest.raises(ServiceError, match="does not answer"):
        asking.ask_parts([(0, asked)], print)
    assert time.monotonic() - began < 2.5  # two requests that are given up, one after the other
    assert len(server.headers) >= 2


@pytest.mark.parametrize("client", CLIENTS)
def test_a_port_that_does_not_exist_is_said_before_anything_is_sent(server, client, monkeypatch):
    for name in ENDPOINTS:
        monkeypatch.setenv(name, "http://127.0.0.1:99999")
    with pytest.raises(ConfigError, match="no port or host has that form"):
        load_classifier(CLIENTS[client].format(url="http://127.0.0.1:99999"))


@pytest.mark.parametrize("client", sorted({*CLIENTS, "clarifai"} - {"http", "google"}))
def test_a_key_with_a_line_break_is_said_before_anything_is_sent(server, client, monkeypatch):
    for name in KEYS:
        monkeypatch.setenv(name, "key-0123456789abcdef\n")
    with pytest.raises(CredentialsError, match="its value has a line break") as raised:
        load_classifier(CLIENTS.get(client, client).format(url=server.url))
    assert "key-0123456789abcdef" not in str(raised.value)
    assert not server.headers


@pytest.fixture
def untrusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    """A server with a certificate that only its authority trusts; clients are told of it."""
    file = write_certificate(tmp_path / "own.pem")
    with serving(Hostile(), Handler, file) as hostile:
        for name in ENDPOINTS:
            monkeypatch.setenv(name, hostile.url.replace("http", "https"))
        for name in KEYS:
            monkeypatch.setenv(name, "key-0123456789abcdef")
        yield hostile


@pytest.mark.parametrize("client", CLIENTS)
def test_a_certificate_that_is_not_trusted_stops_the_walk_at_once(untrusted, client):
    with pytest.raises(ServiceError, match="no encrypted connection: self-signed certificate"):
        load_classifier(CLIENTS[client].format(url=untrusted.url.replace("http", "https"))).ask(
            [PICTURE]
        )
    assert not untrusted.headers


def test_a_call_that_hangs_is_abandoned():
    stop = threading.Event()
    release = threading.Event()
    with pytest.raises(DeadlineExceeded):
        exchange(lambda _: release.wait(30), time.monotonic() + 0.3, stop)
    stop.set()
    with pytest.raises(Stopped):
        exchange(lambda _: release.wait(30), time.monotonic() + 30, stop)
    release.set()


def ours() -> int:
    """How many threads of exchanges there are."""
    return sum("_serve" in thread.name for thread in threading.enumerate())


def test_an_exchange_beyond_its_deadline_gives_its_thread_and_its_connection_back(
    server, monkeypatch
):
    monkeypatch.setattr(transport, "SECONDS", 0.5)
    with transport.Client() as asking:
        asking.post(server.url, content=b"x")
        server.drip = DRIPS["header"]
        with pytest.raises(httpx.ReadTimeout):
            asking.post(server.url, content=b"x")
        idle = len(transport._IDLE)
        wait_until(lambda: len(transport._IDLE) == ours())
        server.drip = b""
        before = ours()
        for _ in range(5):
            assert asking.post(server.url, content=b"x").status_code == 200
        assert ours() == before >= idle


def wait_until(happens: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_call_that_hangs_keeps_its_thread_and_no_other(server):
    release = threading.Event()
    with pytest.raises(DeadlineExceeded):
        exchange(lambda _: release.wait(30), time.monotonic() + 0.1)
    with transport.Client() as asking:
        assert asking.post(server.url, content=b"x").status_code == 200
    release.set()


def test_a_child_of_a_fork_asks_by_threads_of_its_own(server):
    with transport.Client() as asking:
        assert asking.post(server.url, content=b"x").status_code == 200
        child = os.fork()
        if not child:
            with suppress(BaseException):
                late = time.monotonic() + 5
                os._exit(exchange(lambda _: 7, late))
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_body_is_decompressed_only_as_far_as_it_may():
    blanks = gzip.compress(bytes(50 << 20), mtime=0)
    with pytest.raises(TooLarge) as raised:
        decoded([blanks[start : start + 999] for start in range(0, len(blanks), 999)], "gzip", 1000)
    assert len(raised.value.body) == 1001
    assert decoded([zlib.compress(b"text")], "deflate", 99) == b"text"
    assert decoded([gzip.compress(b"text", mtime=0)], "gzip", 99) == b"text"
    assert decoded([b"te", b"xt"], "", 4) == b"text"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(gzip.compress(b"text", mtime=0)[:-9], "gzip"), (b"text", "gzip"), (b"text", "br")],
)
def test_a_body_that_is_not_of_its_encoding_is_none(body, encoding):
    with pytest.raises(ValueError, match=r"encoding|body"):
        decoded([body], encoding, 1000)
