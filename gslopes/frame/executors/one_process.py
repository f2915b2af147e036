"""Parts in this process, in threads or one after another; and how many threads each worker has, here and elsewhere.

Another number of threads moves sums by rounding, and with them numbers in the tables.
"""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from importlib import import_module
from threading import Event
from typing import Any

from gslopes.core import Notes, Tick, Work, frozen, limit_threads, progress_line

# With a GPU the cores decode and write while it computes; more threads than this wait for Python's lock instead.
MAX_SLOTS = 16


def cores() -> int:
    """CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def slots_and_threads(work: object, share: int) -> tuple[int, int]:
    """(parts that a worker has in hand at once, threads of its networks).

    work: with ``in_threads``, if parts may be done side by side: as many as there are cores, with one thread each, as
        in ``OneProcess``. Otherwise one, with as many threads, or as many as OMP_NUM_THREADS names.
    share: cores of the worker.
    """
    share = max(1, share)
    if getattr(work, "in_threads", False):
        return min(share, MAX_SLOTS), 1
    threads_set = os.environ.get("OMP_NUM_THREADS", "")
    return 1, int(threads_set) if threads_set.isdigit() and int(threads_set) else share


@contextmanager
def one_thread_each() -> Iterator[None]:
    """One thread for each network, in whatever thread of this process it runs; afterwards as many as before."""
    torch: Any = import_module("torch")  # the works that it is for import it anyway

    before = torch.get_num_threads()
    limit_threads(1)
    try:
        yield
    finally:
        limit_threads(before)


@frozen
class OneProcess(Notes):
    """Parts in threads of this process, if the work allows it (``in_threads``).

    Decoding, convolutions and encoding do not hold Python's lock, so that the cores are all busy. Networks have one
    thread each meanwhile: what a part gives does not depend on the number of cores.

    progress: show a line with the expected end, and notes, on stderr.
    threads: how many parts are in hand at once; one for each core by default.
    """

    progress: bool = False
    threads: int | None = None

    def __call__(self, work: Work, parts: Mapping[int, int], **line: Any) -> None:
        """As ``Executor``."""
        if not parts:
            return
        in_threads = getattr(work, "in_threads", False)
        count = min(self.threads or cores(), MAX_SLOTS, len(parts)) if in_threads else 1
        threads = one_thread_each() if in_threads else nullcontext()
        with progress_line(self.progress, parts, **line) as tick, threads:
            if count == 1:
                for index in parts:
                    work(index, tick)
            else:
                side_by_side(work, parts, count, tick)


class _Stopped(Exception):
    """Raised in the other threads when one of them failed, or at Ctrl-C."""


def side_by_side(work: Work, parts: Mapping[int, int], threads: int, tick: Tick) -> None:
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
    if errors := [
        error for future in finished if not future.cancelled() and (error := future.exception())
    ]:
        raise next((error for error in errors if not isinstance(error, _Stopped)), errors[0])
