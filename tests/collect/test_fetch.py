"""The road to the network, against a server that misbehaves."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gslopes.ask.transport import Stopped
from gslopes.collect.fetch import DownloadError, Fetcher, FetchPolicy, HostRateLimiter
from gslopes.collect.robots import Robots
from tests.collect.server import PhotoServer, serving


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PhotoServer]:
    (tmp_path / "chef").mkdir()
    (tmp_path / "chef/a.jpg").write_bytes(bytes(range(256)) * 40)
    with serving(PhotoServer(tmp_path)) as started:
        yield started


@pytest.fixture
def fetcher(server: PhotoServer) -> Iterator[Fetcher]:
    policy = FetchPolicy(
        gap=0, seconds=2, max_bytes=1 << 20, max_attempts=2, backoff=0.01, max_retry_after=3, allowed=(server.host,)
    )
    opened = Fetcher(policy, threading.Event())
    yield opened
    opened.close()


def address(server: PhotoServer, trouble: str) -> str:
    return f"{server.base}/photo/{trouble}/chef/a.jpg"


@pytest.mark.parametrize("trouble", ["fine", "moved", "throttle"])
def test_what_can_be_had_is_had_whole(server, fetcher, trouble):
    reply = fetcher.get(address(server, trouble))
    assert reply.content_type == "image/jpeg"
    assert reply.body == bytes(range(256)) * 40


@pytest.mark.parametrize(
    ("trouble", "status", "reason"),
    [
        ("gone", "refused", r"HTTP error \(404\)"),
        ("loopback", "refused", "private, loopback or link-local"),
        ("file", "refused", "not http or https"),
        ("loop", "refused", "too many redirects"),
        ("endless", "refused", "more than 1 MiB"),
        ("gzip", "refused", "compressed"),
        ("slow", "failed", r"not finished in time \(2 seconds\)"),
        ("busy", "failed", r"HTTP error \(503\)"),
        ("cut", "failed", "connection broke|cut short"),
        ("drop", "failed", "connection broke"),
    ],
)
def test_what_goes_wrong_is_told_and_bounded(server, fetcher, trouble, status, reason):
    with pytest.raises(DownloadError, match=reason) as caught:
        fetcher.get(address(server, trouble))
    assert caught.value.status == status
    assert "127.0.0.1" not in str(caught.value)


def test_a_retry_after_is_waited_for(server, fetcher):
    fetcher.get(address(server, "throttle"))
    first, second = server.times
    assert second - first >= 1


def test_without_the_exemption_the_test_server_is_private(server):
    plain = Fetcher(FetchPolicy(gap=0, max_attempts=1), threading.Event())
    with pytest.raises(DownloadError, match="private"):
        plain.get(address(server, "fine"))
    assert server.asked == []


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://example.org/a", "http://", "https://me:secret@example.org/a", "http://[::1", "//x", "http://["),
        *("http://]", "http://host:99999/", "http://host:-1/", "http://host:0/", "http://host:²/", "http://\x00/"),
        *("http://" + "a" * 70_000, "http://.../", "http://a..b/", "http://xn--/", "http://\ud800/"),
    ],
)
def test_other_schemes_passwords_and_nonsense_are_refused(fetcher, url):
    with pytest.raises(DownloadError) as caught:
        fetcher.get(url)
    assert "secret" not in str(caught.value)


def test_a_key_stays_with_the_host_that_it_is_for(tmp_path, server):
    (tmp_path / "other").mkdir()
    with serving(PhotoServer(tmp_path)) as other:
        server.elsewhere = f"{other.base}/photo/fine/chef/a.jpg"
        fetcher = Fetcher(FetchPolicy(gap=0, allowed=(server.host, other.host)), threading.Event())
        fetcher.get(address(server, "away"), headers={"X-goog-api-key": "secret"})
        fetcher.close()
        assert server.asked[0][1]["x-goog-api-key"] == "secret"
        assert "x-goog-api-key" not in other.asked[0][1]


def test_what_is_read_ends_when_it_is_stopped(server, fetcher):
    threading.Timer(0.3, fetcher.stop.set).start()
    with pytest.raises(Stopped):
        fetcher.get(address(server, "slow"))


# --- turns at a host ---


class Clock(threading.Event):
    """A stop that is never set; waiting moves the clock."""

    now = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0.0
        return self.is_set()


def paced(min_interval: float) -> tuple[HostRateLimiter, Clock]:
    clock = Clock()
    return HostRateLimiter(min_interval, clock, lambda: clock.now), clock


def test_turns_at_one_host_are_a_gap_apart_and_hosts_do_not_wait_for_each_other():
    rate, clock = paced(2.0)
    times = []
    for host in ("a", "b", "a", "b", "a"):
        rate.acquire(host)
        times.append(clock.now)
    assert times == [0, 0, 2, 2, 4]


def test_a_host_that_asks_for_silence_gets_it():
    rate, clock = paced(1.0)
    rate.acquire("a")
    rate.pause("a", 30)
    assert rate.acquire("a") == pytest.approx(30)
    assert clock.now == pytest.approx(30)


def test_a_crawl_delay_only_slows_down():
    rate, clock = paced(5.0)
    rate.set_min_interval("a", 1.0)
    rate.acquire("a")
    rate.acquire("a")
    assert clock.now == 5
    rate.set_min_interval("a", 9.0)
    rate.acquire("a")
    rate.acquire("a")
    assert clock.now == 19


def test_whoever_waits_ends_when_it_is_stopped():
    rate, clock = paced(1.0)
    rate.acquire("a")
    clock.set()
    with pytest.raises(Stopped):
        rate.acquire("a")


# --- robots.txt ---


def test_robots_are_asked_once_and_obeyed(server, fetcher):
    server.robots = "User-agent: *\nDisallow: /photo/gone/\n\nUser-agent: other\nDisallow: /\n"
    robots = Robots(fetcher)
    for _ in range(3):
        fetcher.get(address(server, "fine"), before_request=robots)
    with pytest.raises(DownloadError, match="robots"):
        fetcher.get(address(server, "gone"), before_request=robots)
    assert [path for path, _ in server.asked].count("/robots.txt") == 1
    assert not server.hits["/photo/gone/chef/a.jpg"]


def test_rules_for_our_own_name_win_and_a_crawl_delay_is_kept(server, fetcher):
    server.robots = "User-agent: gslopes\nAllow: /\nCrawl-delay: 1\n\nUser-agent: *\nDisallow: /\n"
    began = time.monotonic()
    for _ in range(2):
        fetcher.get(address(server, "fine"), before_request=Robots(fetcher))
    assert time.monotonic() - began >= 1


def test_a_host_without_robots_allows_all(server, fetcher):
    assert fetcher.get(address(server, "fine"), before_request=Robots(fetcher)).body


@pytest.mark.parametrize(
    "location", ["http://host:99999/", "http://host:-1/", "http://[", "http://]", "//[", "\xff\xfe"]
)
def test_a_redirect_to_nonsense_is_refused(tmp_path, fetcher, server, location):
    reply = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode("latin-1")
    with raw_server([reply]) as (host, _):
        misled = Fetcher(dataclasses.replace(fetcher.policy, allowed=(host,)), threading.Event())
        with pytest.raises(DownloadError) as caught:
            misled.get(f"http://{host}/a.jpg")
        assert caught.value.status in ("refused", "failed")
        misled.close()


@pytest.mark.parametrize("value", ["²", "9" * 5000, "inf", "1e300", "Fri, 31 Dec 9999 23:59:59 -2359"])
def test_a_retry_after_that_makes_no_sense_or_is_too_long_fails_the_photo_alone(fetcher, value):
    reply = f"HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n".encode()
    with raw_server([reply]) as (host, _):
        asking = Fetcher(dataclasses.replace(fetcher.policy, allowed=(host,)), threading.Event())
        with pytest.raises(DownloadError, match=r"HTTP error \(503\)"):
            asking.get(f"http://{host}/a.jpg")
        asking.close()


DRIPS = {
    "headers": [b"HTTP/1.1 200 OK\r\n", *[b"X-%d: 1\r\n" % number for number in range(400)]],
    "chunk extensions": [
        b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nTransfer-Encoding: chunked\r\n\r\n1;",
        *[b"a=b;"] * 400,
    ],
    "1xx replies": [b"HTTP/1.1 100 Continue\r\n\r\n"] * 400,
}


@pytest.mark.parametrize("drip", DRIPS)
def test_no_drip_evades_the_time_limit(fetcher, drip):
    with raw_server(DRIPS[drip], pause=0.1) as (host, _):
        patient = Fetcher(dataclasses.replace(fetcher.policy, seconds=1, allowed=(host,)), threading.Event())
        began = time.monotonic()
        with pytest.raises(DownloadError, match="not finished in time"):
            patient.get(f"http://{host}/a.jpg")
        assert time.monotonic() - began < 5  # 40 seconds of drips
        patient.close()


@pytest.mark.parametrize("scheme", ["http", "https"])  # the latter waits within the handshake
def test_whoever_waits_for_a_silent_server_is_stopped_within_a_second(fetcher, scheme):
    with raw_server([]) as (host, _):
        waiting = Fetcher(dataclasses.replace(fetcher.policy, seconds=60, allowed=(host,)), threading.Event())
        threading.Timer(0.3, waiting.stop.set).start()
        began = time.monotonic()
        with pytest.raises(Stopped):
            waiting.get(f"{scheme}://{host}/a.jpg")
        assert time.monotonic() - began < 2
        waiting.close()


@contextlib.contextmanager
def raw_server(pieces: list[bytes], pause: float = 0.0) -> Iterator[tuple[str, threading.Event]]:
    """Sends these bytes to whoever connects, one piece after the other, and then nothing."""
    over = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            for piece in pieces:
                connection.sendall(piece)
                if over.wait(pause):
                    return
            over.wait(60)

    def accept(listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, args=(listening,), daemon=True).start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}", over
        finally:
            over.set()
            listening.shutdown(socket.SHUT_RDWR)
