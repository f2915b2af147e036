"""Time and memory of all pairs of 213 and 606 people, from a cached view of each photo.

    python tests/benches/bench_crops.py [--share 1] [--fine-share 0.02] [--out tests/benches/results/crops.json]

Photos are noise of one size, drawn once; what is timed is what the audit does after each photo was decoded.
``shrunk``: spectral residual, each pair put together from two shrunk photos and asked for real, in both orders; the
first pictures are checked against the joined photos.  ``fine``: the same of fine-grained saliency, of a part of the
pictures.  ``joined``: spectral residual without that, each pair joined, of some pictures.  ``alone``: a local model's
maxima of single photos, and their U-statistic.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from gslopes.ask.croppers import load_cropper
from gslopes.ask.croppers.asker import Asker, MapBatch
from gslopes.crops.measures.parity import compared, parity
from gslopes.crops.stimuli.people import balanced_pairs
from tests.benches.measure import machine, say

M, N, SIDE = 213, 606, 128


def ask(name: str, photos: list[Any], pictures: Any, *, shortcut: bool = True) -> dict[str, float]:
    """Seconds and pictures of one way to ask."""
    sizes = [(SIDE, SIDE)] * len(photos)
    asker = Asker(load_cropper(name), photos.__getitem__, sizes, shortcut=shortcut)
    start, wall = time.process_time(), time.perf_counter()
    won = np.empty(len(pictures))
    for batch in asker.maps(pictures):
        assert isinstance(batch, MapBatch)
        half = batch.scores.shape[2] // 2
        first, second = (
            batch.scores[:, :, :half].max(axis=(1, 2)),
            batch.scores[:, :, half:].max(axis=(1, 2)),
        )
        won[batch.rows] = (np.sign(first - second) + 1) / 2
    cpu, seconds = time.process_time() - start, time.perf_counter() - wall
    rate = {
        "pictures": len(pictures),
        "processor_ms_a_picture": round(1000 * cpu / len(pictures), 3),
    }
    return {**rate, "processor_seconds": round(cpu, 2), "seconds": round(seconds, 2)}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--share", type=float, default=1.0, help="of all pictures, for spectral residual"
    )
    parser.add_argument(
        "--fine-share", type=float, default=0.02, help="of all pictures, for fine-grained"
    )
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    generator = np.random.default_rng(0)
    photos = [generator.integers(0, 255, (SIDE, SIDE, 3)).astype(np.uint8) for _ in range(M + N)]
    pairs = balanced_pairs({"a": range(M), "b": range(M, M + N)}, M * N)
    pictures = np.concatenate([pairs, pairs[:, ::-1]])
    mixed = generator.permutation(len(pictures))
    result: dict[str, Any] = {
        "bench": "crops",
        "machine": machine(packages=("numpy", "opencv-contrib-python-headless")),
        "people": [M, N],
        "shrunk": ask("spectral-residual", photos, pictures[: int(args.share * len(pictures))]),
        "fine": ask(
            "fine-grained", photos, pictures[mixed[: int(args.fine_share * len(pictures))]]
        ),
        "joined": ask("spectral-residual", photos, pictures[mixed[:2000]], shortcut=False),
    }
    start = time.process_time()
    scores = generator.normal(size=M + N)
    results = parity(compared(scores[:M], scores[M:]))
    result["alone"] = {
        "pairs": results.pairs,
        "processor_seconds": round(time.process_time() - start, 4),
    }
    result["peak_mib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    say(result, args.out)


if __name__ == "__main__":
    main()
