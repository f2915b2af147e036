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
from gslopes.run.executors.executor import Tick

# So often may workers be lost on one part; and so often, times their number, without any part finished in between.
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker has made the work and waits for a part."""


@dataclass(frozen=True, slots=True)
class Ticked:
    """Some more units of its part are done."""

    count: int


@dataclass(frozen=True, slots=True)
class Done:
    """Its part is done, and it waits for another."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The work raised an error, as it would have here."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker is gone; reason: half a sentence."""

    reason: str


News = Ready | Ticked | Done | Failed | Lost


class Crew(Protocol):
    """Workers by number."""

    def hire(self) -> int:
        """Begin to start one; its number. Its first news is that it is ready."""
        ...

    def give(self, worker: int, part: int) -> None:
        """A part for one that waits."""
        ...

    def news(self) -> Iterable[tuple[int, News]]:
        """What happened; waits until something did."""
        ...

    def dismiss(self) -> None:
        """End all of them, whatever they are doing."""
        ...


def carry_out(
    crew: Crew,
    workers: int,
    parts: Mapping[int, int],
    name: Callable[[int], str],
    tick: Tick,
    note: Callable[[str], None],
) -> None:
    """Have all parts done by so many workers at once.

    name: a part in words.  note: called with a sentence for each worker that was lost.

    Raises: WorkerLost if workers are lost again and again; what the work raised.
    """
    shift = _Shift(crew, workers, parts, name, tick, note)
    try:
        for _ in range(min(workers, len(parts))):
            crew.hire()
        while shift.left:
            for worker, news in crew.news():
                shift.take(worker, news)
    finally:
        crew.dismiss()


class _Shift:
    """Who does what."""

    def __init__(
        self,
        crew: Crew,
        workers: int,
        parts: Iterable[int],
        name: Callable[[int], str],
        tick: Tick,
        note: Callable[[str], None],
    ) -> None:
        self._crew, self._name, self._tick, self._note = crew, name, tick, note
        self._waiting = deque(parts)
        self.left = len(self._waiting)
        self._parts: dict[int, int] = {}  # worker to the part that it does
        self._ticks: Counter[int] = Counter()  # worker to units of that part
        self._idle: list[int] = []
        self._losses: Counter[int] = Counter()  # part to workers lost on it
        self._barren, self._patience = 0, ATTEMPTS * workers

    def take(self, worker: int, news: News) -> None:
        match news:
            case Ready():
                self._next(worker)
            case Ticked(count):
                self._ticks[worker] += count
                self._tick(count)
            case Done():
                self._parts.pop(worker)
                self._ticks.pop(worker, None)
                self.left -= 1
                self._barren = 0
                self._next(worker)
            case Failed(error):
                raise error
            case Lost(reason):
                self._lose(worker, reason)

    def _next(self, worker: int) -> None:
        if not self._waiting:
            self._idle.append(worker)
            return
        self._parts[worker] = self._waiting.popleft()
        self._crew.give(worker, self._parts[worker])

    def _lose(self, worker: int, reason: str) -> None:
        """Its part goes to the end of the row: if that part is to blame, all others are done first."""
        self._tick(-self._ticks.pop(worker, 0))
        part = self._parts.pop(worker, None)
        if worker in self._idle:
            self._idle.remove(worker)
        self._barren += 1
        task, losses = "before it had anything to do", 0
        if part is not None:
            self._waiting.append(part)
            self._losses[part] += 1
            task, losses = f"at {self._name(part)}", self._losses[part]
        if losses >= ATTEMPTS or self._barren >= self._patience:
            times = losses if losses >= ATTEMPTS else self._barren
            hint = "If memory ran out, use fewer --workers. What was done is kept: the same command goes on from there."
            raise WorkerLost(f"Workers were lost {times} times, the last {task}: {reason}.", hint)
        self._note(f"A worker was lost {task}: {reason}. Its part is done again.")
        if self._idle and self._waiting:
            self._next(self._idle.pop())
        else:
            self._crew.hire()


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
