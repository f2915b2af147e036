"""What runs in a worker, on this machine or another: several parts at once in threads, and reports about them."""

from __future__ import annotations

import pickle
import traceback
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Condition

from gslopes.executors.executor import Work

WAIT = 1.0  # seconds after which a report says that nothing happened: a worker whose head is gone ends by then


@dataclass(frozen=True, slots=True)
class Report:
    """What happened in a worker since its last report.

    units: part to units done.  done: parts that are done; all their units are in this report or earlier ones.
    error: what the work raised, as it would have in the head.
    """

    units: dict[int, int] = field(default_factory=dict)
    done: tuple[int, ...] = ()
    error: BaseException | None = None


class PartWorker:
    """Does the parts that it is given.  slots: how many at once."""

    def __init__(self, work: Work, slots: int) -> None:
        self._work, self._threads = work, ThreadPoolExecutor(slots, "part")
        self._news = Condition()
        self._left = 0
        self._units: Counter[int] = Counter()
        self._done: list[int] = []
        self._error: BaseException | None = None

    def exchange(self, parts: Sequence[int]) -> Report:
        """Begin parts, and report as soon as something has happened in those in hand."""
        with self._news:
            self._left += len(parts)
        for part in parts:
            self._threads.submit(self._do, part)
        with self._news:
            self._news.wait_for(lambda: self._units or self._done or self._error or not self._left, WAIT)
            report = Report(dict(self._units), tuple(self._done), self._error)
            self._units.clear()
            self._done.clear()
        return report

    def _do(self, part: int) -> None:
        try:
            self._work(part, lambda count: self._add(part, count))
        except BaseException as error:
            with self._news:
                self._error = portable(error)
                self._news.notify()
            return
        with self._news:
            self._done.append(part)
            self._left -= 1
            self._news.notify()

    def _add(self, part: int, count: int) -> None:
        with self._news:
            self._units[part] += count
            self._news.notify()


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
