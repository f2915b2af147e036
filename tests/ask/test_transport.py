"""Deadlines and bodies; against servers that mean no good: tests/ask/test_bounded.py."""

from __future__ import annotations

import gzip
import threading
import time
import zlib

import pytest

from gslopes.ask.transport import DeadlineExceeded, Exchange, Stopped, TooLarge, decoded


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


def test_a_call_that_hangs_is_abandoned():
    stop = threading.Event()
    exchange, release = Exchange(stop), threading.Event()
    with exchange.until(time.monotonic() + 0.3), pytest.raises(DeadlineExceeded):
        exchange.run(lambda: release.wait(30))
    stop.set()
    with pytest.raises(Stopped):
        exchange.run(lambda: release.wait(30))
    release.set()


def test_a_body_is_decompressed_only_as_far_as_it_may():
    blanks = gzip.compress(bytes(50 << 20), mtime=0)
    with pytest.raises(TooLarge) as raised:
        decoded([blanks[start : start + 999] for start in range(0, len(blanks), 999)], "gzip", 1000)
    assert len(raised.value.body) == 1001
    assert decoded([zlib.compress(b"text")], "deflate", 99) == b"text"
    assert decoded([gzip.compress(b"text", mtime=0)], "gzip", 99) == b"text"
    assert decoded([b"te", b"xt"], "", 4) == b"text"


@pytest.mark.parametrize(
    ("body", "encoding"), [(gzip.compress(b"text", mtime=0)[:-9], "gzip"), (b"text", "gzip"), (b"text", "br")]
)
def test_a_body_that_is_not_of_its_encoding_is_none(body, encoding):
    with pytest.raises(ValueError, match=r"encoding|body"):
        decoded([body], encoding, 1000)
