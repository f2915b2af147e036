"""Two processes, as torchrun starts them, train one network."""

import os
import socket
import subprocess
import sys

import numpy as np
import pytest
import torch

from gslopes import zoo
from gslopes.datasets import drawn as rendered
from training import parallel
from training.fader import Optimisation, train_fader
from training.sets import drawn_chips


def train(out, rank):
    """One process's share: its last weights."""
    torch.set_num_threads(1)
    folder = out / f"work-{rank}"
    folder.mkdir()
    faces = rendered.sample(32, seed=5)
    spec = zoo.ModelSpec("small", "", "fader", 32, ("gender",), "", (), "", "", {"widths": [8, 16, 16]})
    labels = np.clip(faces.gender / 2, -1, 1)[:, None].astype(np.float32)
    length = Optimisation(steps=3, batch=8)
    chips = drawn_chips(faces, 32)
    state = train_fader(spec, chips, labels, np.ones(32), folder, optimisation=length, report_every=1)
    torch.save(state, out / f"state-{rank}.pt")


SCRIPT = """
import sys
from pathlib import Path

from training import parallel
from tests.training.test_parallel import train

train(Path(sys.argv[1]), parallel.rank())
"""


def check(out):
    first, second = (torch.load(out / f"state-{rank}.pt", weights_only=True) for rank in (0, 1))
    learned = [key for key in first if "running" not in key]  # each process's norms saw its own photos
    assert learned
    assert all(torch.equal(first[key], second[key]) for key in learned)
    assert any(not torch.equal(first[key], second[key]) for key in first if "running_mean" in key)
    assert (out / "work-0" / "log.jsonl").exists()
    assert not (out / "work-1" / "log.jsonl").exists()


def environment(**more):
    return os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])} | more


@pytest.fixture
def rendezvous(monkeypatch):
    """What torchrun tells each of two processes; this one is the first."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    for name, value in (environment | {"RANK": "0", "LOCAL_RANK": "0"}).items():
        monkeypatch.setenv(name, value)
    yield environment | {"RANK": "1", "LOCAL_RANK": "1"}
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_end_in_one_network_and_only_the_first_writes(rendezvous, tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    with subprocess.Popen(command, env=environment(**rendezvous), stderr=subprocess.PIPE, text=True) as other:
        train(tmp_path, parallel.rank())
        _, errors = other.communicate(timeout=240)
    assert other.returncode == 0, errors[-2000:]
    check(tmp_path)


@pytest.mark.slow
def test_torchrun_starts_them(tmp_path):
    script = tmp_path / "loop.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=0", "--standalone"]
    done = subprocess.run(
        [*command, str(script), str(tmp_path)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    check(tmp_path)
