"""Parts handed out to workers that may be lost, whether they are processes of this machine or on a Ray cluster.

A lost worker's part is done again by another one; since a part's tables appear only when it is whole, nothing is left
of the first attempt but pictures that the second one overwrites with the same bytes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
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
        schedule = Schedule(start, threads, workers, slots, parts, name, tick, note)
        try:
            for _ in range(workers):
                schedule.start()
            while schedule.left:
                schedule.go_on()
        finally:
            schedule.end()


class Schedule:
    """Who does what. A part on which a worker was lost comes last, and alone: then it is known which is to blame.

    threads: carries out the exchanges with workers.  Other arguments as of ``run_parts``.
    """

    def __init__(
        self,
        start: Callable[[], Worker],
        threads: Executor,
        workers: int,
        slots: int,
        parts: Iterable[int],
        name: Callable[[int], str],
        tick: Tick,
        note: Callable[[str], None],
    ) -> None:
        self._start, self._threads, self._slots = start, threads, slots
        self._name, self._tick, self._note = name, tick, note
        self._waiting, self._suspects = deque(parts), deque[int]()
        self.left = len(self._waiting)
        self._held: dict[Worker, dict[int, int]] = {}  # the parts in each worker's hands, with the units done of each
        self._reports: dict[Future[Report], Worker] = {}  # those to come
        self._losses: Counter[int] = Counter()  # part to workers lost on it
        self._losses_in_a_row, self._most_losses_in_a_row = 0, MAX_ATTEMPTS * workers

    def start(self) -> None:
        """Start one more worker."""
        worker = self._start()
        self._held[worker] = {}
        self._reports[self._threads.submit(worker.exchange, ())] = worker

    def go_on(self) -> None:
        """Wait for reports, and act on them."""
        finished = wait(self._reports, return_when=FIRST_COMPLETED).done
        for future in [future for future in self._reports if future in finished]:
            worker = self._reports.pop(future)
            try:
                self._take(worker, future.result())
            except Lost as error:
                self._lose(worker, str(error))

    def end(self) -> None:
        """End all workers."""
        for worker in self._held:
            worker.end()

    def _take(self, worker: Worker, report: Report) -> None:
        held = self._held[worker]
        for part, count in report.units.items():
            held[part] += count
            self._tick(count)
        for part in report.done:
            del held[part]
            self.left -= 1
            self._losses_in_a_row = 0
        if report.error is not None:
            raise report.error
        self._fill(worker)

    def _fill(self, worker: Worker) -> None:
        """Give a worker what its hands are free for, and wait for its next report if it has anything to do."""
        held, given = self._held[worker], list[int]()
        if not any(part in self._losses for part in held):
            while self._waiting and len(held) + len(given) < self._slots:
                given.append(self._waiting.popleft())
            if self._suspects and not held and not given:
                given.append(self._suspects.popleft())
        held |= dict.fromkeys(given, 0)
        if held:
            self._reports[self._threads.submit(worker.exchange, given)] = worker

    def _lose(self, worker: Worker, reason: str) -> None:
        held = self._held.pop(worker)
        self._tick(-sum(held.values()))
        self._suspects.extend(held)
        self._losses.update(held.keys())
        self._losses_in_a_row += 1
        task = f"at {' and '.join(map(self._name, held))}" if held else "before it had anything to do"
        worst = max((self._losses[part] for part in held), default=0)
        if worst >= MAX_ATTEMPTS or self._losses_in_a_row >= self._most_losses_in_a_row:
            times = worst if worst >= MAX_ATTEMPTS else self._losses_in_a_row
            hint = "If memory ran out, use fewer --workers. What was done is kept: the same command goes on from there."
            raise WorkerLost(f"Workers were lost {times} times, the last {task}: {reason}.", hint)
        self._note(f"A worker was lost {task}: {reason}. That is done again.")
        busy = set(self._reports.values())
        for idle in [other for other in self._held if other not in busy]:
            self._fill(idle)
        if self._waiting or self._suspects:
            self.start()
