"""Parts in this process: in threads, one for each core, or one after another."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event

from gslopes.core.executor import Work
from gslopes.core.progress import Notes, Tick, progress_line
from gslopes.frame.executors.threads import MAX_SLOTS, cores, one_thread_each


@dataclass(frozen=True, slots=True)
class OneProcess(Notes):
    """Parts in threads of this process, if the work says that it may be done so (``in_threads``).

    Decoding, convolutions and encoding leave Python's lock alone, so that the cores are all busy. Networks have one
    thread each meanwhile: what a part gives does not depend on the number of cores.

    progress: show a line with the expected end, and notes, on stderr.
    threads: how many parts are in hand at once; one for each core by default.
    """

    progress: bool = False
    threads: int | None = None

    def __call__(self, work: Work, parts: Mapping[int, int], *, label: str, unit: str, done: int = 0) -> None:
        """As ``Executor``."""
        if not parts:
            return
        in_threads = getattr(work, "in_threads", False)
        count = min(self.threads or cores(), MAX_SLOTS, len(parts)) if in_threads else 1
        with progress_line(self.progress, parts, label, unit, done) as tick, one_thread_each(in_threads):
            if count == 1:
                for index in parts:
                    work(index, tick)
            else:
                _in_threads(work, parts, count, tick)


class _Stopped(Exception):
    """Raised in the other threads when one of them failed, or at Ctrl-C."""


def _in_threads(work: Work, parts: Mapping[int, int], threads: int, tick: Tick) -> None:
    """All parts; the first error ends the others at their next tick and is raised."""
    stop = Event()

    def tick_on(count: int) -> None:
        if stop.is_set():
            raise _Stopped
        tick(count)

    with ThreadPoolExecutor(threads, "part") as pool:
        try:
            waiting = [pool.submit(work, index, tick_on) for index in parts]
            finished, _ = wait(waiting, return_when=FIRST_EXCEPTION)
        finally:  # nothing is left to stop if all went well
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
    errors = [error for future in finished if not future.cancelled() and (error := future.exception())]
    if errors:
        raise next((error for error in errors if not isinstance(error, _Stopped)), errors[0])
