"""Sweeps of aligned chips by each shipped editor, against plain loops over the same network with the same weights.

    OMP_NUM_THREADS=1 python tests/benches/bench_sweep.py [--device cuda] [--chips 32] [--out results/sweep.json]

``batched`` is what a careful reader of the paper writes: all chips in one batch, encoded once, decoded value by value,
no condition twice; reader, tagger and network as the zoo loads them, in PyTorch's own layout. ``one by one`` takes one
chip after the other and does all of it again for every value. Both read the photos' own values, and both give what
ours gives: how many levels apart they are at most is in the result. An edit field is asked once for all values by
``batched``, for every value by ``one by one``. ``one by one`` sees a quarter of the chips; its time is scaled.
``ours as a walk has it`` leaves the pictures of an edit field to ``compose``, which needs only the two ends. Seconds
are the processor's, on a CUDA device those on the wall.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

from gslopes.core.geometry import OFFSET  # noqa: E402
from gslopes.faces import zoo  # noqa: E402
from gslopes.faces.edit.editors import PhotoValues, editor_of, stands_at, way  # noqa: E402
from gslopes.faces.zoo.reader import FaceReader  # noqa: E402

VALUES = np.linspace(-2, 2, 7, dtype=np.float32).tolist()
EDITORS = ("gender-field", "race-field", "gender-fader")
ALONE = 4  # ``one by one`` sees one chip of so many


class Plain:
    """A shipped editor's network in a loop."""

    def __init__(self, name: str, device: str) -> None:
        self.model, self.device = zoo.load(name, device), device
        self.spec = self.model.spec
        tagger = zoo.load(self.spec.tagger, device) if self.spec.tagger else None
        labeller = zoo.load("labeller", device)
        self.own = PhotoValues(labeller, self.spec.labels, tagger)
        self.own.reader = FaceReader(labeller)  # with its batch norms
        self.field = self.spec.network == "edit-ends"

    @torch.inference_mode()
    def batched(self, chips: np.ndarray) -> Tensor:
        """Chips (n, S, S, 3) to levels (n, K, 3, S, S)."""
        return self.pictures(chips, VALUES)

    @torch.inference_mode()
    def one_by_one(self, chips: np.ndarray) -> Tensor:
        return torch.cat(
            [
                torch.cat([self.pictures(chip[None], [value]) for value in VALUES], 1)
                for chip in chips
            ]
        )

    def pictures(self, chips: np.ndarray, values: list[float]) -> Tensor:
        x = torch.from_numpy(chips).to(self.device).permute(0, 3, 1, 2).float() / 255
        readings = self.own(x)
        return (
            self.of_ends(x, readings, values) if self.field else self.decoded(x, readings, values)
        )

    def of_ends(self, x: Tensor, readings: Tensor, values: list[float]) -> Tensor:
        ratios, _ = self.model.module(2 * x - 1)
        places = stands_at(np.array(values, np.float32), self.spec.steps)
        towards, share = way(readings[:, :1], readings.new_tensor(places))
        faces, logs = torch.arange(len(x), device=self.device), (255 * x + OFFSET).log()
        edits = [
            share[:, k, None, None, None] * ratios[faces, towards[:, k]] for k in range(len(values))
        ]
        return torch.stack([(logs + edit).exp() - OFFSET for edit in edits], 1)

    def decoded(self, x: Tensor, readings: Tensor, values: list[float]) -> Tensor:
        """The decoder's picture at each value, one at a time."""
        net = self.model.module
        mean, std = (x.new_tensor(v)[:, None, None] for v in (self.spec.mean, self.spec.std))
        latents, pictures = net.encode((x - mean) / std), []
        for value in stands_at(np.array(values, np.float32), self.spec.steps).tolist():
            condition = readings.clone()
            condition[:, 0] = value
            rgb = net.decode(latents, condition)
            pictures.append(((rgb * std + mean) * 255).clamp(0, 255))
        return torch.stack(pictures, 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--chips", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.manual_seed(0)
    smooth = torch.nn.functional.interpolate(
        torch.rand(args.chips, 3, 9, 9), size=128, mode="bicubic"
    ).clamp(0, 1)
    chips = np.ascontiguousarray((smooth * 255).round().byte().permute(0, 2, 3, 1).numpy())
    results = {name: compared(name, chips, args) for name in EDITORS}
    result = {
        "bench": "sweep",
        "machine": measure.machine(args.device),
        "chips": args.chips,
        "values": len(VALUES),
    }
    measure.say(result | {"rounds": args.rounds, "editors": results}, args.out)


def compared(name: str, chips: np.ndarray, args: argparse.Namespace) -> dict[str, Any]:
    editor, plain, values = (
        editor_of(name, args.device),
        Plain(name, args.device),
        np.array(VALUES, np.float32),
    )
    few = chips[::ALONE]
    runs: dict[str, Callable[[], object]] = {"ours": partial(editor.sweep, chips, values)}
    if hasattr(editor, "sweep_ends"):
        runs["ours as a walk has it"] = partial(editor.sweep_ends, chips, values)
    runs |= {"batched": partial(plain.batched, chips), "one by one": partial(plain.one_by_one, few)}
    present = plain.batched(few).permute(0, 1, 3, 4, 2).cpu().numpy()
    clock = time.process_time if args.device == "cpu" else time.perf_counter
    seconds = measure.in_turn(runs, args.rounds, args.device, clock)
    seconds["one by one"] = [second * len(chips) / len(few) for second in seconds["one by one"]]
    return {
        "seconds": {run: measure.spread(times) for run, times in seconds.items()},
        "times_faster_than": measure.ratios(seconds),
        "levels_apart_at_most": round(
            float(np.abs(editor.sweep(few, values).edited - present).max()), 4
        ),
    }


if __name__ == "__main__":
    main()
