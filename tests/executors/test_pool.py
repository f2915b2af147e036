from __future__ import annotations

import pytest

from gslopes.core.errors import WorkerLost
from gslopes.executors.pool import Done, Failed, Lost, Ready, Ticked, run_parts


class WorkerPool:
    """Does parts in the order in which they are given, one event at a time; ``fates`` of a part, attempt by attempt."""

    def __init__(self, fates: dict[int, list[str]] | None = None, at_start: str = "") -> None:
        self.fates, self.at_start = fates or {}, at_start
        self.started, self.given, self.closed = 0, [], False
        self.to_come: list = []
        self.held: dict[int, set[int]] = {}
        self.most, self.finished = 0, []

    def start(self):
        self.started += 1
        self.to_come.append((self.started, Lost(self.at_start) if self.at_start else Ready()))
        return self.started

    def submit(self, worker, part):
        self.given.append(part)
        self.held.setdefault(worker, set()).add(part)
        self.most = max(self.most, len(self.held[worker]))
        fate = self.fates[part].pop(0) if self.fates.get(part) else ""
        self.to_come.append((worker, Ticked(part, 3)))
        self.to_come.append((worker, Lost(fate) if fate else Done(part)))

    def events(self):
        worker, event = self.to_come.pop(0)
        match event:
            case Done(part):
                self.held[worker].remove(part)
                self.finished.append(part)
            case Lost():
                self.to_come = [(other, later) for other, later in self.to_come if other != worker]
                self.held.pop(worker, None)
        yield worker, event

    def shutdown(self):
        self.closed = True


def run(pool, workers=2, parts=4, slots=1):
    ticks, notes = [], []
    run_parts(
        pool, workers, slots, dict.fromkeys(range(parts), 3), lambda part: f"part {part}", ticks.append, notes.append
    )
    return ticks, notes


def test_every_part_is_given_once_and_the_pool_is_shut_down():
    pool = WorkerPool()
    ticks, notes = run(pool)
    assert (pool.given, pool.started, pool.closed) == ([0, 1, 2, 3], 2, True)
    assert (sum(ticks), notes) == (12, [])


@pytest.mark.parametrize("late", [True, False])
def test_units_whose_events_come_after_the_end_of_their_part_are_counted_once(late):
    class Late(WorkerPool):
        def submit(self, worker, part):
            super().submit(worker, part)
            ticked, done = self.to_come.pop(-2), self.to_come.pop()
            self.to_come.append((done[0], Done(part, 3)))
            if late:  # that of the last part is never heard
                self.to_come.append(ticked)

    ticks, _ = run(Late())
    assert sum(ticks) == 12


def test_no_more_workers_than_parts():
    pool = WorkerPool()
    run(pool, workers=8, parts=3)
    assert pool.started == 3


def test_a_lost_part_is_done_last_by_a_new_worker_and_its_ticks_are_taken_back():
    pool = WorkerPool({0: ["it fell asleep"]})
    ticks, notes = run(pool)
    assert pool.given == [0, 1, 2, 3, 0]
    assert sum(ticks) == 12
    assert notes == ["A worker was lost at part 0: it fell asleep. That is done again."]
    assert pool.started == 3


def test_a_worker_with_nothing_to_do_takes_over():
    pool = WorkerPool({3: ["a", "b"]})
    run(pool, workers=4)
    assert pool.given == [0, 1, 2, 3, 3, 3]
    assert pool.started == 4


def test_three_losses_on_one_part_are_an_error_that_names_it_after_all_others_are_done():
    pool = WorkerPool({1: ["cosmic rays"] * 3})
    with pytest.raises(WorkerLost, match=r"lost 3 times, the last at part 1: cosmic rays\."):
        run(pool)
    assert pool.given == [0, 1, 2, 3, 1, 1]
    assert pool.closed


def test_each_worker_has_several_parts_in_hand_and_few_parts_are_shared_out():
    pool = WorkerPool()
    run(pool, workers=1, parts=7, slots=3)
    assert pool.given == [0, 1, 2, 3, 4, 5, 6]
    assert pool.most == 3
    pool = WorkerPool()
    run(pool, workers=2, parts=4, slots=16)
    assert pool.most == 2


def test_of_several_parts_in_a_lost_workers_hands_the_one_to_blame_is_found():
    pool = WorkerPool({1: ["cosmic rays"] * 3})
    with pytest.raises(WorkerLost, match=r"lost 3 times, the last at part 1: cosmic rays\."):
        run(pool, workers=1, parts=6, slots=3)
    # 0, 1 and 2 were together; then the others; then each of the three alone
    assert sorted(set(pool.finished)) == [0, 2, 3, 4, 5]


def test_workers_that_never_begin_are_an_error():
    pool = WorkerPool(at_start="no room")
    with pytest.raises(WorkerLost, match="lost 6 times, the last before it had anything to do: no room"):
        run(pool)


def test_losses_all_over_end_the_work_before_every_part_was_tried():
    pool = WorkerPool({part: ["no memory"] for part in range(100)})
    with pytest.raises(WorkerLost, match="Workers were lost 6 times"):
        run(pool, parts=100)
    assert len(pool.given) == 6


def test_an_error_of_the_work_is_raised_as_it_is():
    pool = WorkerPool()
    pool.to_come.append((0, Failed(KeyError("x"))))
    with pytest.raises(KeyError):
        run(pool)
    assert pool.closed
