from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gslopes.core.errors import StorageError, UsageError, WorkerLost
from gslopes.frame.executors import Processes, processes
from tests.frame.executors.scripted_tasks import ScriptedTasks, runs

ROOT = Path(__file__).resolve().parents[4]

# A parent without a guard of its main module, as a notebook is one.
HEAD = """
import sys
from pathlib import Path
from gslopes.frame.executors import Processes
from tests.frame.executors.scripted_tasks import ScriptedTasks
tasks = ScriptedTasks(Path(sys.argv[1]), {0: "waits", 1: "waits"})
Processes(2, "cpu")(tasks, {0: 2, 1: 2}, label="tasks", unit="parts")
"""


def run(tasks: ScriptedTasks, parts: int = 4, executor: Processes | None = None) -> None:
    executor = executor or Processes(2, "cpu")
    executor(tasks, dict.fromkeys(range(parts), 2), label="tasks", unit="parts", done=2)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def test_two_processes_do_every_part_and_only_stderr_says_so(tmp_path, capfd):
    tasks = ScriptedTasks(tmp_path)
    run(tasks, parts=6, executor=Processes(2, "cpu", progress=True))
    assert sorted(tasks.done()) == [0, 1, 2, 3, 4, 5]
    pids = {int(pid) for _, _, pid in tasks.done().values()}
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= 2
    assert not any(map(runs, pids))
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "14 of 14 parts" in captured.err
    assert "out loud" in captured.err


def test_nothing_to_do_starts_nothing(tmp_path):
    Processes(2, "cpu")(object(), {}, label="tasks", unit="parts")


def test_each_worker_has_as_many_parts_in_hand_as_cores(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "cores", lambda: 6)
    tasks = ScriptedTasks(tmp_path, dict.fromkeys(range(3), "meets"), in_threads=True)
    run(tasks, parts=3, executor=Processes(1, "cpu"))
    assert {threads for _, threads, _ in tasks.done().values()} == {"1"}
    assert len(tasks.pids()) == 1


def test_a_killed_worker_is_replaced_and_its_part_done_again(tmp_path, capfd):
    tasks = ScriptedTasks(tmp_path, {1: "killed once"})
    run(tasks, executor=Processes(2, "cpu", progress=True))
    assert sorted(tasks.done()) == [0, 1, 2, 3]
    err = capfd.readouterr().err
    assert "A worker was lost at the tasks of part 1: it was killed (SIGKILL), as the system does when memory" in err
    assert "10 of 10 parts" in err


def test_a_part_that_kills_every_worker_is_named_and_the_others_are_done(tmp_path):
    tasks = ScriptedTasks(tmp_path, {0: "killed"})
    with pytest.raises(WorkerLost, match=r"lost 3 times, the last at the tasks of part 0") as caught:
        run(tasks)
    assert "the same command goes on" in caught.value.hint
    assert sorted(tasks.done()) == [1, 2, 3]


def test_an_error_of_the_work_is_the_same_as_in_one_process(tmp_path):
    with pytest.raises(StorageError, match="The disk is full") as caught:
        run(ScriptedTasks(tmp_path, {0: "storage", 1: "waits"}))
    assert caught.value.hint == "Make room."
    assert "scripted_tasks.py" in caught.value.__notes__[0]
    assert not any(map(runs, ScriptedTasks(tmp_path).pids()))


def test_an_interrupt_in_a_worker_is_an_interrupt_here(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(ScriptedTasks(tmp_path, {0: "ctrl-c"}))


def test_an_error_that_cannot_be_sent_is_put_in_words(tmp_path):
    with pytest.raises(RuntimeError, match="Stubborn: no arguments here"):
        run(ScriptedTasks(tmp_path, {0: "stubborn"}))


def test_a_work_that_cannot_be_sent_is_refused():
    with pytest.raises(UsageError, match="cannot be sent to other processes"):
        Processes(2, "cpu")(lambda part, tick: None, {0: 1}, label="tasks", unit="parts")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill -9"])
def test_no_worker_outlives_the_head(tmp_path, how):
    tasks = ScriptedTasks(tmp_path)
    parent = subprocess.Popen([sys.executable, "-c", HEAD, tmp_path], cwd=ROOT, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(tasks.pids()) == 2)
    assert all(map(runs, tasks.pids()))
    parent.send_signal(how)
    assert parent.wait(timeout=60) == -how
    wait_for(lambda: not any(map(runs, tasks.pids())))


def test_each_gpu_has_its_worker(monkeypatch):
    monkeypatch.setattr(processes, "pick_device", lambda device: "cuda")
    monkeypatch.setattr(processes, "cuda_devices", lambda: ["cuda:0", "cuda:1", "cuda:2"])
    executor = Processes()
    assert executor.count == 3
    running: list[processes.Process] = []
    try:
        for _ in range(4):
            device = processes.least_used(executor.devices, running)
            running.append(processes.Process(b"", device, 1, 1))
        assert [one.device for one in running] == ["cuda:0", "cuda:1", "cuda:2", "cuda:0"]
        running[1].end()
        assert processes.least_used(executor.devices, running) == "cuda:1"
    finally:
        for one in running:
            one.end()
    assert not any(runs(one.process.pid) for one in running)


def test_the_cores_are_shared_unless_the_threads_of_each_are_given(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "cores", lambda: 6)
    monkeypatch.delenv("OMP_NUM_THREADS")
    run(ScriptedTasks(tmp_path), parts=2)
    assert {threads for _, threads, _ in ScriptedTasks(tmp_path).done().values()} == {"3"}
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    run(ScriptedTasks(tmp_path), parts=2)
    assert {threads for _, threads, _ in ScriptedTasks(tmp_path).done().values()} == {"5"}


def test_on_the_cpu_there_is_a_worker_for_every_four_cores(monkeypatch):
    monkeypatch.setattr(processes, "cores", lambda: 16)
    assert (Processes(device="cpu").count, Processes(3, "cpu").count) == (4, 3)
    monkeypatch.setattr(processes, "cores", lambda: 1)
    assert Processes(device="cpu").count == 2
