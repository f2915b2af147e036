"""Over real connections: no picture has the answer of another, whatever bytes come, and when; no echo of a password."""

import hashlib
import os
import re
import socket
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from gslopes.ask import transport
from gslopes.ask.classifiers import load_classifier
from gslopes.ask.secrets import MIN_LENGTH
from gslopes.collect.fetch import DownloadError, Fetcher, FetchPolicy
from gslopes.core.errors import GslopesError, ServiceError, Unavailable
from tests import fuzz_http
from tests.fake_provider import paint
from tests.fuzz_http import listening, requests_of

PICTURE = paint(0, 0.5)
LATE = 0.02  # seconds after which a second reply comes


# -- the answer of another picture -------------------------------------------------------------------------------------


def whole(body: bytes, *fields: bytes) -> bytes:
    lines = (b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body), *fields, b"", body)
    return b"\r\n".join(lines)


def chunked(body: bytes, *fields: bytes) -> bytes:
    lines = (b"HTTP/1.1 200 OK", b"Transfer-Encoding: chunked", *fields)
    return b"\r\n".join((*lines, b"", b"%x" % len(body), body, b"0", b"", b""))


def about(body: bytes) -> bytes:
    """What a server answers about a body."""
    return b"answer " + hashlib.sha256(body).hexdigest().encode()


# What comes of a picture's answer: bytes, one after the other, None for a pause. The connection stays open after it,
# unless the last are none.
END = b""
KINDS: dict[str, Callable[[bytes], list[bytes | None]]] = {
    "whole": lambda body: [whole(body)],
    "doubled": lambda body: [whole(body) * 2],
    "doubled, in two writes": lambda body: [whole(body), whole(body)],
    "doubled, late": lambda body: [whole(body), None, whole(body)],
    "three, late and later": lambda body: [whole(body), None, whole(body), None, whole(body)],
    "the second cut": lambda body: [whole(body) + whole(body)[:-9], None, body[-9:]],
    "an error after it": lambda body: [
        whole(body) + b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"
    ],
    "too short a length": lambda body: [whole(body) + b"0" + whole(body)],
    "a length of nothing": lambda body: [whole(b"") + body + whole(body)],
    "too long a length": lambda body: [whole(body + b"xx")[:-2], None, END],
    "chunks, then others": lambda body: [chunked(body) + chunked(body)],
    "chunks, then junk": lambda body: [chunked(body) + b"\0junk\r\n\r\n" + whole(body)],
    "chunks, never ended": lambda body: [chunked(body)[:-5], None, END],
    "both lengths": lambda body: [chunked(body, b"Content-Length: 3") + whole(body)],
    "two lengths": lambda body: [whole(body, b"Content-Length: 3") + whole(body)],
    "100 first": lambda body: [b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + whole(body) + whole(body)],
    "hints first": lambda body: [
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 99,
        None,
        whole(body),
    ],
    "hints after it": lambda body: [whole(body) + b"HTTP/1.1 103 Early Hints\r\n\r\n", None],
    "no content, and content": lambda body: [
        b"HTTP/1.1 204 No\r\nContent-Length: 71\r\n\r\n" + body + whole(body)
    ],
    "not modified, and content": lambda body: [b"HTTP/1.1 304 No\r\n\r\n" + body + whole(body)],
    "lines without CR": lambda body: [whole(body).replace(b"\r\n", b"\n") + whole(body)],
    "HTTP/1.0, kept open": lambda body: [
        whole(body, b"Connection: keep-alive").replace(b"1.1", b"1.0") + whole(body)
    ],
    "byte by byte": lambda body: [whole(body)[at : at + 1] for at in range(len(whole(body)))],
    "nothing": lambda body: [None, END],
}


def desk(plan: list[str]) -> Callable[[socket.socket], None]:
    """Serves requests, each by the next kind of a plan, over as few connections as the client likes."""
    kinds = iter(plan)

    def serve(connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for head, body in requests_of(connection):
            subject = body or head.split()[1]
            for piece in KINDS[next(kinds, "whole")](about(subject)):
                if piece is None:
                    time.sleep(LATE)
                elif piece == END:
                    return
                else:
                    connection.sendall(piece)

    return serve


PLANS = st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5)
OVER_SOCKETS = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@OVER_SOCKETS
@given(plan=PLANS)
def test_no_picture_has_the_answer_of_another(plan):
    assert answered_of_others(plan) == []


@pytest.mark.parametrize("kind", KINDS)
def test_after_each_kind_of_reply_the_next_picture_is_answered_rightly(kind):
    assert answered_of_others([kind, "whole", kind, "whole"], certain=(1, 3)) == []


def answered_of_others(plan: list[str], certain: tuple[int, ...] = ()) -> list[str]:
    """The kinds whose picture got what is not about it.  certain: indices of pictures that must be answered."""
    wrong = []
    with listening(desk(plan)) as port, transport.Client(seconds=5) as asking:
        for index, kind in enumerate(plan):
            picture = b"picture %d" % index
            try:
                reply = asking.post(f"http://127.0.0.1:{port}/", content=picture)
            except httpx.HTTPError:
                assert index not in certain
                continue
            if reply.status_code == 200 and reply.content not in (b"", about(picture)):
                wrong.append(kind)
            assert index not in certain or reply.content == about(picture)
    return wrong


@pytest.mark.parametrize("threads", [1, 4])
def test_each_request_has_a_connection_of_its_own_which_ends_with_its_reply(threads):
    ended = []

    def serve(connection: socket.socket) -> None:
        ended.append(
            len([connection.sendall(whole(about(body))) for _, body in requests_of(connection)])
        )

    def ask(number: int) -> bool:
        picture = b"picture %d" % number
        return asking.post(f"http://127.0.0.1:{port}/", content=picture).content == about(picture)

    with listening(serve) as port, transport.Client() as asking:
        with ThreadPoolExecutor(threads) as pool:
            assert all(pool.map(ask, range(20)))
        end = time.monotonic() + 5
        while len(ended) < 20 and time.monotonic() < end:
            time.sleep(0.01)
    assert ended == [1] * 20


@pytest.mark.parametrize("kind", KINDS)
def test_no_download_is_another_ones(kind):
    with listening(desk([kind, "whole"])) as port:
        allowed = (f"127.0.0.1:{port}",)
        policy = FetchPolicy(gap=0, seconds=5, max_attempts=1, allowed=allowed)
        fetcher = Fetcher(policy, threading.Event())
        with suppress(DownloadError):
            assert fetcher.get(f"http://{allowed[0]}/a").body in (b"", about(b"/a"))
        assert fetcher.get(f"http://{allowed[0]}/b").body == about(b"/b")


@pytest.mark.parametrize("before", ["a request", "its body"])
def test_a_success_that_comes_before_the_picture_is_none(before, monkeypatch):
    check = transport._raise_if_answered
    monkeypatch.setattr(
        transport, "_raise_if_answered", lambda stream: (time.sleep(0.05), check(stream))
    )

    def serve(connection: socket.socket) -> None:
        if before == "its body":
            connection.recv(1 << 16)
        connection.sendall(whole(b'{"answers": [{"labels": {"nurse": 1}}]}'))
        connection.recv(1 << 20)

    with listening(serve) as port:
        classifier = load_classifier(f"http:http://127.0.0.1:{port}/")
        with pytest.raises(Unavailable, match="before it is asked") as caught:
            classifier.ask([PICTURE])
        assert not caught.value.billed


@pytest.mark.parametrize(("status", "kind"), [(401, ServiceError), (503, Unavailable)])
def test_a_server_may_say_no_before_it_has_read_the_picture(status, kind):
    def serve(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 %d No\r\nContent-Length: 2\r\n\r\nno" % status)
        connection.recv(1 << 20)

    with listening(serve) as port, pytest.raises(kind, match=r"status \d+: no"):
        load_classifier(f"http:http://127.0.0.1:{port}/").ask([PICTURE])


def test_what_is_given_up_while_it_connects_is_not_sent(monkeypatch):
    sent, ended = [], threading.Event()
    connect = socket.create_connection

    def slow(*args, **named):
        time.sleep(0.4)
        return connect(*args, **named)

    def serve(connection: socket.socket) -> None:
        sent.append(connection.recv(1 << 16))
        ended.set()

    monkeypatch.setattr(socket, "create_connection", slow)
    with listening(serve) as port, transport.Client(seconds=0.2) as asking:
        with pytest.raises(httpx.ConnectTimeout):
            asking.post(f"http://127.0.0.1:{port}/", content=b"picture")
        assert ended.wait(5)
        assert sent == [b""]


# -- proxies, and whoever else echoes what it was sent -----------------------------------------------------------------


def echo(connection: socket.socket, status: int = 407) -> None:
    """Says in each part of its reply what it was sent to know whom it serves, in all forms that come to mind."""
    for head, _ in requests_of(connection):
        lines = [line for line in head.split(b"\r\n") if b"uthorization:" in line]
        sent = lines[-1].partition(b": ")[2] if lines else b"nothing"
        token = sent.partition(b" ")[2]
        with suppress(ValueError):
            token += b" " + b64decode(token)
        words = sent + b" " + token + b" " + quote(sent).encode() + b" " + b64encode(sent)
        body = b"<html><h1>No: " + words + b"</h1></html>"
        connection.sendall(
            b"HTTP/1.1 %d No: %s\r\nX-Sent: %s\r\n" % (status, words, words)
            + b"Proxy-Authenticate: Basic realm="
            + words
            + b"\r\nContent-Length: %d\r\n\r\n" % len(body)
            + body
        )


USERS = {
    "me:s3cret-word_77": ("me", "s3cret-word_77"),
    "me:pw": ("me", "pw"),
    "user:p%40ss%3Aw%2Frd9": ("user", "p@ss:w/rd9"),
    "m%C3%BCller:gr%C3%BCn-und-bl%C3%A4u": ("müller", "grün-und-bläu"),
    "tok3n-alone-of-a-proxy": ("tok3n-alone-of-a-proxy", ""),
}
WAYS = [
    ("HTTP_PROXY", "http"),
    ("http_proxy", "http"),
    ("HTTPS_PROXY", "https"),
    ("https_proxy", "https"),
    ("ALL_PROXY", "http"),
    ("all_proxy", "https"),
]


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


def said_of(classifier: str, caplog: pytest.LogCaptureFixture) -> tuple[GslopesError, str]:
    """What asking raises, and all that is said with it, logs too."""
    caplog.set_level(0)
    with pytest.raises(GslopesError) as caught:
        load_classifier(classifier).ask([PICTURE])
    error = caught.value
    return error, f"{error} {error.message} {error.hint} {error.args} {caplog.text}"


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(("variable", "scheme"), WAYS)
def test_a_proxy_that_wants_another_password_is_named_and_repeats_none(
    variable, scheme, user, monkeypatch, caplog
):
    name, password = USERS[user]
    with listening(echo) as port:
        monkeypatch.setenv(variable, f"http://{user}@127.0.0.1:{port}")
        error, text = said_of(f"http:{scheme}://service.example/judge", caplog)
    assert isinstance(error, ServiceError)
    assert f"by the proxy http://127.0.0.1:{port}: it lets nobody through" in error.message
    assert "HTTPS_PROXY" in error.message
    assert "token=" not in text
    sent = b64encode(f"{name}:{password}".encode()).decode()
    assert f"{name}:{password}" not in error.message
    assert not password or password not in error.message
    for secret in (sent, quote(sent, safe=""), f"{name}:{password}", user, password):
        assert len(secret) < MIN_LENGTH or secret not in text


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (403, ServiceError, "it lets nobody through.* NO_PROXY=HOST"),
        (502, Unavailable, "502"),
        (999, Unavailable, "999"),
    ],
)
def test_a_proxy_that_opens_no_way_is_named(status, kind, words, monkeypatch, caplog):
    with listening(lambda connection: echo(connection, status)) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"me:s3cret-word_77@127.0.0.1:{port}")
        error, text = said_of("http:https://service.example/judge", caplog)
    assert isinstance(error, kind)
    assert re.search(f"by the proxy http://127.0.0.1:{port}: {words}", error.message)
    assert "s3cret" not in text
    assert b64encode(b"me:s3cret-word_77").decode() not in text
    assert not getattr(error, "billed", False)


@pytest.mark.usefixtures("no_proxies")
def test_a_socks_proxy_that_takes_no_password_is_named(monkeypatch, caplog):
    pytest.importorskip("socksio", reason="No SOCKS: pip install 'httpx[socks]'")

    def serve(connection: socket.socket) -> None:
        connection.recv(99)
        connection.sendall(b"\x05\xff")

    with listening(serve) as port:
        monkeypatch.setenv("ALL_PROXY", f"socks5://me:s3cret-word_77@127.0.0.1:{port}")
        error, text = said_of("http:https://service.example/judge", caplog)
    assert f"by the proxy socks5://127.0.0.1:{port}: it lets nobody through" in error.message
    assert "s3cret" not in text


@pytest.mark.usefixtures("no_proxies")
def test_a_proxy_that_is_not_there_is_named(monkeypatch, caplog):
    monkeypatch.setenv("HTTP_PROXY", "http://me:s3cret-word_77@127.0.0.1:9")
    error, text = said_of("http:http://service.example/judge", caplog)
    assert "by the proxy http://127.0.0.1:9: " in error.message
    assert "s3cret" not in text


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize("status", [400, 401, 403, 407, 422, 500])
def test_who_is_named_in_an_address_is_not_repeated_by_its_server(status, monkeypatch, caplog):
    with listening(lambda connection: echo(connection, status)) as port:
        monkeypatch.setenv("JUDGE", f"http://me:s3cret-w%C3%B6rd@127.0.0.1:{port}/judge")
        _, text = said_of("http:env:JUDGE", caplog)
    sent = b64encode("me:s3cret-wörd".encode()).decode()
    for secret in ("s3cret", sent, quote(sent, safe=""), b64encode(sent.encode()).decode()):
        assert secret not in text


# -- whatever bytes come -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def replies() -> Iterator[fuzz_http.Replies]:
    opened = fuzz_http.Replies(waits=1 << 40)
    yield opened
    opened.close()


@pytest.mark.parametrize("file", sorted(fuzz_http.CORPUS.glob("*.bin")), ids=lambda file: file.stem)
def test_each_reply_of_the_corpus_ends_in_an_answer_or_in_an_error_of_ours(file, replies):
    with suppress(GslopesError):
        replies.asked(file.read_bytes())
    with suppress(DownloadError):
        replies.downloaded(file.read_bytes())
