"""Parts handed out to workers that may be lost, whether they are processes of this machine or on a Ray cluster.

A lost worker's part is done again by another one; since a part's tables appear only when it is whole, nothing is left
of the first attempt but pictures that the second one overwrites with the same bytes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

from gslopes.core.errors import WorkerLost
from gslopes.executors.progress import Tick
from gslopes.executors.worker import Report

# How many workers may be lost on one part; and, times their number, in a row without any part finished.
MAX_ATTEMPTS = 3


class Lost(Exception):
    """A worker is gone; half a sentence says why."""


class Worker(Protocol):
    """A ``worker.PartWorker`` somewhere else."""

    def exchange(self, parts: Sequence[int]) -> Report:
        """Give it parts and wait for its next report; the first one says that it is ready.  Raises: Lost."""
        ...

    def end(self) -> None:
        """End it, whatever it is doing; an ``exchange`` that waits raises Lost."""
        ...


def run_parts(
    start: Callable[[], Worker],
    workers: int,
    slots: int,
    parts: Mapping[int, int],
    name: Callable[[int], str],
    tick: Tick,
    note: Callable[[str], None],
) -> None:
    """Have all parts done by several workers, each with several parts in hand.

    start: starts a worker.  name: a part in words.  note: called with a sentence for each worker that was lost.

    Raises: WorkerLost if workers are lost again and again; what the work raised.
    """
    workers = min(workers, len(parts))
    slots = min(slots, -(-len(parts) // workers))  # where parts are few, every worker has some
    with ThreadPoolExecutor(workers, "worker") as threads:  # a thread for each worker, which waits for its reports
        schedule = Schedule(start, threads, slots, MAX_ATTEMPTS * workers, name, tick, note, deque(parts), len(parts))
        try:
            for _ in range(workers):
                schedule.start()
            while schedule.left:
                schedule.go_on()
        finally:
            schedule.end()


@dataclass
class Schedule:
    """Who does what. A part on which a worker was lost comes last, and alone: then it is known which is to blame.

    threads: carries out the exchanges with workers.  waiting: parts.  left: parts that are not done.
    most_losses: in a row.  Other arguments as of ``run_parts``.
    """

    start_worker: Callable[[], Worker]
    threads: Executor
    slots: int
    most_losses: int
    name: Callable[[int], str]
    tick: Tick
    note: Callable[[str], None]
    waiting: deque[int]
    left: int

    def __post_init__(self) -> None:
        self.suspects = deque[int]()
        self.held: dict[Worker, dict[int, int]] = {}  # the parts in each worker's hands, with the units done of each
        self.reports: dict[Future[Report], Worker] = {}  # those to come
        self.losses: Counter[int] = Counter()  # part to workers lost on it
        self.losses_in_a_row = 0

    def start(self) -> None:
        """Start one more worker."""
        worker = self.start_worker()
        self.held[worker] = {}
        self.reports[self.threads.submit(worker.exchange, ())] = worker

    def go_on(self) -> None:
        """Wait for reports, and act on them."""
        finished = wait(self.reports, return_when=FIRST_COMPLETED).done
        for future in [future for future in self.reports if future in finished]:
            worker = self.reports.pop(future)
            try:
                self._take(worker, future.result())
            except Lost as error:
                self._lose(worker, str(error))

    def end(self) -> None:
        """End all workers."""
        for worker in self.held:
            worker.end()

    def _take(self, worker: Worker, report: Report) -> None:
        held = self.held[worker]
        for part, count in report.units.items():
            held[part] += count
            self.tick(count)
        for part in report.done:
            del held[part]
            self.left -= 1
            self.losses_in_a_row = 0
        if report.error is not None:
            raise report.error
        self._fill(worker)

    def _fill(self, worker: Worker) -> None:
        """Give a worker what its hands are free for, and wait for its next report if it has anything to do."""
        held, given = self.held[worker], list[int]()
        if not any(part in self.losses for part in held):
            while self.waiting and len(held) + len(given) < self.slots:
                given.append(self.waiting.popleft())
            if self.suspects and not held and not given:
                given.append(self.suspects.popleft())
        held |= dict.fromkeys(given, 0)
        if held:
            self.reports[self.threads.submit(worker.exchange, given)] = worker

    def _lose(self, worker: Worker, reason: str) -> None:
        held = self.held.pop(worker)
        self.tick(-sum(held.values()))
        self.suspects.extend(held)
        self.losses.update(held.keys())
        self.losses_in_a_row += 1
        task = f"at {' and '.join(map(self.name, held))}" if held else "before it had anything to do"
        worst = max((self.losses[part] for part in held), default=0)
        if worst >= MAX_ATTEMPTS or self.losses_in_a_row >= self.most_losses:
            times = worst if worst >= MAX_ATTEMPTS else self.losses_in_a_row
            hint = "If memory ran out, use fewer --workers. What was done is kept: the same command goes on from there."
            raise WorkerLost(f"Workers were lost {times} times, the last {task}: {reason}.", hint)
        self.note(f"A worker was lost {task}: {reason}. That is done again.")
        busy = set(self.reports.values())
        for idle in [other for other in self.held if other not in busy]:
            self._fill(idle)
        if self.waiting or self.suspects:
            self.start()
