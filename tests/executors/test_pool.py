from __future__ import annotations

from concurrent.futures import Executor, Future

import pytest

from gslopes.core.errors import WorkerLost
from gslopes.executors import pool
from gslopes.executors.pool import Lost
from gslopes.executors.worker import Report


class Serial(Executor):
    """Carries out a call where it is submitted, so that workers report in the order in which they were asked."""

    def __init__(self, *_: object) -> None:
        pass

    def submit(self, call, /, *arguments):
        future: Future = Future()
        try:
            future.set_result(call(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


class Workers:
    """Workers that do parts in the order in which they are given; ``fates`` of a part, attempt by attempt."""

    def __init__(self, fates: dict[int, list[str]] | None = None, at_start: str = "", error: Exception | None = None):
        self.fates, self.at_start, self.error = fates or {}, at_start, error
        self.started, self.given, self.ended = 0, [], 0
        self.most, self.finished = 0, []

    def start(self):
        self.started += 1
        return Worker(self)


class Worker:
    """Begins each part with three units, and ends the oldest of those begun."""

    def __init__(self, workers: Workers) -> None:
        self.workers, self.ready, self.held, self.begun = workers, False, [], 0

    def exchange(self, parts):
        all_ = self.workers
        if not self.ready:
            self.ready = True
            if all_.at_start:
                raise Lost(all_.at_start)
            return Report(error=all_.error)
        all_.given += parts
        self.held += parts
        all_.most = max(all_.most, len(self.held))
        if self.begun < len(self.held):
            self.begun += 1
            return Report({self.held[self.begun - 1]: 3})
        part = self.held.pop(0)
        self.begun -= 1
        if all_.fates.get(part):
            raise Lost(all_.fates[part].pop(0))
        all_.finished.append(part)
        return Report(done=(part,))

    def end(self):
        self.workers.ended += 1


@pytest.fixture(autouse=True)
def serial(monkeypatch):
    monkeypatch.setattr(pool, "ThreadPoolExecutor", Serial)


def run(workers: Workers, count=2, parts=4, slots=1):
    ticks, notes = [], []
    name = "part {}".format
    pool.run_parts(workers.start, count, slots, dict.fromkeys(range(parts), 3), name, ticks.append, notes.append)
    return ticks, notes


def test_every_part_is_given_once_and_all_workers_are_ended():
    workers = Workers()
    ticks, notes = run(workers)
    assert (workers.given, workers.started, workers.ended) == ([0, 1, 2, 3], 2, 2)
    assert (sum(ticks), notes) == (12, [])


def test_no_more_workers_than_parts():
    workers = Workers()
    run(workers, count=8, parts=3)
    assert workers.started == 3


def test_a_lost_part_is_done_last_by_a_new_worker_and_its_ticks_are_taken_back():
    workers = Workers({0: ["it fell asleep"]})
    ticks, notes = run(workers)
    assert workers.given == [0, 1, 2, 3, 0]
    assert sum(ticks) == 12
    assert notes == ["A worker was lost at part 0: it fell asleep. That is done again."]
    assert workers.started == 3


def test_a_worker_with_nothing_to_do_takes_over():
    workers = Workers({3: ["a", "b"]})
    run(workers, count=4)
    assert workers.given == [0, 1, 2, 3, 3, 3]
    assert workers.started == 4


def test_three_losses_on_one_part_are_an_error_that_names_it_after_all_others_are_done():
    workers = Workers({1: ["cosmic rays"] * 3})
    with pytest.raises(WorkerLost, match=r"lost 3 times, the last at part 1: cosmic rays\."):
        run(workers)
    assert workers.given == [0, 1, 2, 3, 1, 1]
    assert workers.ended == workers.started - 3  # those that were lost are gone


def test_each_worker_has_several_parts_in_hand_and_few_parts_are_shared_out():
    workers = Workers()
    run(workers, count=1, parts=7, slots=3)
    assert workers.given == [0, 1, 2, 3, 4, 5, 6]
    assert workers.most == 3
    workers = Workers()
    run(workers, count=2, parts=4, slots=16)
    assert workers.most == 2


def test_of_several_parts_in_a_lost_workers_hands_the_one_to_blame_is_found():
    workers = Workers({1: ["cosmic rays"] * 3})
    with pytest.raises(WorkerLost, match=r"lost 3 times, the last at part 1: cosmic rays\."):
        run(workers, count=1, parts=6, slots=3)
    # 0, 1 and 2 were together; then the others; then each of the three alone
    assert sorted(set(workers.finished)) == [0, 2, 3, 4, 5]


def test_workers_that_never_begin_are_an_error():
    workers = Workers(at_start="no room")
    with pytest.raises(WorkerLost, match="lost 6 times, the last before it had anything to do: no room"):
        run(workers)


def test_losses_all_over_end_the_work_before_every_part_was_tried():
    workers = Workers({part: ["no memory"] for part in range(100)})
    with pytest.raises(WorkerLost, match="Workers were lost 6 times"):
        run(workers, parts=100)
    assert len(workers.given) == 6


def test_an_error_of_the_work_is_raised_as_it_is():
    workers = Workers(error=KeyError("x"))
    with pytest.raises(KeyError):
        run(workers)
    assert workers.ended == 2
