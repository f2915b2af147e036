"""Two processes, as torchrun starts them, train one network."""

import os
import subprocess
import sys

import torch

LOOP = """
import sys
from pathlib import Path

import numpy as np
import torch

from gslopes import zoo
from gslopes.datasets import rendered
from gslopes.train import parallel
from gslopes.train.fader import Optimisation, train_fader
from gslopes.train.sets import rendered_chips

torch.set_num_threads(1)
out = Path(sys.argv[1])
folder = out / f"work-{parallel.rank()}"
folder.mkdir()
faces = rendered.sample(32, seed=5)
spec = zoo.ModelSpec("small", "", "fader", 32, ("gender",), "", (), "", "", {"widths": [8, 16, 16]})
labels = np.clip(faces.gender / 2, -1, 1)[:, None].astype(np.float32)
length = Optimisation(steps=3, batch=8)
chips = rendered_chips(faces, 32)
state = train_fader(spec, chips, labels, np.ones(32), folder, optimisation=length, report_every=1)
torch.save(state, out / f"state-{parallel.rank()}.pt")
"""


def test_two_processes_end_in_one_network_and_only_the_first_writes(tmp_path):
    script = tmp_path / "loop.py"
    script.write_text(LOOP)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=0", "--standalone"]
    done = subprocess.run(
        [*command, str(script), str(tmp_path)],
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    first, second = (torch.load(tmp_path / f"state-{rank}.pt", weights_only=True) for rank in (0, 1))
    learned = [key for key in first if "running" not in key]  # each process's norms saw its own photos
    assert learned
    assert all(torch.equal(first[key], second[key]) for key in learned)
    assert any(not torch.equal(first[key], second[key]) for key in first if "running_mean" in key)
    assert (tmp_path / "work-0" / "log.jsonl").exists()
    assert not (tmp_path / "work-1" / "log.jsonl").exists()
