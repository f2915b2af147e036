"""Evenly spaced requests to each host."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from gslopes.core.exchange import Stopped


class HostRateLimiter:
    """The turns of all hosts, shared by all threads.

    min_interval: seconds between the beginnings of two requests to one host.
    stop: set to make everything that waits raise Stopped.  clock: seconds, monotonic.
    """

    def __init__(self, min_interval: float, stop: threading.Event, clock: Callable[[], float] = time.monotonic) -> None:
        self.min_interval, self.stop = min_interval, stop
        self._clock = clock
        self._lock = threading.Lock()
        self._free: dict[str, float] = {}
        self._gaps: dict[str, float] = {}

    def set_min_interval(self, host: str, min_interval: float) -> None:
        """The least time between two requests to this host, seconds."""
        with self._lock:
            self._gaps[host] = max(min_interval, self._gaps.get(host, 0.0))

    def pause(self, host: str, seconds: float) -> None:
        """Leave this host alone for so long."""
        with self._lock:
            self._free[host] = max(self._free.get(host, 0.0), self._clock() + seconds)

    def acquire(self, host: str) -> float:
        """Wait for one's turn at a host; how many seconds that took.  Raises: Stopped."""
        began = self._clock()
        while True:
            with self._lock:
                now, free = self._clock(), self._free.get(host, 0.0)
                if free <= now:
                    self._free[host] = now + max(self.min_interval, self._gaps.get(host, 0.0))
                    return now - began
            self.wait(free - now)

    def wait(self, seconds: float) -> None:
        """Sleep.  Raises: Stopped."""
        if self.stop.wait(max(seconds, 0.0)):
            raise Stopped
