"""Many labels: seconds and peak memory of asking, fitting and reporting at 1,000, 5,000 and 20,000 labels.

OMP_NUM_THREADS=1 python tests/benches/bench_labels.py --out labels.json

10 photos, 7 values (70 pictures), one classifier that returns about half of its labels for each picture, so that nearly
every label is tested. Every stage with its defaults (10,000 permutations, all estimators), in a
process of its own whose peak memory is the kernel's (ru_maxrss), imports and all. Three runs; one of the largest.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import measure
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
PHOTOS = 10
STAGES = ("score", "fit", "report")


class Talkative:
    """Returns about half of so many labels, another half for each picture."""

    name, version, batch, cached = "talkative", "1", 7, False

    def __init__(self, labels: int) -> None:
        self.labels = [f"label {number:05d}" for number in range(labels)]

    def ask(self, pictures: list[bytes]) -> list[object]:
        answers: list[object] = []
        for picture in pictures:
            lot = np.random.default_rng(int.from_bytes(sha256(picture).digest()[:8]))
            chosen = np.flatnonzero(lot.random(len(self.labels)) < 0.5)
            scores = lot.random(len(chosen)).round(4).tolist()
            answers.append({self.labels[place]: score for place, score in zip(chosen, scores, strict=True)})
        return answers

    def parse(self, raw: dict[str, float]) -> object:
        from gslopes.core.records import Answer

        return Answer("answered", tuple(raw.items()))


def once(stage: str, run: Path, labels: int) -> dict[str, float]:
    """One stage of a run folder in this process."""
    from gslopes.slopes import audit as stages

    work: dict[str, Callable[[], object]] = {
        "score": lambda: stages.score_photos(run, Talkative(labels), device="cpu", yes=True),
        "fit": lambda: stages.redo(run, "fit"),
        "report": lambda: stages.redo(run, "report"),
    }
    began, busy = time.perf_counter(), time.process_time()
    work[stage]()
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(time.process_time() - busy, 1),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def measured(labels: int, repeats: int) -> dict[str, object]:
    """Stage to the medians of its seconds and processor seconds and the highest peak, over fresh run folders."""
    from tests.fake_provider.folder import write_run

    found: dict[str, list[dict[str, float]]] = {stage: [] for stage in STAGES}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as name:
            run = write_run(Path(name) / "run", PHOTOS)
            for stage in STAGES:
                command = [sys.executable, __file__, "--once", stage, "--folder", str(run), "--labels", str(labels)]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
                found[stage].append(json.loads(done.stdout))
    return {"runs": repeats} | {
        stage: {
            **{key: float(np.median([one[key] for one in runs])) for key in ("seconds", "processor_seconds")},
            "peak_gib": max(one["peak_gib"] for one in runs),
        }
        for stage, runs in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--labels", type=int, nargs="+", default=[1000, 5000, 20_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--once", choices=STAGES, help="that stage of --folder, in this process")
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    if args.once:
        sys.stdout.write(json.dumps(once(args.once, args.folder, args.labels[0])) + "\n")
        return
    machine = measure.machine(packages=("numpy", "scipy", "pandas", "pyarrow"))
    few = {labels: max(1, min(args.repeats, 15_000 // labels)) for labels in args.labels}
    each = {str(labels): measured(labels, repeats) for labels, repeats in few.items()}
    facts = {"bench": "labels", "machine": machine, "pictures": 7 * PHOTOS, "labels": each}
    measure.say(facts, args.out)


if __name__ == "__main__":
    main()
