from __future__ import annotations

from threading import Event, Lock

import pytest

from gslopes.core.errors import WorkerLost
from gslopes.frame.executors.pool import Lost, run_parts


class Workers:
    """Starts workers.  fates: part to why a worker is lost at it, attempt by attempt.  error: what a part raises."""

    def __init__(self, fates: dict[int, list[str]] | None = None, error: Exception | None = None):
        self.fates, self.error, self.lock = fates or {}, error, Lock()
        self.started, self.given, self.finished, self.ended = 0, [], [], 0
        self.held = self.most = 0

    def start(self):
        self.started += 1
        return Worker(self)


class Worker:
    """Gives three units of each part before its fate, and takes the parts beside that one along."""

    def __init__(self, workers: Workers) -> None:
        self.workers, self.gone = workers, Event()

    def do(self, part):
        everything = self.workers
        with everything.lock:
            everything.given.append(part)
            everything.held += 1
            everything.most = max(everything.most, everything.held)
        try:
            yield 3
            if everything.error:
                raise everything.error
            with everything.lock:
                if everything.fates.get(part):
                    self.gone.set()
                    raise Lost(everything.fates[part].pop(0))
            if self.gone.wait(0.02):
                raise Lost("it was in the same hands")
            everything.finished.append(part)
        finally:
            with everything.lock:
                everything.held -= 1

    def end(self):
        self.workers.ended += 1


def run(workers: Workers, count=2, parts=4, slots=1):
    ticks, notes = [], []
    name = "part {}".format
    run_parts(workers.start, count, slots, dict.fromkeys(range(parts), 3), name, ticks.append, notes.append)
    return ticks, notes


def test_every_part_is_given_once_and_all_workers_are_ended():
    workers = Workers()
    ticks, notes = run(workers)
    assert (sorted(workers.given), workers.started, workers.ended) == ([0, 1, 2, 3], 2, 2)
    assert (sum(ticks), notes) == (12, [])


def test_no_more_workers_than_parts():
    workers = Workers()
    run(workers, count=8, parts=3)
    assert workers.started == 3


def test_a_lost_part_is_done_last_by_a_new_worker_and_its_ticks_are_taken_back():
    workers = Workers({0: ["it fell asleep"]})
    ticks, notes = run(workers)
    assert (sorted(workers.given[:4]), workers.given[4:]) == ([0, 1, 2, 3], [0])
    assert sum(ticks) == 12
    assert notes == ["A worker was lost at part 0: it fell asleep. That is done again."]


def test_three_losses_on_one_part_are_an_error_that_names_it_after_all_others_are_done():
    workers = Workers({1: ["cosmic rays"] * 3})
    with pytest.raises(WorkerLost, match=r"lost 3 times, the last at part 1: cosmic rays\."):
        run(workers)
    assert sorted(workers.finished) == [0, 2, 3]
    assert workers.ended == workers.started


def test_each_worker_has_several_parts_in_hand_and_few_parts_are_shared_out():
    workers = Workers()
    run(workers, count=1, parts=7, slots=3)
    assert sorted(workers.given) == list(range(7))
    assert workers.most == 3
    workers = Workers()
    run(workers, count=2, parts=4, slots=16)
    assert workers.most <= 4


def test_of_several_parts_in_a_lost_workers_hands_the_one_to_blame_is_found():
    workers = Workers({1: ["cosmic rays"] * 3})
    with pytest.raises(WorkerLost, match=r"lost 3 times, the last at part 1: cosmic rays\."):
        run(workers, count=1, parts=6, slots=3)
    assert sorted(set(workers.finished)) == [0, 2, 3, 4, 5]


def test_losses_all_over_end_the_work_before_every_part_was_tried():
    workers = Workers({part: ["no memory"] for part in range(100)})
    with pytest.raises(WorkerLost, match=r"Workers were lost [67] times"):
        run(workers, parts=100)
    assert len(workers.given) < 10


def test_an_error_of_the_work_is_raised_as_it_is():
    workers = Workers(error=KeyError("x"))
    with pytest.raises(KeyError):
        run(workers)
    assert workers.ended == workers.started
