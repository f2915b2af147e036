"""The road to the network, against a server that misbehaves."""

import contextlib
import dataclasses
import ipaddress
import random
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from itertools import pairwise
from pathlib import Path

import httpcore
import httpx
import pytest

from gslopes.ask import retry
from gslopes.ask.retry import DAY, RateLimiter, Stopped
from gslopes.collect.fetch import (
    AGENT,
    LONGEST_DELAY,
    DownloadError,
    Fetcher,
    FetchPolicy,
    PublicNetwork,
    Robots,
    is_public,
    min_interval,
    parse,
    parse_url,
)
from tests.collect.server import PhotoServer, serving


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PhotoServer]:
    (tmp_path / "chef").mkdir()
    (tmp_path / "chef/a.jpg").write_bytes(bytes(range(256)) * 40)
    with serving(PhotoServer(tmp_path)) as started:
        yield started


@pytest.fixture
def fetcher(server: PhotoServer) -> Fetcher:
    policy = FetchPolicy(
        gap=0,
        seconds=2,
        max_bytes=1 << 20,
        max_attempts=2,
        backoff=0.01,
        max_retry_after=3,
        allowed=(server.host,),
    )
    return Fetcher(policy, threading.Event())


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


@pytest.mark.parametrize(
    "url",
    [
        *(
            "ftp://example.org/a",
            "http://",
            "https://me:secret@example.org/a",
            "http://[::1",
            "//x",
            "http://[",
        ),
        *(
            "http://]",
            "http://host:99999/",
            "http://host:-1/",
            "http://host:0/",
            "http://host:²/",
            "http://\x00/",
        ),
        *(
            "http://" + "a" * 70_000,
            "http://.../",
            "http://a..b/",
            "http://xn--/",
            "http://\ud800/",
        ),
    ],
)
def test_other_schemes_passwords_and_nonsense_are_refused(fetcher, url):
    with pytest.raises(DownloadError) as caught:
        fetcher.get(url)
    assert "secret" not in str(caught.value)


def test_a_key_stays_with_the_host_that_it_is_for(tmp_path, server):
    (tmp_path / "other").mkdir()
    with serving(PhotoServer(tmp_path)) as second:
        server.elsewhere = f"{second.base}/photo/fine/chef/a.jpg"
        fetcher = Fetcher(FetchPolicy(gap=0, allowed=(server.host, second.host)), threading.Event())
        fetcher.get(address(server, "away"), headers={"X-goog-api-key": "secret"})
        assert server.asked[0][1]["x-goog-api-key"] == "secret"
        assert "x-goog-api-key" not in second.asked[0][1]


@pytest.mark.parametrize(
    "location", ["http://host:99999/", "http://[", "//[", "file:///etc/passwd", "//me:you@host"]
)
def test_a_redirect_to_nonsense_is_refused(location):
    with pytest.raises(DownloadError):
        parse_url(location, httpx.URL("http://host/a.jpg"))


# --- turns at a host ---


class Clock(threading.Event):
    """A stop that is never set; waiting moves the clock."""

    now = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0.0
        return self.is_set()


def paced(min_interval: float) -> tuple[Fetcher, Clock]:
    clock = Clock()
    fetcher = Fetcher(FetchPolicy(gap=min_interval), clock)
    fetcher.rate = RateLimiter(clock.wait, lambda: clock.now)
    return fetcher, clock


def test_turns_at_one_host_are_a_gap_apart_and_hosts_do_not_wait_for_each_other():
    fetcher, clock = paced(2.0)
    times = []
    for host in ("a", "b", "a", "b", "a"):
        fetcher.turn(host)
        times.append(clock.now)
    assert times == [0, 0, 2, 2, 4]
    fetcher.rate.pause(30, "a")  # a host that asks for silence
    assert fetcher.turn("a") == pytest.approx(30)
    for questions, gap in ((1.0, 2.0), (9.0, 9.0)):  # a crawl delay only slows down
        fetcher.set_min_interval("a", questions)
        fetcher.turn("a")
        assert fetcher.turn("a") == gap


@pytest.mark.parametrize("ahead", [-3600, -86_400 * 365, 0, 3600, 86_400, 4e8])
def test_a_retry_after_in_dates_is_as_long_whatever_our_clock_says(fetcher, monkeypatch, ahead):
    moved = datetime.now(UTC) + timedelta(seconds=ahead)
    now = type("Set", (datetime,), {"now": classmethod(lambda cls, tz=None: moved)})
    monkeypatch.setattr(retry, "datetime", now)
    for date in ("Sun, 06 Nov 1994 08:49:37 GMT", "Tue, 19 Jan 2038 03:14:07 GMT"):
        later = format_datetime(parsedate_to_datetime(date) + timedelta(seconds=1), usegmt=True)
        reply = f"HTTP/1.1 503 Busy\r\nDate: {date}\r\nRetry-After: {later}\r\nContent-Length: 0\r\n\r\n"
        with raw_server([reply.encode()]) as (host, _):
            policy = dataclasses.replace(fetcher.policy, allowed=(host,), max_attempts=1)
            asking = Fetcher(policy, threading.Event())
            with pytest.raises(DownloadError) as caught:
                asking.get(f"http://{host}/a.jpg")
        assert caught.value.wait == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("clock", ["an hour back", "a day on", "2038", "stands", "random"])
def test_a_wall_clock_that_jumps_neither_hurries_nor_holds_up(server, monkeypatch, clock):
    """Crawl delay, backoff, the end of a download and the rules' age go by a clock that nobody sets."""
    lot, real = random.Random(1), time.time

    def told() -> float:
        jumps = {"an hour back": -3600, "a day on": 86_400, "random": lot.uniform(-4e9, 4e9)}
        sets = {"2038": 2**31 - 1.0, "stands": 1.7e9}
        return sets.get(clock) or real() + jumps[clock] * (len(server.asked) % 2)

    monkeypatch.setattr(time, "time", told)
    server.robots = "User-agent: *\nCrawl-delay: 0.25\n"
    policy = FetchPolicy(gap=0.0, seconds=20, backoff=0.01, allowed=(server.host,))
    asking = Fetcher(policy, threading.Event())
    robots, began = Robots(asking), time.monotonic()
    for _ in range(4):
        asking.get(address(server, "fine"), before_request=robots)
    assert [path for path, _ in server.asked].count("/robots.txt") == 1
    gaps = [later - first for first, later in pairwise(server.times[1:])]
    assert min(gaps) > 0.2
    assert time.monotonic() - began < 15


def test_rules_are_asked_for_again_after_a_day(server, fetcher):
    """RFC 9309, section 2.4."""
    now = [0.0]
    robots = Robots(fetcher, lambda: now[0])
    for moment, asked in ((0, 1), (DAY - 1, 1), (DAY, 2), (DAY + 1, 2)):
        now[0] = moment
        server.robots = "User-agent: *\nDisallow: /photo/gone/\n" if moment else ""
        fetcher.get(address(server, "fine"), before_request=robots)
        assert [path for path, _ in server.asked].count("/robots.txt") == asked
    with pytest.raises(DownloadError, match="robots"):
        fetcher.get(address(server, "gone"), before_request=robots)


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


@pytest.mark.parametrize(
    "value", ["²", "9" * 5000, "inf", "1e300", "Fri, 31 Dec 9999 23:59:59 -2359"]
)
def test_a_retry_after_that_makes_no_sense_or_is_too_long_fails_the_photo_alone(fetcher, value):
    reply = f"HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n".encode()
    with raw_server([reply]) as (host, _):
        asking = Fetcher(dataclasses.replace(fetcher.policy, allowed=(host,)), threading.Event())
        with pytest.raises(DownloadError, match=r"HTTP error \(503\)"):
            asking.get(f"http://{host}/a.jpg")


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
        patient = Fetcher(
            dataclasses.replace(fetcher.policy, seconds=1, allowed=(host,)), threading.Event()
        )
        began = time.monotonic()
        with pytest.raises(DownloadError, match="not finished in time"):
            patient.get(f"http://{host}/a.jpg")
        assert time.monotonic() - began < 5  # 40 seconds of drips


@pytest.mark.parametrize(  # https waits within the handshake
    ("scheme", "pieces"),
    [("http", []), ("https", []), *(("http", drip) for drip in DRIPS.values())],
)
def test_whoever_waits_for_a_silent_or_dripping_server_is_stopped_within_a_second(
    fetcher, scheme, pieces
):
    with raw_server(pieces, pause=0.1) as (host, _):
        waiting = Fetcher(
            dataclasses.replace(fetcher.policy, seconds=60, allowed=(host,)), threading.Event()
        )
        threading.Timer(0.3, waiting.stop.set).start()
        began = time.monotonic()
        with pytest.raises(Stopped):
            waiting.get(f"{scheme}://{host}/a.jpg")
        assert time.monotonic() - began < 2


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


# --- No connection to an address that is not public, however it is written or resolved --------------------------------


PRIVATE = [
    *(
        "127.0.0.1",
        "127.8.8.8",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
    ),
    *(
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "198.18.0.1",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
    ),
    *(
        "fd12:3456::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:a00:1",
        "::ffff:169.254.169.254",
        "2002:7f00:1::",
    ),
    *(
        "64:ff9b::10.0.0.1",
        "2001:db8::1",
        "::127.0.0.1",
        "2001:0:7f00:1::",
        "64:ff9b:1::7f00:1",
        "fec0::1",
    ),
    *(
        "::ffff:0:7f00:1",
        "3fff::1",
        "5f00::1",
        "100:0:0:1::1",
        "4000::1",
        "2002:808:808::1",
        "192.88.99.1",
    ),
]


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> PublicNetwork:
    """A network in which every name has these addresses."""
    entries = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: entries)
    return PublicNetwork()


def test_a_name_that_leads_to_a_private_address_is_not_connected_to(monkeypatch):
    public = ("8.8.8.8", "93.184.216.34", "2606:4700::1111", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8")
    assert all(map(is_public, public))
    for address in PRIVATE:
        for addresses in ((address,), ("8.8.8.8", address)):
            with pytest.raises(DownloadError, match="private"):
                resolving(monkeypatch, *addresses).connect_tcp("innocent.example", 80)


@pytest.mark.parametrize("host", ["localhost", "127.1", "0x7f000001", "2130706433", "[::1]", "::1"])
def test_other_spellings_of_loopback_are_refused_or_do_not_resolve(host):
    with pytest.raises((DownloadError, httpcore.ConnectError)):
        PublicNetwork().connect_tcp(host, 80, timeout=1)


def test_an_exempt_server_is_exempt_at_its_port_alone_and_a_local_socket_never(server):
    plain = Fetcher(FetchPolicy(gap=0, max_attempts=1), threading.Event())
    with pytest.raises(DownloadError, match="private"):
        plain.get(address(server, "fine"))
    assert server.asked == []
    network, port = (
        PublicNetwork(allowed=[server.host]),
        int(server.host.partition(":")[2]),
    )
    network.connect_tcp("127.0.0.1", port, timeout=5).close()
    for second in (("127.0.0.1", port - 1), ("localhost", port)):
        with pytest.raises(DownloadError, match="private"):
            network.connect_tcp(*second, timeout=5)


# Every address block of IANA's two registries, sub-blocks as well, written down apart from the file in ``data/``.
IPV4 = (
    *(
        "0.0.0.0/8",
        "0.0.0.0/32",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
    ),
    *(
        "192.0.0.0/24",
        "192.0.0.0/29",
        "192.0.0.8/32",
        "192.0.0.9/32",
        "192.0.0.10/32",
        "192.0.0.170/32",
    ),
    *(
        "192.0.0.171/32",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.88.99.2/32",
    ),
    *(
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "240.0.0.0/4",
    ),
    "255.255.255.255/32",
)
IPV6 = (
    *(
        "::1/128",
        "::/128",
        "64:ff9b:1::/48",
        "100::/64",
        "100:0:0:1::/64",
        "2001::/23",
        "2001::/32",
        "2001:1::1/128",
    ),
    *(
        "2001:1::2/128",
        "2001:1::3/128",
        "2001:2::/48",
        "2001:3::/32",
        "2001:4:112::/48",
        "2001:10::/28",
    ),
    *(
        "2001:20::/28",
        "2001:30::/28",
        "2001:db8::/32",
        "2002::/16",
        "2620:4f:8000::/48",
        "3fff::/20",
        "5f00::/16",
    ),
    *("fc00::/7", "fe80::/10"),
)  # without ::ffff:0:0/96 and 64:ff9b::/96, which are judged by the IPv4 address that they spell
BEYOND = (
    "224.0.0.0/4",
    "ff00::/8",
    "fec0::/10",
    "::ffff:0:0:0/96",
    "::/96",
    "4000::/2",
    "8000::/1",
)


@pytest.mark.parametrize("block", [*IPV4, *IPV6, *BEYOND])
def test_no_address_of_a_special_block_is_public_nor_one_beside_it_that_python_knows_not_to_be_global(
    block,
):
    network = ipaddress.ip_network(block)
    kind, first, last = (
        type(network.network_address),
        int(network.network_address),
        int(network.broadcast_address),
    )
    inside = [str(kind(number)) for number in (first, (first + last + 1) // 2, last)]
    spelt = [
        f"{prefix}{ip}"
        for prefix in ("::ffff:", "64:ff9b::")
        for ip in inside
        if network.version == 4
    ]
    assert [ip for ip in inside + spelt if is_public(ip)] == []
    around = [
        kind(number) for number in (first - 1, last + 1) if 0 <= number < 2**network.max_prefixlen
    ]
    assert [ip for ip in around if is_public(str(ip)) and not ip.is_global] == []


# --- robots.txt as RFC 9309 reads it, and whatever strangers write into it --------------------------------------------


def allowed(body: str, path: str) -> bool:
    return parse(body.encode()).can_fetch(f"http://host{path}", AGENT)


@pytest.mark.parametrize(
    ("body", "path", "expected"),
    [
        (
            "User-agent: *\nAllow: /\nDisallow: /p/\n",
            "/p/a.jpg",
            False,
        ),  # the longest match, not the first
        ("User-agent: *\nDisallow: /p/\nAllow: /p/open/\n", "/p/open/a.jpg", True),
        ("User-agent: *\nDisallow: /*.png$\n", "/a/b.png", False),
        ("User-agent: *\nDisallow: /*.png$\n", "/a/b.png?size=2", True),
        ("User-agent: *\n\nDisallow: /p/\n", "/p/a.jpg", False),  # a blank line ends no group
        ("\ufeffUser-agent: *\nDisallow: /p/\n", "/p/a.jpg", False),
        (
            "User-agent: gslopes\nDisallow: /a/\n\nUser-agent: gslopes\nDisallow: /p/\n",
            "/p/a.jpg",
            False,
        ),
        ("User-agent: *\nDisallow: /\n\nUser-agent: gslopes\nAllow: /\n", "/p/a.jpg", True),
        ("User-agent: other\nDisallow: /\n", "/p/a.jpg", True),
        ("User-agent: gslopes/1.0\nDisallow: /\n", "/p/a.jpg", False),
        ("USER-AGENT : GSlopes (photos) # us\nDisallow: /\n", "/p/a.jpg", False),
        ("User-agent: gslopesbot\nDisallow: /\n", "/p/a.jpg", True),
        ("User-agent: my gslopes\nDisallow: /\n", "/p/a.jpg", True),
        (
            "User-agent: g\nAllow: /\n\nUser-agent: *\nDisallow: /\n",
            "/p/a.jpg",
            False,
        ),  # lifts nothing
        ("User-agent:\nAllow: /\n\nUser-agent: * # all\nDisallow: /\n", "/p/a.jpg", False),
        ("User-agent gslopes/1\nDisallow: /\n", "/p/a.jpg", False),
        ("User-agent: g\nUser-agent: gslopes/2\nDisallow: /\n", "/p/a.jpg", False),
        ("User-agent: *\nDisallow:\n", "/p/a.jpg", True),
        ("User-agent: *\nDisallow: /a%3Cd.jpg\n", "/a%3cd.jpg", False),
    ],
)
def test_rules_are_read_as_the_standard_says(body, path, expected):
    assert allowed(body, path) is expected


@pytest.mark.parametrize(
    "line",
    [
        *("Disallow: //[x", "Crawl-delay: ²", f"Crawl-delay: {'9' * 5000}", "Crawl-delay: nan"),
        *("Request-rate: 1/0", "Allow: http://host:99999/", "Disallow: http://["),
    ],
)
def test_a_line_that_makes_no_sense_costs_itself_alone(line):
    rules = parse(f"User-agent: *\n{line}\nDisallow: /secret/\n".encode())
    assert rules.can_fetch("http://host/a.jpg", AGENT)
    assert not rules.can_fetch("http://host/secret/a.jpg", AGENT)
    assert 0 <= min_interval(rules) <= LONGEST_DELAY
    delays = [
        min_interval(parse(f"User-agent: *\nCrawl-delay: {delay}\n".encode()))
        for delay in ("3", "99999")
    ]
    assert delays == [3.0, LONGEST_DELAY]


class Answers(Fetcher):
    """A fetcher that answers from a list, an error among it."""

    def __init__(self, *outcomes: object) -> None:
        super().__init__(FetchPolicy(gap=0), threading.Event())
        self.outcomes = list(outcomes)

    def get(self, url: str, **_: object):
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@pytest.mark.parametrize("code", [204, 401, 403, 404, 410, 451])
def test_no_file_allows_all(code):
    Robots(Answers(DownloadError("refused", f"HTTP {code}", code)))(httpx.URL("http://host/a.jpg"))


@pytest.mark.parametrize(
    "error", [DownloadError("failed", "no connection"), DownloadError("failed", "HTTP 503", 503)]
)
def test_a_server_that_cannot_answer_is_a_failure_to_retry_and_no_refusal(error):
    now = [0.0]
    fetcher = Answers(error, DownloadError("refused", "HTTP 404", 404))
    robots = Robots(fetcher, lambda: now[0])
    for _ in range(2):  # the second time without asking
        with pytest.raises(DownloadError, match=r"robots.txt cannot be fetched") as caught:
            robots(httpx.URL("http://host/a.jpg"))
        assert caught.value.status == "failed"
    assert len(fetcher.outcomes) == 1
    now[0] = 61.0
    robots(httpx.URL("http://host/a.jpg"))
