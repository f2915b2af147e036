"""What a worker process of this machine runs: ``python -m gslopes.run.executors.worker HANDLE DEVICE HANDS THREADS``.

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

from gslopes.run.executors.crew import Done, Failed, News, Ready, Ticked, portable
from gslopes.run.executors.executor import Work
from gslopes.run.executors.threads import limit_threads


def main(handle: int, device: str, hands: int, threads: int) -> None:
    """Make the work from the first message, then do a part for each further one, so many at once."""
    os.set_inheritable(handle, False)
    head = _Head(Connection(handle))
    orders: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(head.connection, orders), daemon=True).start()
    try:
        make: Callable[[str], Work] = pickle.loads(orders.get())
        work = make(device)
        limit_threads(threads)
        head.tell(Ready())
        with ThreadPoolExecutor(hands, "part") as pool:
            while True:
                pool.submit(_do, work, orders.get(), head)
    except BaseException as error:
        head.tell(Failed(portable(error)))


def _do(work: Work, part: int, head: _Head) -> None:
    try:
        work(part, lambda count: head.tell(Ticked(part, count)))
        head.tell(Done(part))
    except BaseException as error:
        head.tell(Failed(portable(error)))


class _Head:
    """The process that wants to know, told by one thread at a time."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._lock = Lock()

    def tell(self, news: News) -> None:
        with self._lock, suppress(OSError):  # it is gone: the listener ends this process
            self.connection.send(news)


def _listen(head: Connection, orders: SimpleQueue[Any]) -> None:
    """Pass on what the head sends; end the process, in the middle of whatever it does, when the head is gone."""
    while True:
        try:
            orders.put(head.recv())
        except (EOFError, OSError):
            os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
