"""How far pictures move if a network computes in less than 32 bits, or exactly: emulated on the CPU, one at a time.

    python tests/benches/bench_precision.py PHOTOS [--limit 22] [--out results/precision.json]

``bf16`` is torch's autocast, as it would be on a GPU. ``tf32`` rounds what goes into convolutions to 10 bits, sums in
32, as the tensor cores do. ``exact`` convolves in 64 bits: how far 32 bits are from there is what another order of sums
on another processor may do. Pictures of both attributes, seven and five values, PNG; the tables of photos too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benches")]

import measure  # noqa: E402

import gslopes  # noqa: E402
from gslopes.core import tables  # noqa: E402
from gslopes.faces.compose import skin  # noqa: E402
from gslopes.faces.edit import editors  # noqa: E402
from gslopes.faces.networks import mtcnn  # noqa: E402
from gslopes.frame.executors import OneProcess  # noqa: E402

KINDS = ("bf16", "tf32", "exact")
NETWORKS = ("finder", "parser", "editor", "reader")
now = {"kind": "", "network": ""}


def tf32(x: Tensor) -> Tensor:
    """To the nearest number with 10 bits, ties to even."""
    bits = x.contiguous().view(torch.int32)
    return ((bits + 0x0FFF + ((bits >> 13) & 1)) & ~0x1FFF).view(torch.float32)


@contextmanager
def arithmetic(kind: str) -> Iterator[None]:
    """Of the convolutions meanwhile."""
    if kind == "bf16":
        with torch.autocast("cpu", torch.bfloat16):
            yield
        return
    plain = nn.Conv2d._conv_forward

    def convolved(layer: Any, x: Tensor, weight: Tensor, bias: Any) -> Tensor:
        if kind == "tf32":
            return plain(layer, tf32(x), tf32(weight), bias)
        return plain(
            layer, x.double(), weight.double(), None if bias is None else bias.double()
        ).float()

    with patch.object(nn.Conv2d, "_conv_forward", convolved):
        yield


def floats(value: Any) -> Any:
    """Outputs in 32 bits."""
    if isinstance(value, Tensor):
        return value.float() if value.dtype == torch.bfloat16 else value
    return type(value)(map(floats, value)) if isinstance(value, tuple | list) else value


def of_network(network: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, in the arithmetic that is tried if it is this network's turn."""

    def tried(*given: Any) -> Any:
        if now["network"] != network:
            return function(*given)
        with arithmetic(now["kind"]):
            return floats(function(*given))

    return tried


class Edits:
    """An editor's network."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network

    def __getattr__(self, name: str) -> Any:
        return getattr(self.network, name)

    def __call__(self, x: Tensor) -> Any:
        return of_network("editor", self.network)(x)


@contextmanager
def watched() -> Iterator[None]:
    """Networks that can be tried."""
    begin = editors._FieldEditor.__init__

    def begun(self: Any, *given: Any, **named: Any) -> None:
        begin(self, *given, **named)
        self.network = Edits(self.network)

    with (
        patch.object(mtcnn.Network, "__call__", of_network("finder", nn.Module.__call__)),
        patch.object(mtcnn.Mtcnn, "_places", of_network("finder", mtcnn.Mtcnn._places)),
        patch.object(skin, "class_probabilities", of_network("parser", skin.class_probabilities)),
        patch.object(editors._FieldEditor, "__init__", begun),
        patch.object(
            editors.PhotoValues, "__call__", of_network("reader", editors.PhotoValues.__call__)
        ),
    ):
        yield


def walked(photos: Path, run: Path, limit: int) -> Path:
    gslopes.synthesise(
        photos, out=run, limit=limit, device="cpu", executor=OneProcess(threads=1), format="png",
        placebo=False, attribute=("gender", "race"),
    )  # fmt: skip
    return run


def apart(one: Path, other: Path) -> dict[str, Any]:
    photos, edits = ([tables.read(table, run / f"{table.name}.parquet") for run in (one, other)]
                     for table in (tables.PHOTOS, tables.EDITS))  # fmt: skip
    decided = [frame[["photo", "status", "reason", "faces"]] for frame in photos]
    boxes = [np.abs(a - b).max() for a, b in zip(photos[0]["box"], photos[1]["box"], strict=True)
             if a is not None and b is not None and len(a)]  # fmt: skip
    levels = np.zeros(256, int)
    worst = []
    for file in sorted({*edits[0]["file"]} & {*edits[1]["file"]}):
        first, second = (np.asarray(Image.open(run / file)).astype(int) for run in (one, other))
        distances = np.abs(first - second)
        levels += np.bincount(distances.ravel(), minlength=256)
        worst.append(int(distances.max()))
    return {
        "same_decisions": bool(decided[0].equals(decided[1])),
        "photos_tables_equal": bool(photos[0].equals(photos[1])),
        "boxes_px_at_most": round(float(max(boxes)), 6),
        "pictures": len(worst),
        "levels_apart_at_most": max(worst),
        "pictures_apart_by_more_than_two": sum(most > 2 for most in worst),
        "share_of_values_apart": float(1 - levels[0] / levels.sum()),
        "share_apart_by_more_than_two": float(levels[3:].sum() / levels.sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=22)
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    result: dict[str, Any] = {
        "bench": "precision",
        "machine": measure.machine(),
        "photos": args.limit,
    }
    with tempfile.TemporaryDirectory() as position, watched():
        base = walked(args.folder, Path(position) / "32 bits", args.limit)
        for kind in args.kinds:
            result[kind] = {}
            for network in NETWORKS:
                now.update(kind=kind, network=network)
                run = walked(args.folder, Path(position) / f"{kind} {network}", args.limit)
                result[kind][network] = apart(base, run)
                now.update(network="")
    measure.say(result, args.out)


if __name__ == "__main__":
    main()
