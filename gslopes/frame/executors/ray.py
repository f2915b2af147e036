"""Parts on the machines of a Ray cluster.

Models and gslopes itself are installed on every machine. Photos and run folder best lie on a file system that all of
them share, under the same names: nothing is sent then but the configuration and the numbers of parts.

A machine that does not see them is sent what each part reads through Ray's object store. It lays the files below a
folder of its own and does the part there; what came of it is sent back and committed by this process, the same bytes in
the same order as if it had been done here.
"""

import io
import os
import pickle
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from gslopes.core import (
    GslopesError,
    Notes,
    UsageError,
    Work,
    frozen,
    gslopes_version,
    limit_threads,
    progress_line,
    runfolder,
    show,
)
from gslopes.core.errors import WorkerLost
from gslopes.core.executor import RemoteTask, pack
from gslopes.frame.executors.one_process import OneProcess, cores, slots_and_threads

ADDRESS = "RAY_ADDRESS"
AGAIN = 2  # times that a lost worker is started, and its parts are done, again
CORES_EACH = 4  # of a worker without a GPU, if the number of workers is not given
CORES_WITH_GPU = 2  # the same with a share of one, which waits for what the cores do
GONE = 30  # seconds without an answer after which a head is gone: after 60 Ray ends the process, in its own words
LOOK = 5  # seconds between looks at the head
PATIENCE = 20  # seconds that a cluster at an address has to answer
SHARING = 8  # workers of a GPU at most: eight had 2 GB of it each
AGAIN_OR_ONE = "The same command goes on from what is done; with --engine one it needs no Ray."
THROUGH_STORE = "What it reads and makes goes through Ray's object store."
STORE = (
    100 * 2**20
)  # bytes of a local cluster's object store: only what other machines do goes through it


@frozen
class RayCluster(Notes):
    """Parts on the cluster at RAY_ADDRESS, or on one that is started on this machine for as long as it takes.

    workers: how many; by default one for every two cores, at most ``SHARING`` a GPU, if the cluster has GPUs;
        else one for every four cores, at least two.
    device: ``cpu`` uses no GPU; other words share the cluster's GPUs among the workers.
    progress: show a line with the expected end, and notes, on stderr.
    """

    workers: int | None = None
    device: str = "auto"
    progress: bool = False

    def __call__(self, work: Work, parts: Mapping[int, int], **line: Any) -> None:
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
            again: dict[str, Any] = {"max_restarts": AGAIN, "max_task_retries": AGAIN}
            actor = ray.remote(
                num_cpus=size.cpus, num_gpus=size.gpus, max_concurrency=slots, **again
            )(RayWorker)
            device = "cuda" if size.gpus else "cpu"
            order = list(task.needs), device, threads, gslopes_version()
            workers = [actor.remote(*order) for _ in range(size.workers)]
            with progress_line(self.progress, parts, **line) as tick:
                for part in _done(ray, workers * slots, list(parts), task, self.note):
                    if part < 0:  # a file that cannot be read is told as it is by this process
                        OneProcess()(work, {~part: 0}, **line)
                    tick(parts[max(part, ~part)])
            ended = [worker.__ray_terminate__.remote() for worker in workers]
            ray.wait(ended, num_returns=len(ended), timeout=LOOK)  # what they were sent is removed
        finally:
            if started:
                ray.shutdown()


def _done(
    ray: Any,
    hands: list[Any],
    waiting: list[int],
    task: RemoteTask,
    note: Callable[[str], None],
) -> Iterator[int]:
    """Each part as it is done, or its complement if it is to be done here.

    Ray starts a lost worker again, and its parts with it: what a part has written is written again, the same bytes.

    hands: the workers, as often as each has parts in hand.

    Raises: WorkerLost, with the part, if workers are lost again and again, or if the head is; what the work raised.
    """
    waiting = waiting[::-1]
    again: set[int] = set()  # parts whose worker was lost, with its machine or for good
    running: dict[Any, tuple[Any, int]] = {}
    make = [ray.put(pickle.dumps(task.make))]  # it names all photos: to a machine once
    blind: set[Any] = set()  # workers that do not see the folders
    head = ""  # of a client
    if not ray.util.client.ray.is_connected():
        head = ray.get_runtime_context().gcs_address
    heard = time.monotonic()
    try:
        while waiting or running:
            while waiting and hands:
                part = waiting.pop()
                sent = None
                try:
                    if hands[0] in blind and task.sends:
                        sent = task.sends(part)
                except OSError:
                    yield ~part
                    continue
                worker = hands.pop(0)
                running[worker.do.remote(part, make, sent)] = worker, part
            found, _ = ray.wait(list(running), timeout=LOOK) if running else ([], [])
            if _answers(ray, head):
                heard = time.monotonic()
            elif time.monotonic() - heard > GONE:
                raise ConnectionError
            for ready in found:
                worker, part = running.pop(ready)
                try:
                    answer = ray.get(ready)
                except ray.exceptions.RayError as lost:
                    hands = [hand for hand in hands if hand is not worker]
                    if part in again or not (hands or running):
                        raise _explained(lost, task.name(part)) from None
                    again.add(part)
                    waiting.insert(0, part)
                    continue
                hands.append(worker)
                if isinstance(answer, _Unseen) and task.sends:
                    if not blind:
                        note(f"ray        {answer.message} {THROUGH_STORE}")
                    blind.add(worker)
                    waiting.append(part)
                elif isinstance(answer, BaseException):
                    raise answer
                else:
                    runfolder.lay(answer)
                    yield part
    except BaseException as error:
        if _answers(ray, head):
            for worker, _ in running.values():
                ray.kill(worker)
        elif not isinstance(error, GslopesError | KeyboardInterrupt):
            raise WorkerLost("The head of the Ray cluster is gone.", AGAIN_OR_ONE) from error
        raise


def _answers(ray: Any, head: str) -> bool:
    """Whether a cluster's head can be reached, at its address or by a client's connection."""
    if not head:
        return ray.util.client.ray.is_connected()
    host, _, port = head.rpartition(":")
    with suppress(OSError):
        socket.create_connection((host.strip("[]"), int(port)), LOOK).close()
        return True
    return False


def _explained(lost: Exception, part: str) -> GslopesError:
    """What it means that a worker was lost for good at a part."""
    text = str(lost)
    if "No module named 'gslopes'" in text:
        hint = "Install the same version on every machine of the cluster."
        return UsageError("gslopes is not installed on a machine of the cluster.", hint)
    lines = [line.strip() for line in text.splitlines() if "because" in line or "detail" in line]
    hint = "If memory ran out, use fewer workers. What was done is kept: the same command goes on from there."
    why = f"{type(lost).__name__}: {' '.join(lines[:1])[:200]}".rstrip(": .")
    return WorkerLost(f"Workers were lost {AGAIN + 1} times, the last at {part}: {why}.", hint)


# -- the cluster ------------------------------------------------------------------------------------------------------


def connect(workers: int | None) -> tuple[Any, bool]:
    """The library, connected to a cluster, and whether the cluster was started for that.

    Raises: UsageError if Ray is not installed, or no cluster is at RAY_ADDRESS; WorkerLost if it does not start here.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is sent to Ray's authors
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # as Ray's own warning asks
    os.environ.setdefault(
        "RAY_DEDUP_LOGS_SKIP_REGEX", ".*"
    )  # or it reports lost workers on stdout, at length
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            "The engine ray needs the library Ray.", "Install it with: pip install 'gslopes[ray]'."
        ) from error
    if ray.is_initialized():
        return ray, False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    address = os.environ.get(ADDRESS, "").strip()
    if address in ("", "local"):
        address = "local"
        quiet |= {"include_dashboard": False, "object_store_memory": STORE}
        quiet["num_cpus"] = max(cores(), workers or 0)
    else:
        _reach(address)
    try:
        ray.init(address=address, **quiet)
    except Exception as error:
        raise WorkerLost("Ray did not start.", AGAIN_OR_ONE) from error
    return ray, True


@cache  # a cluster that was there is not asked for again by the next stage
def _reach(address: str) -> None:
    """Ask for a cluster in a process of its own: Ray tries for minutes, and nothing stops it.  Raises: UsageError."""
    command = [sys.executable, "-P", "-c", "import ray; ray.init()"]
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
        return
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = error.stderr or b""
    where = f"{ADDRESS}={address.rpartition('@')[2]}"  # what comes before may be a password
    if b"Unauthenticated" in said:
        raise UsageError(
            f"The Ray cluster at {where} wants a token.",
            "Give the cluster's token to this machine as Ray's documentation says, with RAY_AUTH_MODE=token.",
        )
    raise UsageError(
        f"There is no Ray cluster at {where}.",
        f"Start one with: ray start --head. Without {ADDRESS}, one is started on this machine.",
    )


@frozen
class _Size:
    """workers: how many.  cpus, gpus: of each; of a GPU it may be a share.  where: in words."""

    workers: int
    cpus: int
    gpus: float
    where: str


def _size(ray: Any, workers: int | None, parts: int, gpus: bool) -> _Size:
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    accelerated = [node for node in nodes if node.get("GPU", 0) >= 1] if gpus else []
    hosts = accelerated or [node for node in nodes if node.get("CPU", 0) >= 1] or nodes
    cpus, cards = (int(sum(node.get(kind, 0) for node in hosts)) for kind in ("CPU", "GPU"))
    shared = min(SHARING * cards, max(cards, cpus // CORES_WITH_GPU))
    workers = workers or (shared if accelerated else max(2, cpus // CORES_EACH))
    # no more than there are, or than the smallest machine has, or some workers would wait forever
    workers = min(parts, workers, max(1, cpus))
    cpus_each = max(1, min([cpus // workers, *(int(node.get("CPU", 0)) for node in hosts)]))
    what = (
        f"{cards} GPU{'s' * (cards != 1)}" if accelerated else f"{cpus} CPU core{'s' * (cpus != 1)}"
    )
    where = f"on {len(hosts)} machine{'s' * (len(hosts) != 1)} with {what}"
    sharing = -(-workers // max(cards, 1))  # on the GPU that has most of them
    return _Size(workers, cpus_each, 1 / sharing if accelerated else 0, where)


# -- what runs there --------------------------------------------------------------------------------------------------


class _Unseen(UsageError):
    """A machine does not see photos or run folder."""


class _Below(pickle.Unpickler):
    """Paths lie below another root, or stay if that is empty."""

    root = ""

    def find_class(self, module: str, name: str) -> Any:
        """As of all unpicklers."""
        found = super().find_class(module, name)
        if isinstance(found, type) and issubclass(found, PurePath):
            return lambda *names: found(self.root + os.path.join("", *names))
        return found


@dataclass(eq=False)
class RayWorker:
    """A work on any machine, made there if everything is as on the sender's machine; parts in threads."""

    needs: Sequence[Path]
    device: str
    threads: int
    version: str
    _lock: Lock = field(default_factory=Lock)
    _work: Any = None
    _folder: Any = None
    _root: str = ""

    def do(
        self, part: int, make: list[Any], sent: Mapping[str, bytes] | None
    ) -> BaseException | dict[str, bytes]:
        """Do a part; what it made, by absolute name, if it was sent what it reads; the error, if there is one.

        make: a reference to what makes the work, pickled.
        """
        try:
            with self._lock:
                if self._work is None:
                    self._work = self._made(make, sent is None)
            for name, data in (sent or {}).items():
                runfolder.write_bytes(Path(self._root + name), data)
            self._work(part, lambda count: None)
            if sent is None:
                return {}
            files = self._work.files(part)
            made = {str(file).removeprefix(self._root): file.read_bytes() for file in files}
            for name in [*made, *sent]:
                if not name.endswith(runfolder.MANIFEST):  # other parts read it
                    Path(self._root + name).unlink(missing_ok=True)
            return made
        except BaseException as error:
            return portable(error)

    def _made(self, make: list[Any], sees: bool) -> Any:
        _check(self.needs if sees else (), self.version)
        if not sees:
            self._folder = TemporaryDirectory(prefix="gslopes-")
            self._root = self._folder.name
        ray: Any = import_module("ray")
        making = _Below(io.BytesIO(ray.get(make[0])))
        making.root = self._root
        work = making.load()(self.device)
        limit_threads(self.threads)  # of libraries that it has imported
        return work


def _check(needs: Sequence[Path], version: str) -> None:
    """Raises: UsageError unless this machine has the same version; _Unseen unless it sees the files."""
    host = socket.gethostname()
    if gslopes_version() != version:
        raise UsageError(
            f"The machine {host} has gslopes {gslopes_version()}, not {version}.",
            "Install the same version on every machine of the cluster.",
        )
    for path in needs:
        if not path.exists():
            raise _Unseen(
                f"The machine {host} does not see {show(path)}.",
                "For this, photos and run folder must lie on a file system that all machines share, under the same"
                " names.",
            )


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
