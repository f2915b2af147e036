"""Time and memory of all pairs of 213 and 606 people, from a cached view of each photo.

    python tests/benches/bench_crops.py [share of the pictures]

Photos are noise of one size, drawn once; what is timed is what the audit does after each photo was decoded.
``shrunk``: spectral residual, each pair put together from two shrunk photos and asked for real, in both orders; the
first pictures are checked against the joined photos.  ``alone``: a local model's maxima of the photos alone, and their
U-statistic.
"""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np

from gslopes.audits.crops.croppers import load_cropper
from gslopes.audits.crops.design import all_pairs, ordered
from gslopes.fit.pairs import parity
from gslopes.studies.crops.asking import Asker
from gslopes.studies.crops.config import CropsConfig
from gslopes.studies.crops.measure import compared

M, N, SIDE = 213, 606, 128


def main(share: float = 1.0) -> None:
    generator = np.random.default_rng(0)
    photos = [generator.integers(0, 255, (SIDE, SIDE, 3)).astype(np.uint8) for _ in range(M + N)]
    pictures = ordered(all_pairs({"a": range(M), "b": range(M, M + N)}))
    pictures = pictures[: int(share * len(pictures))]
    asker = Asker(load_cropper("spectral-residual"), photos.__getitem__, [(SIDE, SIDE)] * (M + N), CropsConfig())
    start, wall = time.process_time(), time.perf_counter()
    won = np.empty(len(pictures))
    for batch in asker.maps(pictures):
        half = batch.scores.shape[2] // 2
        left, right = batch.scores[:, :, :half].max(axis=(1, 2)), batch.scores[:, :, half:].max(axis=(1, 2))
        won[batch.rows] = (np.sign(left - right) + 1) / 2
    shrunk = {"cpu_s": time.process_time() - start, "wall_s": time.perf_counter() - wall, "pictures": len(pictures)}
    start = time.process_time()
    scores = generator.normal(size=M + N)
    own = parity(compared(scores[:M], scores[M:]))
    alone = {"cpu_s": time.process_time() - start, "pairs": own.pairs}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(json.dumps({"shrunk": shrunk, "alone": alone, "peak_mib": round(memory)}, indent=2) + "\n")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
