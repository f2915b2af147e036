"""Parts handed out to workers that may be lost: what both the processes of a machine and a Ray cluster do.

A lost worker's part is done again by another one; since a part's tables appear only when it is whole, nothing is left
of the first attempt but pictures that the second one overwrites with the same bytes.
"""

from __future__ import annotations

import pickle
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from gslopes.core.errors import WorkerLost
from gslopes.executors.progress import Tick

# So often may workers be lost on one part; and so often, times their number, without any part finished in between.
MAX_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker has made the work and waits for parts."""


@dataclass(frozen=True, slots=True)
class Ticked:
    """Some more units of a part are done."""

    part: int
    count: int


@dataclass(frozen=True, slots=True)
class Done:
    """A part is done, and it waits for another.

    units: of the part, all that were done; for workers whose event of units may come later than this. None: none may.
    """

    part: int
    units: int | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The work raised an error, as it would have here."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker is gone; reason: half a sentence."""

    reason: str


Event = Ready | Ticked | Done | Failed | Lost


class WorkerPool(Protocol):
    """Workers by number."""

    def start(self) -> int:
        """Begin to start one; its number. Its first event is that it is ready."""
        ...

    def submit(self, worker: int, part: int) -> None:
        """A part for one that has a hand free."""
        ...

    def events(self) -> Iterable[tuple[int, Event]]:
        """What happened; waits until something did."""
        ...

    def shutdown(self) -> None:
        """End all of them, whatever they are doing."""
        ...


def run_parts(
    pool: WorkerPool,
    workers: int,
    slots: int,
    parts: Mapping[int, int],
    name: Callable[[int], str],
    tick: Tick,
    note: Callable[[str], None],
) -> None:
    """Have all parts done by so many workers, each with so many in hand at once.

    name: a part in words.  note: called with a sentence for each worker that was lost.

    Raises: WorkerLost if workers are lost again and again; what the work raised.
    """
    workers = min(workers, len(parts))
    # where parts are few, everybody has some
    scheduler = Scheduler(pool, workers, min(slots, -(-len(parts) // workers)), parts, name, tick, note)
    try:
        for _ in range(workers):
            pool.start()
        while scheduler.left:
            for worker, event in pool.events():
                scheduler.take(worker, event)
    finally:
        pool.shutdown()


class Scheduler:
    """Who does what. A part on which a worker was lost comes last, and alone: then it is known which is to blame."""

    def __init__(
        self,
        pool: WorkerPool,
        workers: int,
        slots: int,
        parts: Iterable[int],
        name: Callable[[int], str],
        tick: Tick,
        note: Callable[[str], None],
    ) -> None:
        self._pool, self._slots, self._name, self._tick, self._note = pool, slots, name, tick, note
        self._waiting, self._suspects = deque(parts), deque[int]()
        self.left = len(self._waiting)
        self._held: dict[int, dict[int, int]] = {}  # worker to the parts in its slots, with the units done of each
        self._losses: Counter[int] = Counter()  # part to workers lost on it
        self._losses_in_a_row, self._most_losses_in_a_row = 0, MAX_ATTEMPTS * workers

    def take(self, worker: int, event: Event) -> None:
        """Act on what happened to a worker."""
        match event:
            case Ready():
                self._held[worker] = {}
                self._fill(worker)
            case Ticked(part, count):
                if part in self._held[worker]:  # else it was done before, and counted then
                    self._tick(count)
                    self._held[worker][part] += count
            case Done(part, units):
                counted = self._held[worker].pop(part)
                if units is not None:
                    self._tick(units - counted)
                self.left -= 1
                self._losses_in_a_row = 0
                self._fill(worker)
            case Failed(error):
                raise error
            case Lost(reason):
                self._lose(worker, reason)

    def _fill(self, worker: int) -> None:
        held = self._held[worker]
        if any(part in self._losses for part in held):
            return
        while self._waiting and len(held) < self._slots:
            self._give(worker, self._waiting.popleft())
        if self._suspects and not held:
            self._give(worker, self._suspects.popleft())

    def _give(self, worker: int, part: int) -> None:
        self._held[worker][part] = 0
        self._pool.submit(worker, part)

    def _lose(self, worker: int, reason: str) -> None:
        held = self._held.pop(worker, {})
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
        for other, parts in self._held.items():
            if not parts:
                self._fill(other)
        if self._waiting or self._suspects:
            self._pool.start()


def portable(error: BaseException) -> BaseException:
    """An error that can be sent home, with where it was raised as a note for ``--debug``."""
    error.add_note("In a worker:\n" + "".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        plain = RuntimeError(f"{type(error).__name__}: {error}")
        plain.add_note(error.__notes__[-1])
        return plain
    return error
