"""Training throughput of a plain Fader at 128 pixels: our loop against the reference network and loss, plainly written.

The peer has the same widths and batch: attributes as appended constant channels, nearest-neighbour upsampling and
3x3 convolution, float pictures from a loader batch by batch, contiguous memory, fp32. Both train on the same drawn
faces, alternately, in the same run; what comes before the first steps, compilation with it, is in neither time. On CUDA
ours computes as its GPU recipes do, in bfloat16, each step a replayed graph.

    python tests/benches/bench_training.py [--device cuda] [--batch 128] [--out results/training.json]
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

from gslopes.faces import zoo  # noqa: E402
from training import drawn as rendered  # noqa: E402
from training.critics import LatentCritic  # noqa: E402
from training.fader import Optimisation, train_fader  # noqa: E402
from training.sets import drawn_chips  # noqa: E402

WIDTHS = (16, 32, 64, 128, 256)
SPEC = zoo.ModelSpec(
    "bench", "", "fader", 128, ("gender",), "", (), "", "", {"widths": list(WIDTHS)}
)


class Reference(nn.Module):
    """The network as Lample et al. 2017 describe it: the attribute as appended maps before every decoder layer."""

    def __init__(self) -> None:
        super().__init__()
        inputs = (3, *WIDTHS[:-1])
        self.encoder = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(a, b, 4, 2, 1, bias=False), nn.BatchNorm2d(b), nn.LeakyReLU(0.2)
            )
            for a, b in zip(inputs, WIDTHS, strict=True)
        )
        outputs = (*WIDTHS[-2::-1], WIDTHS[0])
        self.decoder = nn.ModuleList(
            nn.Sequential(
                nn.Upsample(scale_factor=2),
                nn.Conv2d(a + 2, b, 3, 1, 1, bias=False),
                nn.BatchNorm2d(b),
                nn.ReLU(),
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
        return torch.tanh(
            self.last(torch.cat([z, code[:, :, None, None].expand(-1, -1, *z.shape[2:])], 1))
        )


def peer(
    chips: np.ndarray, labels: np.ndarray, warm: int, steps: int, batch: int, device: str
) -> float:
    """Seconds of so many steps of the reference, after those that warm up."""
    network = Reference().to(device).train()
    critic = LatentCritic(WIDTHS[-1], 128 >> len(WIDTHS), 1).to(device).train()
    item = torch.optim.Adam(network.parameters(), 2e-4, betas=(0.5, 0.999))
    two = torch.optim.Adam(critic.parameters(), 2e-4, betas=(0.5, 0.999))
    pictures = torch.from_numpy(chips).permute(0, 3, 1, 2)
    data = torch.utils.data.TensorDataset(pictures, torch.from_numpy(labels))
    loader = torch.utils.data.DataLoader(data, batch, shuffle=True, drop_last=True)
    epochs = itertools.chain.from_iterable(itertools.repeat(loader))
    began = 0.0
    for done, (picture, a) in enumerate(itertools.islice(epochs, warm + steps)):
        if done == warm:
            measure.wait_for(device)
            began = time.perf_counter()
        x, a = picture.to(device).float() / 127.5 - 1, a.to(device)
        z = network.encode(x)
        two.zero_grad()
        F.binary_cross_entropy_with_logits(critic(z.detach()), (a + 1) / 2).backward()
        two.step()
        loss = F.mse_loss(network.decode(z, a), x)
        loss = loss + 1e-4 * F.binary_cross_entropy_with_logits(critic(z), (1 - a) / 2)
        item.zero_grad()
        loss.backward()
        item.step()
        loss.item()  # the reference keeps every loss
    measure.wait_for(device)
    return time.perf_counter() - began


def ours(
    chips: np.ndarray, labels: np.ndarray, warm: int, steps: int, batch: int, device: str
) -> float:
    """Seconds of so many steps of our loop, after those that warm up; by the log of the loop."""
    length = Optimisation(steps=warm + steps, batch=batch)
    options = {"optimisation": length, "device": device, "save_every": 10**9}
    with tempfile.TemporaryDirectory() as folder:
        train_fader(
            SPEC,
            chips,
            labels,
            np.ones(len(chips)),
            Path(folder),
            report_every=math.gcd(warm, steps),
            **options,
        )
        rows = [json.loads(line) for line in (Path(folder) / "log.jsonl").read_text().splitlines()]
    passed = {row["step"]: row["step"] / row["steps_per_s"] for row in rows}  # seconds
    return passed[warm + steps] - passed[warm]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--warm", type=int, default=4)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    drawn = rendered.sample(64, 0)
    chips = np.tile(
        drawn_chips(drawn, 128), (8, 1, 1, 1)
    )  # as many as a loader needs; the pictures do not matter
    labels = np.tile((drawn.gender / 2)[:, None].astype(np.float32), (8, 1))
    arguments = (chips, labels, args.warm, args.steps, args.batch, args.device)
    seconds: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(args.repeats):
        seconds["ours"].append(ours(*arguments))
        seconds["peer"].append(peer(*arguments))
    images = args.steps * args.batch
    result = {
        "bench": "training", "machine": measure.machine(args.device), "size": 128, "batch": args.batch,
        "images_per_second": {
            name: measure.spread([images / time for time in times], 1) for name, times in seconds.items()
        },
        "times_faster_than": measure.ratios(seconds),
        "matrix_rate_gflops": round(measure.matrix_rate(args.device) / 1e9, 1),
    }  # fmt: skip
    measure.say(result, args.out)


if __name__ == "__main__":
    main()
