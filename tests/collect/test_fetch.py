"""The road to the network, against a server that misbehaves."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gslopes.collect.fetch import DownloadError, Fetcher, FetchPolicy
from gslopes.collect.rate import Stopped
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
        ("gone", "refused", "HTTP 404"),
        ("loopback", "refused", "private, loopback or link-local"),
        ("file", "refused", "not an address of http"),
        ("loop", "refused", "more than 5 redirects"),
        ("endless", "refused", "larger than 1 MiB"),
        ("gzip", "refused", "compressed"),
        ("slow", "failed", "not finished after 2 seconds"),
        ("busy", "failed", "HTTP 503"),
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
    "url", ["ftp://example.org/a", "http://", "https://me:secret@example.org/a", "http://[::1", "//x"]
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
