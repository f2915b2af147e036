"""How many threads each worker has. Another number moves sums by rounding, and with them numbers in the tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from gslopes.core.runtime import limit_threads

# With a GPU the cores decode and write while it computes; more threads than this wait for Python's lock instead.
MAX_SLOTS = 16


def cores() -> int:
    """CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slots_and_threads(work: object, share: int) -> tuple[int, int]:
    """(parts that a worker has in hand at once, threads of its networks).

    work: with ``in_threads``, if parts may be done side by side: as many as there are cores, with one thread each, as
        in ``OneProcess``. Otherwise one, with as many threads, or as OMP_NUM_THREADS says.
    share: cores of the worker.
    """
    share = max(1, share)
    if getattr(work, "in_threads", False):
        return min(share, MAX_SLOTS), 1
    said = os.environ.get("OMP_NUM_THREADS", "")
    return 1, int(said) if said.isdigit() and int(said) else share


@contextmanager
def one_thread_each(wanted: bool = True) -> Iterator[None]:
    """One thread for each network, in whatever thread of this process it runs; afterwards as many as before."""
    if not wanted:
        yield
        return
    import torch  # the works that it is for import it anyway

    before = torch.get_num_threads()
    limit_threads(1)
    try:
        yield
    finally:
        limit_threads(before)
