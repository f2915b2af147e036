import contextlib
import os
import socket
import sys
import time
from types import SimpleNamespace

import pytest

from gslopes.core.errors import StorageError, UsageError, WorkerLost
from gslopes.frame.executors import RayCluster, ray as rays
from tests import loopback
from tests.frame.executors.scripted_tasks import ScriptedTasks, runs

pytestmark = [pytest.mark.ray, pytest.mark.slow]


def run(tasks: ScriptedTasks, parts: int = 4, progress: bool = False) -> None:
    executor = RayCluster(2, "cpu", progress)
    executor(tasks, dict.fromkeys(range(parts), 2), label="tasks", unit="parts", done=2)


def test_two_workers_do_every_part_and_only_stderr_says_so(cluster, tmp_path, capfd):
    tasks = ScriptedTasks(tmp_path)
    run(tasks, parts=6, progress=True)
    assert sorted(tasks.done()) == [0, 1, 2, 3, 4, 5]
    assert os.getpid() not in {int(pid) for _, _, pid in tasks.done().values()}
    assert cluster.is_initialized()
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "2 workers, on 1 machine with 2 CPU cores" in captured.err
    assert "14 of 14 parts" in captured.err


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_its_part_done_again(cluster, tmp_path, capfd):
    tasks = ScriptedTasks(tmp_path, {1: "killed once"})
    run(tasks, progress=True)
    assert sorted(tasks.done()) == [0, 1, 2, 3]
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "10 of 10 parts" in captured.err


@pytest.mark.slow
def test_a_part_that_kills_every_worker_is_named_and_the_others_are_done(cluster, tmp_path):
    tasks = ScriptedTasks(tmp_path, {0: "killed"})
    with pytest.raises(WorkerLost, match=r"lost 3 times, the last at the tasks of part 0"):
        run(tasks)
    assert sorted(tasks.done()) == [1, 2, 3]


@pytest.mark.slow
def test_an_error_of_the_work_is_the_same_as_in_one_process(cluster, tmp_path):
    with pytest.raises(StorageError, match="The disk is full") as caught:
        run(ScriptedTasks(tmp_path, {0: "storage", 1: "waits"}))
    assert caught.value.hint == "Make room."
    assert "scripted_tasks.py" in caught.value.__notes__[0]


@pytest.mark.slow
def test_an_error_that_cannot_be_sent_is_put_in_words(cluster, tmp_path):
    with pytest.raises(RuntimeError, match="Stubborn: no arguments here"):
        run(ScriptedTasks(tmp_path, {0: "stubborn"}))


@pytest.mark.slow
def test_a_machine_that_does_not_see_the_files_is_named(cluster, tmp_path):
    with pytest.raises(UsageError, match=r"does not see .*/elsewhere\.") as caught:
        run(ScriptedTasks(tmp_path, needs=(tmp_path / "elsewhere",)))
    assert "all machines share" in caught.value.hint


@pytest.mark.slow
def test_a_machine_with_another_version_is_named(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(rays, "gslopes_version", lambda: "99.0")
    with pytest.raises(UsageError, match=r"has gslopes .*, not 99\.0"):
        run(ScriptedTasks(tmp_path))


@pytest.mark.slow
def test_no_worker_stays_when_the_work_is_done(cluster, tmp_path):
    tasks = ScriptedTasks(tmp_path)
    run(tasks, parts=2)
    end = time.monotonic() + 30
    while any(map(runs, tasks.pids())):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_workers_share_the_gpus_where_there_are_gpus():
    class Ray:
        @staticmethod
        def nodes():
            machine = {"Alive": True, "Resources": {"CPU": 16.0, "GPU": 4.0}}
            return [
                machine,
                machine,
                {"Alive": True, "Resources": {"CPU": 64.0}},
                {"Alive": False, "Resources": {}},
            ]

    assert rays._size(Ray, None, 100, gpus=True) == rays._Size(
        16, 2, 0.5, "on 2 machines with 8 GPUs"
    )
    assert rays._size(Ray, 3, 100, gpus=True) == rays._Size(3, 10, 1, "on 2 machines with 8 GPUs")
    assert rays._size(Ray, None, 100, gpus=False) == rays._Size(
        24, 4, 0, "on 3 machines with 96 CPU cores"
    )
    assert rays._size(Ray, None, 2, gpus=True).workers == 2


def test_without_ray_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError) as caught:
        run(ScriptedTasks(tmp_path))
    assert "pip install 'gslopes[ray]'" in caught.value.hint


def test_no_usage_is_reported(monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError):
        rays.connect(None)
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


NO_CLUSTER = r"no Ray cluster at RAY_ADDRESS=127\.0\.0\.1:1\."


@pytest.mark.parametrize(
    ("does", "message", "hint"),
    [
        ("raise ConnectionError('there is no answer')", NO_CLUSTER, "ray start --head"),
        ("os.abort()", NO_CLUSTER, "ray start --head"),
        ("time.sleep(600)", NO_CLUSTER, "ray start --head"),
        *[
            (
                f"print('Unauthenticated: RPC error: InvalidAuthToken', file=sys.stderr); {end}",
                "wants a token",
                "RAY_AUTH_MODE=token",
            )
            for end in ("raise ConnectionError", "time.sleep(600)")  # as Ray does, for long
        ],
    ],
)
def test_a_cluster_that_cannot_be_reached_is_a_sentence(monkeypatch, tmp_path, does, message, hint):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'gslopes[ray]'")
    (tmp_path / "ray.py").write_text(f"import os, sys, time\n\ndef init():\n    {does}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(rays, "PATIENCE", 3)
    with pytest.raises(UsageError, match=message) as caught:
        run(ScriptedTasks(tmp_path))
    assert hint in caught.value.hint


def test_nothing_at_an_address_is_a_sentence_within_half_a_minute(monkeypatch):
    """A server that is no cluster, one that says nothing, a closed port, no name, no route, no address."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'gslopes[ray]'")
    with (
        loopback.serving(SimpleNamespace(port=0), loopback.QuietHandler) as web,
        socket.create_server(("127.0.0.1", 0)) as silent,
    ):
        ports = web.port, silent.getsockname()[1], 1
        addresses = [f"{kind}127.0.0.1:{port}" for kind in ("", "ray://") for port in ports]
        addresses += [
            "ray://user:hunter2@127.0.0.1:1",
            "no.such.host.invalid:6379",
            "10.255.255.1:6379",
        ]
        addresses += ["auto", "garbage", "two words", ":", "ray://", "127.0.0.1:99999", "[::1]:1"]
        assert rays.PATIENCE <= 20
        monkeypatch.setattr(rays, "PATIENCE", 6)  # Ray itself tries for longer at most of them
        for address in addresses:
            monkeypatch.setenv("RAY_ADDRESS", address)
            began = time.monotonic()
            with pytest.raises(UsageError, match="There is no Ray cluster at") as caught:
                rays.connect(2)
            assert time.monotonic() - began < rays.PATIENCE + 10
            assert "hunter2" not in str(caught.value)
            assert "ray start --head" in caught.value.hint


@pytest.mark.parametrize("address", ["", " ", "local"])
def test_no_address_starts_a_cluster_here(monkeypatch, address):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'gslopes[ray]'")
    asked = []
    monkeypatch.setenv("RAY_ADDRESS", address)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **options: asked.append(options))
    assert rays.connect(3) == (ray, True)
    assert asked[0]["address"] == "local"
    assert asked[0]["num_cpus"] >= 3

    def refuse(**options):
        raise Exception("The current node timed out during startup.")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(WorkerLost, match="did not start") as caught:
        rays.connect(3)
    assert "--engine one" in caught.value.hint


def test_a_cluster_that_was_there_is_asked_for_once_and_one_that_was_not_again(
    monkeypatch, tmp_path
):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'gslopes[ray]'")
    ours = tmp_path / "ray.py"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for does, count in (("raise OSError", 1), ("raise OSError", 2), ("pass", 3), ("pass", 3)):
        log = f"open({str(tmp_path / 'log')!r}, 'a').write('.')"
        ours.write_text(f"def init():\n    {log}\n    {does}\n")
        with contextlib.suppress(UsageError):
            rays._reach("head:6379")
        assert len((tmp_path / "log").read_text()) == count
