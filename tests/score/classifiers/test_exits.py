"""A function that ends the process: what can be said is said, and what was answered before is kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gslopes.core import tables
from gslopes.score.classifiers.exits import exit_said
from tests.fake_provider.folder import write_run

ROOT = Path(__file__).resolve().parents[3]
STEPS = 7
MINE = """
import os
from pathlib import Path

LOG = Path(__file__).with_name("asked.txt")

def light(pictures):
    before = len(LOG.read_text().splitlines()) if LOG.exists() else 0
    if before >= 16 and os.environ.get("END"):
        exec(os.environ["END"])
    with LOG.open("a") as log:
        log.writelines(f"{picture.tobytes()!r}\\n" for picture in pictures)
    return [{"light": float(picture.mean() / 255)} for picture in pictures]
"""
ALONE = "import sys; from gslopes.cli.main import main; main()"
PROCESSES = """
import sys
from gslopes.executors import Processes
from gslopes.run import walk
walk.score_photos(sys.argv[2], sys.argv[4], executor=Processes(workers=2))
"""


def scored(folder: Path, end: str, program: str) -> subprocess.CompletedProcess[str]:
    """``gslopes score`` in a process of its own.  end: what the function runs at the third batch; empty: nothing."""
    args = ["score", str(folder / "run"), "--classifier", "python:mine:light,batch=8"]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "END": end}
    env.pop("PYTHONFAULTHANDLER", None)
    return subprocess.run(
        [sys.executable, "-c", program, *args],
        capture_output=True,
        text=True,
        env=env,
        cwd=folder,
        check=False,
        timeout=120,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_run(tmp_path / "run", 6, part=3)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


@pytest.mark.parametrize(("program", "status"), [(ALONE, 0), (PROCESSES, 3)], ids=["one", "processes"])
def test_a_function_that_exits_is_named_with_the_remedy_and_nothing_is_asked_twice(folder, program, status) -> None:
    done = scored(folder, f"os._exit({status})", program)
    assert done.returncode == 1, done.stderr
    said = [line for line in done.stderr.splitlines() if "ended the process" in line]
    assert said == [
        f"gslopes: python:mine:light ended the process: it called os._exit({status}) while it was to answer."
    ]
    assert "Answers so far are kept: have it raise an error" in done.stderr
    assert scored(folder, "", program).returncode == 0
    whole = (folder / "asked.txt").read_text().splitlines()
    assert len(whole) == len(set(whole))
    asked = tables.read(tables.ASKED, folder / "run/asked.parquet")
    assert asked["status"].eq("answered").all()
    assert len(asked) == 6 * STEPS


def test_a_crash_shows_the_line_of_the_function_and_costs_no_answer(folder) -> None:
    done = scored(folder, "import ctypes; ctypes.string_at(0)", ALONE)
    assert done.returncode < 0
    assert "Segmentation fault" in done.stderr
    assert f'{folder / "mine.py"}", line 10 in light' in done.stderr
    assert scored(folder, "", ALONE).returncode == 0
    whole = (folder / "asked.txt").read_text().splitlines()
    assert len(whole) == len(set(whole))
    assert len(tables.read(tables.ASKED, folder / "run/asked.parquet")) == 6 * STEPS


def test_a_process_that_the_function_forks_ends_as_it_likes(capfd) -> None:
    with exit_said("mine"):
        child = os.fork()
        if child == 0:
            os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert "ended the process" not in capfd.readouterr().err
