"""The quota is a property of what arrives: tested with a clock of our own and threads that wake up when they like."""

from __future__ import annotations

import heapq
import itertools
import random
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gslopes.ask.cost import Limits
from gslopes.ask.retry import DAY, RateLimiter, Schedule, seconds_to_wait


@dataclass
class World:
    """Threads that ask one service.

    wakes: seconds by which one is woken late, at most; one in fifty is woken ten times as late.
    way: seconds that a request takes to the service beside the shortest, at most.
    answers: seconds (least, most) from there to its answer.  connects: what the first requests take longer.
    """

    limits: Limits
    threads: int
    wakes: float = 0.0
    way: float = 0.0
    answers: tuple[float, float] = (0.02, 0.03)
    pictures: tuple[int, ...] = (1,)
    seed: int = 0
    connects: float = 0.0

    def run(self, requests: int) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]:
        """(when each request left, when it arrived), each with its pictures, in order of time."""
        lot, number = random.Random(self.seed), itertools.count()
        schedule, left, arrived = Schedule(self.limits, 0.0), [], []
        events = [(lot.random() * 0.01, next(number), None, None) for _ in range(self.threads)]
        sizes = itertools.cycle(self.pictures)
        while len(left) < requests:
            now, _, sent, pictures = heapq.heappop(events)
            if sent is not None:
                schedule.complete(sent, now)
            pictures = pictures or next(sizes)
            if seconds := schedule.wait(pictures, now):
                late = lot.random() * self.wakes * (10 if lot.random() < 0.02 else 1)
                heapq.heappush(events, (now + seconds + late, next(number), None, pictures))
                continue
            sent = schedule.send(pictures, now)
            arrives = now + 0.005 + lot.random() * self.way + (self.connects if len(left) < self.threads else 0.0)
            left.append((now, pictures))
            arrived.append((arrives, pictures))
            heapq.heappush(events, (arrives + lot.uniform(*self.answers), next(number), sent, None))
        return left, sorted(arrived)


def busiest(times: list[tuple[float, int]], window: float) -> int:
    """Most pictures in any window."""
    most = spent = first = 0
    for at, pictures in times:
        spent += pictures
        while times[first][0] <= at - window:
            spent -= times[first][1]
            first += 1
        most = max(most, spent)
    return most


def use(times: list[tuple[float, int]], rate: float) -> float:
    return sum(pictures for _, pictures in times[:-1]) / (times[-1][0] - times[0][0]) / rate


RATES = st.sampled_from([1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 30.0, 50.0])


@given(RATES, st.integers(1, 16), st.floats(0, 0.2), st.floats(0, 3), st.integers(0, 2**32))
@settings(max_examples=60)
def test_no_second_holds_more_requests_than_its_quota_however_late_threads_wake_up(rate, threads, wakes, slow, seed):
    world = World(Limits(requests_per_second=rate), threads, wakes, 0.02, (0.01, 0.02 + slow), seed=seed)
    left, _ = world.run(int(rate) * 20 + 20)
    assert busiest(left, 1.0) <= rate


@given(RATES, st.floats(0, 0.01), st.floats(0, 0.02), st.floats(0, 0.3), st.integers(0, 2**32))
@settings(max_examples=40)
@example(5.0, 0.01, 0.02, 0.3, 0)
@example(1.0, 0.0, 0.02, 0.0, 2872788645)  # the fastest of two answers was no short way yet
@example(5.0, 0.0, 0.02, 0.3, 3627001799)
def test_what_arrives_keeps_the_quota_too_and_uses_it(rate, wakes, way, connects, seed):
    threads = min(4, int(rate))
    limits = Limits(requests_per_second=rate, concurrency=threads)
    world = World(limits, threads, wakes, way, seed=seed, connects=connects)
    _, arrived = world.run(int(rate) * 60 + 50)
    assert busiest(arrived, 1.0) <= rate
    assert use(arrived, rate) >= 0.95


@pytest.mark.parametrize("slow", [0.3, 1.0])
def test_a_service_whose_answers_vary_is_used_as_well(slow):
    world = World(Limits(requests_per_second=5), 16, 0.005, 0.005, (0.1, 0.1 + slow))
    left, arrived = world.run(600)
    assert busiest(left, 1.0) <= 5
    assert use(arrived, 5) >= 0.95


@pytest.mark.parametrize(("rate", "batch"), [(5.0, 16), (30.0, 16), (30.0, 128), (2.0, 4), (0.25, 1)])
def test_pictures_are_counted_where_a_request_takes_many(rate, batch):
    world = World(Limits(pictures_per_second=rate), 4, 0.01, 0.01, pictures=(*[batch] * 13, max(1, batch - 4)))
    left, arrived = world.run(150)
    gap = batch / rate
    window = gap * max(1, int(1 / gap))
    assert busiest(left, window) <= rate * window + 1e-9
    assert busiest(arrived, window) <= rate * window + 1e-9
    assert use(arrived, rate) >= 0.93  # one request in fourteen is smaller, and waits as long


def taken(schedule: Schedule, now: float) -> float:
    """When one thread sends a request that it is ready for at this time; it is answered at once."""
    while seconds := schedule.wait(1, now):
        now += seconds
    schedule.complete(schedule.send(1, now), now)
    return now


def test_one_thread_that_is_woken_very_late_costs_its_own_second_alone():
    schedule, now, left = Schedule(Limits(requests_per_second=10), 0.0), 0.0, []
    for number in range(400):
        now = taken(schedule, now + schedule.wait(1, now) + (0.5 if number == 100 else 0.0))
        left.append((now, 1))
    assert busiest(left, 1.0) <= 10
    assert left[-1][0] == pytest.approx(399 * 0.103, abs=0.11)  # made up for


def test_unused_quota_is_not_made_up_for():
    schedule, now, left = Schedule(Limits(requests_per_second=10), 0.0), 0.0, []
    for number in range(60):
        now = taken(schedule, now + (100.0 if number == 30 else 0.0))
        left.append(now)
    gaps = [later - earlier for earlier, later in itertools.pairwise(left)]
    assert min(gaps) > 0.0499


def test_the_first_requests_count_when_they_are_answered_since_they_open_connections():
    schedule = Schedule(Limits(requests_per_second=2, concurrency=2), 0.0)
    first, second = schedule.send(1, 0.0), schedule.send(1, 0.515)
    assert schedule.wait(1, 1.4) == pytest.approx(1 / 100)  # neither is answered
    schedule.complete(first, 1.25)
    schedule.complete(second, 1.3)
    assert schedule.wait(1, 1.4) == pytest.approx(1.25 + 1.025 - 1.4)


def test_a_pace_takes_turns_is_held_and_is_stopped():
    now, stop = [0.0], [False]

    def wait(seconds: float) -> bool:
        now[0] += seconds
        return stop[0]

    rate = RateLimiter(Limits(requests_per_second=10, pictures_per_second=20), wait, lambda: now[0])
    turns = []
    for pictures in (1, 1, 8, 1, 1):
        slot = rate.acquire(pictures)
        turns.append(now[0])
        rate.complete(slot)
    gaps = [later - earlier for earlier, later in itertools.pairwise(turns)]
    assert gaps[:2] == pytest.approx([0.103, 0.103])
    assert gaps[2] == pytest.approx(0.412)
    rate.pause(5)
    assert rate.acquire(1) is not None
    assert now[0] >= turns[-1] + 5
    stop[0] = True
    assert rate.acquire(1) is None


def test_without_a_quota_no_request_waits():
    rate = RateLimiter(Limits(), lambda seconds: pytest.fail("waited"), lambda: 0.0)
    for _ in range(3):
        rate.complete(rate.acquire(1))


# -- Retry-After -------------------------------------------------------------------------------------------------------

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *[("0", 0.0), ("1.5", 1.5), ("-1", 0.0), ("999999", DAY), ("inf", DAY), ("1e300", DAY), ("9" * 5000, DAY)],
        *[("nan", None), ("²", None), ("", None), ("soon", None), ("Fri, 99 Foo 2026", None)],
        *[("Sat, 21 Nov 2026 12:01:00 GMT", 60.0), ("Sat, 21 Nov 2020 12:01:00 GMT", 0.0)],
        *[("Fri, 31 Dec 9999 23:59:59 -2359", DAY), ("Fri, 31 Dec 9999 23:59:59 GMT", DAY)],
    ],
)
def test_a_retry_after_is_seconds_up_to_a_day_or_nothing(value, seconds):
    assert seconds_to_wait(value, NOW) == seconds


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{1,6} \d\d:\d\d:\d\d ([+-]\d{4}|GMT)"))
def test_no_text_breaks_it(value):
    found = seconds_to_wait(value, NOW)
    assert found is None or 0 <= found <= DAY
