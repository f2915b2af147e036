from __future__ import annotations

import json

import pytest

from gslopes.core.errors import ConfigError
from gslopes.frame.executors import OneProcess, Processes, engines, processes
from gslopes.frame.executors.engines import Engine, engine
from gslopes.slopes.config import configure
from tests.frame.executors.scripted_tasks import ScriptedTasks


@pytest.fixture
def gpus(monkeypatch):
    """Pretends so many CUDA devices."""

    def pretend(count: int) -> None:
        names = [f"cuda:{index}" for index in range(count)]
        monkeypatch.setattr(engines, "cuda_devices", lambda: names)
        monkeypatch.setattr(processes, "cuda_devices", lambda: names)
        monkeypatch.setattr(processes, "pick_device", lambda device: "cuda" if count and device == "auto" else device)

    return pretend


@pytest.mark.parametrize(
    ("count", "name", "workers", "device", "words"),
    [
        (0, "auto", None, "auto", "one process"),
        (1, "auto", None, "auto", "one process"),
        (4, "auto", None, "auto", "4 processes on cuda:0, cuda:1, cuda:2, cuda:3"),
        (4, "auto", None, "cuda:1", "one process"),
        (4, "auto", None, "cpu", "one process"),
        (4, "auto", 1, "auto", "one process"),
        (4, "one", None, "auto", "one process"),
        (0, "auto", 2, "cpu", "2 processes on cpu"),
        (4, "processes", 2, "cuda:1", "2 processes on cuda:1"),
        (4, "processes", 8, "auto", "8 processes on cuda:0, cuda:1, cuda:2, cuda:3"),
        (0, "ray", 3, "auto", "ray, 3 workers"),
        (0, "ray", None, "auto", "ray, as many workers as the cluster has room for"),
    ],
)
def test_what_an_engine_means(gpus, count, name, workers, device, words):
    gpus(count)
    assert str(Engine(OneProcess(), name, workers, device)) == words


@pytest.mark.parametrize(
    ("name", "workers", "message"),
    [
        ("two", None, "no engine 'two'"),
        ("processes", 0, "workers is 0"),
        ("one", 2, "The engine one has one worker, not 2"),
    ],
)
def test_what_does_not_make_sense_is_said_before_any_work(name, workers, message):
    with pytest.raises(ConfigError, match=message):
        Engine(OneProcess(), name, workers)


def test_the_work_goes_to_the_engine(tmp_path, gpus):
    Engine(OneProcess(), "auto", 2, "cpu")(ScriptedTasks(tmp_path), {0: 1, 1: 1}, label="tasks", unit="parts")
    assert {device for device, *_ in ScriptedTasks(tmp_path).done().values()} == {"cpu"}
    done: list[int] = []
    work = lambda part, tick: done.append(part)  # noqa: E731 - it cannot be sent, so auto does it here
    Engine(OneProcess(), "auto", 2, "cpu")(work, {0: 1, 1: 1}, label="tasks", unit="parts")
    assert done == [0, 1]


def test_nothing_to_do_looks_for_no_gpu(monkeypatch):
    monkeypatch.setattr(engines, "cuda_devices", lambda: pytest.fail("it looked"))
    Engine(OneProcess())(lambda part, tick: None, {}, label="tasks", unit="parts")


def test_an_executor_of_the_caller_stays():
    given = Processes(3)
    assert engine(given, "auto", None, "auto") is given
    assert engine(OneProcess(), "auto", None, "auto") == Engine(OneProcess())


def test_engine_and_workers_come_from_a_file_and_are_no_part_of_the_run(tmp_path):
    (tmp_path / "walk.toml").write_text('engine = "ray"\nworkers = 5\n')
    config = configure(tmp_path, {"config": tmp_path / "walk.toml", "workers": 7})
    assert (config.engine, config.workers) == ("ray", 7)
    assert config.identity() == configure(tmp_path, {}).identity()
    with pytest.raises(ConfigError, match="engine is 'rai'"):
        configure(tmp_path, {"engine": "rai"})


@pytest.mark.slow
def test_a_run_is_resumed_by_another_engine(gslopes, draw, tmp_path):
    faces = draw(6)
    walk = ["synthesise", faces.photos, *faces.args, "--steps", 3, "--device", "cpu", "--out", tmp_path / "run"]
    (tmp_path / "walk.toml").write_text("part = 2\n")
    assert gslopes(*walk, "--config", tmp_path / "walk.toml").code == 0
    before = (tmp_path / "run" / "edits.parquet").read_bytes()
    for path in (tmp_path / "run").glob("parts/synthesise/*-000001.parquet"):
        path.unlink()
    again = gslopes(*walk, "--config", tmp_path / "walk.toml", "--engine", "processes", "--workers", 2)
    assert again.code == 0, again.err
    assert (tmp_path / "run" / "edits.parquet").read_bytes() == before


def test_a_dry_run_says_who_would_do_it(gslopes, draw, tmp_path):
    faces = draw(2)
    walk = ["audit", faces.photos, *faces.args, "--device", "cpu", "--out", tmp_path / "run", "--dry-run"]
    assert "engine       one process\n" in gslopes(*walk).out
    assert "engine       3 processes on cpu\n" in gslopes(*walk, "--workers", 3).out
    plan = json.loads(gslopes(*walk, "--engine", "ray", "--json").out)
    assert plan["engine"] == "ray"
    refused = gslopes(*walk, "--engine", "one", "--workers", 3)
    assert refused.code == 2
    assert "The engine one has one worker" in refused.err
