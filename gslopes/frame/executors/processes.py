"""Several processes of this machine: one for each GPU, or a few that share the cores.

Not a ``ProcessPoolExecutor``: that one runs the user's script again in each process, so that a notebook, or a script
without ``if __name__ == "__main__"``, would not work, and gives up all processes when one is lost. They are started and
not forked, since CUDA survives no fork.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

from gslopes.core.executor import Work, pack
from gslopes.core.progress import Notes, Tick, progress_line
from gslopes.core.runtime import limit_threads, pick_device
from gslopes.frame.executors.one_process import cores, slots_and_threads
from gslopes.frame.executors.pool import Lost, portable, run_parts

CORES_EACH = 4  # of a worker without a GPU, if the number of workers is not given
MAIN = "from gslopes.frame.executors.processes import main; main()"


@dataclass(frozen=True, slots=True)
class Processes(Notes):
    """Parts in several processes of this machine.

    They share the cores: each has as many parts in hand as its share, with one thread a part, as ``OneProcess`` does,
    so that the bytes are the same. Work that must be done one part after another has its share of threads.

    workers: how many; by default one for each CUDA device, or for every four cores, at least two.
    device: where their networks run: ``auto`` and ``cuda`` are all CUDA devices in turn, if there are any.
    progress: show a line with the expected end, and notes, on stderr.
    """

    workers: int | None = None
    device: str = "auto"
    progress: bool = False

    @property
    def devices(self) -> list[str]:
        """The devices that the workers have in turn.  Raises: UsageError for one that is not there."""
        chosen = pick_device(self.device)
        return cuda_devices() if chosen == "cuda" else [chosen]

    @property
    def count(self) -> int:
        """How many workers there are when there is enough to do."""
        devices = self.devices
        return self.workers or (max(2, cores() // CORES_EACH) if devices == ["cpu"] else len(devices))

    def __call__(self, work: Work, parts: Mapping[int, int], *, label: str, unit: str, done: int = 0) -> None:
        """As ``Executor``.  Raises: UsageError if the work cannot be sent; WorkerLost."""
        if not parts:
            return
        task, devices, count = pack(work), self.devices, min(self.count, len(parts))
        slots, threads = slots_and_threads(work, cores() // count)
        make, running = pickle.dumps(task.make), list[Process]()

        def start() -> Process:
            running.append(Process(make, least_used(devices, running), slots, threads))
            return running[-1]

        with progress_line(self.progress, parts, label, unit, done) as tick:
            run_parts(start, count, slots, parts, task.name, tick, self.note)


class Process:
    """A ``pool.Worker``: a process at the other end of sockets, one for orders and one for each part in hand.

    make: the work's, pickled.  device: where its networks run.  slots, threads: as of ``slots_and_threads``.
    """

    def __init__(self, make: bytes, device: str, slots: int, threads: int) -> None:
        self.device = device
        ends, others = zip(*(Pipe() for _ in range(slots + 1)), strict=True)
        handles = [other.fileno() for other in others]
        # what this process can import, it can, and from the same places
        path = os.pathsep.join(map(os.path.abspath, sys.path))
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", MAIN, device, str(threads), *map(str, handles)],
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": str(threads)},
            stdin=subprocess.DEVNULL,
            stdout=2,  # stdout is for results
            pass_fds=handles,
            start_new_session=True,  # Ctrl-C is for the parent, which ends it
        )
        for other in others:
            other.close()
        self._orders: Connection = ends[0]
        with suppress(OSError):  # it is lost, as the first part will say
            self._orders.send(make)
        self._free: SimpleQueue[Connection] = SimpleQueue()
        for end in ends[1:]:
            self._free.put(end)

    def do(self, part: int) -> Iterator[int]:
        """As ``pool.Worker``."""
        end = self._free.get()
        try:
            end.send(part)
            while (news := end.recv()) is not None:
                if isinstance(news, BaseException):
                    raise news
                yield news
        except (EOFError, ConnectionError):
            raise Lost(self._why()) from None
        finally:
            self._free.put(end)

    def end(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()

    def _why(self) -> str:
        code = self.process.wait()
        if code == -signal.SIGKILL:
            return "it was killed (SIGKILL), as the system does when memory runs out"
        return f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"


def least_used(devices: Sequence[str], running: Sequence[Process]) -> str:
    """The device on which the fewest processes run, the first of several."""
    taken = Counter(one.device for one in running if one.process.poll() is None)
    return min(devices, key=lambda name: taken[name])


def cuda_devices() -> list[str]:
    """The CUDA devices of this machine, ``cuda:0`` first."""
    import torch

    return [f"cuda:{index}" for index in range(torch.cuda.device_count())]


def main() -> None:
    """What such a process runs: make the work, then do parts until its parent is gone, for whatever reason.

    argv: device, threads, handles of the sockets to the parent.
    """
    device, threads, *handles = sys.argv[1], *map(int, sys.argv[2:])
    for handle in handles:
        os.set_inheritable(handle, False)
    orders, ends = Connection(handles[0]), [Connection(handle) for handle in handles[1:]]
    with suppress(EOFError, OSError):
        make = orders.recv()
        try:
            work: Work = pickle.loads(make)(device)
            limit_threads(threads)
        except BaseException as error:
            work = partial(_raise, error)
        for end in ends:
            Thread(target=_do_parts, args=(work, end), daemon=True).start()
        orders.recv()
    os._exit(1)  # in the middle of whatever its threads do


def _do_parts(work: Work, parent: Connection) -> None:
    with suppress(EOFError, OSError):
        while True:
            part = parent.recv()
            try:
                work(part, parent.send)
                news = None
            except BaseException as error:
                news = portable(error)
            parent.send(news)


def _raise(error: BaseException, part: int, tick: Tick) -> None:
    raise error
