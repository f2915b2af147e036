"""Parts handed out to workers that may be lost, as those of a Ray cluster.

A lost worker's parts are done again by another one; since a part's tables appear only when it is whole, nothing is left
of the first attempt but pictures that the second one overwrites with the same bytes.
"""

from __future__ import annotations

import pickle
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Lock
from typing import Protocol

from gslopes.core.errors import WorkerLost
from gslopes.core.progress import Tick

# How often a part is tried; and, times the number of workers, how many are lost in a row without any part finished.
MAX_ATTEMPTS = 3


class Lost(Exception):
    """A worker is gone; half a sentence says why."""


class Worker(Protocol):
    """A work somewhere else."""

    def do(self, part: int) -> Iterator[int]:
        """Do a part, next to others; gives numbers of units as they are done.  Raises: Lost; what the work raises."""
        ...

    def end(self) -> None:
        """End it, whatever it is doing; every ``do`` raises Lost."""
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

    A part on which a worker was lost is tried again when the others are done, and alone: then it is known which is to
    blame.

    start: starts a worker.  name: a part in words.  note: called with a sentence for each worker that was lost.

    Raises: WorkerLost if workers are lost again and again; what the work raised.
    """
    left, last, most_losses = list(parts), "", MAX_ATTEMPTS * workers
    for attempt in range(MAX_ATTEMPTS):
        count = min(workers, len(left))
        # where parts are few, every worker has some
        in_hand = 1 if attempt else min(slots, -(-len(left) // count))
        attempted = Attempt(start, left, most_losses, name, tick, note)
        attempted.carry_out(count, in_hand)
        left, last = sorted(attempted.lost), attempted.last
        if not left:
            return
    raise _given_up(MAX_ATTEMPTS, last)


class Attempt:
    """One attempt at some parts.  most_losses: in a row.  Other arguments as of ``run_parts``.

    lost: the parts on which workers were lost.  last: the last loss in words.
    """

    def __init__(
        self,
        start: Callable[[], Worker],
        parts: Iterable[int],
        most_losses: int,
        name: Callable[[int], str],
        tick: Tick,
        note: Callable[[str], None],
    ) -> None:
        self._start, self._waiting, self._most_losses = start, deque(parts), most_losses
        self._name, self._tick, self._note = name, tick, note
        self._lock, self._running, self._stopped, self._in_a_row = Lock(), list[Worker](), False, 0
        self.lost: list[int] = []
        self.last = ""

    def carry_out(self, workers: int, slots: int) -> None:
        """Until no part waits.  Raises: as ``run_parts``."""
        with ThreadPoolExecutor(workers, "worker") as threads:
            try:
                for end in as_completed([threads.submit(self._keep_worker, slots) for _ in range(workers)]):
                    end.result()
            finally:
                self._stop()

    def _keep_worker(self, slots: int) -> None:
        """A worker, and another one whenever it is lost."""
        while self._waiting and not self._stopped:
            with self._lock:
                if self._stopped:
                    return
                worker = self._start()
                self._running.append(worker)
            with ThreadPoolExecutor(slots, "part") as threads:
                losses = [loss for loss in threads.map(self._do_parts, [worker] * slots) if loss]
            if losses and not self._stopped:
                self._lose([part for part, _ in losses], losses[0][1])

    def _do_parts(self, worker: Worker) -> tuple[int, str] | None:
        """One part after another; the one at which the worker was lost, and why."""
        while not self._stopped:
            try:
                part = self._waiting.popleft()
            except IndexError:
                break
            units = 0
            try:
                for count in worker.do(part):
                    units += count
                    self._tick(count)
            except Lost as error:
                self._tick(-units)
                return part, str(error)
            except BaseException:
                self._stop()
                raise
            self._in_a_row = 0
        return None

    def _lose(self, parts: list[int], reason: str) -> None:
        with self._lock:
            self.lost += parts
            self._in_a_row += 1
            self.last = f"{' and '.join(map(self._name, sorted(parts)))}: {reason}"
        self._note(f"A worker was lost at {self.last}. That is done again.")
        if self._in_a_row >= self._most_losses:
            self._stop()
            raise _given_up(self._in_a_row, self.last)

    def _stop(self) -> None:
        """End all workers."""
        with self._lock:
            self._stopped, running = True, self._running.copy()
            self._running.clear()
        for worker in running:
            worker.end()


def _given_up(times: int, last: str) -> WorkerLost:
    hint = "If memory ran out, use fewer --workers. What was done is kept: the same command goes on from there."
    return WorkerLost(f"Workers were lost {times} times, the last at {last}.", hint)


def portable(error: BaseException) -> BaseException:
    """An error that can be pickled, with where it was raised as a note for ``--debug``."""
    error.add_note("In a worker:\n" + "".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        plain = RuntimeError(f"{type(error).__name__}: {error}")
        plain.add_note(error.__notes__[-1])
        return plain
    return error
