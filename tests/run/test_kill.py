"""``kill -9`` at any moment, then the same command again: the tables of an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("photos", "edits", "asked", "scores", "slopes")


@pytest.fixture
def command(home, draw, tmp_path):
    """The audit of 70 photos, three a part, as a subprocess would run it; the run folder comes last."""
    faces = draw(70)
    (faces.photos / "zz-broken.jpg").write_bytes(b"\xff\xd8\xff")
    file = tmp_path / "audit.toml"
    file.write_text("part = 3\n[edit]\nsteps = 3\n")
    return [sys.executable, "-m", "gslopes", "audit", str(faces.photos), *faces.args, "--config", str(file), "--out"]


def start(command: list[str], run: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*command, run], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def progress(run: Path) -> int:
    """How many files the run has: a clock that does not depend on how busy the machine is."""
    return sum(len(files) for _, _, files in os.walk(run))


def read(run: Path) -> dict[str, pd.DataFrame]:
    return {name: tables.read(tables.TABLES[name], run / f"{name}.parquet") for name in TABLES}


def pictures(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted((run / "edits").rglob("*.jpg"))}


@pytest.mark.slow
def test_killed_at_ten_random_moments_and_run_again_ends_in_equal_tables(command, tmp_path):
    assert start(command, tmp_path / "undisturbed").wait() == 3
    whole = progress(tmp_path / "undisturbed")
    lot, run, killed = random.Random(0), tmp_path / "killed", 0
    for moment in sorted(lot.randrange(whole) for _ in range(10)):
        process = start(command, run)
        while process.poll() is None and progress(run) < moment:
            time.sleep(0.002)
        time.sleep(lot.random() * 0.05)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
    assert killed >= 8
    assert start(command, run).wait() == 3
    expected, found = read(tmp_path / "undisturbed"), read(run)
    for name in TABLES:
        pd.testing.assert_frame_equal(expected[name], found[name])
    assert len(expected["edits"]) == 210
    assert pictures(tmp_path / "undisturbed") == pictures(run)
    assert not list(run.rglob("*.tmp"))


@pytest.mark.slow
def test_ctrl_c_is_a_sentence_and_the_same_command_goes_on(command, tmp_path):
    process = subprocess.Popen([*command, tmp_path / "run"], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and progress(tmp_path / "run") < 30:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "the same command goes on from there" in err
    assert start(command, tmp_path / "run").wait() == 3
