"""What a worker process of this machine runs: ``python -m gslopes.executors.worker HANDLE DEVICE SLOTS THREADS``.

HANDLE is a socket to the process that started it. When that one is gone, for whatever reason, so is this.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from gslopes.executors.executor import Work
from gslopes.executors.pool import Done, Event, Failed, Ready, Ticked, portable
from gslopes.executors.threads import limit_threads


def main(handle: int, device: str, slots: int, threads: int) -> None:
    """Make the work from the first message, then do a part for each further one, so many at once."""
    os.set_inheritable(handle, False)
    parent = _Parent(Connection(handle))
    orders: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(parent.connection, orders), daemon=True).start()
    try:
        make: Callable[[str], Work] = pickle.loads(orders.get())
        work = make(device)
        limit_threads(threads)
        parent.tell(Ready())
        with ThreadPoolExecutor(slots, "part") as pool:
            while True:
                pool.submit(_do, work, orders.get(), parent)
    except BaseException as error:
        parent.tell(Failed(portable(error)))


def _do(work: Work, part: int, parent: _Parent) -> None:
    try:
        work(part, lambda count: parent.tell(Ticked(part, count)))
        parent.tell(Done(part))
    except BaseException as error:
        parent.tell(Failed(portable(error)))


class _Parent:
    """The process that wants to know, told by one thread at a time."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._lock = Lock()

    def tell(self, event: Event) -> None:
        with self._lock, suppress(OSError):  # it is gone: the listener ends this process
            self.connection.send(event)


def _listen(parent: Connection, orders: SimpleQueue[Any]) -> None:
    """Pass on what the parent sends; end the process, in the middle of whatever it does, when the parent is gone."""
    while True:
        try:
            orders.put(parent.recv())
        except (EOFError, OSError):
            os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
