"""robots.txt, asked for once a host and obeyed; its Crawl-delay and Request-rate, too.

No such file means that all is allowed; a server that cannot answer means neither yes nor no: requests must wait.

Source: RFC 9309, sections 2.3.1.2 to 2.3.1.4; its matching is that of the library protego.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx

from gslopes.collect.fetch import DownloadError, Fetcher, origin
from gslopes.core.errors import UsageError
from gslopes.core.reasons import Reason, SkipReason

if TYPE_CHECKING:
    from protego import Protego

AGENT = "gslopes"
LONGEST_DELAY = 60.0  # seconds between two requests that a host may ask for
RETRY_AFTER = 60.0  # seconds after which a host whose rules could not be had is asked again
# RFC 9309, section 2.2.1: the token is letters, - and _; what follows it, such as a version, is no part of it.
_AGENT_LINE = re.compile(r"^\s*user[- ]?agent[\s:]+(?:(?P<any>\*)(?=\s|#|$)|(?P<token>[A-Za-z_-]*)).*", re.IGNORECASE)
_MAX_BYTES = 500 << 10  # of which RFC 9309 asks that they be read; the rest is ignored


class Robots:
    """What hosts allow to programs.

    fetcher: asks for the files.  clock: seconds, monotonic.
    """

    def __init__(self, fetcher: Fetcher, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._rules: dict[str, Protego] = {}
        self._failures: dict[str, tuple[float, DownloadError]] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def __call__(self, url: httpx.URL) -> None:
        """Raises: DownloadError: ``refused`` if the rules forbid this address, ``failed`` if they cannot be fetched."""
        rules = self._of(url)
        try:
            allowed = rules.can_fetch(str(url), AGENT)
        except ValueError as error:
            raise DownloadError("refused", SkipReason(Reason.ROBOTS_UNREADABLE)) from error
        if not allowed:
            raise DownloadError("refused", SkipReason(Reason.ROBOTS_FORBIDS))

    def _of(self, url: httpx.URL) -> Protego:
        key = origin(url)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._rules:
                since, failure = self._failures.get(key, (0.0, None))
                if failure is not None and self._clock() - since < RETRY_AFTER:
                    raise failure
                try:
                    self._rules[key] = self._asked(url)
                except DownloadError as error:
                    self._failures[key] = self._clock(), error
                    raise
                self._fetcher.rate.set_min_interval(key, min_interval(self._rules[key]))
            return self._rules[key]

    def _asked(self, url: httpx.URL) -> Protego:
        address = str(url.copy_with(raw_path=b"/robots.txt", fragment=None))
        try:
            return parse(self._fetcher.get(address, max_bytes=_MAX_BYTES, truncate=True).body)
        except DownloadError as error:
            if error.status == "refused" and 200 <= error.code < 500 and not 300 <= error.code < 400:
                return parse(b"")  # none, or an answer without one
            reason = error.reason if error.status == "refused" else SkipReason(Reason.ROBOTS_UNAVAILABLE, error.reason)
            raise DownloadError(error.status, reason, error.code) from error


def parse(body: bytes) -> Protego:
    """The rules of a file, whatever it holds.

    Raises: UsageError if protego is not installed; DownloadError if the file breaks the parser.
    """
    try:
        from protego import Protego
    except ImportError as error:
        hint = "Install it with: pip install 'gslopes[collect]'."
        raise UsageError("Reading robots.txt needs the library protego.", hint) from error
    try:
        lines = body.decode("utf-8-sig", "replace").splitlines()
        return Protego.parse("\n".join(_AGENT_LINE.sub(_token, line) for line in lines))
    except Exception as error:  # an untrusted file: whatever it does to a parser is no reason to stop
        raise DownloadError("refused", SkipReason(Reason.ROBOTS_UNREADABLE)) from error


def _token(line: re.Match[str]) -> str:
    """A User-agent line by its product token alone: protego takes g for us, and us with a version for another."""
    if line["any"]:
        return line[0]
    return f"User-agent: {AGENT if line['token'].lower() == AGENT else 'x-other'}"


def min_interval(rules: Protego) -> float:
    """Seconds between two requests that the rules ask of us, at most ``LONGEST_DELAY``."""
    found = float(rules.crawl_delay(AGENT) or 0.0)
    rate = rules.request_rate(AGENT)
    if rate is not None:
        found = max(
            found, LONGEST_DELAY if rate.seconds > rate.requests * LONGEST_DELAY else rate.seconds / rate.requests
        )
    return min(found, LONGEST_DELAY)
