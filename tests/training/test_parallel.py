"""On two processes a training is that of one: the same photos, the same losses, the same weights but for rounding."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from gslopes.core.errors import ConfigError, UsageError, WorkerLost
from gslopes.faces import zoo
from tests.training.several import REAL
from training import parallel
from training.augment import color_jitter, random_affine, random_blur, to_float, warp
from training.loop import one_cycle
from training.tagger import train_tagger

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def ran(processes, case, folder, steps, *dies, double=True, faces=""):
    """The end of a run of several.py."""
    begin = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    paths = f"{ROOT}:{HERE}"
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "FACES": str(faces)}
    if double:
        environment["DOUBLE"] = "1"
    command = [sys.executable, *(begin if processes > 1 else []), str(HERE / "several.py"), case]
    command += [str(folder), str(steps), *map(str, dies)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def rows(folder):
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        {k: v for k, v in json.loads(line).items() if k not in ("step", "steps_per_s")}
        for line in lines
    ]


def farthest(one, two):
    """The largest difference of two runs' weights."""
    a, b = (torch.load(folder / "weights.pt", weights_only=True) for folder in (one, two))
    return max(float((a[name] - b[name]).abs().max()) for name in a)


def same(one, two, tolerance=1e-9):
    assert rows(one) == rows(two)
    assert farthest(one, two) < tolerance


def test_twenty_steps_on_two_processes_are_those_of_one(tmp_path):
    """Batch norm, dropout, the critic's memory and the steered weight: all look at the batch of both."""
    for processes in (1, 2):
        end = ran(processes, "small", tmp_path / str(processes), 20)
        assert end.returncode == 0, end.stderr
    same(tmp_path / "1", tmp_path / "2")
    assert len(rows(tmp_path / "2")) == 20


@pytest.mark.slow
def test_a_process_that_dies_ends_the_others_and_one_process_goes_on_where_two_were(tmp_path):
    end = ran(2, "small", tmp_path / "cut", 12, 6)
    assert end.returncode
    assert end.stderr.count("Another process of this training has ended") == 1
    files = {path.name for path in (tmp_path / "cut").iterdir()}
    assert files == {"state.pt", "log.jsonl"}
    for folder in ("cut", "whole"):
        assert ran(1, "small", tmp_path / folder, 12).returncode == 0
    assert farthest(tmp_path / "cut", tmp_path / "whole") < 1e-9
    assert rows(tmp_path / "cut")[-8:] == rows(tmp_path / "whole")[-8:]


@pytest.mark.slow
@pytest.mark.parametrize("case", REAL)
def test_every_loop_has_the_losses_of_one_process_with_real_networks_on_real_photos(
    case, tmp_path, unpacked
):
    """In 64 bits but for named ends, whose tone is OpenCV's in 32: there Adam turns rounding into steps."""
    faces, double = unpacked("celeba-wide"), case != "edit-groups"
    steps = 20 if case == "fader" else 3
    for processes in (1, 2):
        end = ran(processes, case, tmp_path / str(processes), steps, double=double, faces=faces)
        assert end.returncode == 0, end.stderr[-2000:]
    if double:
        same(tmp_path / "1", tmp_path / "2")
        return
    for one, two in zip(rows(tmp_path / "1"), rows(tmp_path / "2"), strict=True):
        assert two == pytest.approx(one, rel=2e-3, abs=2e-4)


def test_on_one_process_the_loop_is_bit_for_bit_the_one_written_plainly(tmp_path):
    spec = zoo.ModelSpec("s", "", "tagger", 32, ("a", "b"), "", (), "", "", {"widths": [8, 8, 16]})
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (24, 32, 32, 3), np.uint8)
    labels = rng.choice(np.float32([0, 1, np.nan]), (24, 2))
    weights = rng.random(24) + 0.1
    options = {"steps": 4, "batch": 8, "lr": 2e-3, "ema": 0.0}
    trained = train_tagger(spec, pixels, labels, weights, tmp_path, **options)

    torch.manual_seed(0)
    network = zoo.build(spec).to(memory_format=torch.channels_last).train()
    zoo.build(spec)  # the average's, whose beginning takes random numbers too
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=2e-3, weight_decay=0.02, betas=(0.9, 0.99)
    )
    odds, generator = torch.from_numpy(weights / weights.sum()), torch.Generator()
    for step in range(4):
        generator.manual_seed(1000003 * step)
        one_cycle(optimiser, 2e-3, step, 4)
        index = torch.multinomial(odds, 8, replacement=True, generator=generator)
        x = to_float(torch.from_numpy(pixels)[index], spec.mean, spec.std)
        x = warp(x, random_affine(8, generator, zoom=0.1, turn=0.15, shift=0.05))
        x = random_blur(color_jitter(x, generator, strength=0.25), generator, share=0.3)
        y = torch.from_numpy(labels)[index]
        known = y.isfinite()
        target = torch.where(known, y, 0.5) * 0.96 + 0.02
        losses = F.binary_cross_entropy_with_logits(network(x), target, reduction="none")
        optimiser.zero_grad(set_to_none=True)
        ((losses * known).sum() / known.sum()).backward()
        optimiser.step()
    plain = network.state_dict()
    assert all(torch.equal(plain[name], trained[name]) for name in plain)


@pytest.fixture
def as_process(monkeypatch):
    def become(number, of):
        monkeypatch.setattr(parallel, "world", lambda: of)
        monkeypatch.setattr(parallel, "rank", lambda: number)

    return become


def test_processes_take_turns_in_a_batch_and_in_its_random_numbers(as_process):
    whole = torch.rand(12, 5, generator=torch.Generator().manual_seed(3))
    parts = []
    for number in range(3):
        as_process(number, 3)
        generator = torch.Generator().manual_seed(3)
        parts.append(parallel.drawn(torch.rand, (4, 5), generator))
        assert torch.equal(parallel.mine(whole), parts[-1])
    assert torch.equal(torch.stack(parts, 1).flatten(0, 1), whole)


def test_a_batch_that_cannot_be_shared_evenly_is_refused_with_the_numbers_that_can(as_process):
    as_process(0, 5)
    with pytest.raises(ConfigError, match="5 processes cannot share batches of 48") as raised:
        parallel.share(48, 4)
    assert "2, 3, 4, 6, 12 can" in str(raised.value.hint)
    as_process(0, 3)
    assert parallel.share(48, 4) == 16


def test_more_processes_than_gpus_are_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "0")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(UsageError, match="a GPU of its own"), parallel.processes("cuda"):
        pass


def test_an_exchange_that_fails_is_a_sentence():
    with pytest.raises(WorkerLost, match="Another process"), parallel._together():
        raise RuntimeError("Connection closed by peer")
