"""Workers that one process serves with networks: what they ask is answered together, and nothing outlives a run."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gslopes.core import serving
from gslopes.core.errors import StorageError, UsageError, WorkerLost
from gslopes.core.executor import RemoteTask
from gslopes.frame.executors import OneProcess, RayCluster, Served, engine, served as module
from tests.frame.executors.scripted_tasks import ScriptedTasks, Stubborn, runs

WORKERS = 2


def run(work: Any, parts: int = 4, progress: bool = False, workers: int = WORKERS) -> None:
    executor = Served(OneProcess(progress, workers), "cpu")
    executor(work, dict.fromkeys(range(parts), 2), label="tasks", unit="parts", done=2)


# -- what is asked ----------------------------------------------------------------------------------------------------


def squaring(device: str, log: Path, most: int) -> Any:
    """Numbers to their squares, at most so many at once; a line in a log for each time.

    most: less than 0 takes as many seconds.
    """

    def squares(numbers: list[int], plus: int) -> list[int]:
        with log.open("a") as file:
            file.write(f"{device} {len(numbers)} {os.getpid()}\n")
        if len(numbers) > abs(most):
            raise MemoryError("out of memory")
        time.sleep(0.3 if most >= 0 else -most)
        return [number**2 + plus for number in numbers]

    return squares


@dataclass(frozen=True)
class Asking:
    """Each part asks for the squares of four numbers, by halves if memory is full, and writes them down."""

    folder: Path
    most: int = 1000
    networks: bool = True

    def __call__(self, part: int, tick: Any) -> None:
        numbers = list(range(4 * part, 4 * part + 4))
        (self.folder / f"pid-{os.getpid()}").touch()
        (self.folder / f"{part}").write_text(repr(self.squares(numbers)))

    def squares(self, numbers: list[int]) -> list[int]:
        try:
            return serving.ask(numbers, (squaring, self.folder / "log", self.most), 1)
        except MemoryError:
            if len(numbers) == 1:
                raise
        middle = len(numbers) // 2
        return self.squares(numbers[:middle]) + self.squares(numbers[middle:])

    def remote_task(self) -> RemoteTask:
        return RemoteTask(partial(asking, self.folder, self.most), (), str)

    def asked(self) -> list[list[str]]:
        return [line.split() for line in (self.folder / "log").read_text().splitlines()]


def asking(folder: Path, most: int, device: str) -> Asking:
    return Asking(folder, most)


def test_each_is_given_its_own_answers_by_the_process_that_has_the_device(tmp_path):
    work = Asking(tmp_path)
    run(work, parts=9, workers=4)
    for part in range(9):
        expected = [number**2 + 1 for number in range(4 * part, 4 * part + 4)]
        assert eval((tmp_path / str(part)).read_text()) == expected
    assert {(device, pid) for device, _, pid in work.asked()} == {("cpu", str(os.getpid()))}
    # several at once as soon as all ask, and never more than there are workers
    sizes = [int(size) for _, size, _ in work.asked()]
    assert sum(sizes) == 36
    assert 4 < max(sizes) <= 16


def test_who_is_told_of_too_little_memory_asks_for_less(tmp_path):
    work = Asking(tmp_path, most=2)
    run(work, parts=3)
    assert eval((tmp_path / "2").read_text()) == [65, 82, 101, 122]
    assert min(int(size) for _, size, _ in work.asked()) <= 2


def test_memory_that_does_for_nothing_is_an_error(tmp_path):
    with pytest.raises(MemoryError):
        run(Asking(tmp_path, most=0), parts=2)


# -- who asks ---------------------------------------------------------------------------------------------------------


def test_every_part_is_done_by_workers_and_only_stderr_says_so(tmp_path, capfd):
    tasks = ScriptedTasks(tmp_path)
    run(tasks, parts=6, progress=True)
    done = tasks.done()
    assert sorted(done) == [0, 1, 2, 3, 4, 5]
    assert {(device, threads) for device, threads, _ in done.values()} == {("cpu", "1")}
    assert str(os.getpid()) not in {pid for *_, pid in done.values()}
    assert tasks.cards() == {""}  # workers see no GPU
    captured = capfd.readouterr()
    assert "2 workers, cpu for all of them" in captured.err
    assert "14 of 14 parts" in captured.err
    assert not any(map(runs, tasks.pids()))


def test_a_killed_worker_is_replaced_and_its_part_done_again(tmp_path, capfd):
    tasks = ScriptedTasks(tmp_path, {1: "killed once"})
    run(tasks, progress=True)
    assert sorted(tasks.done()) == [0, 1, 2, 3]
    assert "10 of 10 parts" in capfd.readouterr().err


def test_a_part_that_kills_every_worker_is_named_and_what_was_done_stays(tmp_path):
    tasks = ScriptedTasks(tmp_path, {3: "killed"})
    with pytest.raises(
        WorkerLost, match=r"lost 3 times, the last at the tasks of part 3\."
    ) as lost:
        run(tasks)
    assert "goes on from what is done" in lost.value.hint
    assert sorted(tasks.done()) == [0, 1, 2]


def test_an_error_ends_the_others_and_is_the_same_as_in_one_process(tmp_path):
    tasks = ScriptedTasks(tmp_path, {0: "storage", 1: "waits"})
    began = time.monotonic()
    with pytest.raises(StorageError, match="The disk is full") as caught:
        run(tasks)
    assert time.monotonic() - began < 120
    assert caught.value.hint == "Make room."
    assert "scripted_tasks.py" in caught.value.__notes__[0]
    assert not any(map(runs, tasks.pids()))


@pytest.mark.parametrize(
    ("mishap", "error"), [("stubborn", RuntimeError), ("ctrl-c", KeyboardInterrupt)]
)
def test_other_ends_of_a_part(tmp_path, mishap, error):
    assert Stubborn.__doc__
    with pytest.raises(error):
        run(ScriptedTasks(tmp_path, {0: mishap}), parts=2)


OWNER = """
import sys
from pathlib import Path
from gslopes.frame.executors import OneProcess, Served
from tests.frame.executors.scripted_tasks import ScriptedTasks
from tests.frame.executors.test_served import Asking
folder = Path(sys.argv[1])
work = Asking(folder, most=-600) if sys.argv[2] == "asks" else ScriptedTasks(folder, {0: "waits", 1: "waits"})
Served(OneProcess(threads=2), "cpu")(work, {0: 1, 1: 1}, label="x", unit="y")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("ends", "work"), [(signal.SIGKILL, "asks"), (signal.SIGINT, "waits")])
def test_no_worker_outlives_its_owner(tmp_path, ends, work):
    # without ``if __name__ == "__main__"``: no worker imports what the user runs
    line = [sys.executable, "-c", OWNER, tmp_path, work]
    owner = subprocess.Popen(line, stderr=subprocess.PIPE)
    while len(list(tmp_path.glob("pid-*"))) < 2:
        time.sleep(0.05)
        assert owner.poll() is None
    pids = ScriptedTasks(tmp_path).pids()
    owner.send_signal(ends)
    owner.communicate(timeout=60)  # a worker that is left has its stderr open
    assert owner.returncode in (-ends, 1)
    assert not any(map(runs, pids))


# -- which engine -----------------------------------------------------------------------------------------------------


class Work:
    """Writes down its parts."""

    def __init__(self, networks: bool = True) -> None:
        self.networks, self.done = networks, []

    def __call__(self, part: int, tick: Any) -> None:
        self.done.append(part)


def test_a_device_is_shared_by_default_and_ray_is_only_taken_by_name():
    process = OneProcess(progress=True)
    for name in ("auto", "one"):
        assert engine(process, name, None, "cpu") is process
        assert engine(process, name, 5, "cuda") == Served(OneProcess(True, 5), "cuda")
    assert isinstance(engine(process, "ray", None, "auto"), RayCluster)
    other = Served()
    assert engine(other, "ray", None, "auto") is other


def test_what_needs_no_device_stays_in_this_process(monkeypatch):
    monkeypatch.setattr(module, "pick_device", lambda device: "cpu")
    for work, parts in ((Work(), 3), (Work(networks=False), 3), (Work(), 1)):
        device = "cuda" if parts == 1 or not work.networks else "auto"
        engine(OneProcess(), "auto", None, device)(
            work, dict.fromkeys(range(parts), 1), label="x", unit="y"
        )
        assert sorted(work.done) == [*range(parts)]


def test_a_device_that_is_not_there_is_told_before_anything_begins():
    with pytest.raises(UsageError, match="no CUDA device"):
        engine(OneProcess(), "auto", None, "cuda")(Work(), {0: 1, 1: 1}, label="x", unit="y")


def test_what_it_says_is_said_by_the_one_process():
    class Kept(OneProcess):
        def note(self, text: str) -> None:
            said.append(text)

    said: list[str] = []
    engine(Kept(), "auto", None, "auto").note("fit up to date")
    assert said == ["fit up to date"]
