"""Several processes of this machine: one for each GPU, or a few that share the cores.

They are started anew, not forked, since CUDA survives no fork, and they do not run the user's script again, as the
standard library's would: a notebook, or a script without ``if __name__ == "__main__"``, works.
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
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait

from gslopes.core.runtime import pick_device
from gslopes.executors.executor import Work, pack
from gslopes.executors.pool import Event, Lost, run_parts
from gslopes.executors.progress import progress_line, tell
from gslopes.executors.threads import cores, slots_and_threads

CORES_EACH = 4  # of a worker without a GPU, if the number of workers is not given


@dataclass(frozen=True, slots=True)
class Processes:
    """Parts in so many processes of this machine.

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
        task = pack(work)
        count = min(self.count, len(parts))
        slots, threads = slots_and_threads(work, cores() // count)
        pool = _WorkerPool(pickle.dumps(task.make), self.devices, slots, threads)
        with progress_line(self.progress, parts, label, unit, done) as tick:
            run_parts(pool, count, slots, parts, task.name, tick, self.note)

    def note(self, text: str) -> None:
        """A line on stderr, if progress is shown."""
        if self.progress:
            tell(text)


class _WorkerPool:
    """Processes at the other ends of sockets.  make: pickled.  slots, threads: of each."""

    def __init__(self, make: bytes, devices: Sequence[str], slots: int, threads: int) -> None:
        self._make, self._devices, self._slots, self._threads = make, devices, slots, threads
        self._ends: dict[int, Connection] = {}  # by process number
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._device_of: dict[int, str] = {}  # the device of each

    def start(self) -> int:
        taken = Counter(self._device_of.values())
        device = min(self._devices, key=lambda name: taken[name])
        end, other = Pipe()
        # what this process can import, they can, and from the same places
        path = os.pathsep.join(map(os.path.abspath, sys.path))
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": str(self._threads)}
        command = [sys.executable, "-P", "-m", "gslopes.executors.worker", str(other.fileno()), device]
        process = subprocess.Popen(
            [*command, str(self._slots), str(self._threads)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=2,  # stdout is for results
            pass_fds=[other.fileno()],
            start_new_session=True,  # Ctrl-C is for the parent, which ends them
        )
        other.close()
        self._ends[process.pid], self._processes[process.pid], self._device_of[process.pid] = end, process, device
        self._send(process.pid, self._make)
        return process.pid

    def submit(self, worker: int, part: int) -> None:
        self._send(worker, part)

    def events(self) -> Iterator[tuple[int, Event]]:
        ready = wait(list(self._ends.values()))
        for worker, end in list(self._ends.items()):
            if end in ready:
                try:
                    yield worker, end.recv()
                except (EOFError, OSError):
                    yield worker, Lost(self._reap(worker))

    def shutdown(self) -> None:
        for process in self._processes.values():
            process.kill()
        for worker in list(self._processes):
            self._reap(worker)

    def _send(self, worker: int, message: object) -> None:
        with suppress(OSError):  # it is gone: its end says so next
            self._ends[worker].send(message)

    def _reap(self, worker: int) -> str:
        """Forget a worker that has ended, or is ending; how it ended."""
        self._ends.pop(worker).close()
        del self._device_of[worker]
        code = self._processes.pop(worker).wait()
        if code == -signal.SIGKILL:
            return "it was killed (SIGKILL), as the system does when memory runs out"
        return f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"


def cuda_devices() -> list[str]:
    """The CUDA devices of this machine, ``cuda:0`` first."""
    import torch

    return [f"cuda:{index}" for index in range(torch.cuda.device_count())]
