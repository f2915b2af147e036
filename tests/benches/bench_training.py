"""Training throughput of a plain Fader at 128 pixels: our loop against the reference network and loss, plainly written.

The peer has the same widths and batch: attributes as appended constant channels, nearest-neighbour upsampling and
3x3 convolution, float pictures from a loader batch by batch, contiguous memory, fp32. Both train on the same drawn
faces, alternately, in the same run. The share of the measured matrix ceiling is the floor: operations of the step's
convolutions over the rate of a large matrix product on this device.

OMP_NUM_THREADS=1 python tests/benches/bench_training.py [--device cuda] [--batch 128] > training.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gslopes import zoo  # noqa: E402
from gslopes.datasets import rendered  # noqa: E402
from gslopes.networks.critics import LatentCritic  # noqa: E402
from gslopes.train.fader import train_fader  # noqa: E402
from gslopes.train.sets import rendered_chips  # noqa: E402

WIDTHS = (16, 32, 64, 128, 256)
SPEC = zoo.ModelSpec("bench", "", "fader", 128, ("gender",), "", (), "", "", {"widths": list(WIDTHS)})


class Reference(nn.Module):
    """The network as Lample et al. 2017 describe it: the attribute as appended maps before every decoder layer."""

    def __init__(self) -> None:
        super().__init__()
        inputs = (3, *WIDTHS[:-1])
        self.encoder = nn.ModuleList(
            nn.Sequential(nn.Conv2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b), nn.LeakyReLU(0.2))
            for a, b in zip(inputs, WIDTHS, strict=True)
        )
        outputs = (*WIDTHS[-2::-1], WIDTHS[0])
        self.decoder = nn.ModuleList(
            nn.Sequential(
                nn.Upsample(scale_factor=2), nn.Conv2d(a + 2, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU()
            )
            for a, b in zip(WIDTHS[::-1], outputs, strict=True)
        )
        self.last = nn.Conv2d(WIDTHS[0] + 2, 3, 3, 1, 1)

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.encoder:
            x = layer(x)
        return x

    def decode(self, z: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
        code = torch.cat([(1 - a) / 2, (1 + a) / 2], 1)
        for layer in self.decoder:
            z = layer(torch.cat([z, code[:, :, None, None].expand(-1, -1, *z.shape[2:])], 1))
        return torch.tanh(self.last(torch.cat([z, code[:, :, None, None].expand(-1, -1, *z.shape[2:])], 1)))


def peer(chips: np.ndarray, labels: np.ndarray, steps: int, batch: int, device: str) -> float:
    """Seconds of so many steps of the reference."""
    network = Reference().to(device).train()
    critic = LatentCritic(WIDTHS[-1], 128 >> len(WIDTHS), 1, 512).to(device).train()
    one = torch.optim.Adam(network.parameters(), 2e-4, betas=(0.5, 0.999))
    two = torch.optim.Adam(critic.parameters(), 2e-4, betas=(0.5, 0.999))
    pictures = torch.from_numpy(chips).permute(0, 3, 1, 2)
    data = torch.utils.data.TensorDataset(pictures, torch.from_numpy(labels))
    loader = torch.utils.data.DataLoader(data, batch, shuffle=True, drop_last=True)
    done, began = 0, time.perf_counter()
    while done < steps:
        for picture, a in loader:
            if done == steps:
                break
            x, a = picture.to(device).float() / 127.5 - 1, a.to(device)
            z = network.encode(x)
            two.zero_grad()
            F.binary_cross_entropy_with_logits(critic(z.detach()), (a + 1) / 2).backward()
            two.step()
            loss = F.mse_loss(network.decode(z, a), x)
            loss = loss + 1e-4 * F.binary_cross_entropy_with_logits(critic(z), (1 - a) / 2)
            one.zero_grad()
            loss.backward()
            one.step()
            loss.item()  # the reference keeps every loss
            done += 1
    return time.perf_counter() - began


def ours(chips: np.ndarray, labels: np.ndarray, steps: int, batch: int, device: str) -> float:
    """Seconds of so many steps of our loop, plain, without guidance."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        options = {"steps": steps, "batch": batch, "device": device, "report_every": 50, "save_every": 10**9}
        train_fader(SPEC, chips, labels, np.ones(len(chips)), Path(folder), **options)
        return time.perf_counter() - began


def matrix_rate(device: str) -> float:
    """Operations per second of a large fp32 matrix product."""
    a = torch.rand(2048, 2048, device=device)
    rates = []
    for _ in range(5):
        began = time.perf_counter()
        b = a @ a
        b.sum().item()
        rates.append(2 * 2048**3 / (time.perf_counter() - began))
    return float(np.median(rates))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=5)
    told = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    faces = rendered.sample(256, 0)
    chips = np.concatenate([rendered_chips(faces.take(slice(i, i + 64)), 128) for i in range(0, 256, 64)])
    labels = (faces.gender / 2)[:, None].astype(np.float32)
    arguments = (chips, labels, told.steps, told.batch, told.device)
    seconds: dict[str, list[float]] = {"ours": [], "peer": []}
    for turn in range(told.repeats + 1):
        for name, run in (("ours", ours), ("peer", peer)):
            elapsed = run(*arguments)
            if turn:  # the first turn warms up
                seconds[name].append(elapsed)
    images = told.steps * told.batch
    rates = {name: images / np.array(times) for name, times in seconds.items()}
    result = {
        "bench": "training",
        "machine": {"system": platform.platform(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
        | {"torch": torch.__version__, "threads": torch.get_num_threads(), "device": told.device},
        "size": 128,
        "batch": told.batch,
        "images_per_second": {
            name: {"median": round(float(np.median(r)), 1), "iqr": round(float(np.ptp(np.percentile(r, [25, 75]))), 1)}
            for name, r in rates.items()
        },
        "ours_over_peer": round(float(np.median(rates["ours"] / rates["peer"])), 2),
        "matrix_rate_gflops": round(matrix_rate(told.device) / 1e9, 1),
    }
    sys.stdout.write(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
