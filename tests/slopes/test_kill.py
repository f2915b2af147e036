"""``kill -9`` at any moment, then the same command again: the tables of an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("photos", "edits", "asked", "scores", "slopes")

# Imports what an audit needs, then makes a child for each line that it reads, its process number on stdout: the
# children are whole processes of the command line, without the seconds that every fresh one takes to import torch.
NURSERY = """
import os, shlex, sys
import gslopes.faces.compose.masks, gslopes.faces.edit.editors, gslopes.faces.find
import gslopes.slopes.report.folder, gslopes.ask.client
import gslopes.slopes.audit, gslopes.faces.zoo, onnxruntime
from gslopes.cli import main
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        try:
            main(shlex.split(line))
        except SystemExit as end:  # at once: threads that stayed with the parent cannot be joined
            os._exit(end.code or 0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.fixture
def args(home, draw, toy, tmp_path) -> list[str]:
    """The audit of 70 photos, one of them damaged, three a part; the run folder comes last."""
    faces = draw(69)
    (faces.photos / "zz-broken.jpg").write_bytes(b"\xff\xd8\xff")
    file = tmp_path / "audit.toml"
    file.write_text("part = 3\n[edit]\nsteps = 3\n")
    return ["audit", str(faces.photos), *faces.args, "--config", str(file), "--classifier", toy, "--out"]


@pytest.fixture
def start(args) -> Iterator[Callable[[Path], tuple[int, Callable[[], int]]]]:
    """Starts the audit into a run folder: the number of its process, and a function that waits for its exit code."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    nursery = subprocess.Popen([sys.executable, "-c", NURSERY], cwd=ROOT, **pipes)

    def started(run: Path) -> tuple[int, Callable[[], int]]:
        nursery.stdin.write(" ".join([*args, str(run)]) + "\n")
        return int(nursery.stdout.readline()), lambda: os.waitstatus_to_exitcode(int(nursery.stdout.readline()))

    with nursery:
        yield started
        nursery.stdin.close()


def progress(run: Path) -> int:
    """How many files the run has: a clock that does not depend on how busy the machine is."""
    return sum(len(files) for _, _, files in os.walk(run))


def read(run: Path) -> dict[str, pd.DataFrame]:
    return {name: tables.read(tables.TABLES[name], run / f"{name}.parquet") for name in TABLES}


def pictures(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted((run / "edits").rglob("*.jpg"))}


@pytest.mark.slow
def test_killed_at_ten_random_moments_and_run_again_ends_in_equal_tables(args, start, tmp_path):
    _, wait = start(tmp_path / "undisturbed")
    assert wait() == 3
    whole = progress(tmp_path / "undisturbed")
    lot, run, codes = random.Random(0), tmp_path / "killed", []
    for moment in sorted(lot.randrange(whole) for _ in range(10)):
        process, wait = start(run)
        with suppress(ProcessLookupError):  # the last moment may be too late
            while progress(run) < moment:
                os.kill(process, 0)
                time.sleep(0.001)
            time.sleep(lot.random() * 0.02)
            os.kill(process, signal.SIGKILL)
        codes.append(wait())
    assert codes.count(-signal.SIGKILL) >= 9
    again = subprocess.run([sys.executable, "-m", "gslopes", *args, run], cwd=ROOT, capture_output=True, check=False)
    assert again.returncode == 3
    expected, found = read(tmp_path / "undisturbed"), read(run)
    for name in TABLES:
        pd.testing.assert_frame_equal(expected[name], found[name])
    assert len(expected["edits"]) == 207
    assert pictures(tmp_path / "undisturbed") == pictures(run)
    assert not list(run.rglob("*.tmp"))


@pytest.mark.slow
def test_ctrl_c_is_a_sentence_and_what_was_done_is_kept(args, tmp_path):
    run, command = tmp_path / "run", [sys.executable, "-m", "gslopes", *args]
    process = subprocess.Popen([*command, run], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and progress(run) < 30:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "the same command goes on from there" in err
    assert list(run.glob("parts/synthesise/photos-*.parquet"))
