"""Ctrl-C in the middle of an audit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def args(home, draw, toy, tmp_path) -> list[str]:
    """The audit of 70 photos, one of them damaged, three a part; the run folder comes last."""
    faces = draw(69)
    (faces.photos / "zz-broken.jpg").write_bytes(b"\xff\xd8\xff")
    file = tmp_path / "audit.toml"
    file.write_text("part = 3\n[edit]\nsteps = 3\n")
    return ["audit", str(faces.photos), *faces.args, "--config", str(file), "--classifier", toy, "--out"]


def progress(run: Path) -> int:
    """How many files the run has: a clock that does not depend on how busy the machine is."""
    return sum(len(files) for _, _, files in os.walk(run))


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
