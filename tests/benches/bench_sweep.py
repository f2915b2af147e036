"""A sweep of aligned chips, decoded: our network against the reference's own way, with the same weights.

    OMP_NUM_THREADS=2 python tests/benches/bench_sweep.py [--device cuda] [--chips 32] [--out results/sweep.json]

The peer is the network as facebookresearch/FaderNetworks builds it (transposed convolutions, the attributes as constant
channels appended before every layer, norms apart, fp32, PyTorch's own layout), with the same weights, untrained. It
runs (a) as the reference's ``interpolate.py`` does, a batch encoded once and decoded value by value, and (b) one face
at a time, encoded anew for every value. All get the same own values, so that neither reads them. The shipped editors of
photos decode nothing: "edit field" is the whole sweep of each of them, own values read and all. On a CUDA device ours
computes in 16 bits, as the editor of drawn faces does; in 32 bits (TF32 in cuDNN) and compiled by torch.compile it is
timed as well, to say whether either is worth having. ``--compiled`` tries that on the CPU.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

from gslopes.faces.edit.editors import BATCH_SIZE, editor_of  # noqa: E402
from gslopes.faces.networks.fader import (  # noqa: E402
    Fader,
    FaderConfig,
    FoldedFader,
)

VALUES = np.linspace(-2, 2, 7, dtype=np.float32).tolist()


class Reference(nn.Module):
    """The reference's layers with our weights; equal inside, and at the border but for the attributes."""

    def __init__(self, ours: Fader) -> None:
        super().__init__()
        self.encoder, self.narrow = ours.encoder, ours.narrow or nn.Identity()
        conditions = len(ours.config.attributes)
        self.up, self.norms = nn.ModuleList(), nn.ModuleList()
        for layer in ours.decoder:
            out, into = layer.conv.weight.shape[:2]
            conv = nn.ConvTranspose2d(into + conditions, out, 4, 2, 1, bias=False)
            share = (
                layer.condition_bias.weight.t()[:, :, None, None].expand(-1, -1, 4, 4) / 4
            )  # four taps meet in a pixel
            conv.weight.data = torch.cat([layer.kernel().transpose(0, 1), share]).contiguous()
            self.up.append(conv)
            self.norms.append(layer.norm)
        out = ours.to_rgb
        self.last = nn.Conv2d(out.in_channels + conditions, 3, 3, padding=1)
        share = ours.rgb_condition_bias.weight[:, :, None, None].expand(-1, -1, 3, 3) / 9
        self.last.weight.data = torch.cat([out.weight, share], 1).contiguous()
        self.last.bias.data = out.bias.data.clone()

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        return self.narrow(self.encoder(x))

    def decode(self, z: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
        for conv, norm in zip(self.up, self.norms, strict=True):
            z = torch.relu(norm(conv(self._with(z, a))))
        return torch.tanh(self.last(self._with(z, a)))

    @staticmethod
    def _with(z: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
        return torch.cat([z, a[:, :, None, None].expand(-1, -1, *z.shape[2:])], 1)


def at(attributes: torch.Tensor, value: float) -> torch.Tensor:
    return torch.cat([torch.full_like(attributes[:, :1], value), attributes[:, 1:]], 1)


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--chips", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    cuda = args.device.startswith("cuda")
    torch.manual_seed(0)
    network = Fader(FaderConfig(("gender", "young", "smiling"), latent=64)).to(args.device).eval()
    fields = {name: editor_of(name, args.device) for name in ("gender-field", "race-field")}
    reference, folded = Reference(network).to(args.device).eval(), FoldedFader(network)
    torch.manual_seed(0)
    chips = torch.rand(args.chips, 3, 128, 128, device=args.device) * 2 - 1
    attributes = torch.rand(args.chips, len(network.config.attributes), device=args.device) * 2 - 1
    step = args.chips if cuda else BATCH_SIZE

    def swept(network: FoldedFader) -> torch.Tensor:
        # as the editor does it for the odd part: every value, the photo's own, and that one mirrored
        mirrored = torch.cat([-attributes[:, :1], attributes[:, 1:]], 1)
        conditions = torch.stack([*(at(attributes, value) for value in VALUES), attributes, mirrored], 1)
        parts = zip(chips.split(step), conditions.split(step), strict=True)
        return torch.cat([network.sweep(network.encode(x), a) for x, a in parts])

    def ours() -> torch.Tensor:
        return swept(folded)

    def batch() -> torch.Tensor:
        z = reference.encode(chips)
        return torch.stack([reference.decode(z, at(attributes, value)) for value in VALUES], 1)

    def alone() -> torch.Tensor:
        return torch.cat(
            [
                reference.decode(reference.encode(x), at(a, v))
                for x, a in zip(chips.split(1), attributes.split(1), strict=True)
                for v in VALUES
            ]
        )

    photos = ((chips + 1) * 127.5).round().byte().permute(0, 2, 3, 1).cpu().numpy()

    inner = (slice(None), slice(None), slice(32, -32), slice(32, -32))
    swept_once = ours().unflatten(0, (args.chips, -1))[:, : len(VALUES)].flatten(0, 1)
    largest = float((swept_once[inner] - batch().flatten(0, 1)[inner]).abs().max())
    runs: dict[str, Callable[[], object]] = {
        f"edit field, {name}": partial(field.sweep, photos, np.array(VALUES, np.float32))
        for name, field in fields.items()
    }
    runs |= {"ours": ours, "batch by value": batch, "one by one": alone}
    if cuda or args.compiled:
        compiled = FoldedFader(network)
        compiled.encode, compiled.sweep = torch.compile(compiled.encode), torch.compile(compiled.sweep)
        runs["ours compiled"] = lambda: swept(compiled)
    seconds = measure.in_turn(runs, args.rounds, args.device)
    macs = operations(network)
    rate = measure.matrix_rate(args.device)
    pictures = args.chips * len(VALUES)
    floors = {
        "operations": 2 * (args.chips * macs["encode"] + pictures * macs["decode"]) / rate,
        "bytes": pictures * traffic(network) * 4 / measure.copy_rate(args.device),
    }
    measure.say(
        {
            "bench": "sweep", "machine": measure.machine(args.device), "chips": args.chips, "values": len(VALUES),
            "seconds": {name: measure.spread(times) for name, times in seconds.items()},
            "pictures_per_second": {name: round(pictures / np.median(times), 1) for name, times in seconds.items()},
            "times_faster_than": measure.ratios(seconds),
            "largest_difference_inside": largest,
            "matrix_rate_gflops": round(rate / 1e9, 1),
            "floors_s": {name: round(value, 5) for name, value in floors.items()},
            "share_of_the_floor": round(max(floors.values()) / float(np.median(seconds["ours"])), 3),
        },
        args.out,
    )  # fmt: skip


def traffic(network: Fader) -> int:
    """Numbers that one decoding must write and read again if each layer is one pass over the memory."""
    size, numbers = network.config.size >> len(network.config.widths), 0
    for layer in network.decoder:
        size *= 2
        numbers += 2 * size**2 * layer.conv.weight.shape[0]
    return numbers + 3 * size**2


def operations(network: Fader) -> dict[str, int]:
    """Multiplications of one chip's encoding and of one decoding."""
    size, before, encode = network.config.size, 3, 0
    for width in network.config.widths:
        size //= 2
        encode += size**2 * width * before * 16
        before = width
    decode = 0
    for layer in network.decoder:
        size *= 2
        out, into = layer.conv.weight.shape[:2]
        decode += size**2 * out * into * 4
    return {"encode": encode, "decode": decode + size**2 * 3 * network.config.widths[0] * 9}


if __name__ == "__main__":
    main()
