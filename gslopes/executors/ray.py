"""Parts on the machines of a Ray cluster.

Photos, run folder, models and gslopes itself must be on every machine: the folders under the same names, on a file
system that all of them share; the rest installed. Nothing is sent but the configuration and the numbers of parts.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from typing import Any

from gslopes.core.errors import UsageError
from gslopes.core.runfolder import show
from gslopes.core.runtime import gslopes_version
from gslopes.executors.executor import Work, pack
from gslopes.executors.pool import Done, Event, Failed, Lost, Ready, Ticked, portable, run_parts
from gslopes.executors.processes import CORES_EACH
from gslopes.executors.progress import progress_line, tell
from gslopes.executors.threads import cores, limit_threads, slots_and_threads

ADDRESS = "RAY_ADDRESS"
STORE = 100 * 2**20  # bytes of a local cluster's object store: the configuration is all that goes through it


@dataclass(frozen=True, slots=True)
class RayCluster:
    """Parts on the cluster at RAY_ADDRESS, or on one that is started on this machine for as long as it takes.

    workers: how many; by default one for each GPU of the cluster, or for every four cores, at least two.
    device: ``cpu`` uses no GPU; other words use one GPU a worker where the cluster has GPUs.
    progress: show a line with the expected end, and notes, on stderr.
    """

    workers: int | None = None
    device: str = "auto"
    progress: bool = False

    def __call__(self, work: Work, parts: Mapping[int, int], *, label: str, unit: str, done: int = 0) -> None:
        """As ``Executor``.

        Raises: UsageError if Ray is not installed, the cluster not there, the work cannot be sent, or a machine of the
            cluster lacks what it needs; WorkerLost.
        """
        if not parts:
            return
        task = pack(work)
        ray, started = connect(self.workers)
        try:
            size = _size(ray, self.workers, len(parts), self.device != "cpu")
            self.note(f"ray        {size.workers} workers, {size.where}")
            slots, threads = slots_and_threads(work, size.cpus)
            pool = _WorkerPool(ray, pickle.dumps(task.make), task.needs, size, slots, threads)
            with progress_line(self.progress, parts, label, unit, done) as tick:
                run_parts(pool, size.workers, slots, parts, task.name, tick, self.note)
        finally:
            if started:
                ray.shutdown()

    def note(self, text: str) -> None:
        """A line on stderr, if progress is shown."""
        if self.progress:
            tell(text)


# -- the cluster ------------------------------------------------------------------------------------------------------


def connect(workers: int | None) -> tuple[Any, bool]:
    """The library, connected to a cluster, and whether the cluster was started for that.

    Raises: UsageError if Ray is not installed, or no cluster is where RAY_ADDRESS says.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is reported to anybody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # as Ray's own warning asks
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".*")  # or it tells on stdout, at length, who was lost
    try:
        import ray
    except ImportError as error:
        hint = "Install it with: pip install 'gslopes[ray]'."
        raise UsageError("The engine ray needs the library Ray.", hint) from error
    if ray.is_initialized():
        return ray, False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    address = os.environ.get(ADDRESS)
    if not address:
        room = max(cores(), workers or 0)
        ray.init(address="local", num_cpus=room, include_dashboard=False, object_store_memory=STORE, **quiet)
        return ray, True
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        if "AuthToken" in str(error) or "Unauthenticated" in str(error):
            hint = "Give the cluster's token to this machine as Ray's documentation says, with RAY_AUTH_MODE=token."
            raise UsageError(f"The Ray cluster at {ADDRESS}={address} wants a token.", hint) from error
        hint = f"Start one with: ray start --head. Without {ADDRESS}, one is started on this machine."
        raise UsageError(f"There is no Ray cluster at {ADDRESS}={address}.", hint) from error
    return ray, True


@dataclass(frozen=True, slots=True)
class _Size:
    """workers: how many.  cpus, gpus: of each.  where: in words."""

    workers: int
    cpus: int
    gpus: int
    where: str


def _size(ray: Any, workers: int | None, parts: int, gpus: bool) -> _Size:
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    accelerated = [node for node in nodes if node.get("GPU", 0) >= 1] if gpus else []
    hosts = accelerated or [node for node in nodes if node.get("CPU", 0) >= 1] or nodes
    cpus, cards = (int(sum(node.get(kind, 0) for node in hosts)) for kind in ("CPU", "GPU"))
    workers = min(parts, workers or (cards if accelerated else max(2, cpus // CORES_EACH)))
    # no more than the smallest machine has, or some workers would wait for ever
    each = max(1, min([cpus // workers, *(int(node.get("CPU", 0)) for node in hosts)]))
    what = f"{cards} GPU{'s' * (cards != 1)}" if accelerated else f"{cpus} CPU core{'s' * (cpus != 1)}"
    where = f"on {len(hosts)} machine{'s' * (len(hosts) != 1)} with {what}"
    return _Size(workers, each, 1 if accelerated else 0, where)


class _WorkerPool:
    """Actors.  make: pickled.  needs: see RemoteTask.  slots, threads: of each."""

    def __init__(self, ray: Any, make: bytes, needs: Sequence[Path], size: _Size, slots: int, threads: int) -> None:
        self._ray = ray
        self._class = ray.remote(num_cpus=size.cpus, num_gpus=size.gpus, max_concurrency=slots + 1)(RayWorker)
        self._order = [
            ray.put(make),
            list(needs),
            "cuda" if size.gpus else "cpu",
            threads,
            gslopes_version(),
        ]
        self._actors: dict[int, Any] = {}
        self._answers: dict[Any, int] = {}  # what is to come, and from whom
        self._busy: Counter[int] = Counter()  # worker to parts in its slots
        self._watched: set[int] = set()
        self._started = 0

    def start(self) -> int:
        self._started += 1
        actor = self._actors[self._started] = self._class.remote()
        self._answers[actor.begin.remote(*self._order)] = self._started
        return self._started

    def submit(self, worker: int, part: int) -> None:
        self._answers[self._actors[worker].work.remote(part)] = worker
        self._busy[worker] += 1
        self._watch(worker)

    def events(self) -> Iterator[tuple[int, Event]]:
        from ray.exceptions import RayError

        ready, _ = self._ray.wait(list(self._answers), num_returns=1)
        for answer in ready:
            worker = self._answers.pop(answer)
            if worker not in self._actors:
                continue
            try:
                several = self._ray.get(answer)
            except RayError as error:
                yield worker, self._lose(worker, error)
                continue
            if any(isinstance(event, Done) for event in several):
                self._busy[worker] -= 1
            elif not any(isinstance(event, Ready) for event in several):  # about its progress
                self._watched.discard(worker)
                if self._busy[worker]:
                    self._watch(worker)
            for event in several:
                yield worker, event

    def shutdown(self) -> None:
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._actors.clear()

    def _watch(self, worker: int) -> None:
        """Have one answer to come about its progress."""
        if worker not in self._watched:
            self._watched.add(worker)
            self._answers[self._actors[worker].ticks.remote()] = worker

    def _lose(self, worker: int, error: Exception) -> Event:
        self._ray.kill(self._actors.pop(worker))
        text = str(error)
        if "No module named 'gslopes'" in text:
            hint = "Install the same version on every machine of the cluster."
            return Failed(UsageError("gslopes is not installed on a machine of the cluster.", hint))
        lines = [line.strip() for line in text.splitlines() if "because" in line or "detail" in line]
        return Lost(f"{type(error).__name__}: {' '.join(lines[:1])[:200]}".rstrip(": ."))


# -- what runs there --------------------------------------------------------------------------------------------------


class RayWorker:
    """One worker, on any machine. Each method returns event in order; ``ticks`` runs beside ``work``."""

    def __init__(self) -> None:
        self._work: Work | None = None
        self._counts: Counter[int] = Counter()  # part to units done since the last answer
        self._ticked = Condition()

    def begin(self, make: bytes, needs: list[Path], device: str, threads: int, version: str) -> list[Event]:
        """Make the work, if everything is as it is where it was sent from."""
        try:
            _check(needs, version)
            made: Callable[[str], Work] = pickle.loads(make)
            self._work = made(device)
            limit_threads(threads)
        except Exception as error:
            return [Failed(portable(error))]
        return [Ready()]

    def work(self, part: int) -> list[Event]:
        """Do a part."""
        assert self._work is not None
        units: list[int] = []

        def tick(count: int) -> None:
            units.append(count)
            self._tick(part, count)

        try:
            self._work(part, tick)
        except Exception as error:
            return [Failed(portable(error))]
        return [*self._taken(), Done(part, sum(units))]  # an answer of ``ticks`` may still be on its way

    def ticks(self) -> list[Event]:
        """What was done since the last answer; waits a while if it is nothing."""
        with self._ticked:
            self._ticked.wait_for(lambda: bool(self._counts), timeout=10)
        return self._taken()

    def _tick(self, part: int, count: int) -> None:
        with self._ticked:
            self._counts[part] += count
            self._ticked.notify()

    def _taken(self) -> list[Event]:
        with self._ticked:
            counts, self._counts = self._counts, Counter()
        return [Ticked(part, count) for part, count in counts.items()]


def _check(needs: Sequence[Path], version: str) -> None:
    """Raises: UsageError unless this machine has the same version, and sees the files."""
    host = socket.gethostname()
    if gslopes_version() != version:
        message = f"The machine {host} has gslopes {gslopes_version()}, not {version}."
        raise UsageError(message, "Install the same version on every machine of the cluster.")
    for path in needs:
        if not path.exists():
            hint = "Photos and run folder must lie on a file system that all machines share, under the same names."
            raise UsageError(f"The machine {host} does not see {show(path)}.", hint)
