"""Processes of a Ray cluster that are killed under an audit: the same command ends in the same tables, asked once."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from gslopes.core import tables

pytestmark = [pytest.mark.ray, pytest.mark.slow]

JUDGE = '''
import hashlib
from pathlib import Path
import numpy as np

def judge(pixels):
    """How bright a picture is, and a line in a log for each that was asked."""
    pixels = np.ascontiguousarray(pixels)
    with Path(__file__).with_name("asked.txt").open("a") as log:
        log.write(hashlib.sha256(pixels.tobytes()).hexdigest() + "\\n")
    return {"bright": float(pixels.mean() / 255)}
'''
# What is killed, how many seconds after the workers have begun, and the exit codes that may follow.
KILLS = [
    ("ray::RayWorker", 0.2, {0}),
    ("ray::RayWorker", 2.0, {0}),
    ("raylet/raylet", 0.2, {0, 1}),
    ("raylet/raylet", 2.0, {0, 1}),
    ("gcs/gcs_server", 1.0, {0, 1}),
    ("raylet/raylet", -1, {1}),  # while the cluster starts
]
TRIED = 2  # pictures that a classifier of the user's own is tried with


def below(pid: int) -> Iterator[tuple[int, str]]:
    """Number and command of every process that one has started."""
    of: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            of.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(
                int(path.parent.name)
            )
        except OSError:
            continue
    waiting = [pid]
    while waiting:
        for child in of.get(waiting.pop(), ()):
            waiting.append(child)
            try:
                words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            yield child, words[0].decode(errors="replace")


@pytest.fixture
def begun(home, draw, tmp_path):
    """Begins a small audit by a classifier that writes down what it is asked, in two workers of its own cluster."""
    faces = draw(12)
    (tmp_path / "walk.toml").write_text("part = 2\n[edit]\nsteps = 3\n")

    def begin(name: str, engine: str = "ray") -> tuple[subprocess.Popen, Path]:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "judging.py").write_text(JUDGE)
        command = [sys.executable, "-m", "gslopes", "audit", faces.photos, *faces.args, "--no-gate"]
        command += ["--config", tmp_path / "walk.toml", "--engine", engine, "--out", "run", "--yes"]
        command += ["--set", "workers=2", "--classifier", "python:judging:judge"]
        env = os.environ | {"GSLOPES_CACHE": str(folder / "cache"), "RAY_ADDRESS": ""}
        with (folder / "said.txt").open("w") as said:
            return (
                subprocess.Popen(
                    command, cwd=folder, env=env, stdout=said, stderr=subprocess.STDOUT
                ),
                folder,
            )

    return begin


def killed(audit: subprocess.Popen, what: str, after: float) -> bool:
    """Kill one such process of an audit; whether there was one."""
    end = time.monotonic() + 120
    wanted = "ray::RayWorker.do" if after >= 0 else what
    while not any(
        command.startswith(wanted) or wanted in command for _, command in below(audit.pid)
    ):
        if audit.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.05)
    time.sleep(max(after, 0.0))
    found = [pid for pid, command in below(audit.pid) if what in command]
    for pid in found[:1]:
        os.kill(pid, signal.SIGKILL)
    return bool(found)


def result(folder: Path) -> tuple[list[pd.DataFrame], Counter[str]]:
    frames = [
        tables.read(tables.TABLES[name], folder / f"run/{name}.parquet")
        for name in ("photos", "edits", "scores", "slopes")
    ]
    return frames, Counter((folder / "asked.txt").read_text().split())


@pytest.mark.parametrize(("what", "after", "codes"), KILLS)
def test_what_is_killed_costs_no_answer_and_changes_no_table(begun, what, after, codes) -> None:
    calm, undisturbed = begun("calm", "one")
    assert calm.wait(400) == 0, (undisturbed / "said.txt").read_text()
    audit, folder = begun("killed")
    hit = killed(audit, what, after)
    code = audit.wait(400)
    said = (folder / "said.txt").read_text()
    assert hit, said
    assert code in codes, said
    assert "Unexpected" not in said
    assert "Traceback" not in said
    if code:
        again, _ = begun("killed")
        assert again.wait(400) == 0, (folder / "said.txt").read_text()
    (expected, once), (found, asked) = result(undisturbed), result(folder)
    for one, other in zip(expected, found, strict=True):
        pd.testing.assert_frame_equal(one, other)
    # a start shows it a few pictures of its own first; no other is asked again
    again = {picture for picture in asked if asked[picture] > once[picture]}
    assert set(asked) == set(once)
    assert len(again) <= TRIED * bool(code)
