"""robots.txt as RFC 9309 reads it, and whatever strangers write into it."""

from __future__ import annotations

import contextlib
import threading

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gslopes.collect.fetch import DownloadError, Fetcher, FetchPolicy, parse_url
from gslopes.collect.robots import AGENT, LONGEST_DELAY, Robots, min_interval, parse


def allowed(body: str, path: str) -> bool:
    return parse(body.encode()).can_fetch(f"http://host{path}", AGENT)


@pytest.mark.parametrize(
    ("body", "path", "expected"),
    [
        ("User-agent: *\nAllow: /\nDisallow: /p/\n", "/p/a.jpg", False),  # the longest match, not the first
        ("User-agent: *\nDisallow: /p/\nAllow: /p/open/\n", "/p/open/a.jpg", True),
        ("User-agent: *\nDisallow: /*.png$\n", "/a/b.png", False),
        ("User-agent: *\nDisallow: /*.png$\n", "/a/b.png?size=2", True),
        ("User-agent: *\n\nDisallow: /p/\n", "/p/a.jpg", False),  # a blank line ends no group
        ("\ufeffUser-agent: *\nDisallow: /p/\n", "/p/a.jpg", False),
        ("User-agent: gslopes\nDisallow: /a/\n\nUser-agent: gslopes\nDisallow: /p/\n", "/p/a.jpg", False),
        ("User-agent: gslopes\nDisallow: /a/\n\nUser-agent: gslopes\nDisallow: /p/\n", "/a/a.jpg", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: gslopes\nAllow: /\n", "/p/a.jpg", True),
        ("User-agent: other\nDisallow: /\n", "/p/a.jpg", True),
        ("User-agent: gslopes/1.0\nDisallow: /\n", "/p/a.jpg", False),
        ("USER-AGENT : GSlopes (photos) # us\nDisallow: /\n", "/p/a.jpg", False),
        ("User-agent: gslope\nDisallow: /\n", "/p/a.jpg", True),
        ("User-agent: gslopesbot\nDisallow: /\n", "/p/a.jpg", True),
        ("User-agent: gslopes-x\nDisallow: /\n", "/p/a.jpg", True),
        ("User-agent: my gslopes\nDisallow: /\n", "/p/a.jpg", True),
        ("User-agent: g\nAllow: /\n\nUser-agent: *\nDisallow: /\n", "/p/a.jpg", False),  # lifts nothing
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
        *("Disallow: //[x", "Crawl-delay: ²", f"Crawl-delay: {'9' * 5000}", "Crawl-delay: nan", "Request-rate: 1/²"),
        *(f"Request-rate: 1/{'9' * 4000}", "Request-rate: 1/0", "Allow: http://host:99999/", "Disallow: http://["),
    ],
)
def test_a_line_that_makes_no_sense_costs_itself_alone(line):
    rules = parse(f"User-agent: *\n{line}\nDisallow: /secret/\n".encode())
    assert rules.can_fetch("http://host/a.jpg", AGENT)
    assert not rules.can_fetch("http://host/secret/a.jpg", AGENT)
    assert 0 <= min_interval(rules) <= LONGEST_DELAY


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ("Crawl-delay: 3", 3.0),
        ("Crawl-delay: 99999", LONGEST_DELAY),
        ("Request-rate: 1/5", 5.0),
        ("Request-rate: 2/1m", 30),
    ],
)
def test_a_delay_or_a_rate_slows_us_down(lines, seconds):
    assert min_interval(parse(f"User-agent: *\n{lines}\n".encode())) == seconds


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=400) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")),
    st.text(max_size=60),
)
def test_no_file_and_no_address_breaks_the_rules(body, path):
    rules = parse(b"User-agent: *\n" + body)
    with contextlib.suppress(DownloadError):
        assert rules.can_fetch(str(parse_url(f"http://host/{path}")), AGENT) in (True, False)
    assert 0 <= min_interval(rules) <= LONGEST_DELAY


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


@pytest.mark.parametrize("error", [DownloadError("failed", "no connection"), DownloadError("failed", "HTTP 503", 503)])
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
