"""Machines without a shared disk: the files of one process, whatever is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.frame.executors.nodes import Nodes, below, kill, may_hide
from tests.frame.executors.test_walk import files

pytestmark = [pytest.mark.ray, pytest.mark.slow]

CONFIG = """part = 2
limit = 10
workers = 2
device = "cpu"
[edit]
steps = 3
attributes = ["gender"]
[score]
unedited = true
"""


@pytest.fixture(scope="module")
def shared(unpacked, tmp_path_factory) -> Path:
    """A folder that other nodes do not see: ten portraits; a broken link, and one that is no picture."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'gslopes[ray]'.")
    if not may_hide():
        pytest.skip("Another file system needs root: unshare -m.")
    folder = tmp_path_factory.mktemp("hidden") / "shared"
    photos = folder / "photos"
    photos.mkdir(parents=True)
    for file in sorted((unpacked("london") / "smiling").glob("*.jpg"))[:8]:
        (photos / file.name).write_bytes(file.read_bytes())
    (photos / "000.jpg").symlink_to("/nowhere")
    (photos / "001.jpg").write_text("no picture")
    return folder


def begin(shared: Path, name: str, address: str = "", *more: str) -> subprocess.Popen[str]:
    """An audit that makes and judges pictures, and asks about both edited and unedited ones."""
    (shared / f"{name}.toml").write_text(CONFIG)
    command = [sys.executable, "-m", "gslopes", "audit", str(shared / "photos"), "--yes"]
    command += ["--config", str(shared / f"{name}.toml"), "--out", str(shared / name)]
    command += ["--engine", "ray" if address else "one", "--classifier", "celeba-tagger", *more]
    env = os.environ | {"RAY_ADDRESS": address, "GSLOPES_CACHE": str(shared / f"{name}-cache")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, env=env, **pipes)


def ended(audit: subprocess.Popen[str]) -> tuple[int, str]:
    said, _ = audit.communicate(timeout=500)
    return audit.returncode, said


def made(run: Path) -> dict[str, bytes]:
    """All but the page and stamps, which hold times."""
    return {
        name: data
        for name, data in files(run).items()
        if not (name.startswith(("report/", "parts/")) and name.count("/") == 1)
    }


@pytest.fixture(scope="module")
def expected(shared) -> dict[str, bytes]:
    code, said = ended(begin(shared, "one"))
    assert code == 3, said  # a photo cannot be read
    return made(shared / "one")


@pytest.fixture(scope="module")
def nodes(shared) -> Iterator[Nodes]:
    with Nodes(2, shared, head_cores=0) as started:
        yield started


def same(expected: dict[str, bytes], run: Path) -> None:
    found = made(run)
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []


@pytest.mark.parametrize("client", [False, True])
def test_pictures_gate_and_originals_through_the_store_are_those_of_one_process(
    shared, nodes, expected, client
):
    name = f"sent{client}"
    address = f"ray://127.0.0.1:{nodes.client}" if client else nodes.address
    code, said = ended(begin(shared, name, address))
    assert code == 3, said
    assert said.count("goes through Ray's object store") == 3  # pictures, gate, unedited photos
    same(expected, shared / name)


def test_what_cannot_be_sent_names_the_machine_and_what_to_do(shared, nodes):
    masks = ["--set", f"compose.masks={shared / 'photos'}", "--only", "synthesise"]
    code, said = ended(begin(shared, "masks", nodes.address, *masks))
    assert code == 2
    assert "does not see" in said
    assert "on a file system that all machines share" in said
    assert "Traceback" not in said


def parts_of(run: Path) -> dict[str, int]:
    folder = run / "parts/synthesise"
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("photos-*")}


def until(is_so: Callable[[], bool], audit: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 300
    while not is_so():
        assert audit.poll() is None, audit.communicate()
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize("what", ["worker", "node", "head"])
def test_a_killed_worker_node_or_head_moves_no_byte(shared, expected, what):
    name = f"killed-{what}"
    with Nodes(2, shared, head_cores=0) as nodes:
        audit = begin(shared, name, nodes.address)
        until(lambda: len(parts_of(shared / name)) > 0, audit)
        if what == "worker":
            pids = [pid for pid, command in below(nodes.others[0].pid) if "RayWorker" in command]
            os.kill(pids[0], signal.SIGKILL)
        elif what == "head":
            nodes.behead()
        else:
            kill(nodes.others[0])
        code, said = ended(audit)
        assert "Traceback" not in said
        assert code == (1 if what == "head" else 3), said
        if what != "head":
            return same(expected, shared / name)
    assert "The head of the Ray cluster is gone." in said
    assert "The same command goes on" in said
    before = parts_of(shared / name)
    code, said = ended(begin(shared, name))  # in one process
    assert code == 3, said
    assert before.items() <= parts_of(shared / name).items()
    return same(expected, shared / name)
