"""The walk on a Ray cluster, a worker killed in the middle: the files of one process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pandas as pd
import pytest

import gslopes
from gslopes.core import tables
from gslopes.core.errors import UsageError
from gslopes.core.executor import Executor
from gslopes.faces.components import rendered_components
from gslopes.frame.executors import RayCluster

WORKERS = ("ray::RayWorker",)


def workers() -> list[int]:
    """Process numbers of the workers below this process."""
    parents, found = {}, []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                line = (folder / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if any(name in line for name in WORKERS):
                found.append(int(folder.name))
    return [pid for pid in found if os.getpid() in ancestors(pid, parents)]


def ancestors(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid := parents.get(pid, 0):
        yield pid


@pytest.fixture
def kill_one() -> Iterator[Callable[[Path], list[int]]]:
    """Kills one worker as soon as the first part of a run is done; the list will hold its number."""
    over, threads = Event(), []

    def begin(run: Path) -> list[int]:
        killed: list[int] = []

        def kill() -> None:
            while not over.is_set() and not list(run.glob("parts/synthesise/photos-*.parquet")):
                time.sleep(0.005)
            for pid in workers()[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        threads.append(Thread(target=kill))
        threads[-1].start()
        return killed

    yield begin
    over.set()
    for thread in threads:
        thread.join()


def files(run: Path) -> dict[str, bytes]:
    """All that a walk leaves but its manifest, with the bytes."""
    found = {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}
    return {name: data for name, data in found.items() if name not in ("run.json", ".lock")}


def same(one: Path, other: Path) -> None:
    """Equal tables, pictures equal to the byte."""
    for name in ("photos", "edits"):
        frames = [tables.read(tables.TABLES[name], run / f"{name}.parquet") for run in (one, other)]
        pd.testing.assert_frame_equal(*frames)
    expected, found = files(one), files(other)
    assert sorted(expected) == sorted(found)
    assert [name for name in expected if expected[name] != found[name]] == []


def test_components_passed_as_objects_stay_here(home, draw, tmp_path):
    faces = draw(2)
    folder = Path(str(faces.known["landmarks"])).parent
    components = rendered_components(folder, faces.photos, "gender-field", "cpu")
    with pytest.raises(UsageError, match="passed as objects cannot be sent"):
        gslopes.synthesise(faces.photos, tmp_path / "run", components=components, engine="ray", steps=3, **faces.known)


# -- portraits, the shipped networks ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def london(unpacked, tmp_path_factory) -> dict[str, object]:
    """Eight portraits, two a part."""
    config = tmp_path_factory.mktemp("london") / "walk.toml"
    config.write_text("part = 2\nlimit = 8\n[edit]\nsteps = 3\n")
    return {"photos": unpacked("london") / "smiling", "config": config, "device": "cpu"}


@pytest.fixture(scope="module")
def undisturbed(london, tmp_path_factory) -> Path:
    run = tmp_path_factory.mktemp("one") / "run"
    assert gslopes.synthesise(out=run, **london).used == 8
    return run


def several(executor: Executor, london: dict[str, object], undisturbed: Path, run: Path, kill_one) -> None:
    killed = kill_one(run)
    gslopes.synthesise(out=run, executor=executor, **london)
    assert len(killed) == 1
    same(undisturbed, run)


@pytest.mark.ray
@pytest.mark.slow
def test_portraits_on_a_ray_cluster_one_worker_killed(london, undisturbed, tmp_path, kill_one, capfd, cluster):
    several(RayCluster(2, "cpu", progress=True), london, undisturbed, tmp_path / "run", kill_one)
    assert capfd.readouterr().out == ""
