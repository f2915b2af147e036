"""What a worker process of this machine runs: ``python -m gslopes.run.executors.worker HANDLE DEVICE THREADS``.

HANDLE is a socket to the process that started it. When that one is gone, for whatever reason, so is this.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any

from gslopes.run.executors.crew import Done, Failed, Ready, Ticked, portable
from gslopes.run.executors.executor import Work
from gslopes.run.executors.threads import limit_threads


def main(handle: int, device: str, threads: int) -> None:
    """Make the work from the first message, then do a part for each further one."""
    os.set_inheritable(handle, False)
    head = Connection(handle)
    orders: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(head, orders), daemon=True).start()
    try:
        make: Callable[[str], Work] = pickle.loads(orders.get())
        work = make(device)
        limit_threads(threads)
        head.send(Ready())
        while True:
            work(orders.get(), lambda count: head.send(Ticked(count)))
            head.send(Done())
    except BaseException as error:
        with suppress(OSError):
            head.send(Failed(portable(error)))


def _listen(head: Connection, orders: SimpleQueue[Any]) -> None:
    """Pass on what the head sends; end the process, in the middle of whatever it does, when the head is gone."""
    while True:
        try:
            orders.put(head.recv())
        except (EOFError, OSError):
            os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
