"""Speed of rendering: photos per second at 64 and 128 pixels, one thread.

OMP_NUM_THREADS=1 python tests/benches/bench_rendered.py > rendered.json
"""

from __future__ import annotations

import json
import sys
import time

import measure
import numpy as np

from training.drawn import render, sample

SEED, WARM_UP, REPEATS = 0, 2, 15
PHOTOS = {64: 512, 128: 192}


def timed(size: int, photos: int) -> dict[str, object]:
    parameters = sample(photos, SEED)
    wall, processor = [], []
    for turn in range(WARM_UP + REPEATS):
        start, start_processor = time.perf_counter(), time.process_time()
        render(parameters, size)
        if turn >= WARM_UP:
            wall.append(photos / (time.perf_counter() - start))
            processor.append(
                photos / (time.process_time() - start_processor)
            )  # apart from what else runs
    return {
        "size": size,
        "repeats": REPEATS,
        "seed": SEED,
        "photos_per_second": spread(wall),
        "cpu": spread(processor),
    }


def spread(rates: list[float]) -> dict[str, int]:
    low, median, high = np.percentile(rates, [25, 50, 75])
    return {"median": round(median), "iqr": round(high - low)}


if __name__ == "__main__":
    results = [timed(size, photos) for size, photos in PHOTOS.items()]
    sys.stdout.write(
        json.dumps(
            {
                "bench": "rendered",
                "machine": measure.machine(packages=("numpy",)),
                "results": results,
            },
            indent=2,
        )
        + "\n"
    )
