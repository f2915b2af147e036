"""Even spacing, by a clock that the test holds."""

from __future__ import annotations

import threading

import pytest

from gslopes.collect.pace import Pace, Stopped


class Clock(threading.Event):
    """A stop that is never set; waiting moves the clock."""

    now = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        self.now += timeout or 0.0
        return self.is_set()


def paced(gap: float) -> tuple[Pace, Clock]:
    clock = Clock()
    return Pace(gap, clock, lambda: clock.now), clock


def test_turns_at_one_host_are_a_gap_apart_and_hosts_do_not_wait_for_each_other():
    pace, clock = paced(2.0)
    times = []
    for host in ("a", "b", "a", "b", "a"):
        pace.take(host)
        times.append(clock.now)
    assert times == [0, 0, 2, 2, 4]


def test_a_host_that_asks_for_silence_gets_it():
    pace, clock = paced(1.0)
    pace.take("a")
    pace.hold("a", 30)
    assert pace.take("a") == pytest.approx(30)
    assert clock.now == pytest.approx(30)


def test_a_crawl_delay_only_slows_down():
    pace, clock = paced(5.0)
    pace.slow_down("a", 1.0)
    pace.take("a")
    pace.take("a")
    assert clock.now == 5
    pace.slow_down("a", 9.0)
    pace.take("a")
    pace.take("a")
    assert clock.now == 19


def test_whoever_waits_ends_when_it_is_stopped():
    pace, clock = paced(1.0)
    pace.take("a")
    clock.set()
    with pytest.raises(Stopped):
        pace.take("a")
