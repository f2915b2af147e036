"""robots.txt, asked for once a host and obeyed; its Crawl-delay, too.

Source: RFC 9309: no such file means that all is allowed, a server that cannot answer that nothing is.
"""

from __future__ import annotations

import threading
from urllib.robotparser import RobotFileParser

import httpx

from gslopes.collect.fetch import DownloadError, Fetcher, origin

AGENT = "gslopes"
_LARGEST = 512 << 10  # bytes; RFC 9309 asks for 500 KiB at least


class Robots:
    """What hosts allow to programs.

    fetcher: asks for the files.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._rules: dict[str, RobotFileParser] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def __call__(self, url: httpx.URL) -> None:
        """Raises: DownloadError if the host's rules do not allow us this address."""
        rules = self._of(url)
        if not rules.can_fetch(AGENT, str(url)):
            raise DownloadError("refused", "its robots.txt does not allow it")

    def _of(self, url: httpx.URL) -> RobotFileParser:
        key = origin(url)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._rules:
                self._rules[key] = self._asked(url)
                delay = self._rules[key].crawl_delay(AGENT)
                if delay:
                    self._fetcher.rate.set_min_interval(key, min(float(delay), 60.0))
            return self._rules[key]

    def _asked(self, url: httpx.URL) -> RobotFileParser:
        rules = RobotFileParser()
        try:
            reply = self._fetcher.get(str(url.copy_with(raw_path=b"/robots.txt", fragment=None)), max_bytes=_LARGEST)
            rules.parse(reply.body.decode("utf-8", "replace").splitlines())
        except DownloadError as error:
            if error.status == "refused" and not 400 <= error.code < 500:
                raise  # a private address, for one: the photo's own reason
            rules.parse([] if error.code and error.status == "refused" else ["User-agent: *", "Disallow: /"])
        return rules
