from __future__ import annotations

import threading

import pytest

from gslopes.collect.timing import HostRateLimiter
from gslopes.core.exchange import Stopped


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
