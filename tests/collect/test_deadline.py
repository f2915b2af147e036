from __future__ import annotations

import threading
import time

import pytest

from gslopes.collect.deadline import DeadlineExceeded, Exchange
from gslopes.collect.rate import Stopped


def test_a_timeout_never_reaches_beyond_the_deadline():
    now = [0.0]
    exchange = Exchange(clock=lambda: now[0])
    assert exchange.seconds(20.0) == 20.0
    with exchange.until(5.0):
        assert (exchange.seconds(20.0), exchange.seconds(None), exchange.seconds(1.0)) == (5.0, 5.0, 1.0)
        now[0] = 5.0
        with pytest.raises(DeadlineExceeded):
            exchange.seconds(1.0)
    assert exchange.seconds(None) is None


def test_each_thread_has_its_own_deadline():
    exchange, found = Exchange(), []
    with exchange.until(time.monotonic() + 5):
        thread = threading.Thread(target=lambda: found.append(exchange.seconds(None)))
        thread.start()
        thread.join()
    assert found == [None]


def test_a_call_that_hangs_is_abandoned():
    stop = threading.Event()
    exchange, release = Exchange(stop), threading.Event()
    with exchange.until(time.monotonic() + 0.3), pytest.raises(DeadlineExceeded):
        exchange.run(lambda: release.wait(30))
    stop.set()
    with pytest.raises(Stopped):
        exchange.run(lambda: release.wait(30))
    release.set()


def test_what_a_call_returns_or_raises_comes_through():
    assert Exchange().run(lambda: 7) == 7
    with pytest.raises(KeyError):
        Exchange().run(lambda: {}["x"])
